"""How many workers there should be: enough that what waits is done soon, none that stays idle for long."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

SOON = 10.0
"""Seconds within which what waits should be done. A worker takes several to start."""
IDLE = 30.0
"""Seconds that more workers are there than are wanted, before one of them goes."""
WEIGHT = 0.2
"""What the last call counts in the mean of their durations."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The fewest and the most workers."""

    fewest: int
    most: int

    def __str__(self) -> str:
        return str(self.most) if self.fewest == self.most else f"{self.fewest}:{self.most}"


@dataclass(slots=True)
class Scaling:
    """Decides how many workers there should be. `seconds` is the mean duration of a call so far, 0 before
    one has ended; `since` is since when fewer would do, by the clock of the caller."""

    sizes: Sizes
    seconds: float = 0.0
    since: float | None = None

    def ended(self, seconds: float) -> None:
        """A call has taken so long."""
        self.seconds = seconds if not self.seconds else self.seconds + WEIGHT * (seconds - self.seconds)

    def wanted(self, waiting: int, going: int, width: int, there: int, now: float) -> int:
        """How many workers there should be, where `there` are some, each of which does `width` calls at a
        time; `going` calls are with them and `waiting` more are to come. More at once, fewer after IDLE."""
        rate = width / self.seconds if self.seconds else 0.0  # calls a second of one worker
        enough = max(ceil(waiting / (rate * SOON)) if rate else 0, ceil(going / width) if width else 0)
        target = min(max(enough, self.sizes.fewest), self.sizes.most)
        if target >= there:
            self.since = None
            return target
        if self.since is None:
            self.since = now
        if now - self.since < IDLE:
            return there
        self.since = now  # one after the other
        return there - 1
