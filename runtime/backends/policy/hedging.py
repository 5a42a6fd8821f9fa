"""Hedges: a second request where the first is slow to begin.

Dean and Barroso, "The Tail at Scale", 2013.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from sglc.runtime.backends.exchange import Clock, Ending, Event, Piece
from sglc.runtime.backends.policy.answer import MOST_KEPT
from sglc.runtime.backends.policy.settings import Hedge

KEPT = 200
"""Times that a percentile is taken of: ten lie above the 95th, and an hour's drift is forgotten soon."""
LEAST = 20
"""Times that must be known first: of fewer the 95th percentile is the largest one."""
WAITING = 64
"""Events that wait for a slow reader before the request is left waiting itself."""
_FIRST, _SECOND, _TIMER = range(3)

Events = AsyncGenerator[Event, None]


class FirstTokens:
    """The seconds that first tokens took, of the last requests."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=KEPT)

    def note(self, seconds: float) -> None:
        """A first token came after so many seconds."""
        self._seconds.append(seconds)

    def hedge_after(self, hedge: Hedge) -> float | None:
        """Seconds after which a second request is sent; None for never, or not yet."""
        if hedge != "p95":
            return hedge
        if len(self._seconds) < LEAST:
            return None
        ordered = sorted(self._seconds)
        return ordered[-(-len(ordered) * 95 // 100) - 1]


async def raced(
    request: Callable[[], Events], after: float, may: Callable[[], bool], clock: Clock, live: bool
) -> Events:
    """The events of a request, or of a second one that is sent where the first is silent for `after` seconds
    and `may` allows it. Of two the first counts that is done, or as long as answers are kept (`MOST_KEPT`);
    of a live answer, of which what was told cannot be taken back, the first that says anything. The other is
    closed. A fault counts where no other request is under way."""
    events: asyncio.Queue[tuple[int, Event | Exception | None]] = asyncio.Queue(WAITING)

    async def pump(index: int) -> None:
        try:
            async with aclosing(request()) as stream:
                async for event in stream:
                    await events.put((index, event))
        except Exception as fault:
            await events.put((index, fault))

    async def ring() -> None:
        await clock.sleep(after)
        await events.put((_TIMER, None))

    running = {_FIRST: asyncio.create_task(pump(_FIRST)), _TIMER: asyncio.create_task(ring())}
    heard: dict[int, list[Event]] = {_FIRST: [], _SECOND: []}
    chars = {_FIRST: 0, _SECOND: 0}
    counted: int | None = None
    try:
        while True:
            index, item = await events.get()
            if index not in running:
                continue
            if item is None:
                del running[_TIMER]
                if may():
                    running[_SECOND] = asyncio.create_task(pump(_SECOND))
                continue
            rivals = [each for each in running if each not in (index, _TIMER)]
            if isinstance(item, Exception):
                if not rivals:
                    raise item
                await _ended(running.pop(index))
                continue
            if counted is None:
                heard[index].append(item)
                chars[index] += len(item.text) if isinstance(item, Piece) else 0
                is_done = isinstance(item, Ending) or chars[index] > MOST_KEPT
                if rivals and not live and not is_done:
                    continue
                counted = index
                for each in [each for each in running if each != index]:
                    await _ended(running.pop(each))
                for event in heard.pop(index):
                    yield event
            else:
                yield item
            if isinstance(item, Ending):
                return
    finally:
        for task in running.values():
            await _ended(task)


async def _ended(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
