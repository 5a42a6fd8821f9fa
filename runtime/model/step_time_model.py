"""Chooses the number of threads of a forward pass by measuring the time of passes.

A pass of one token is hundreds of short parallel loops, and each waits for its slowest thread. On an idle
machine more threads are faster; on a busy one a thread that is not scheduled holds up all others at every
loop, and a single thread can be twenty times faster than two. No setting is right for both, so now and then
a pass is run with half or twice the threads, and the better count is kept.
"""

from __future__ import annotations

FIRST_INTERVAL = 8
"""Passes between two trials at first; doubled with each trial that changes nothing."""
LONGEST_INTERVAL = 512
MARGIN = 0.8
"""A count must take less than this part of the present one's time to replace it."""
ALARM = 3.0
"""A pass that takes this many times the usual time brings the next trial forward."""


class StepTimeModel:
    """Chooses a count of threads from `most`, its half, and so on down to 1.

    Call `threads` before a pass and `record` with its time after it. Only passes of equal work should be
    recorded. Deterministic: a function of the recorded times.
    """

    def __init__(self, most: int) -> None:
        counts = [max(1, most)]
        while counts[-1] > 1:
            counts.append(counts[-1] // 2)
        self._counts = counts
        self._times: list[float | None] = [None] * len(counts)
        self._current = 0
        self._interval = FIRST_INTERVAL
        self._wait = 1
        self._trial: int | None = None
        self._down = True

    @property
    def settled(self) -> int:
        """The count that is best so far; for passes that are not recorded."""
        return self._counts[self._current]

    def threads(self) -> int:
        """The count to use for the next recorded pass."""
        self._trial = self._neighbour() if self._wait <= 0 and len(self._counts) > 1 else None
        return self._counts[self._current if self._trial is None else self._trial]

    def record(self, seconds: float) -> None:
        """Record the seconds of the pass that used the last result of `threads`."""
        if self._trial is not None:
            self._judge(self._trial, seconds)
            self._trial = None
            return
        usual = self._times[self._current]
        if usual is not None and seconds > ALARM * usual:
            self._wait = 0
            self._interval = FIRST_INTERVAL
        else:
            self._wait -= 1
        self._times[self._current] = seconds if usual is None else 0.7 * usual + 0.3 * seconds

    def _neighbour(self) -> int:
        """Half the threads and twice the threads in turn, as far as there are such counts."""
        step = 1 if self._down else -1
        self._down = not self._down
        found = self._current + step
        return found if 0 <= found < len(self._counts) else self._current - step

    def _judge(self, trial: int, seconds: float) -> None:
        usual = self._times[self._current]
        self._times[trial] = seconds
        if usual is None or seconds < MARGIN * usual:
            self._current = trial
            self._interval = FIRST_INTERVAL
        else:
            self._interval = min(2 * self._interval, LONGEST_INTERVAL)
        self._wait = self._interval
