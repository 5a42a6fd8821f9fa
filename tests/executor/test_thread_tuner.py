"""The count of threads follows the processors that they get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.executor import thread_tuner
from sglc.runtime.executor.thread_tuner import FIRST_WAIT, LONGEST_WAIT, ThreadTuner


class Machine:
    """A clock, and steps of `work` seconds of one thread beside `others` on so many processors.

    Threads that have to share processors take `slow` times as long, as they were measured to.
    """

    def __init__(self, most: int, processors: int = 0, told: bool = True, slow: float = 20.0) -> None:
        self.clock, self.others, self.slow = 0.0, 0, slow
        self.processors = processors or most
        self.tuner = ThreadTuner(
            most, lambda: self.clock, lambda threads: told and self.others + threads > self.processors
        )

    def run(self, seconds: float, work: float = 0.01, others: int = 0, stall: float = 0.0) -> list[int]:
        """Steps one after the other; the counts of threads they had. `stall` is lost in the first step."""
        self.others = others
        used = []
        end = self.clock + seconds
        while self.clock < end:
            threads = self.tuner.threads()
            used.append(threads)
            alone = work / threads
            crowded = threads > 1 and others + threads > self.processors
            took = alone * self.slow if crowded else alone
            lost = took - alone + stall
            self.clock += took + stall
            self.tuner.record(threads, took + stall, lost)
            stall = 0.0
        return used


@pytest.mark.parametrize("most", [1, 2, 8])
def test_a_quiet_machine_is_used_whole(most: int) -> None:
    assert set(Machine(most).run(60.0)) == {most}


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("others", [2, 4])
def test_a_busy_machine_is_left_to_others(told: bool, others: int) -> None:
    """At most a tenth of what one thread would do is lost, and hardly anything where the system tells."""
    machine = Machine(2, told=told)
    used = machine.run(100.0, others=others)
    assert len(used) * 0.01 > (0.995 if told else 0.9) * 100.0
    assert used.count(2) <= (4 if told else 20)


def test_threads_come_back_soon_after_the_others_are_gone() -> None:
    machine = Machine(8)
    machine.run(10.0)
    assert machine.run(60.0, others=7)[-1] == 1
    used = machine.run(2.0)
    assert used[-1] == 8 and set(used) == {1, 2, 4, 8}


def test_without_word_of_the_system_they_come_back_later() -> None:
    machine = Machine(2, told=False)
    machine.run(30.0, others=2)
    assert machine.run(LONGEST_WAIT + 1)[-1] == 2


def test_a_stall_costs_a_tenth_of_a_second() -> None:
    machine = Machine(4)
    machine.run(1.0)
    used = machine.run(5.0, stall=60.0)
    assert used[-1] == 4
    assert sum(0.01 / threads for threads in used[1:] if threads < 4) < 2 * FIRST_WAIT
    assert set(used[len(used) // 2 :]) == {4}


def test_small_disturbances_change_nothing() -> None:
    machine = Machine(2)
    for _ in range(200):
        assert set(machine.run(0.03, stall=0.003)) == {2}


def test_others_that_leave_half_of_the_processors() -> None:
    used = Machine(8).run(20.0, others=4)
    assert set(used) == {4}
    used = Machine(8, told=False).run(100.0, others=4)
    assert used.count(4) > 0.9 * len(used)


def test_a_machine_that_always_looks_busy_is_tried_in_the_end() -> None:
    """There the system counts what this process has no part in."""
    clock = [0.0]
    found = ThreadTuner(2, lambda: clock[0], lambda threads: True)
    used = []
    for _ in range(500):
        used.append(found.threads())
        clock[0] += 0.1
        assert found.record(used[-1], 0.1, 0.0)
    assert used[0] == 1 and used[-1] == 2
    assert used.index(2) * 0.1 == pytest.approx(LONGEST_WAIT, abs=1.0)


STEPS = st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1), st.booleans()), max_size=300)


@given(st.integers(1, 70), STEPS)
def test_any_steps_give_counts_in_range(most: int, steps: list[tuple[float, float, bool]]) -> None:
    clock, busy = [0.0], [False]
    found = ThreadTuner(most, lambda: clock[0], lambda threads: busy[0])
    for seconds, part, busy[0] in steps:
        threads = found.threads()
        assert 1 <= threads <= most
        clock[0] += seconds
        assert found.record(threads, seconds, part * seconds) == (
            part * seconds <= thread_tuner.LOST * seconds
        )


@pytest.mark.parametrize(
    ("text", "crowded"), [("0.5 0.4 0.3 3/100 17", True), ("0 0 0 1/1 17", False), ("", False), (None, False)]
)
def test_what_linux_tells(
    text: str | None, crowded: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    place = tmp_path / "loadavg"
    if text is not None:
        place.write_text(text)
    real = open
    monkeypatch.setattr("builtins.open", lambda path, **how: real(place, **how))
    monkeypatch.setattr(thread_tuner.os, "cpu_count", lambda: 2)
    assert thread_tuner.no_room(2) is crowded


def test_the_executor_asks_and_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps whose threads say that they had no processor are followed by steps of one thread."""
    pytest.importorskip("llvmlite")
    from sglc.runtime.executor import native

    made = native.NativeExecutor.__new__(native.NativeExecutor)
    used: list[int] = []
    had = [1.0, 0.1]

    class FakePool:
        most = 4

        def run(self, function: Callable[..., Any], before: Sequence[Any], after: Any, threads: int) -> None:
            used.append(threads)
            for thread in range(threads):
                counters[8 + 8 * thread : 10 + 8 * thread] = 1e8, 1e8 * had[thread % 2]

    counters = np.zeros(8 * 5, np.int64)
    made._thread_pool = FakePool()  # type: ignore[assignment]
    made._tuner = ThreadTuner(4, lambda: 0.0, lambda threads: False)
    made._step_time_models, made._step = {}, lambda: None
    made._arrays = made._scratch = None  # type: ignore[assignment]
    batch: Any = SimpleNamespace(count=1, counters=counters)
    for _ in range(3):
        made._invoke(batch, ())
    assert used == [4, 2, 1]
    assert not any(step_time_model._times[0] for step_time_model in made._step_time_models.values())
    made._tuner = None
    made._invoke(batch, ())
    assert used[-1] == 4
