"""One running call as a series of events, for plain loops and for `async for`."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

if TYPE_CHECKING:
    from sglc.runtime.results import RunResult
    from sglc.runtime.vm.state.trace import Event, Listener

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that happened while a streamed call runs.

    `kind` is `text` (written by the program), `forced` or `generated` (of a hole), or the name of another
    event; `text` is what was added. `partial` is the value of the hole being filled as far as it is certain:
    a record that is not finished is a dict of its finished fields and at most one that grows, and None where
    nothing is certain yet.
    """

    kind: str
    text: str
    hole: str
    partial: Any
    event: Event


class Mailbox(Generic[T]):
    """A queue that one thread fills, and that threads and coroutines of any event loop take from."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._filled = threading.Condition()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def put(self, item: T) -> None:
        """Append an item and wake those that wait, in whatever event loop. From any thread."""
        with self._filled:
            self._items.append(item)
            self._filled.notify()
            waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            try:
                loop.call_soon_threadsafe(_wake, future)
            except RuntimeError:
                pass  # that loop is closed: nobody waits there any more

    def get(self) -> T:
        """The next item; blocks until there is one."""
        with self._filled:
            while not self._items:
                self._filled.wait()
            return self._items.popleft()

    async def aget(self) -> T:
        """The next item, without blocking the running loop. Nothing is lost where the wait is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            with self._filled:
                if self._items:
                    return self._items.popleft()
                future: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, future))
            await future


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Stream(Generic[R_co]):
    """The events of one running call, to be iterated over with `for` or `async for`.

    Afterwards `value` is the call's result; `await stream` waits for it in a coroutine. Leaving a `with` or
    `async with` block stops a call that still runs.
    """

    def __init__(
        self,
        start: Callable[[Listener], Coroutine[object, object, RunResult]],
        submit: Callable[[Coroutine[object, object, RunResult]], Future[RunResult]],
        partial: Callable[[str, str], object],
    ) -> None:
        self._mailbox: Mailbox[Event | None] = Mailbox()
        self._partial = partial
        self._growing: dict[tuple[str, str], str] = {}
        self._ended = False
        self._future = submit(self._run(start))

    async def _run(self, start: Callable[[Listener], Coroutine[object, object, RunResult]]) -> RunResult:
        try:
            return await start(self._mailbox.put)
        finally:
            self._mailbox.put(None)

    def __iter__(self) -> Iterator[Piece]:
        while not self._ended:
            event = self._mailbox.get()
            if event is None:
                self._ended = True
                self._future.result()
            elif event.kind != "token":
                yield self._piece(event)

    async def __aiter__(self) -> AsyncIterator[Piece]:
        while not self._ended:
            event = await self._mailbox.aget()
            if event is None:
                self._ended = True
                await self._finished()
            elif event.kind != "token":
                yield self._piece(event)

    def __await__(self) -> Generator[object, None, R_co]:
        return self._value().__await__()

    async def _value(self) -> R_co:
        return cast("R_co", (await self._finished()).value)

    async def _finished(self) -> RunResult:
        # A wait that is cancelled does not cancel the call, which others may wait for too.
        return await asyncio.shield(asyncio.wrap_future(self._future))

    def _piece(self, event: Event) -> Piece:
        hole = str(event.data.get("hole", ""))
        key = (event.branch, hole)
        partial = None
        if event.kind in ("hole_start", "again"):
            self._growing[key] = ""
        elif event.kind in ("forced", "generated") and hole:
            text = self._growing[key] = self._growing.get(key, "") + event.text
            partial = self._partial(hole, text)
        return Piece(event.kind, event.text, hole, partial, event)

    @property
    def value(self) -> R_co:
        """The call's result; waits for it. In a coroutine, `await stream`."""
        return cast("R_co", self._future.result().value)

    @property
    def result(self) -> RunResult:
        """Value, text, statistics and checks of the run; waits for it."""
        return self._future.result()

    def cancel(self) -> None:
        """Stop the run at its next token."""
        self._future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
