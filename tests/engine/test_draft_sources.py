"""What drafts are made of and priced by: look-up in the text, costs of steps, transition history of holes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.runtime.engine.core.cost import StepCost, expected
from sglc.runtime.engine.drafting.prompt_lookup import LONGEST_MATCH, SINGLES, Lookup
from sglc.runtime.engine.drafting.transition_history import (
    MOST_CONTINUATIONS,
    MOST_POSITIONS,
    Rates,
    TransitionHistory,
)

# -- look-up -----------------------------------------------------------------------------------------


def longest_match(tokens: list[int]) -> tuple[int, int]:
    """The newest of the longest matches of the end, by trying every place."""
    best, length = -1, 1
    for position in range(len(tokens) - 1, 1, -1):
        size = 0
        while size < min(position, LONGEST_MATCH) and tokens[position - 1 - size] == tokens[-1 - size]:
            size += 1
        if size > length:
            best, length = position, size
    return (best, length) if best >= 0 else (-1, 0)


def last_alone(tokens: list[int]) -> tuple[int, int]:
    """The newest place where the last token stood before, and how such places agree."""
    places = [position for position in range(len(tokens) - 1, 0, -1) if tokens[position - 1] == tokens[-1]]
    if not places:
        return -1, 0
    following = {tokens[position] for position in places[: SINGLES + 1]}
    return places[0], 0 if len(following) > 1 else min(len(places), 2)


EDITS = st.lists(
    st.one_of(
        st.lists(st.integers(0, 2), min_size=1, max_size=6),
        st.integers(0, 9),
        st.tuples(st.integers(0, 9), st.lists(st.integers(0, 2), max_size=4)),
    ),
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(expected=st.lists(st.integers(0, 2), max_size=8), edits=EDITS)
def test_what_a_text_is_expected_to_be_is_found_as_if_it_stood_before_it(
    expected: list[int], edits: list[Any]
) -> None:
    lookup, tokens = Lookup(), [0]
    lookup.follow([2, 2, 2])
    lookup.expect(expected)
    for edit in edits:
        if isinstance(edit, list):
            tokens += edit
        elif isinstance(edit, int):
            del tokens[max(1, len(tokens) - edit) :]
        else:
            tokens[max(1, len(tokens) - edit[0]) :] = edit[1]
        lookup.follow(tokens)
        whole = [*expected, *tokens]
        assert lookup.find() == longest_match(whole) and lookup.single() == last_alone(whole)
        assert [lookup[at] for at in range(len(lookup))] == whole


@settings(max_examples=100, deadline=None)
@given(edits=EDITS)
def test_look_up_finds_the_longest_match_after_any_edits(edits: list[Any]) -> None:
    """Tokens are added, taken back, and replaced at the end; a fresh index and a naive search agree."""
    lookup, tokens = Lookup(), [3, 1]
    for edit in edits:
        if isinstance(edit, list):
            tokens = tokens + edit
        elif isinstance(edit, int):
            tokens = tokens[: max(0, len(tokens) - edit)]
        else:
            tokens = tokens[: max(0, len(tokens) - edit[0])] + edit[1]
        lookup.follow(tokens)
        fresh = Lookup()
        fresh.follow(tokens)
        assert lookup.find() == fresh.find()
        assert len(lookup) == len(tokens)
        position, length = lookup.find()
        wanted, most = longest_match(tokens) if tokens else (-1, 0)
        assert length <= most
        if length:
            assert tokens[position - length : position] == tokens[-length:]
        assert lookup.single() == fresh.single() == last_alone(tokens)
        if len(tokens) <= 9:  # no more places than are looked at
            assert (position, length) == (wanted, most)


def test_look_up_of_a_known_beginning_compares_only_what_follows_it() -> None:
    lookup = Lookup()
    lookup.follow([1, 2, 3, 4, 5])
    lookup.follow([1, 2, 3, 4, 1, 2], stable=3)
    assert lookup.find() == (2, 2)
    lookup.follow([1, 2], stable=2)
    assert lookup.find() == (-1, 0)


def test_an_old_place_is_found_by_the_hint() -> None:
    long = [7, 8, 9, 1, 2]
    tokens = [*long, 5, *[1, 2, 6] * 20, *long]
    lookup = Lookup()
    lookup.follow(tokens)
    assert lookup.find()[1] == 2
    assert lookup.find(hint=5) == (5, 5)


def test_only_the_end_of_a_very_long_text_is_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sglc.runtime.engine.drafting.prompt_lookup.MOST_INDEXED", 10)
    lookup = Lookup()
    lookup.follow([1, 2, 3] * 20)
    assert lookup.find() == (57, 7) and lookup[57] == 1 and len(lookup._before) == 10
    lookup.follow([1, 2, 3])
    assert lookup.find() == (-1, 0) and lookup[2] == 3


# -- costs of steps ----------------------------------------------------------------------------------

CURVES: list[Callable[[int], float]] = [
    lambda rows: 0.004 + 0.0001 * rows,
    lambda rows: max(0.004, 0.001 * rows),
    lambda rows: 0.002,
]


@pytest.mark.parametrize("curve", CURVES)
def test_costs_are_learned_in_spite_of_noise(curve: Callable[[int], float]) -> None:
    cost, random = StepCost(), np.random.default_rng(1)
    sizes = (1, 2, 3, 4, 5, 8, 16, 32)
    for _ in range(40):
        for rows in sizes:
            noise = random.exponential(0.05) + (10.0 if random.random() < 0.1 else 0.0)
            cost.record(rows, curve(rows) * (1 + noise))
    for rows in sizes:
        assert cost.estimate(rows) == pytest.approx(curve(rows), rel=0.25)
    estimates = [cost.estimate(rows) for rows in range(1, 64)]
    assert estimates == sorted(estimates)


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(1, 9000), st.floats(1e-5, 10.0)), max_size=60),
)
def test_costs_never_fall_as_rows_are_added(steps: list[tuple[int, float]]) -> None:
    cost = StepCost()
    for rows, seconds in steps:
        cost.record(rows, seconds)
    estimates = [cost.estimate(rows) for rows in (*range(1, 70), 100, 500, 5000, 20_000)]
    assert all(0 < one <= other * (1 + 1e-9) for one, other in pairwise(estimates))


def test_a_size_that_was_slow_once_is_tried_again() -> None:
    cost = StepCost()
    for _ in range(20):
        cost.record(4, 0.5)
        cost.record(1, 0.01)
    assert cost.estimate(4) == pytest.approx(0.5)
    for _ in range(400):
        cost.record(1, 0.01)
    assert cost.estimate(4) == pytest.approx(0.01 * expected(4))
    assert cost.estimate(1) == pytest.approx(0.01)


def test_costs_begin_with_a_guess_and_ignore_what_is_no_time() -> None:
    cost = StepCost()
    for seconds in (0.0, -1.0, float("nan"), float("inf")):
        cost.record(1, seconds)
    assert cost.estimate(4) == expected(4)
    cost.record(1, 0.01)
    assert cost.estimate(4) == pytest.approx(0.01 * expected(4))
    for _ in range(30):
        cost.record(8, 0.02, 8)
    assert cost.sequences == pytest.approx(8, abs=0.1)


# -- transition history ------------------------------------------------------------------------------


def test_the_likeliest_way_is_proposed_with_its_chance() -> None:
    history = TransitionHistory()
    assert history.best(5, 0, 1) is None
    for continuation in ((1, 2), (1, 2), (3,), (1, 2)):
        history.learn(5, 0, 1, continuation)
    chance = pytest.approx(3.2 / 6)
    assert history.best(5, 8, 1) == ((1, 2), chance, 0)  # at the place, after its last token
    assert history.best(6, 0, 1) == ((1, 2), chance, 1)  # after both tokens, at another place
    assert history.best(5, 8, 9) == ((1, 2), chance, 2)  # at the place, after another token
    for _ in range(6):
        history.learn(5, 0, 9, ())
    assert history.best(5, 8, 9) == ((), pytest.approx(6.2 / 8), 0)
    assert history.best(5, 0, 1) == ((1, 2), chance, 0)


def test_habits_are_bounded_and_follow_what_is_new() -> None:
    history = TransitionHistory()
    for number in range(2 * MOST_POSITIONS):
        history.learn(number, number, 0, (1,))
    assert len(history._positions) <= MOST_POSITIONS and history.best(0, 0, 0) is None
    for number in range(1000):
        history.learn(0, 0, 0, (number,))
    assert all(len(position.continuations) <= MOST_CONTINUATIONS for position in history._positions.values())
    for _ in range(100):
        history.learn(1, 1, 1, (1,))
    for _ in range(80):
        history.learn(1, 1, 1, (2,))
    assert (history.best(1, 1, 1) or [None])[0] == (2,)
    history.learn(3, 3, 3, tuple(range(1000)))
    assert history.best(3, 3, 3) is None


def test_rates_approach_what_happens() -> None:
    rates = Rates([0.9, 0.5])
    for number in range(200):
        rates.observe(0, number % 5 == 0)
    assert rates.rate[0] == pytest.approx(0.2, abs=0.1) and rates.rate[1] == 0.5
    assert rates.successor().rate == rates.rate
