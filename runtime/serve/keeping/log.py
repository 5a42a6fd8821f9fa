"""What a run has told, in its order, until a reader has it."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

KEPT_EVENTS = 4096
"""Most events that are kept for a reader: what it has not read of more than these is joined or lost."""
KEPT_BYTES = 4 * 1024 * 1024
"""Most bytes of these."""
EVENT_BYTES = 160
"""Bytes of an event besides its data: the object, its number, its place in a log."""

Lull = Callable[[], Awaitable[None]]
"""Waits for the time at which work that can wait delays nothing; see `Engine.step_begun`."""


async def at_once() -> None:
    """There is no need to wait."""


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a run: its place in the order, its name, and its data as JSON text."""

    number: int
    name: str
    data: str

    @property
    def last(self) -> bool:
        """Whether nothing follows."""
        return self.name in ("value", "error")

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return EVENT_BYTES + sys.getsizeof(self.data)


class Log:
    """Events of a run in their order, for one reader at a time. Bounded: see KEPT_EVENTS."""

    def __init__(self, lull: Lull = at_once) -> None:
        self._lull = lull
        self._events: deque[Told] = deque()
        self._number = 0
        self._news = asyncio.Event()
        self.bytes = 0
        """The memory that its events take."""
        self.lost = 0
        """The number of the last event that is not kept any more."""
        self.counted: Callable[[int], None] | None = None
        """Told by how many bytes the log has grown, where these are counted."""

    def put(self, name: str, data: str) -> None:
        """Tell of something."""
        before = self.bytes
        self._number += 1
        told = Told(self._number, name, data)
        self._events.append(told)
        self.bytes += told.bytes
        while len(self._events) > KEPT_EVENTS or (self.bytes > KEPT_BYTES and len(self._events) > 1):
            self._lose()
        self._news.set()
        if self.counted is not None:
            self.counted(self.bytes - before)

    def trim(self, bytes: int) -> int:
        """Lose the oldest events, until so many bytes are free or only the newest is left. Gives the bytes
        that became free."""
        before = self.bytes
        while len(self._events) > 1 and before - self.bytes < bytes:
            self._lose()
        return before - self.bytes

    def _lose(self) -> None:
        gone = self._events.popleft()
        self.bytes -= gone.bytes
        self.lost = gone.number

    async def after(self, number: int) -> list[Told]:
        """All that has been told after an event, at least one; waits for it."""
        while not self._events or self._events[-1].number <= number:
            self._news.clear()
            await self._news.wait()
            await self._lull()
        first = max(0, number - self._events[0].number + 1)
        return [self._events[at] for at in range(first, len(self._events))]
