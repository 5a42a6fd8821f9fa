"""How long to wait before a request is sent again."""

from __future__ import annotations

import math
from random import Random

from sglc.runtime.backends.exchange import BackendFault

FIRST = 0.5
"""Seconds that the first wait has at most; each later one may be twice as long."""
LONGEST = 8.0
"""Seconds that any wait has at most. Longer outages are the breaker's."""
MOST_PATIENCE = 300.0
"""Seconds that a backend may ask for. Five minutes are more than windows of rates need; a header that says
more (days, by mistake or malice) would hold a program that has no deadline."""


class Backoff:
    """Waits with full jitter: uniform between 0 and a bound that doubles. Equal seeds give equal waits.
    (AWS Architecture Blog, "Exponential Backoff And Jitter", 2015.)"""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def wait(self, failures: int, fault: BackendFault) -> float | None:
        """Seconds to wait behind the fault, `failures` others having come before it; None where the request
        must not be sent again. What the backend asks for is kept, with jitter on top, so that those who
        wait for the same second do not come back together."""
        if not fault.again:
            return None
        jitter = self._random.uniform(0.0, min(LONGEST, FIRST * 2.0 ** min(failures, 10)))
        told = fault.retry_after
        if told is None or not math.isfinite(told) or told < 0:
            return jitter
        if told > MOST_PATIENCE:
            return None
        return told + self._random.uniform(0.0, min(FIRST, told / 10))
