"""Conditions of declared types: kept by masks, asked at every place where a value becomes one of the type."""

from __future__ import annotations

import asyncio

import pytest

from sglc.bytecode.serial import dumps, loads
from sglc.driver import compile_source
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.testing import run_tests

PROGRAM = """
type odd = int in 0..99 where it % 2 == 1
pure fn rises(xs: [int]) -> bool:
    return xs == xs.sort()
type rising = [int in 0..9; 1..3] where rises(it)
pure fn nested(prefix: str) -> alive | dead | final:
    var depth = 0
    for i in 0..<len(prefix):
        depth = depth + (1 if prefix[i] == "(" else -1)
        if depth < 0: return dead
    return final if depth == 0 else alive
type brackets = str matching /[()]{1,10}/ where nested(it)
record Span:
    low: int in 0..9 where it != 5
    high: int in 0..9
type ordered = Span where it.low <= it.high
record Round:
    n: odd
    span: ordered
    marks: rising?
    name: str max 4 chars where it != "no" and not (it contains "x" or it contains "y")
union Sort:
    Some: way: rising
    None_: why: odd

pub fn number() -> odd:
    user: | q
    assistant: | ?{n: odd where it > 90}
    return n
pub fn balanced() -> brackets:
    user: | q
    assistant: | ?{b: brackets}
    return b
pub fn round() -> Round:
    user: | q
    assistant: | ?{r: Round}
    return r
pub fn words() -> [str]:
    user: | q
    assistant: | ?{ws: [str max 3 chars where it != "a" and it != ""; 2..3]}
    return ws
pub pure fn as_odd(n: int) -> odd:
    return n
pub pure fn sum_of(xs: rising) -> int:
    return xs.max()
pub pure fn low(r: Round) -> int:
    return r.span.low
pub pure fn is_some(s: Sort) -> bool:
    return match_of(s)
pure fn match_of(s: Sort) -> bool:
    match s:
        case Some: return true
        case None_: return false
"""
TESTS = """
test "masks keep what compares with known values":
    fuzz number() times 30:
        expect it in [91, 93, 95, 97, 99]
    fuzz words() times 60:
        expect "a" not in it and "" not in it
test "a validator prunes":
    fuzz balanced() times 40:
        expect nested(it) == "final"
test "every part of a value is asked":
    fuzz round() times 30:
        expect it.n % 2 == 1 and it.span.low <= it.span.high and it.span.low != 5
        expect it.marks == null or rises([1]) and it.name != "no" and not it.name contains "x"
test "a value becomes one of the type where it is one":
    expect as_odd(7) == 7
    expect raises Failure: as_odd(8)
    let xs = [3, 1]
    expect raises Failure: sum_of(xs)
    expect sum_of([1, 3]) == 3
test "a mock is asked like an answer":
    mock round.r = Round(1, Span(3, 2), null, "a") always
    expect raises Rejected: round()
test "a mock that is drawn again":
    mock round.r = Round(1, Span(3, 2), null, "a")
    mock round.r = Round(1, Span(2, 2), [1, 1], "a")
    expect round().span.high == 2
"""


@pytest.fixture(scope="module")
def program():
    compiled = compile_source(Source("p.sgl", PROGRAM + TESTS))
    assert compiled.program is not None, compiled.diagnostics
    again, faults = loads(dumps(compiled.program))
    assert faults == [] and again == compiled.program
    return again


@pytest.mark.slow
def test_programs_find_their_conditions_kept(program):
    for report in run_tests(program):
        assert report.passed, (report.name, report.failures)


SOUND = {"n": 3, "span": {"low": 1, "high": 2}, "marks": [1, 2], "name": "ok"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, ""),
        ({"n": 4}, "r.n: 4 does not meet `it % 2 == 1`"),
        ({"span": {"low": 5, "high": 6}}, "r.span.low: 5 does not meet `it != 5`"),
        ({"span": {"low": 3, "high": 2}}, "at span: `it.low <= it.high` does not hold"),
        ({"marks": [2, 1]}, "at marks: `rises(it)` does not hold"),
        ({"name": "xy"}, "r.name"),
    ],
)
def test_arguments_of_a_call_are_asked(program, changed, told):
    session = Session(program)
    arguments = {"r": {**SOUND, **changed}}
    if not told:
        assert asyncio.run(session.run("low", arguments)).value == 1
        return
    with pytest.raises((SglError, ArgumentError)) as raised:
        asyncio.run(session.run("low", arguments))
    shown = f"{raised.value} {getattr(raised.value, 'reason', '')}"
    assert told.removeprefix("r.") in shown


def test_constants_are_asked_when_the_program_is_compiled():
    for line in ("let x: odd = 4", "let y = as_odd(4)", "let r: ordered = Span(5, 6)"):
        text = PROGRAM + f"pub fn wrong():\n    {line}\n"
        found = [d.code for d in compile_source(Source("p.sgl", text)).diagnostics if d.severity == "error"]
        assert found == (["E0302"] if "as_odd" not in line else []), line


def test_a_condition_that_asks_itself_fails_and_does_not_crash():
    text = """
pure fn f(x: int) -> bool:
    let y: T = x
    return y > 0
type T = int in 0..9 where f(it)
pub pure fn g(n: int) -> T:
    return n
"""
    program = compile_source(Source("p.sgl", text)).program
    with pytest.raises(SglError, match="conditions of types ask each other, more than 40 deep"):
        asyncio.run(Session(program).run("g", {"n": 3}))


def test_a_changed_artefact_without_its_condition_is_refused(program):
    from dataclasses import replace

    from sglc.types.condition import Given
    from sglc.types.type import Predicate

    def faults(**changes):
        table = {**program.table, "odd": replace(program.table["odd"], **changes)}
        return [str(fault.reason) for fault in loads(dumps(replace(program, table=table)))[1]]

    assert faults() == []
    (lost,) = faults(predicates=(Predicate("where 99", "it"),))
    assert "is no function of a value" in lost
    (open_,) = faults(where=replace(program.table["odd"].where, rest=Given(0)))
    assert "no mask can keep its condition" in open_
