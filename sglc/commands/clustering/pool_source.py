"""Metrics of workers as a source that may be read from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import TimeoutError as Late

from sglc.runtime.cluster.pool import METRICS_SECONDS, Pool
from sglc.runtime.metrics.families import Family


class PoolSource:
    """The families of a pool's workers. A scrape, which has a thread of its own, asks the workers; elsewhere
    it is what they told last, which is at most some two seconds old while they work."""

    def __init__(self) -> None:
        self._pool: Pool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, pool: Pool, loop: asyncio.AbstractEventLoop) -> None:
        """The workers are there, and this loop has them."""
        self._pool, self._loop = pool, loop

    def families(self) -> Sequence[Family]:
        """All of them; none before there are workers."""
        if self._pool is None or self._loop is None:
            return ()
        if self._loop.is_running() and not _within(self._loop):
            asked = asyncio.run_coroutine_threadsafe(self._pool.families(), self._loop)
            try:
                return asked.result(METRICS_SECONDS + 1.0)
            except Late:  # the loop has ended in between
                asked.cancel()
        return self._pool.known_families()


def _within(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether this is the thread of a loop that runs."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
