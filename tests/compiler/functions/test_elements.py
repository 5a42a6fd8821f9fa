"""Methods of lists that do something with each item: `it`, functions of an item, and names of functions."""

from __future__ import annotations

import pytest

from fakes.hashed_engine import HashedEngine
from judges.written_modules import agree
from outcomes import compiled_at_levels, outcome
from sglc.bytecode.disasm import disassemble
from sglc.check.program import check
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.testing import run_tests

HEAD = """\
record Crew:
    name: str
    age: int
    note: str?

const CREW = [Crew("Ada", 36, null), Crew("Bob", 20, "hm"), Crew("Cy", 36, "a")]
enum Mood: calm, cross

pure fn double(x: int) -> int:
    return 2 * x

pure fn same[T](x: T) -> T:
    return x

part shown(x: int):
    | ${x}

fn ask(of: str) -> str:
    user: | ${of}
    assistant: | ?{mood: str min 1 chars max 5 chars temp 1}
    return mood

"""
PROGRAM = (
    HEAD
    + """\
fn main(n: int) -> [str]:
    let moods = ["a", "b"].map(ask(it))
    let long = moods.all(len(it) > n) or moods.any(len(ask(it)) > n)
    let sums = [[1, 2], [n]].map(row => row.map(x => x + len(row)).map(same))
    let ages = CREW.group(by = age).map(pair => "${pair[0]}: ${pair[1].map(name).join(" ")}")
    let order = CREW.sort(by = c => (-c.age, c.name)).map(name)
    let last = ["${sums} ${long} ${[n].map(double)}"] + ["q"].map(ask)
    return moods.filter(m => len(m) > 2) + ages + order + last
"""
)


def test_runs_are_equal_at_all_levels_and_as_a_written_module() -> None:
    programs = compiled_at_levels(PROGRAM)
    for seed in range(6):
        seen = [
            outcome(program, {"n": 3}, HashedEngine(seed=seed, faults=10), seed=seed) for program in programs
        ]
        assert seen[1:] == seen[:-1]
    assert agree(Source("p.sgl", PROGRAM), "main", {"n": 3}, seeds=4)


def test_calls_for_the_items_run_at_the_same_time() -> None:
    program = compile_source(
        Source("p.sgl", HEAD + "pub fn f(xs: [str]) -> [str]:\n    return xs.map(ask)\n")
    ).program
    assert program is not None
    assert "START" in disassemble(program)


def test_items_behind_the_one_that_decides_are_not_asked() -> None:
    text = HEAD + (
        "fn calm(of: str) -> bool:\n    | ${of} ?{yes: bool}\n    return yes\n\n"
        'test "any and all":\n'
        "    mock calm.yes = true\n    expect [1, 0].any(1 // it > 0)\n"
        "    expect not [0, 1].all(it > 0 and 1 // it > 0)\n"
        '    expect ["a", "b"].any(calm(it))\n'
        '    mock calm.yes = false\n    expect not ["a", "b"].all(calm)\n'
        "    expect raises Failure: [0, 1].any(1 // it > 0)\n"
        "    expect raises Failure: [1, 0].map(1 // it)\n"
        "    expect raises Failure: [1].filter(it > 1).max(by = it)\n"
    )
    program = compile_source(Source("p.sgl", text)).program
    assert program is not None
    (report,) = run_tests(program)
    assert report.passed, [each.message for each in report.failures]


def _codes(statement: str) -> list[str]:
    text = f"{HEAD}pub fn f(xs: [int], ys: [int?]) -> int:\n    {statement}\n    return 1\n"
    return [found.code for found in check(Source("p.sgl", text), Library())[1] if found.severity == "error"]


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("let _a = xs.map()", ["E0328"]),
        ("let _a = xs.map(it, 2)", ["E0328"]),
        ("let _a = xs.filter(it)", ["E0320"]),
        ("let _a = xs.filter(double)", ["E0320"]),
        ("let _a = double(x => x)", ["E0433"]),
        ("let _a = sorted(xs, x => x)", ["E0433", "E0328"]),
        ("let _a = xs.map(x => z)", ["E0201"]),
        ("let _a = xs.map(xs => 1)", ["E0210"]),
        ("let _a = xs.map(shown)", ["E0401"]),
        ("let _a = xs.map(ask)", ["E0301"]),
        ("let _a = xs.map(nothing)", ["E0201"]),
        ("let _a = xs.map(x => it)", ["E0201"]),
        ('let _a = xs.sort(by = {"a": it})', ["E0329"]),
        ("let _a = ys.map(it + 1)", ["E0319"]),
        ("let _a = ys.filter(it != null or 1 > 0).map(it + 1)", ["E0319"]),
        ("let _a = ys.filter(it != null and xs.any(it > 1)).map(it + 1)", []),
        ("let _a = ys.filter(it != null and ys.any(it > 1))", ["E0319"]),
        ("let _a = xs.map(calm)", []),
        ("let _a = xs.map(Mood.calm if it > 1 else cross)", []),
        ("let calls = 1\n    let _a = xs.map(calls + it)", []),
    ],
)
def test_what_is_refused(statement: str, codes: list[str]) -> None:
    assert _codes(statement) == codes
