"""The count of threads follows the times of forward passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.model.step_time_model import LONGEST_INTERVAL, StepTimeModel


def run(step_time_model: StepTimeModel, passes: int, time_of: Callable[[int], float]) -> list[int]:
    """The counts that were used."""
    used = []
    for _ in range(passes):
        used.append(step_time_model.threads())
        step_time_model.record(time_of(used[-1]))
    return used


@pytest.mark.parametrize("best", [1, 2, 4, 8])
def test_the_fastest_count_is_found_and_kept(best: int) -> None:
    step_time_model = StepTimeModel(8)
    used = run(step_time_model, 400, lambda threads: 1.0 + abs(threads - best))
    assert step_time_model.settled == best
    assert used[-200:].count(best) > 190


def test_a_machine_that_gets_busy_is_noticed_at_once_and_forgotten_later() -> None:
    step_time_model = StepTimeModel(2)
    run(step_time_model, 1000, lambda threads: 1.0 / threads)
    assert step_time_model.settled == 2
    busy = run(step_time_model, 5, lambda threads: 0.8 if threads == 1 else 20.0)
    assert busy[-1] == step_time_model.settled == 1
    assert busy.count(2) <= 2
    run(step_time_model, 2 * LONGEST_INTERVAL, lambda threads: 1.0 / threads)
    assert step_time_model.settled == 2


def test_one_core_needs_no_trials() -> None:
    assert set(run(StepTimeModel(1), 50, lambda threads: 1.0)) == {1}


def test_trials_become_rare() -> None:
    used = run(StepTimeModel(4), 5000, lambda threads: 1.0 / threads)
    assert sum(threads != 4 for threads in used) < 20


@given(st.integers(1, 64), st.lists(st.floats(0, 100), max_size=200))
def test_any_times_give_a_legal_count(most: int, times: list[float]) -> None:
    step_time_model = StepTimeModel(most)
    for seconds in times:
        assert 1 <= step_time_model.threads() <= most
        step_time_model.record(seconds)
        assert 1 <= step_time_model.settled <= most
