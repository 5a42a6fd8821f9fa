"""Whose run is next: so many at a time, the others wait, and tenants take turns.

A tenant with many calls waits behind itself: of the tenants that wait, the one whose turn is longest ago
gets the place that becomes free. Among the calls of one tenant the higher priority goes first, then the
older.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sglc.runtime.serve.problems import refusal

FIRST_GUESS = 2.0
"""Seconds that a run is taken to last before any has ended."""
WEIGHT = 0.2
"""What the last run counts in the mean of their durations."""


@dataclass(order=True, slots=True)
class _Waiting:
    """A call that waits: those with less go first."""

    rank: int
    number: int
    turn: asyncio.Future[None] = field(compare=False)


class Admission:
    """Places for runs. `running` is the most at a time, `waiting` the most that wait."""

    def __init__(self, running: int, waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most_running = running
        self.most_waiting = waiting
        self.running = 0
        self.waiting = 0
        self._clock = clock
        self._seconds = FIRST_GUESS
        self._queues: dict[str, list[_Waiting]] = {}
        """By tenant, in the order of their turns."""
        self._numbers = itertools.count()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def place(self, tenant: str, priority: int = 0) -> AsyncIterator[None]:
        """Wait for a place and hold it while the block runs. Raises Refusal (429) where the queue is full."""
        await self._enter(tenant, priority)
        began = self._clock()
        try:
            yield
        finally:
            self._seconds += WEIGHT * (self._clock() - began - self._seconds)
            self._leave()

    def check(self) -> None:
        """Raises Refusal (429) where one more call has no room to wait."""
        if self.running >= self.most_running and self.waiting >= self.most_waiting:
            raise refusal(429, "Busy", f"{self.waiting} calls wait already", retry_after=self.expected_wait())

    async def until_free(self) -> None:
        """Wait until there is a place that no call waits for."""
        while self.running >= self.most_running:
            self._freed.clear()
            await self._freed.wait()

    def expected_wait(self) -> float:
        """Seconds after which one more call would probably begin."""
        return max(1.0, self._seconds * (self.waiting + 1) / self.most_running)

    async def _enter(self, tenant: str, priority: int) -> None:
        self.check()
        if self.running < self.most_running:
            self.running += 1
            return
        mine = _Waiting(-priority, next(self._numbers), asyncio.get_running_loop().create_future())
        heapq.heappush(self._queues.setdefault(tenant, []), mine)
        self.waiting += 1
        try:
            await mine.turn
        except asyncio.CancelledError:
            if mine.turn.done() and not mine.turn.cancelled():
                self._leave()  # its turn had come
            else:
                self._forget(tenant, mine)
            raise

    def _forget(self, tenant: str, mine: _Waiting) -> None:
        queue = self._queues.get(tenant, [])
        if mine not in queue:
            return  # it was passed over when a place became free
        queue.remove(mine)
        heapq.heapify(queue)
        self.waiting -= 1
        if not queue:
            del self._queues[tenant]

    def _leave(self) -> None:
        """Give the place to the next call that still waits, or free it."""
        while self._queues:
            tenant, queue = next(iter(self._queues.items()))
            del self._queues[tenant]
            following = heapq.heappop(queue)
            if queue:
                self._queues[tenant] = queue  # behind the other tenants
            self.waiting -= 1
            if not following.turn.cancelled():
                following.turn.set_result(None)
                return
        self.running -= 1
        self._freed.set()
