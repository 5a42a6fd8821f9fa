"""From the threads of grpcio to the loop of the server, and back.

grpcio takes calls in threads of its own; runs are tasks of the one loop. A thread hands its call to the loop
and waits for what comes of it. A call that ends before, as its client has gone, ends the work on the loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

from grpc import ServicerContext

from sglc.runtime.serve.grpc.statuses import abort
from sglc.runtime.serve.problems import Problem
from sglc.runtime.serve.requests import BODY_SECONDS

Given = TypeVar("Given")
ROOM = 16
"""Events that wait for a client before the next one is not told yet."""
Coro = Coroutine[object, object, Given]


def waited(context: ServicerContext, loop: asyncio.AbstractEventLoop, work: Coro[Given]) -> Given | None:
    """What work on the loop gives; None where the call ended before."""
    future = _begun(context, loop, work)
    try:
        return future.result()
    except CancelledError:
        return None


def _begun(context: ServicerContext, loop: asyncio.AbstractEventLoop, work: Coro[Given]) -> Future[Given]:
    future = asyncio.run_coroutine_threadsafe(work, loop)
    if not context.add_callback(future.cancel):
        future.cancel()
    return future


class Arriving:
    """Calls whose message has not come yet. A thread waits for each of them, but not for ever."""

    def __init__(self, seconds: float = BODY_SECONDS) -> None:
        self._seconds = seconds
        self._waiting: dict[int, tuple[float, ServicerContext]] = {}

    def first(self, requests: Iterator[bytes], context: ServicerContext) -> bytes:
        """The first message of a call. Raises what ends a call that has none."""
        self._waiting[id(context)] = time.monotonic(), context
        try:
            found = next(requests, None)
        finally:
            del self._waiting[id(context)]
        if found is None:
            abort(context, Problem(400, "Arguments", "the call has no message"))
        return found

    async def end_late(self) -> None:
        """End calls whose message does not come, as long as this runs."""
        while True:
            await asyncio.sleep(min(1.0, self._seconds))
            late = time.monotonic() - self._seconds
            for began, context in list(self._waiting.values()):
                if began < late:
                    context.cancel()


class Handed:
    """Events of one call on their way from the loop to the thread that writes them."""

    def __init__(self, idle: float) -> None:
        self._events: SimpleQueue[bytes | None] = SimpleQueue()
        self._room = asyncio.Semaphore(ROOM)
        self._idle = idle

    async def put(self, event: bytes) -> None:
        """Hand an event over. Raises TimeoutError where the client took none of many for too long."""
        async with asyncio.timeout(self._idle):
            await self._room.acquire()
        self._events.put(event)

    def told(
        self, context: ServicerContext, loop: asyncio.AbstractEventLoop, work: Coro[Given]
    ) -> Generator[bytes, None, Given | None]:
        """The events that work on the loop puts here, read in a thread. Returns what the work gives, None
        where the call ended before."""
        future = _begun(context, loop, work)
        future.add_done_callback(lambda _: self._events.put(None))
        while (event := self._events.get()) is not None:
            yield event
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(self._room.release)
        return None if future.cancelled() else future.result()
