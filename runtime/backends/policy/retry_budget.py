"""How many requests may be sent again: a share of all, so that retries do not become a storm."""

from __future__ import annotations

from sglc.runtime.backends.exchange import Clock

SHARE = 0.2
"""Of the requests of a minute, as many may be retries. (Finagle's retry budgets have the same share.)"""
FLOOR = 10
"""Retries of a minute that are always there: a single call has no other requests to take a share of. It is
above the retries of one call, so that the budget never decides about a call that is alone."""
WINDOW = 60
"""Seconds that are looked at, one count for each."""


class RetryBudget:
    """Counts of the last minute, second by second: its size does not depend on the number of requests."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._requests = [0] * WINDOW
        self._retries = [0] * WINDOW
        self._second: int | None = None

    def request(self) -> None:
        """Count a request, a first one or a retry."""
        self._requests[self._now()] += 1

    def take(self) -> bool:
        """Whether a retry may be sent now; it is counted then."""
        here = self._now()
        if sum(self._retries) + 1 > FLOOR + SHARE * sum(self._requests):
            return False
        self._retries[here] += 1
        return True

    def _now(self) -> int:
        """The place of this second; those that passed since the last look are empty."""
        second = int(self._clock.now())
        if self._second is None:
            self._second = second
        for each in range(self._second + 1, min(second, self._second + WINDOW) + 1):
            self._requests[each % WINDOW] = self._retries[each % WINDOW] = 0
        if second - self._second > WINDOW:
            self._requests, self._retries = [0] * WINDOW, [0] * WINDOW
        self._second = max(second, self._second)
        return self._second % WINDOW
