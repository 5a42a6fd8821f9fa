"""Grammars of files and of the library in programs: checked, built, run from the artefact, drawn in tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from sglc.bytecode.code import Program
from sglc.bytecode.serial import dumps, loads
from sglc.cfg.notation.reader import SHIPPED
from sglc.check.program import check
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.driver import compile_file, compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.testing import run_tests

FILES = {
    "w3c.ebnf": 'list ::= number ("," number)*\nnumber ::= [0-9]+\n',
    "iso.ebnf": 'list = digit, { ",", digit };\ndigit = "0" | "1";\n',
    "plain.bnf": '<list> ::= <digit> | <digit> "," <list>\n<digit> ::= "0" | "1" | "2"\n',
    "llama.gbnf": 'root ::= [0-9]{1,3} ("," [0-9]{1,3})*\n',
    "tokens.lark": 'start: NUMBER ("," NUMBER)*\nNUMBER: /[0-9]+/\n',
}


def again(program: Program) -> Program:
    """The program as its artefact gives it."""
    read, faults = loads(dumps(program))
    assert read is not None and faults == []
    return read


def findings(text: str) -> list[Diagnostic]:
    return check(Source("p.sgl", text), Library())[1]


@pytest.mark.parametrize("name", FILES)
def test_a_grammar_of_a_file_is_checked_built_and_run_without_the_file(name: str, tmp_path: Path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / name).write_text(FILES[name], encoding="utf-8")
    program = tmp_path / "p.sgl"
    program.write_text(
        f'import grammar "parts/{name}" as Digits\n\n'
        "fn f() -> Digits:\n    user: | q\n    assistant: | ?{x: Digits max 9 tok}\n    return x\n"
        'test "drawn":\n    fuzz f() times 10:\n        expect it matches /[0-9]+(,[0-9]+)*/\n'
        'test "mocked":\n    mock f.x = "1,0"\n    expect f() == "1,0"\n',
        encoding="utf-8",
    )
    result = compile_file(program)
    assert result.program is not None, [d.message for d in result.diagnostics]
    kept = again(result.program)
    (tmp_path / "parts" / name).unlink()
    for report in run_tests(kept):
        assert report.passed, [d.message for d in report.failures]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_grammar_of_the_library_is_imported_by_its_name(name: str):
    type = name.capitalize()
    text = (
        f"import grammar std.{name}\n\n"
        f"fn f() -> {type}:\n    user: | q\n    assistant: | ?{{x: {type} max 60 tok}}\n    return x\n"
        f'test "drawn":\n    fuzz f() times 3:\n        expect len("${{it}}") >= 0\n'
    )
    result = compile_source(Source("p.sgl", text))
    assert result.program is not None, [d.message for d in result.diagnostics]
    for report in run_tests(again(result.program)):
        assert report.passed, [d.message for d in report.failures]


@pytest.mark.slow
def test_a_grammar_of_the_library_takes_another_name():
    text = (
        "import grammar std.sql as Query\n\n"
        "pub fn f() -> Query:\n    user: | q\n    assistant: | ?{x: Query max 60 tok}\n    return x\n"
    )
    assert findings(text) == []


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("std.pyton", "write `import grammar std.python`"),
        ("python", "write `import grammar std.python`"),
        ("std", "a file stands in quotes"),
        ("std.cobol", "a file stands in quotes"),
        ("other.sql", "write `import grammar std.sql`"),
        ('"std.sql"', "write `import grammar std.sql`, without quotes"),
    ],
)
def test_a_grammar_that_is_not_there_is_told_with_those_that_are(written: str, hint: str):
    (fault,) = [d for d in findings(f"import grammar {written} as G\n") if d.severity == "error"]
    assert fault.code == "E0352" and hint in fault.hint
    if not written.startswith('"'):
        assert all(f"std.{name}" in fault.reason for name in SHIPPED)
