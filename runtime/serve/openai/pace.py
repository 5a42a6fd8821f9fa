"""How often streams are told something: at each token where there are few, less often where there are many.

Each chunk takes time of the server and of its client. 32 streams of a model of 135M on two cores: 23.2
answers a second with a chunk for each token, 24.8 so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
CHUNKS = 200
"""Chunks a second of all streams of a process, as soon as there are two, …"""
LONGEST = 0.1
"""… where none of them waits longer than so many seconds: people see that as steady."""


class StreamPace:
    """The pace of the streams of a process: so many `chunks` a second of all of them."""

    def __init__(self, chunks: float = CHUNKS) -> None:
        self._chunks = chunks
        self._streams = 0

    @contextmanager
    def stream(self) -> Iterator[Beat]:
        """One more stream."""
        self._streams += 1
        try:
            yield Beat(self)
        finally:
            self._streams -= 1

    @property
    def interval(self) -> float:
        """Seconds between two chunks of a stream; 0 for one that is alone."""
        return min(LONGEST, max(0, self._streams - 1) / self._chunks)


class Beat:
    """When the next chunk of a stream is due. The first one is at once."""

    def __init__(self, pace: StreamPace) -> None:
        self._pace = pace
        self._last = float("-inf")

    async def due(self, news: asyncio.Event, ended: asyncio.Future[T]) -> None:
        """Wait until there is news and its time has come, or the answer has ended."""
        await news.wait()
        loop = asyncio.get_running_loop()
        left = self._last + self._pace.interval - loop.time()
        if left > 0:
            await asyncio.wait((ended,), timeout=left)
        self._last = loop.time()
