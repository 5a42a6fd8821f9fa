"""Between two steps: requests for the next one are gathered, and what can wait does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

QUIET_ROUNDS = 2
"""Rounds of the event loop without a new request after which a step begins."""
MOST_ROUNDS = 1000
"""Rounds after which it begins in any case."""


class Gathering:
    """When the next step begins. For one event loop at a time."""

    def __init__(self) -> None:
        self.arrived = 0
        """Requests that have come."""
        self.holds = 0
        """Blocks of `hold` that are open."""
        self._free: asyncio.Future[None] | None = None
        """Done once nobody holds the next step; only while it is waited for."""
        self._over: asyncio.Event | None = None
        """Set once the next step has begun; None while one is computed, or nobody waits for any."""

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Until the block ends no step begins: a request is about to come that is to be part of it."""
        self.holds += 1
        try:
            yield
        finally:
            self.holds -= 1
            if not self.holds and self._free is not None and not self._free.done():
                self._free.set_result(None)

    def begin(self) -> None:
        """A step has ended: whoever it has answered comes again."""
        self._over = self._over or asyncio.Event()

    def end(self) -> None:
        """The next step has begun, or there is none."""
        over, self._over = self._over, None
        if over is not None:
            over.set()

    async def rest(self) -> None:
        """Let other tasks run until none of them has a new request or is about to have one."""
        quiet = 0
        for _ in range(MOST_ROUNDS):
            before = self.arrived
            await asyncio.sleep(0)
            quiet = quiet + 1 if self.arrived == before else 0
            if self.holds:
                quiet = 0
                self._free = asyncio.get_running_loop().create_future()
                await self._free
            if quiet == QUIET_ROUNDS:
                return

    async def over(self) -> None:
        """Wait until the next step has begun, where requests for it are gathered.

        Until then the processors that compute steps are idle. Work that is not needed for a step, such as
        sending text to clients, goes better behind its beginning.
        """
        if self._over is not None:
            await self._over.wait()
