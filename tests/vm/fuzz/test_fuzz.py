"""Random answers: each class of length comes, a round can be repeated, and a failing one becomes least."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest

from sglc.driver import compile_source
from sglc.runtime.decoding.requests import Constraints, HoleRequest
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.session import Session
from sglc.runtime.shrinking import RUNS, Least, failures_of, shrink
from sglc.runtime.vm.holes.fuzz import random_word
from sglc.runtime.vm.state.lengths import LONGEST, Lengths, length_class
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.language.language import language
from sglc.types.text.smaller import smaller
from sglc.types.type import Int, ListOf, Str, Type

HEAD = """\
enum Mood: calm, cross, wild
fn g() -> int:
    | ?{n: int in 0..1000}
    return n
fn below() -> int:
    | ?{n: int in -500..-3}
    return n
fn words() -> [str]:
    | ?{xs: [str max 9 chars] max 90 tok}
    return xs
fn said() -> str:
    | ?{t: str max 60 chars}
    return t
fn mood() -> Mood:
    | ?{m: Mood}
    return m
fn chosen() -> Mood:
    | ?{m: select Mood}
    return m.top
fn pair() -> int:
    | ?{a: int in 0..99} ?{b: int in 0..99}
    return a + b
fn careful() -> int:
    | ?{n: int in 0..99}
    ensure n % 2 == 0 else "odd"
        retry 3 resample
    return n

"""


def least(call: str, expectation: str, *, seed: int = 0, before: str = "") -> Least:
    text = f'{HEAD}test "t":\n{before}    fuzz {call} times 60:\n        expect {expectation}\n'
    made = compile_source(Source("t.sgl", text))
    assert made.program is not None, made.diagnostics
    session = Session(made.program)

    async def run() -> Least:
        result = await session.run_test("t", seed=seed)
        return await shrink(session, "t", seed, failures_of(result)[0])

    return asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "expectation", "texts"),
    [
        ("g()", "it < 50", ["50"]),
        ("g()", "it % 7 != 3", ["3"]),
        ("below()", "it > -40", ["-40"]),
        ("words()", "len(it) < 3", ['["", "", ""]']),
        ("words()", "all([len(each) < 2 for each in it])", ['["aa"]']),
        ("said()", "len(it) < 20", ["a" * 20]),
        ("mood()", "it == calm", ["cross"]),
        ("chosen()", "it == calm", ["cross"]),
    ],
)
def test_a_failure_is_told_with_the_least_values(call: str, expectation: str, texts: list[str]) -> None:
    for seed in (0, 5):
        found = least(call, expectation, seed=seed)
        assert [text for _, text in found.texts()] == texts
        assert not found.cut and found.runs < RUNS


def test_none_of_several_values_can_be_smaller_alone() -> None:
    found = least("pair()", "it < 30")
    assert sum(int(text) for _, text in found.texts()) == 30


def test_an_error_becomes_least_too() -> None:
    text = f'{HEAD}test "t":\n    fuzz careful() times 400:\n        expect it >= 0\n'
    made = compile_source(Source("t.sgl", text))
    assert made.program is not None, made.diagnostics
    (report,) = run_tests(made.program)
    (failure,) = report.failures
    assert failure.code == "E0702" and "the least values that fail" in failure.reason
    # four different odd numbers, as a text that was rejected does not come again
    numbers = [int(part.split(" = ")[1]) for part in failure.reason.split(": ", 1)[1].split(", ")]
    assert sorted(numbers) == [1, 3, 5, 7]


def test_what_rounds_leave_for_the_next_is_kept() -> None:
    body = 'test "t":\n    var sum = 0\n    fuzz g() times 60:\n'
    body += "        sum = sum + it\n        expect sum < 900\n"
    text = HEAD + body
    made = compile_source(Source("t.sgl", text))
    assert made.program is not None, made.diagnostics
    (one,), (two,) = run_tests(made.program), run_tests(made.program)
    assert one.failures[0].reason == two.failures[0].reason
    assert "sum = 900" in one.failures[0].reason


def test_an_expectation_is_told_once_for_all_rounds() -> None:
    text = f'{HEAD}test "t":\n    fuzz g() times 60:\n        expect it < 50\n        expect it != 7\n'
    made = compile_source(Source("t.sgl", text))
    assert made.program is not None
    (report,) = run_tests(made.program)
    reasons = [failure.reason for failure in report.failures]
    assert reasons[0].startswith("it = 50\nmissed in ") and reasons[0].endswith(": ?g.n = 50")
    assert all(reason.startswith("it = 7") for reason in reasons[1:]) and len(reasons) <= 2


def lengths(type: Type, count: int = 200) -> Counter[int]:
    described = language(type, {}, surface="hole")
    matcher = Constraints().value(HoleRequest("f.x", 0, described)).matcher(BYTES)
    known = Lengths.of(described)
    words = [random_word(matcher.clone(), Random(seed), known) for seed in range(count)]
    for word in words:
        twin = matcher.clone()
        assert twin.accept_bytes(word) and twin.is_accepting()
    assert words == [random_word(matcher.clone(), Random(seed), known) for seed in range(count)]
    return Counter(length_class(len(word)) for word in words)


@pytest.mark.slow
@pytest.mark.parametrize("type", [Str(), Int(), ListOf(Str()), Str(max_chars=20)])
def test_each_class_of_length_gets_its_share(type: Type) -> None:
    found = lengths(type)
    least, most = min(found), max(found)
    assert most >= length_class(LONGEST if not isinstance(type, Int) else 19) - 1
    assert min(found[each] for each in range(least, most)) >= 200 / (most - least + 1) / 4


def test_values_get_smaller_and_end() -> None:
    for value in (17, -4, "text", [3, "x"], (2, True), {"a": 2}, 2.5):
        seen = 0
        while (following := next(smaller(value, {}), None)) is not None:
            value, seen = following, seen + 1
            assert seen < 30
