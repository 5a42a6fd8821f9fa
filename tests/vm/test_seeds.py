"""Seeds come from the place in the program of what draws from them."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.hashed_engine import HashedEngine
from outcomes import compiled, outcome
from sglc.options import LEVELS
from sglc.runtime.vm.state.seed import Seeds


def value(text: str, n: int, *, level: int = 2, seed: int = 3) -> Any:
    return outcome(compiled(text, level), {"n": n, "word": "x"}, HashedEngine(), seed=seed).value


WORD = "?{w: str min 8 chars max 12 chars temp 1.5}"

CALLS = f"""\
fn many(n: int) -> int:
    for i in 0..<n:
        assistant: | {WORD}
    return n

fn one(of: str) -> str:
    assistant: | {WORD}
    return w

pub fn main(n: int, word: str) -> [str]:
    let a = one(word)
    let b = many(n)
    let c = one(word)
    return [a, c]
"""


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_callee_draws_changes_no_later_call_and_each_call_has_a_seed_of_its_own(level: int) -> None:
    first, second = value(CALLS, 1)
    assert first != second
    assert value(CALLS, 4, level=level) == [first, second]
    assert value(CALLS, 4, level=level, seed=4) != [first, second]


FORKS = f"""\
pub fn main(n: int, word: str) -> [str]:
    let tries = fork i in 0..<n:
        assistant: | {WORD}
        yield w
    let more = fork i in 0..<2:
        assistant: | {WORD}
        yield w
    return [each.value for each in more]
"""


def test_the_branches_of_a_fork_draw_by_number_of_the_fork_and_of_the_branch() -> None:
    first, second = value(FORKS, 1)
    assert first != second
    assert value(FORKS, 3) == [first, second]


OWN = f"""\
fn one(of: str) -> str:
    assistant: | {WORD}
    return w

fn seeded(n: int) -> str:
    let tries = fork i in [n] seed i:
        yield one("x")
    return tries[0].value

pub fn main(n: int, word: str) -> (str, str):
    let a = seeded(n)
    let b = one("x")
    return (a, b)
"""


def test_a_seed_that_a_fork_sets_is_for_its_branch_and_what_the_branch_calls() -> None:
    first, second = value(OWN, 5)
    plain = value(OWN.replace(" seed i", ""), 5)
    assert first != plain[0] and second == plain[1]
    assert value(OWN, 6) != [first, second] and value(OWN, 6)[1] == second


PARTS = f"""\
part say(n: int) -> str:
    | {WORD}
    return w

pub fn main(n: int, word: str) -> [str]:
    assistant:
        let a = part say(n)
        | {WORD}
        let b = part say(n)
    return [a, w, b]
"""


def test_a_part_draws_from_the_conversation_it_writes_into() -> None:
    seen = [value(PARTS, 1, level=level) for level in LEVELS]
    assert seen[0] == seen[-1] and len(set(seen[0])) == 3


def test_the_seed_of_a_call_that_comes_is_the_one_it_gets() -> None:
    seeds = Seeds(1)
    coming = [seeds.coming("f", ahead) for ahead in range(3)]
    seeds.hole(None, 0, b"")
    seeds.call("g")
    seeds.fork()
    assert [seeds.call("f") for _ in range(3)] == coming
    written = [seeds.hole(7, 0, b""), seeds.hole(7, 1, b""), seeds.hole(7, 0, b"x")]
    assert len({*coming, seeds.coming("g"), *written}) == 7
    assert written[0] == Seeds(2).hole(7, 0, b"")
    seeds.begin(1)
    assert seeds.coming("f") == coming[0]


def test_holes_behind_the_same_text_have_seeds_of_their_own() -> None:
    """As behind a `try` whose text was taken back."""
    seeds = Seeds(1)
    assert len({seeds.hole(None, 0, b"same") for _ in range(5)}) == 5
