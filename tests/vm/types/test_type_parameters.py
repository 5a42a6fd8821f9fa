"""Declared types with parameters: parts of them take what they may be from values of the run."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from checkout import EXAMPLES
from sglc.bytecode.serial import dumps, loads
from sglc.driver import compile_file, compile_source
from sglc.options import CompileOptions
from sglc.runtime.engine.load import load_engine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.model import load
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.type import Applied
from sglc.types.type import Source as From

PROGRAM = """
record Db:
    tables: [str]
    columns: [str]
    note: str
grammar Query(db: Db):
    start: "SELECT " column " FROM " table
    table: one of db.tables
    column: one of db.columns
type pick(xs: [str]) = one of xs
type near(n: int) = int in 0..99 where it >= n
record Ask(db: Db):
    sql: Query(db)
    from: pick(db.tables)
    quote: span of db.note max 9 chars
record Tree(xs: [str], top: int):
    word: one of xs
    n: near(top)
    kids: [Tree(xs, top); ..2]
record Leaf(text: str):
    piece: span of text max 4 chars
record Pair(a: str, b: str):
    left: span of a max 3 chars
    right: Leaf(b)?
    both: (Leaf(a), Leaf(b))
union Mail(body: str):
    Quote: text: span of body max 20 chars
    Other: why: str max 9 chars
const COLOURS = ["red", "blue"]
type colour = one of COLOURS
record Card(body: str):
    said: span of body max 3 chars
    colour: colour
    also: pick(["a", "b"])
    n: near(90)
    words: Mail("abc def")

pub fn card(body: str) -> (colour, Card(body)):
    user: | q
    assistant:
        | ?{c: colour} ?{d: Card(body)}
    return (c, d)
pub fn ask(db: Db) -> Ask(db):
    user: | q
    assistant: | ?{a: Ask(db)}
    return a
pub fn tree(xs: [str], n: int) -> Tree(xs, n):
    user: | q
    assistant: | ?{a: Tree(xs, n) max 300 tok}
    return a
pub fn pair(a: str, b: str) -> [Pair(a, b)]:
    user: | q
    assistant: | ?{p: [Pair(a, b); 1..2]}
    return p
pub fn one(xs: [str], n: int) -> (str, int):
    user: | q
    assistant:
        | ?{w: pick(xs)} and ?{m: near(n)}.
    return (w, m)
pub fn parts(least: int, bad: [str]) -> ([int], [str]):
    user: | q
    assistant:
        | ?{xs: [int in 0..9 where it > least; 2..3]}
        | ?{ys: [str max 3 chars where it not in bad; 2]}
    return (xs, ys)
pub fn file(body: str) -> Mail(body)?:
    user: | q
    assistant: | ?{m: Mail(body)?}
    return m
pub fn kept(body: str) -> str:
    var found = "nothing"
    user: | ${body}
    assistant:
        | ?{m: Mail(body)}
        ensure m != Other("no") else "say why"
            retry 2 resample
    match m:
        case Quote(text = t): found = t
        case Other: found = "other"
    return found
pub pure fn words(m: Mail) -> int:
    return len(str(m))
pub fn forked(bodies: [str]) -> [Mail]:
    user: | q
    let all = fork i in 0..<len(bodies) seed i:
        assistant: | ?{m: Mail(bodies[i])}
        yield m
    return [each.value for each in all]
"""
TESTS = """
test "constants are given too":
    fuzz card("xyz") times 20:
        expect it[0] in COLOURS and it[1].colour in COLOURS and it[1].also in ["a", "b"] and it[1].n >= 90
        expect it[1].words != Quote("zz")
test "masks hold what is given":
    let db = Db(["t", "u"], ["c", "d"], "a note")
    fuzz ask(db) times 20:
        expect it.from in db.tables and db.note contains it.quote and it.sql.table in db.tables
    fuzz one(["x", "yz"], 95) times 20:
        expect it[0] in ["x", "yz"] and it[1] >= 95
    fuzz parts(6, ["a", ""]) times 20:
        expect it[0][0] > 6 and "a" not in it[1]
test "types with parameters contain others and themselves":
    fuzz tree(["x", "y"], 90) times 20:
        expect it.word in ["x", "y"] and it.n >= 90
        expect len(it.kids) == 0 or (it.kids[0].word in ["x", "y"] and it.kids[0].n >= 90)
    fuzz pair("hello", "world") times 20:
        expect "hello" contains it[0].left
        expect "hello" contains it[0].both[0].piece and "world" contains it[0].both[1].piece
test "a union, null beside it, a retry and branches":
    fuzz file("abc") times 20:
        expect it == null or it != Quote("x")
    fuzz kept("some words") times 20:
        expect it == "other" or "some words" contains it
    fuzz forked(["ab", "cd"]) times 10:
        expect it[0] != Quote("cd") and it[1] != Quote("ab")
test "a mock is a member with the values of the run":
    mock file.m = Quote("b c")
    expect file("a b c d") == Quote("b c")
test "or it is refused":
    mock file.m = Quote("b c")
    expect raises Failure: file("x")
test "nothing to choose from":
    expect raises Unsatisfiable: one([], 5)
"""


@pytest.fixture(scope="module")
def program():
    compiled = compile_source(Source("p.sgl", PROGRAM + TESTS))
    assert compiled.program is not None, [d for d in compiled.diagnostics if d.severity == "error"]
    again, faults = loads(dumps(compiled.program))
    assert faults == [] and again == compiled.program
    return again


def test_programs_find_their_parameters_kept(program):
    for report in run_tests(program):
        assert report.passed, (report.name, report.failures)


def test_without_passes_nothing_changes():
    plain = compile_source(Source("p.sgl", PROGRAM + TESTS), CompileOptions(level=0)).program
    assert all(report.passed for report in run_tests(plain))


def test_a_value_is_of_the_type_whatever_the_parameters_were_given(program):
    session = Session(program)
    value = {"type": "Quote", "text": "of no text at all"}
    assert asyncio.run(session.run("words", {"m": value})).value > 20
    with pytest.raises((ArgumentError, SglError)):
        asyncio.run(session.run("words", {"m": {"type": "Quote", "text": "longer than twenty characters"}}))


def test_a_changed_artefact_is_refused(program):
    place = next(i for i, t in enumerate(program.types) if isinstance(t, Applied) and t.name == "Mail")
    whole = program.types[place]

    def faults(changed):
        types = (*program.types[:place], changed, *program.types[place + 1 :])
        return " ".join(str(fault.reason) for fault in loads(dumps(replace(program, types=types)))[1])

    (opened,) = whole.declarations
    assert faults(whole) == ""
    assert "has no declaration" in faults(replace(whole, declarations=()))
    assert "takes its value of no parameter" in faults(
        replace(whole, declarations=(type(opened)(opened.declared, opened.parameters, (From(7),)),))
    )
    assert "depends on no value of it" in faults(
        replace(whole, declarations=(type(opened)(opened.declared, opened.parameters, ()),))
    )
    assert "is given other values than it has parameters" in faults(
        replace(whole, declarations=(type(opened)(opened.declared, (), ()),))
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("| ?{m: Mail}", "E0328"),
        ("| ?{m: Mail(3)}", "E0301"),
        ("| ?{m: Mail(body, body)}", "E0328"),
        ("| ?{m: Mail(nobody)}", "E0201"),
        ("| ?{m: Db(body) max 9 tok}", "E0221"),
    ],
)
def test_wrong_arguments_are_told(line, code):
    text = (
        PROGRAM + f"pub fn wrong(body: str) -> str:\n    user: | q\n    assistant: {line}\n    return body\n"
    )
    found = [d.code for d in compile_source(Source("p.sgl", text)).diagnostics if d.severity == "error"]
    assert found == [code]


MAILS = (
    "Good morning, please find attached invoice 4711 over 12500.00 EUR, due on 2024-07-15. Tiles & Co",
    "I am furious. The kettle leaks and nobody answers me.",
    'My "colleague" said:\n\tthe lift is\nstuck again!',
)
ASKED = """
type odd = int in 0..99 where it % 2 == 1
record Slot:
    start: int in 0..23
    end: int in 0..24 where it != 12
type shift = Slot where it.start < it.end
pub fn plan(note: str) -> (odd, shift):
    user: | ${note} Answer with an odd number, and the hours of a shift. ${schema(shift)}
    assistant:
        | ?{n: odd temp 0.9}
        | ?{s: shift temp 0.9}
    return (n, s)
"""


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_what_the_small_model_writes_is_of_the_types():
    engine = load_engine("smollm2", executor="native", threads=1, memory=64 << 20)
    mail = Session(compile_file(EXAMPLES / "mail.sgl").program, engine)
    for body in MAILS[1:]:
        filed = asyncio.run(mail.run("filed", {"body": body})).value
        for name in ("vendor", "quote"):
            assert filed.fields.get(name, "") in body
        note = asyncio.run(mail.run("note", {"body": body, "desks": ["stores", "office"]})).value
        assert note.fields["desk"] in ("stores", "office")
        about = note.fields["about"]
        assert about is None or (about.fields["words"] in body and len(about.fields["words"]) >= 4)
    asked = Session(compile_source(Source("p.sgl", ASKED)).program, engine)
    for seed in range(2):
        try:
            number, hours = asyncio.run(asked.run("plan", {"note": ""}, seed=seed)).value
        except SglError as error:
            assert error.name == "Rejected"
            continue
        assert number % 2 == 1 and hours.fields["start"] < hours.fields["end"] != 12
