"""The time of an event loop as policies see it."""

from __future__ import annotations

import asyncio


class LoopClock:
    """The clock of the running event loop: seconds that only grow, whatever happens to the time of day.

    Tests run their loop on virtual time (`tests/support/backends/virtual_time.py`); the clock is the same.
    """

    def now(self) -> float:
        """Seconds of the loop's clock; RuntimeError outside of a loop."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Give way to the loop's other tasks for so many seconds."""
        await asyncio.sleep(seconds)
