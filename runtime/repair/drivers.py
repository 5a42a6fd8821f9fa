"""Drives the loop of repair: blocking, or in an event loop. Both take models of all kinds.

A model's function may give a text, an iterator of pieces, or either of them to be awaited. The loop never
waits; what waits is here. A stream is closed as soon as a byte came that is not legal.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sglc.runtime.repair.calling import BadAnswer, Expired, Failed, Stream, Worker, stream_of
from sglc.runtime.repair.local_model import LocalStream
from sglc.runtime.repair.loop import Ask, Draft, Drafted, Pick, Repair, Reply
from sglc.runtime.repair.picking import picked
from sglc.runtime.repair.result import RepairResult

T = TypeVar("T")
R = TypeVar("R")
_DONE = object()
GRACE = 1.0
"""Seconds that work which is cancelled, or a stream in another thread, gets to close what it holds before
the caller goes on. A process is gone in milliseconds. What takes longer, or never ends, nobody waits for."""


class Submit(Protocol):
    """Runs a coroutine in an event loop of another thread; the future has its result."""

    def __call__(self, work: Coroutine[object, object, T], /) -> Future[T]: ...


class Elsewhere(Protocol):
    """Makes of a coroutine what the loop here can await, wherever it runs."""

    def __call__(self, work: Coroutine[object, object, T], /) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class Models:
    """Who is asked: to write, to write a word under the mask, to pick a word."""

    write: Callable[[Ask], object]
    draft: Callable[[Draft], Coroutine[object, object, Drafted]] | None = None
    pick: Callable[[Pick], object] | None = None


class Blocking:
    """Drives a repair in the thread of the caller.

    `submit` runs coroutines elsewhere: those of the draft model, and what has to be awaited. Functions of the
    caller run in his thread. With a bound on seconds they run in a thread of their own, as a function that
    hangs cannot be left otherwise.
    """

    def __init__(self, models: Models, submit: Submit) -> None:
        self._models = models
        self._submit = submit
        self._worker: Worker | None = None

    def run(self, repair: Repair) -> RepairResult:
        """The repaired text. Raises SglError, and what `on_piece` raises."""
        self._worker = None if repair.left() is None else Worker()
        steps, reply = repair.steps(), None
        try:
            request = next(steps)
            while True:
                reply = self._reply(request, repair)
                request = steps.send(reply)
        except StopIteration as end:
            result: RepairResult = end.value
            return result
        finally:
            if self._worker is not None:
                self._worker.stop()

    def _reply(self, request: Ask | Draft | Pick, repair: Repair) -> Reply:
        try:
            match request:
                case Ask():
                    self._ask(request, repair)
                case Draft():
                    assert self._models.draft is not None
                    return self._wait(self._submit(self._models.draft(request)), None)
                case Pick():
                    assert self._models.pick is not None
                    pick = self._models.pick
                    said = self._awaited(self._call(lambda: pick(request), repair), repair)
                    return picked(said, request.words, request.may_end)
        except Expired:
            if isinstance(request, Ask):
                request.answer.expired = True
        except Failed as fault:
            return fault.reason
        return None

    def _ask(self, ask: Ask, repair: Repair) -> None:
        found = self._awaited(self._call(lambda: self._models.write(ask), repair), repair)
        if isinstance(found, str):
            ask.answer.feed(found)
            return
        stream = self._opened(found, ask)
        one = self._next_of(stream, repair)
        try:
            while (piece := one()) is not _DONE:
                if not _taken(stream, piece):
                    break
        finally:
            stream.finish()
            self._close(stream, repair)

    def _opened(self, found: object, ask: Ask) -> Stream:
        try:
            return Stream(stream_of(found), ask)
        except BadAnswer as fault:
            raise Failed(fault) from None

    def _next_of(self, stream: Stream, repair: Repair) -> Callable[[], object]:
        pieces = stream.pieces
        if hasattr(pieces, "__anext__"):
            return lambda: self._wait(self._submit(_next_async(pieces.__anext__)), repair.left())
        return lambda: self._call(lambda: next(pieces, _DONE), repair)

    def _close(self, stream: Stream, repair: Repair) -> None:
        close = stream.closing
        if close is None:
            return
        if self._worker is not None and not hasattr(stream.pieces, "__anext__"):
            wait([self._worker.submit(lambda: _quietly(close))], GRACE)  # behind a call that may hang
            return
        found = _quietly(close)
        if inspect.isawaitable(found):
            _quietly(lambda: self._wait(self._submit(_awaiting(found)), repair.left()))

    # -- waiting -------------------------------------------------------------------------------------

    def _call(self, function: Callable[[], T], repair: Repair) -> T:
        if self._worker is not None:
            return self._wait(self._worker.submit(function), repair.left())
        try:
            return function()
        except Exception as fault:
            raise Failed(fault) from None

    def _awaited(self, found: object, repair: Repair) -> object:
        """What comes of something that may have to be awaited."""
        if inspect.isawaitable(found):
            return self._wait(self._submit(_awaiting(found)), repair.left())
        return found

    def _wait(self, future: Future[T], seconds: float | None) -> T:
        try:
            return future.result(seconds)
        except FutureTimeout as fault:
            if future.done():
                raise Failed(fault) from None
            future.cancel()
            raise Expired from None
        except Exception as fault:
            raise Failed(fault) from None
        except BaseException:
            future.cancel()
            raise


class InLoop:
    """Drives a repair in an event loop, without blocking it: plain functions run in a thread of their own.

    `elsewhere` awaits a coroutine of a local model where its engine lives. A repair that is cancelled closes
    the stream that it reads.
    """

    def __init__(
        self,
        models: Models,
        elsewhere: Elsewhere = lambda work: work,
    ) -> None:
        self._models = models
        self._elsewhere = elsewhere
        self._worker: Worker | None = None

    async def run(self, repair: Repair) -> RepairResult:
        """The repaired text. Raises SglError, and what `on_piece` raises."""
        steps = repair.steps()
        try:
            request = next(steps)
            while True:
                request = steps.send(await self._reply(request, repair))
        except StopIteration as end:
            result: RepairResult = end.value
            return result
        finally:
            if self._worker is not None:
                self._worker.stop()

    async def _reply(self, request: Ask | Draft | Pick, repair: Repair) -> Reply:
        try:
            match request:
                case Ask():
                    await self._ask(request, repair)
                case Draft():
                    assert self._models.draft is not None
                    return await self._within(self._elsewhere(self._models.draft(request)), None)
                case Pick():
                    assert self._models.pick is not None
                    pick = self._models.pick
                    said = await self._called(pick, request, repair)
                    return picked(said, request.words, request.may_end)
        except Expired:
            if isinstance(request, Ask):
                request.answer.expired = True
        except Failed as fault:
            return fault.reason
        return None

    async def _ask(self, ask: Ask, repair: Repair) -> None:
        found = await self._called(self._models.write, ask, repair)
        if isinstance(found, str):
            ask.answer.feed(found)
            return
        try:
            stream = Stream(stream_of(found), ask)
        except BadAnswer as fault:
            raise Failed(fault) from None
        try:
            while (piece := await self._next(stream, repair)) is not _DONE:
                if not _taken(stream, piece):
                    break
        finally:
            stream.finish()
            await self._close(stream)

    async def _next(self, stream: Stream, repair: Repair) -> object:
        pieces = stream.pieces
        if not hasattr(pieces, "__anext__"):
            return await self._in_thread(lambda: next(pieces, _DONE), repair)
        return await self._within(self._where(stream, _next_async(pieces.__anext__)), repair.left())

    def _where(self, stream: Stream, work: Coroutine[object, object, T]) -> Awaitable[T]:
        """Work of a stream, in the loop that it belongs to."""
        return self._elsewhere(work) if isinstance(stream.pieces, LocalStream) else work

    async def _close(self, stream: Stream) -> None:
        close = stream.closing
        if close is None:
            return
        if not hasattr(stream.pieces, "__anext__") and self._worker is not None:
            closed = asyncio.wrap_future(self._worker.submit(lambda: _quietly(close)))
            await asyncio.wait((closed,), timeout=GRACE)
            return
        found = _quietly(close)
        if inspect.isawaitable(found):
            with contextlib.suppress(Exception):
                await self._where(stream, _awaiting(found))

    async def _called(self, function: Callable[[R], object], request: R, repair: Repair) -> object:
        """What a function of the caller gives, awaited where it has to be."""
        inner = getattr(function, "function", function)
        if _is_async(inner):
            try:
                found = function(request)
            except Exception as fault:
                raise Failed(fault) from None
        else:
            found = await self._in_thread(lambda: function(request), repair)
        if inspect.isawaitable(found):
            return await self._within(found, repair.left())
        return found

    async def _in_thread(self, function: Callable[[], T], repair: Repair) -> T:
        self._worker = self._worker or Worker()
        return await self._within(asyncio.wrap_future(self._worker.submit(function)), repair.left())

    async def _within(self, work: Awaitable[T], seconds: float | None) -> T:
        if seconds is None:
            try:
                return await work
            except Exception as fault:
                raise Failed(fault) from None
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait((task,), timeout=seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
            await asyncio.wait((task,), timeout=GRACE)
            raise Expired
        try:
            return task.result()
        except Exception as fault:
            raise Failed(fault) from None


def _taken(stream: Stream, piece: object) -> bool:
    try:
        return stream.take(piece)
    except BadAnswer as fault:
        raise Failed(fault) from None


def _is_async(function: object) -> bool:
    """Whether calling a function does not block: it only makes what is awaited or iterated over."""
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return any(
        check(each)
        for each in (function, called)
        for check in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    )


async def _awaiting(found: Awaitable[T]) -> T:
    return await found


async def _next_async(following: Callable[[], Awaitable[object]]) -> object:
    try:
        return await following()
    except StopAsyncIteration:
        return _DONE


def _quietly(close: Callable[[], T]) -> T | None:
    """Close a stream that is of no more use: what it raises then says nothing about the text."""
    try:
        return close()
    except Exception:
        return None
