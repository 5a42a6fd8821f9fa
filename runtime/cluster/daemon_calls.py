"""Calls that may block for as long as somebody else likes, where neither an event loop nor the end of the
process waits for them."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class DaemonCalls:
    """Calls one after the other in a thread of their own, which ends with the process, whatever it does then.
    What a call made or held is let go of in that thread, too."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def put(self, call: Callable[[], object]) -> None:
        """Have something called. What it gives or raises is nobody's."""
        self._calls.put(call)

    async def result(self, call: Callable[[], T], seconds: float | None = None) -> T:
        """What a call gives or raises. Raises TimeoutError where it has not ended in time; it goes on."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[T] = loop.create_future()

        def tell(done: Callable[[], None]) -> None:
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(lambda: None if ended.done() else done())

        def whole() -> None:
            try:
                found = call()
            except Exception as problem:
                raised = problem
                tell(lambda: ended.set_exception(raised))
            else:
                tell(lambda: ended.set_result(found))

        self.put(whole)
        async with asyncio.timeout(seconds):
            return await ended

    def ends_within(self, call: Callable[[], object], seconds: float) -> bool:
        """Whether a call ends in time, also by an exception. Blocks until it is known."""
        ended = threading.Event()

        def whole() -> None:
            try:
                call()
            finally:
                ended.set()

        self.put(whole)
        return ended.wait(seconds)

    def _run(self) -> None:
        while True:
            call = self._calls.get()
            with suppress(Exception):
                call()
            del call
