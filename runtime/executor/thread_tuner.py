"""Tunes the number of threads to the processors that are free, by measuring steps.

Threads that run a step synchronise some hundred times. A thread that waits for a processor delays all others
at each barrier: with as many other busy programs as there are processors, two threads were ten to thirty
times slower than one. So each thread measures its lost time: the time of the step minus its own processor
time, 0 on an idle machine. Where lost time is a good part of the step, the next steps take half the threads.

More threads are tried again after a wait. The wait doubles with each trial that fails, and is long beside
what the trial has cost. Where the system reports how many threads run on the machine, no step runs more
threads than it has free processors. Steps of all sizes lose time alike, so one tuner decides for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter

LOST = 0.25
"""Largest part of the steps' time that a thread may lose."""
FADING = 0.7
"""Weight of what was measured before a step beside that step. A step's weight is its time."""
GRACE = 0.02
"""Seconds of undisturbed steps that a new number of threads is taken to have had."""
FIRST_WAIT = 0.1
"""Seconds until more threads are tried again, at first."""
LONGEST_WAIT = 30.0
"""Also of the time that a trial is put off because the machine looks busy: others may have other
processors."""
PRICE = 20.0
"""A trial that failed is not repeated before so many times the time that it lost."""
STEPS = 8
"""Steps between two trials at least, and steps before a trial has succeeded."""
PROOF = 0.2
"""Seconds before a trial has succeeded."""


def no_room(threads: int) -> bool:
    """Whether the machine runs too much else for so many threads, as far as Linux tells.

    The caller is one of them.
    """
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            running = int(file.read().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return False
    return running - 1 + threads > (os.cpu_count() or 1)


class ThreadTuner:
    """Call `threads` before a step and `record` after it.

    `now` is a clock in seconds; `busy` says of a number of threads whether the machine has no room for them.
    """

    def __init__(
        self, most: int, now: Callable[[], float] = perf_counter, busy: Callable[[int], bool] = no_room
    ) -> None:
        self.most = max(1, most)
        self._now, self._busy = now, busy
        self._allowed = 0
        """0 before the first step."""
        self._since = 0.0
        """When threads became more or fewer."""
        self._steps = 0
        """Steps since then."""
        self._wait = FIRST_WAIT
        self._due = self._look = 0.0
        """When more threads are due to be tried, and when the machine is looked at again before that."""
        self._proven = True
        """Whether so many threads have been good for some time."""
        self._whole, self._lost = GRACE, 0.0

    def threads(self) -> int:
        """The most threads that the next step should have."""
        if self._allowed == self.most:
            return self._allowed
        now = self._now()
        if not self._allowed:
            first = self.most
            while first > 1 and self._busy(first):
                first //= 2
            self._change(first, FIRST_WAIT)
        elif self._steps >= STEPS and now >= self._look:
            more = min(2 * self._allowed, self.most)
            if now < self._due + LONGEST_WAIT and self._busy(more):
                self._look = now + FIRST_WAIT
            else:
                self._change(more)
                self._proven = False
        return self._allowed

    def record(self, threads: int, seconds: float, lost: float) -> bool:
        """Tell of a step: how long it took, and for how much of it a thread was without a processor, the one
        that fared worst. Returns whether the step was undisturbed.
        """
        self._steps += 1
        if threads > 1:
            self._whole = FADING * self._whole + seconds
            self._lost = FADING * self._lost + lost
            if self._lost > LOST * self._whole:
                self._fewer(threads // 2)
            elif not self._proven and self._steps >= STEPS and self._now() - self._since >= PROOF:
                self._proven = True
                self._wait = FIRST_WAIT
                self._look = self._due = self._now()
        return lost <= LOST * seconds

    def _fewer(self, threads: int) -> None:
        if self._proven:
            pause = self._wait = FIRST_WAIT
        else:
            self._wait = min(2 * self._wait, LONGEST_WAIT)
            pause = min(max(self._wait, PRICE * self._lost), LONGEST_WAIT)
        self._change(threads, pause)
        self._proven = True

    def _change(self, threads: int, pause: float = 0.0) -> None:
        self._allowed = threads
        self._since, self._steps = self._now(), 0
        self._look = self._due = self._since + pause
        self._whole, self._lost = GRACE, 0.0
