"""Text is any Unicode text; which line breaks a hole writes is a rule of the hole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sglc
from sglc.bytecode.serial import dumps, loads
from sglc.cli import main
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.notation.json_schema import json_schema_text
from sglc.types.notation.prompt_text import schema_text
from sglc.types.notation.sgl import show_type
from sglc.types.text.decode import decode
from sglc.types.text.printer import print_value
from sglc.types.type import FieldType, ListOf, MapOf, Named, Optional, RecordType, Str, Type, matching

ODD = ("a\nb", "\t", "\r\n", "\x00", "\x7f", "\x85", "\u2028", 'say "hi"\n\\', "😀\n")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(ODD)
LINE, LINES = Str(layout="line"), Str(layout="lines")
TABLE = {"Mail": RecordType("Mail", (FieldType("body", Str()), FieldType("note", Str(), optional=True)))}


def written(type: Type, text: str) -> bool:
    """Whether a hole of the type may write a text, raw where it is one."""
    matcher = compile_constraint(language=language(type, TABLE)).matcher(BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


PROGRAM = """\
record Mail:
    body: str
    tags: [str]
    by: {str: str}
    raw: json

const NOTE = "one\\n\\ttwo"

pub pure fn text(x: str) -> str:
    return x

pub pure fn mail(x: Mail) -> Mail:
    return x

pub pure fn note() -> (str, str):
    return (NOTE, "${NOTE}\\n")

pub pure fn one(x: line) -> line:
    return x

fn told(x: str, y: Mail) -> str:
    user: | ${x} ${y}
    assistant: | ?{z: str max 40 chars}
    return z

fn written() -> Mail:
    assistant: | ?{m: Mail max 99 tok}
    return m

fn poem() -> str:
    assistant: | ?{p: lines max 99 tok}
    return p

fn chosen(xs: [str], x: str) -> (str, str):
    assistant: | ?{a: one of xs}, ?{b: span of x}
    return (a, b)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("text") / "texts.sgl"
    path.write_text(PROGRAM)
    return sglc.load(path)


# -- a value of the type goes everywhere ---------------------------------------------------------------


@given(TEXTS)
def test_every_text_is_a_value_that_prints_and_reads_back(text: str) -> None:
    for type in (Str(), LINES, matching(r"[\s\S]*"), Optional(Str()), ListOf(Str()), MapOf(Str(), Str())):
        value: Any = {text: text} if isinstance(type, MapOf) else [text] if isinstance(type, ListOf) else text
        assert is_member(value, type, {})
        if not (isinstance(type, Optional) and text == "null"):
            assert decode(print_value(value, type, {}), type, {}) == value
        assert decode(print_value(value, type, {}, surface="json"), type, {}, surface="json") == value


@given(TEXTS)
def test_as_json_a_hole_writes_every_text(text: str) -> None:
    for type in (Str(), LINES):
        assert written(ListOf(type), print_value([text], ListOf(type), {}))


@pytest.mark.parametrize("text", ODD)
def test_every_text_is_passed_and_comes_back(module: Any, text: str) -> None:
    mail = {"body": text, "tags": [text], "by": {text: text}, "raw": {text: [text]}}
    assert module.text(text) == text
    given_back = module.mail(mail)
    assert (given_back.body, given_back.tags, given_back.by, given_back.raw) == tuple(mail.values())
    assert module.mail(given_back) == given_back
    assert module.note() == ("one\n\ttwo", "one\n\ttwo\n")


@pytest.mark.parametrize("text", [text for text in ODD if "\0" not in text])
def test_every_text_is_passed_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    program, arguments, rows, out = (tmp_path / name for name in ("t.sgl", "a.json", "r.jsonl", "o.jsonl"))
    program.write_text(PROGRAM)
    arguments.write_text(json.dumps({"x": text}))
    rows.write_text(json.dumps({"x": text}) + "\n")
    for given_as in (["--arg", f"x={text}"], ["--args", str(arguments)]):
        assert main(["run", str(program), "text", *given_as]) == 0
        assert json.loads(capsys.readouterr().out) == text
    assert main(["run", str(program), "text", "--data", str(rows), "--out", str(out)]) == 0
    assert json.loads(out.read_text())["value"] == text


@pytest.mark.parametrize("text", ODD)
def test_every_text_is_mocked_inserted_and_kept_in_artefacts(text: str) -> None:
    quoted = '"' + "".join(f"\\u{{{ord(char):x}}}" for char in text) + '"'
    mail = f"Mail(body = {quoted}, tags = [{quoted}], by = {{{quoted}: {quoted}}}, raw = {quoted})"
    tests = f"""
test "t":
    mock told.z = "fine"
    mock written.m = {mail}
    mock chosen.a = {quoted}
    mock chosen.b = {quoted}
    expect told({quoted}, {mail}) == "fine"
    expect written() == {mail}
    expect chosen([{quoted}, "x"], "a" + {quoted} + "b") == ({quoted}, {quoted})
"""
    compiled = compile_source(Source("p.sgl", PROGRAM + tests), CompileOptions())
    assert compiled.program is not None, compiled.diagnostics
    again, faults = loads(dumps(compiled.program))
    assert faults == [] and again == compiled.program
    (report,) = run_tests(again)
    assert report.passed, report.failures


@pytest.mark.parametrize("text", ["\ud800", "a\udcff", "\ud83d"])
def test_half_a_character_is_refused_with_its_place(module: Any, text: str) -> None:
    for call in (
        lambda: module.text(text),
        lambda: module.mail({"body": "", "tags": [], "by": {}, "raw": text}),
    ):
        with pytest.raises(TypeError, match="lone surrogate U"):
            call()


# -- what a hole writes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "yes", "no"),
    [
        (Str(), ["a b"], ["a\nb", "a\tb", "\x00", "\x85"]),
        (LINE, ["a b"], ["a\nb", "a\tb", "\x00"]),
        (LINES, ["a b", "a\n\tb\n"], ["\x00", "\r", "\x1b"]),
        (matching(r"[^,]+"), ["a\nb", "\x00"], ["a,b"]),
        (matching(r"[^,]+", of=LINE), ["a b"], ["a\nb", "a,b"]),
        (Str(until=("\n\n",), layout="lines"), ["a\nb"], ["a\n\nb"]),
        (Str(excludes=("\n",), layout="lines"), ["a\tb"], ["a\nb"]),
        (Optional(Str()), ["a b", "null"], ["a\nb"]),
        (ListOf(LINE), ['["a"]'], ['["a\\nb"]', '["\\u0000"]']),
        (ListOf(Str(until=("\n",))), ['["a\\t"]'], ['["a\\nb"]']),
    ],
)
def test_the_rule_of_the_hole(type: Type, yes: list[str], no: list[str]) -> None:
    for text in yes:
        assert written(type, text), text
    for text in no:
        assert not written(type, text), text


def test_a_line_is_a_line_as_data_too(module: Any) -> None:
    assert module.one("a b") == "a b"
    with pytest.raises(TypeError, match=r"is not one line: it has a line break at 1"):
        module.one("a\nb")
    with pytest.raises(TypeError, match=r"is not one line: it has the control character U\+0009 at 1"):
        module.one("a\tb")


def compiled(body: str, parameters: str = "") -> Any:
    source = f"fn f({parameters}) -> str:\n    | {body}\n    return x\n"
    found = compile_source(Source("p.sgl", source), CompileOptions())
    assert found.program is not None, found.diagnostics
    return found


@pytest.mark.parametrize(
    ("hole", "stops", "warned"),
    [
        ("?{x: str max 9 tok}", ("\n",), False),
        ("?{x: line max 9 tok}", ("\n",), False),
        ("?{x: lines max 9 tok}", (), False),
        ('?{x: lines max 9 tok until "\\n\\n"}', ("\n\n",), False),
        ("?{x: lines max 9 tok}.", (".",), False),
        ("?{x: str matching /[^,]+/ max 9 tok}", (), True),
        ("?{x: str matching /[^,\\n]+/ max 9 tok}", ("\n",), False),
        ("?{x: str matching /[a-z\\n]+/ max 9 tok}", (), False),
        ("?{x: line matching /[^,]+/ max 9 tok}", ("\n",), False),
        ("?{x: str max 9 tok where x.starts_with(y)}", ("\n",), False),
        ('?{x: str max 9 tok where x.starts_with("a")}', ("\n",), False),
        ("?{x: span of y max 9 tok}", (), False),
        ('?{x: span of y until "\\n" max 9 tok}', ("\n",), False),
        ('?{x: "a" | "a\\nb"}', (), False),
        ('?{x: "a" | "b"}', ("\n",), False),
    ],
)
def test_a_newline_ends_what_has_none(hole: str, stops: tuple[str, ...], warned: bool) -> None:
    found = compiled(hole, "y: str")
    assert found.program.holes[0].stops == stops
    assert ("W0221" in {d.code for d in found.diagnostics}) == warned


def test_a_mock_of_several_lines_is_told_of_lines() -> None:
    call = 'told("", Mail(body = "", tags = [], by = {}, raw = 1))'
    tests = f'\ntest "t":\n    mock told.z = "a\\nb"\n    expect {call} == ""\n'
    found = compile_source(Source("p.sgl", PROGRAM + tests), CompileOptions())
    assert found.program is not None
    (report,) = run_tests(found.program)
    assert (
        'is not a value of the hole: "a\\nb"; the hole writes one line, `lines`' in report.failures[0].message
    )


def test_types_of_text_are_shown() -> None:
    assert [show_type(type) for type in (Str(), LINE, LINES, matching("a"))] == [
        "str",
        "line",
        "lines",
        "str matching /a/",
    ]
    assert schema_text(LINE, {}) == "text on one line"
    assert (
        schema_text(ListOf(Str(max_chars=9, layout="line")), {})
        == "[string on one line of at most 9 characters, ...]"
    )
    assert json.loads(json_schema_text(LINE, {}))["pattern"] == r"^[^\u0000-\u001f\u007f-\u009f]*$"


def test_a_module_may_call_its_own_type_line() -> None:
    head = "use std.text (line)\n\ntype lines = [line]\n\n"
    source = head + "pub pure fn f(x: line, xs: lines) -> int:\n    return len(xs)\n"
    found = compile_source(Source("p.sgl", source), CompileOptions())
    assert found.program is not None, found.diagnostics
    assert [p.type for p in found.program.codes[0].parameters] == [0, 1]
    assert found.program.types[:2] == (Named("std.text.line"), Named("lines"))
