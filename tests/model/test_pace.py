"""The count of threads follows the times of forward passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.model.step_time_model import LONGEST_INTERVAL, Pace


def run(pace: Pace, passes: int, time_of: Callable[[int], float]) -> list[int]:
    """The counts that were used."""
    used = []
    for _ in range(passes):
        used.append(pace.threads())
        pace.record(time_of(used[-1]))
    return used


@pytest.mark.parametrize("best", [1, 2, 4, 8])
def test_the_fastest_count_is_found_and_kept(best: int) -> None:
    pace = Pace(8)
    used = run(pace, 400, lambda threads: 1.0 + abs(threads - best))
    assert pace.settled == best
    assert used[-200:].count(best) > 190


def test_a_machine_that_gets_busy_is_noticed_at_once_and_forgotten_later() -> None:
    pace = Pace(2)
    run(pace, 1000, lambda threads: 1.0 / threads)
    assert pace.settled == 2
    busy = run(pace, 5, lambda threads: 0.8 if threads == 1 else 20.0)
    assert busy[-1] == pace.settled == 1
    assert busy.count(2) <= 2
    run(pace, 2 * LONGEST_INTERVAL, lambda threads: 1.0 / threads)
    assert pace.settled == 2


def test_one_core_needs_no_trials() -> None:
    assert set(run(Pace(1), 50, lambda threads: 1.0)) == {1}


def test_trials_become_rare() -> None:
    used = run(Pace(4), 5000, lambda threads: 1.0 / threads)
    assert sum(threads != 4 for threads in used) < 20


@given(st.integers(1, 64), st.lists(st.floats(0, 100), max_size=200))
def test_any_times_give_a_legal_count(most: int, times: list[float]) -> None:
    pace = Pace(most)
    for seconds in times:
        assert 1 <= pace.threads() <= most
        pace.record(seconds)
        assert 1 <= pace.settled <= most
