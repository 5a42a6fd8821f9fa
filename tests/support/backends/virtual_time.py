"""Virtual time: an event loop that does not wait. Where all tasks sleep, the clock jumps to who wakes first.

Timers fire in order of their time, and a run of the same coroutine is the same each time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumping:
    """A selector that waits for nothing but says how long it would have waited."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("all tasks wait, and none for the clock: nothing would ever happen")
        self.now += max(timeout, 1e-9)
        return ready

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on virtual time, from 0 on; fail where a task that it started is left over."""
    selector = _Jumping()
    loop = asyncio.SelectorEventLoop(selector)  # type: ignore[arg-type]
    loop.time = lambda: selector.now  # type: ignore[method-assign]

    async def whole() -> T:
        result = await main
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks are left over: {left}"
        return result

    try:
        return loop.run_until_complete(whole())
    finally:
        loop.close()
