"""Whose run is next: so many at a time, the others wait, and tenants take turns.

A tenant with many calls waits behind itself: of the tenants that wait, the one whose turn is longest ago
gets the place that becomes free. Among the calls of one tenant the higher priority goes first, then the
older.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
import time
from collections.abc import Callable

from sglc.runtime.serve.problems import refusal

FIRST_GUESS = 2.0
"""Seconds that a run is taken to last before any has ended."""
WEIGHT = 0.2
"""What the last run counts in the mean of their durations."""


class Turn:
    """A call that waits for a place, holds one, or has left."""

    def __init__(self, admission: Admission, tenant: str, priority: int, number: int) -> None:
        self.tenant = tenant
        self.rank = -priority, number
        """Those with less go first."""
        self.came_at = 0.0
        """When it got its place."""
        self._admission = admission
        self._came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._left = False

    def __lt__(self, other: Turn) -> bool:
        return self.rank < other.rank

    @property
    def waits(self) -> bool:
        """Whether a place may still be given to it."""
        return not self._came.done()

    @property
    def holds(self) -> bool:
        """Whether it has got a place."""
        return self._came.done() and not self._came.cancelled()

    async def come(self) -> None:
        """Wait for the place."""
        await self._came

    def take(self, now: float) -> None:
        """The place is its own from now on."""
        self.came_at = now
        self._came.set_result(None)

    def leave(self) -> None:
        """Give the place back, or wait no longer. It may be said twice."""
        if not self._left:
            self._left = True
            self._admission.left(self)


class Admission:
    """Places for runs. `running` is the most at a time, `waiting` the most that wait. `dice` gives numbers
    from 0 to 1."""

    def __init__(
        self,
        running: int,
        waiting: int,
        clock: Callable[[], float] = time.monotonic,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self.most_running = running
        self.most_waiting = waiting
        self.running = 0
        self.waiting = 0
        self._clock = clock
        self._dice = dice
        self._seconds = FIRST_GUESS
        self._queues: dict[str, list[Turn]] = {}
        """By tenant, in the order of their turns."""
        self._numbers = itertools.count()
        self._freed = asyncio.Event()

    def enter(self, tenant: str, priority: int = 0) -> Turn:
        """Ask for a place: the turn has one, or waits for it, until it leaves. Raises Refusal (429) where the
        queue is full."""
        self.check()
        turn = Turn(self, tenant, priority, next(self._numbers))
        if self.running < self.most_running:
            self.running += 1
            turn.take(self._clock())
        else:
            heapq.heappush(self._queues.setdefault(tenant, []), turn)
            self.waiting += 1
        return turn

    def check(self, coming: int = 0) -> None:
        """Raises Refusal (429) where one more call has no room to wait behind those that are `coming`. When
        to come again differs from call to call, so that those who are refused together come back apart, some
        before the queue is empty."""
        room = self.most_running - self.running + self.most_waiting - self.waiting
        if room <= coming:
            after = self.expected_wait() * (0.5 + self._dice())
            raise refusal(429, "Busy", f"{self.waiting} calls wait already", retry_after=after)

    async def until_free(self) -> None:
        """Wait until there is a place that no call waits for."""
        while self.running >= self.most_running:
            self._freed.clear()
            await self._freed.wait()

    def expected_wait(self) -> float:
        """Seconds after which one more call would probably begin."""
        return max(1.0, self._seconds * (self.waiting + 1) / self.most_running)

    def left(self, turn: Turn) -> None:
        """A turn leaves: its place is given to the next, or it waits no longer."""
        if turn.holds:
            self._seconds += WEIGHT * (self._clock() - turn.came_at - self._seconds)
            self._give()
            return
        queue = self._queues.get(turn.tenant, [])
        if turn not in queue:
            return  # it was passed over when a place became free
        queue.remove(turn)
        heapq.heapify(queue)
        self.waiting -= 1
        if not queue:
            del self._queues[turn.tenant]

    def _give(self) -> None:
        """Give the place to the next call that still waits, or free it."""
        while self._queues:
            tenant, queue = next(iter(self._queues.items()))
            del self._queues[tenant]
            following = heapq.heappop(queue)
            if queue:
                self._queues[tenant] = queue  # behind the other tenants
            self.waiting -= 1
            if following.waits:
                following.take(self._clock())
                return
        self.running -= 1
        self._freed.set()
