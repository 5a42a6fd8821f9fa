"""Levels of optimisation on random programs: what can be seen of a run is the same at each.

At level 2 calls run ahead of their turn. The long run is
`SGLC_TEST_EXAMPLES=10000 pytest tests/compiler/passes/test_levels.py`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from fakes.hashed_engine import HashedEngine
from outcomes import compiled, compiled_at_levels, outcome
from sglc.options import LEVELS
from strategies.programs.source_programs import SourceProgram, source_programs


@pytest.mark.slow
@given(
    program=source_programs(),
    seed=st.integers(0, 99),
    delays=st.integers(0, 2),
    faults=st.sampled_from([0, 0, 0, 20]),
    max_tokens=st.sampled_from([None, None, None, 3, 20]),
)
@settings(max_examples=examples(16))
def test_every_level_gives_the_same_value_error_and_trace(
    program: SourceProgram, seed: int, delays: int, faults: int, max_tokens: int | None
) -> None:
    seen = [
        outcome(
            each,
            program.arguments,
            HashedEngine(seed=seed, delays=delays, faults=faults),
            seed=seed,
            max_tokens=None if program.forks else max_tokens,
            partial=not program.forks,
        )
        for each in compiled_at_levels(program.text)
    ]
    assert all(other == seen[0] for other in seen[1:])


def test_a_fork_that_nothing_reaches_is_no_fault_of_a_pass() -> None:
    text = """\
pub fn main(n: int, word: str) -> int:
    if 1 > 2:
        let tries = fork i in 0..<2:
            user: | ${i} ${word}
            yield n
        return tries[0].value
    return n
"""
    for level in LEVELS:
        assert outcome(compiled(text, level), {"n": 4, "word": "x"}, HashedEngine()).value == 4


def test_a_slot_of_a_fork_body_may_have_the_number_of_an_iterator_around_it() -> None:
    # Behind the fork the function keeps an iterator in a slot whose number the body has for a variable.
    text = """\
pub fn main(n: int, word: str) -> int:
    let tries = fork i in 0..<2:
        user: | ${word}
        let small = [j for j in [1, 2] if j > i]
        yield len(small)
    return sum([each.value for each in tries])
"""
    for level in LEVELS:
        assert outcome(compiled(text, level), {"n": 4, "word": "x"}, HashedEngine()).value == 3


def test_a_caught_error_is_traced_where_it_arose() -> None:
    text = """\
part outside(xs: [int]) -> int:
    | One of ${xs}.
    return xs[7]

pub fn main(n: int, word: str) -> int:
    user:
        try:
            let found = part outside([n])
        except:
            | None.
    return len(word)
"""
    for level in LEVELS:
        seen = outcome(compiled(text, level), {"n": 4, "word": "x"}, HashedEngine())
        assert [span for kind, _, span in seen.events[""] if kind == "error"] == ["random.sgl:3:12"]


def test_a_function_that_an_error_leaves_is_traced_with_the_place_of_the_error() -> None:
    text = """\
part outside(xs: [int]) -> int:
    | One of ${xs}.
    return xs[7]

fn inner(n: int) -> int:
    user:
        let found = part outside([n])
    return n

pub fn main(n: int, word: str) -> int:
    return inner(n) else len(word)
"""
    for level in LEVELS:
        seen = outcome(compiled(text, level), {"n": 4, "word": "x"}, HashedEngine())
        left = [span for kind, data, span in seen.events[""] if kind == "return" and "error" in data]
        assert left == ["random.sgl:3:12"]


def test_a_constant_loop_that_an_error_leaves_may_tell_of_its_item() -> None:
    text = """\
error Odd(n: int)

fn inner() -> int raises Odd:
    for x in [1, 2]:
        if ((x > 1) and (x > 0)) or (0 < 0):
            raise Odd(x)
    return 2

pub fn main(n: int, word: str) -> int:
    try:
        return inner()
    except Odd as odd:
        return odd.n + 40
"""
    for level in LEVELS:
        assert outcome(compiled(text, level), {"n": 4, "word": "x"}, HashedEngine()).value == 42
