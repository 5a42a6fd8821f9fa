"""Functions with type parameters: their copies run as functions written for these types, and are few."""

from __future__ import annotations

import pytest

from fakes.hashed_engine import HashedEngine
from judges.written_modules import agree
from outcomes import compiled_at_levels, outcome
from sglc.bytecode.serial import dumps, loads
from sglc.check.copies import MAX_COPIES, MAX_TEXT
from sglc.check.names.type_parameters import MAX_PARTS
from sglc.check.program import check
from sglc.driver import compile_source
from sglc.ir.print import print_module
from sglc.ir.read import read
from sglc.library import Library
from sglc.lower.program import lower
from sglc.source import Source
from sglc.testing import run_tests

PROGRAM = """\
record Mail:
    subject: str min 1 chars max 6 chars
    urgent: bool

fn ask[T](question: str, n: int) -> T:
    user:
        | ${question} ${schema(T)}
    assistant:
        let tries = fork i in 0..<n seed i:
            | ?{x: T temp 1}
            yield x
    return most([each.value for each in tries])

pure fn most[T](xs: [T]) -> T:
    return xs.max(by = xs.count(it))

part shown[T](xs: [T]):
    for x in xs:
        | - ${x}

aside like[T](x: T) -> T:
    | Like ${x}: ?{y: T}
    ensure y != x else "the same"
        retry 2 resample
    return y

pub fn main(n: int) -> str:
    let mail = ask[Mail]("A mail?", n)
    let yes: bool = ask("Urgent?", n)
    user:
        part shown([mail, mail])
        part shown([yes])
    assistant:
        let other = aside like(mail)
        | ?{word: str min 1 chars max 5 chars temp 1}
    return most([word, word, mail.subject, other.subject])
"""


def _messages(text: str) -> list[str]:
    return [each.code for each in check(Source("p.sgl", text), Library())[1] if each.severity == "error"]


def test_a_copy_is_seen_as_the_function_that_was_written() -> None:
    programs = compiled_at_levels(PROGRAM)
    assert [name for name in programs[0].entry] == ["main"]
    for seed in range(8):
        seen = [
            outcome(program, {"n": 2}, HashedEngine(seed=seed, faults=10), seed=seed) for program in programs
        ]
        assert seen[1:] == seen[:-1]
        called = {event[2] for events in seen[0].events.values() for event in events if event[0] == "call"}
        assert not any("[" in str(name) for name in called)


def test_copies_as_text_and_bytes() -> None:
    checked, _ = check(Source("p.sgl", PROGRAM), Library())
    assert checked is not None
    module = lower(checked)
    assert read(print_module(module)) == module
    copies = {function.name: function.copy_of for function in module.functions if function.copy_of}
    assert copies["ask[Mail]"] == copies["ask[bool]"] == "ask" and "most" in copies.values()
    assert {hole.name for hole in module.holes} == {"ask.x", "like.y", "main.word"}
    assert not any("[]" in name for name in module.table)
    program = compile_source(Source("p.sgl", PROGRAM)).program
    assert program is not None and loads(dumps(program)) == (program, [])


def test_a_written_module_has_the_values_of_the_machine() -> None:
    agree(Source("p.sgl", PROGRAM), "main", {"n": 2}, seeds=5)


def test_types_of_other_modules(tmp_path) -> None:
    (tmp_path / "helpers.sgl").write_text(
        "pub record Box:\n    size: int in 1..9\n\n"
        "pub fn ask[T]() -> T:\n    | ?{x: T}\n    return x\n\n"
        "pub pure fn last_two[T](xs: [T]) -> [T]:\n    return xs[-2:]\n"
    )
    main = tmp_path / "main.sgl"
    main.write_text(
        "use ./helpers (ask as get, Box, last_two)\n\n"
        "record Mine:\n    n: int in 3..4\n\ntype few = [Mine; ..2]\n\n"
        'test "mine and theirs":\n'
        "    mock get.x = Box(2)\n    mock get.x = Mine(3)\n"
        "    expect get[Box]().size == 2 and get[Mine]().n == 3\n"
        "    expect last_two([Mine(3), Mine(4), Mine(3)]) == [Mine(4), Mine(3)]\n"
        "    fuzz get[few]() times 5:\n        expect all([x.n in 3..4 for x in it])\n"
    )
    result = compile_source(Source(str(main), main.read_text()), library=Library())
    assert result.program is not None, [each.message for each in result.diagnostics]
    assert [report.passed for report in run_tests(result.program)] == [True]


def _called_with(types: list[str], body: str = "    return x\n") -> str:
    calls = "".join(f"    let a{n} = same[{type}]({type})\n" for n, type in enumerate(types))
    return f"pure fn same[T](x: T) -> T:\n{body}\npub pure fn f() -> int:\n{calls}    return 1\n"


def test_a_function_is_copied_so_many_times() -> None:
    assert _messages(_called_with([f'"w{n}"' for n in range(MAX_COPIES)])) == []
    assert _messages(_called_with([f'"w{n}"' for n in range(MAX_COPIES + 1)])) == ["E0432"]
    assert _messages(_called_with(['"w"'] * (MAX_COPIES + 1))) == []


def test_copies_have_so_much_text() -> None:
    long = f"    # {'y' * 97}\n" * (MAX_TEXT // 412) + "    return x\n"
    assert _messages(_called_with(['"a"', '"b"', '"c"'], long)) == []
    assert _messages(_called_with(['"a"', '"b"', '"c"', '"d"'], long)) == ["E0432"]


@pytest.mark.parametrize(("parts", "codes"), [(MAX_PARTS, []), (MAX_PARTS + 1, ["E0432"])])
def test_a_type_has_so_many_parts(parts: int, codes: list[str]) -> None:
    items = ", ".join("1" for _ in range(parts - 1))
    text = (
        f"pure fn same[T](x: T) -> T:\n    return x\n\npub pure fn f() -> int:\n    let a = same(({items}))\n"
    )
    assert _messages(f"{text}    return 1\n") == codes


@pytest.mark.parametrize("made", ["[x]", "(x, x)", '{"a": x}'])
def test_a_function_that_calls_itself_with_more_and_more(made: str) -> None:
    text = f"pure fn deep[T](x: T, n: int) -> int:\n    return 0 if n == 0 else deep({made}, n - 1)\n"
    assert _messages(text + "\npub pure fn f() -> int:\n    return deep(1, 3)\n") == ["E0432"]
    assert _messages(text) == []
