"""A breaker: an endpoint that keeps failing is left alone for a while, then tried by one request."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import Enum

from sglc.runtime.backends.exchange import BackendFault, Clock

IN_A_ROW = 5
"""Faults in a row that open a breaker: with a tenth of requests failing by chance, one run in 100,000."""
LOOKED_AT, WINDOW = 20, 30.0
"""Outcomes, and seconds, of which half must be faults: what faults in a row miss, an endpoint that fails now
and then."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 60.0
"""Seconds before a probe: most restarts take no longer than the first; a minute loses little of an hour."""
TICK = 1e-6
"""Seconds by which an event loop may wake a sleeper early: the resolution of its clock, and rounding."""


class _State(Enum):
    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


def counts(fault: BackendFault) -> bool:
    """Whether a fault speaks against its endpoint. An endpoint that limits the rate or refuses a key or a
    request is there and well."""
    return fault.cause in ("connection", "overloaded", "protocol")


class Breaker:
    """Closed: requests pass. Open: none does until a pause is over; then one is the probe, the others wait
    for what becomes of it. (Nygard, "Release It!", 2007.)

    A request that entered before the state changed says nothing any more: its ticket is old.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state = _State.CLOSED
        self._ticket = 0
        self._outcomes: deque[tuple[float, bool]] = deque(maxlen=LOOKED_AT)
        self._row = 0
        self._pause = FIRST_PAUSE
        self._until = 0.0
        self._settled = asyncio.Event()

    @property
    def state(self) -> str:
        """`closed`, `open` or `probing`."""
        return self._state.value

    @property
    def blocks(self) -> bool:
        """Whether a request would have to wait now."""
        return self._state is _State.PROBING or self.pause > TICK

    @property
    def pause(self) -> float:
        """Seconds before a request may enter, where that is known; else 0."""
        return max(0.0, self._until - self._clock.now()) if self._state is _State.OPEN else 0.0

    def enter(self) -> int | None:
        """A ticket if a request may be sent now. After a pause the first one that enters is the probe. Each
        ticket is given back with one of `succeeded`, `failed`, `left`."""
        if self.blocks:
            return None
        if self._state is _State.OPEN:
            self._turn(_State.PROBING)
        return self._ticket

    async def wait(self) -> None:
        """Wait until it is worth while to enter: the pause, or the probe of another, is over."""
        if self._state is _State.PROBING:
            await self._settled.wait()
        else:
            await self._clock.sleep(self.pause)

    def succeeded(self, ticket: int) -> None:
        """The endpoint did what it should."""
        if ticket != self._ticket:
            return
        if self._state is _State.PROBING:
            self._pause = FIRST_PAUSE
            self._turn(_State.CLOSED)
        self._row = 0
        self._outcomes.append((self._clock.now(), False))

    def failed(self, ticket: int) -> None:
        """A fault that speaks against the endpoint."""
        if ticket != self._ticket:
            return
        if self._state is _State.PROBING:
            self._pause = min(LONGEST_PAUSE, self._pause * 2)
            self._open(self._pause)
            return
        self._row += 1
        self._outcomes.append((self._clock.now(), True))
        if self._row >= IN_A_ROW or self._half():
            self._open(self._pause)

    def left(self, ticket: int) -> None:
        """A request ended before anything could be said of the endpoint; the next one is the probe then."""
        if ticket == self._ticket and self._state is _State.PROBING:
            self._open(0.0)

    def _half(self) -> bool:
        since = self._clock.now() - WINDOW
        recent = [bad for when, bad in self._outcomes if when >= since]
        return len(recent) == LOOKED_AT and 2 * sum(recent) >= LOOKED_AT

    def _open(self, pause: float) -> None:
        self._until = self._clock.now() + pause
        self._turn(_State.OPEN)

    def _turn(self, state: _State) -> None:
        self._state = state
        self._ticket += 1
        self._row = 0
        self._outcomes.clear()
        if state is _State.PROBING:
            self._settled.clear()
        else:
            self._settled.set()
