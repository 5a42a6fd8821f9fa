"""The time of an event loop as policies see it."""

from __future__ import annotations

import asyncio


class LoopClock:
    """The clock of the running event loop: seconds that only grow, whatever happens to the time of day.

    Tests run their loop on virtual time (`tests/support/backends/virtual_time.py`); the clock is the same.
    """

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
