"""How functions of the caller are called: what they take, what they may give back, in which thread."""

from __future__ import annotations

import contextvars
import inspect
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sglc.runtime.repair.loop import Ask

T = TypeVar("T")
Pieces = Iterator[object] | AsyncIterator[object]
"""What a model gives piece by piece; whether they are texts is seen as they come."""

EMPTY = 1_000
"""Empty pieces in a row after which a stream counts as ended: no service sends so many, and one that sent
nothing else would never end."""


class BadAnswer(TypeError):
    """What the model gave back is no text and no stream of texts."""


class Failed(Exception):
    """A function of the caller raised `reason`."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Expired(Exception):
    """A function of the caller did not return in time."""


@dataclass(frozen=True, slots=True)
class Writes:
    """`generate(prompt)`, with what else it takes by name.

    `prefix`    gets the text so far, which is then not put behind the prompt
    `max_tokens` gets how many tokens are wanted at most, None for any number
    """

    function: Callable[..., object]
    prefix: bool
    length: bool

    @classmethod
    def of(cls, function: Callable[..., object]) -> Writes:
        """Look at the signature. Raises TypeError for what cannot be called."""
        if not callable(function):
            raise TypeError(f"generate is a function from a prompt to a text, not {function!r}")
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):  # some of C have none
            return cls(function, False, False)
        named = {
            name
            for name, parameter in parameters.items()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        }
        first = next(iter(parameters), "")
        return cls(function, "prefix" in named - {first}, "max_tokens" in named - {first})

    def __call__(self, ask: Ask) -> object:
        """Ask. `ask.answer` is told the length that was given."""
        named: dict[str, str | int | None] = {}
        if self.prefix:
            named["prefix"] = ask.text
        if self.length:
            named["max_tokens"] = ask.answer.length = ask.length
        return self.function(ask.prompt if self.prefix else ask.prompt + ask.text, **named)


def stream_of(found: object) -> Pieces:
    """The pieces of what a model gave back. Raises BadAnswer for what has none."""
    if isinstance(found, bytes | bytearray | dict):
        raise BadAnswer(f"generate gave {type(found).__name__}, not a text")
    if hasattr(found, "__aiter__"):
        pieces: AsyncIterator[object] = found.__aiter__()
        return pieces
    if isinstance(found, Iterable):
        return iter(found)
    raise BadAnswer(f"generate gave {found!r:.80}, not a text")


class Stream:
    """What both kinds of streams have in common: their pieces are checked, and how they ended is told."""

    def __init__(self, pieces: Pieces, ask: Ask) -> None:
        self.pieces = pieces
        self._ask = ask
        self._empty = 0
        ask.answer.streamed = True

    def take(self, piece: object) -> bool:
        """Give a piece to the answer; whether more is of use. Raises BadAnswer for what is no text."""
        if not isinstance(piece, str):
            raise BadAnswer(f"generate gave a piece {piece!r:.80}, not a text")
        self._empty = 0 if piece else self._empty + 1
        more = self._ask.answer.feed(piece, getattr(self.pieces, "tokens", None))
        return more and self._empty < EMPTY

    def finish(self) -> None:
        """Note why the stream ended, where it says so by an attribute `ended`, and its last tokens."""
        self._ask.answer.cut_short = getattr(self.pieces, "ended", "") == "length"
        tokens = getattr(self.pieces, "tokens", None)
        if tokens is not None:
            self._ask.answer.tokens = tokens

    @property
    def closing(self) -> Callable[[], object] | None:
        """What closes the stream; what it gives may have to be awaited."""
        found: Callable[[], object] | None = getattr(self.pieces, "aclose", None)
        return found or getattr(self.pieces, "close", None)


class Worker:
    """A thread that calls functions of the caller, so that waiting for them can end before they do.

    A thread cannot be stopped: a call that hangs goes on in it, and its result is dropped. Jobs run one after
    the other, in the context (`contextvars`) of who made the worker.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        context = contextvars.copy_context()
        threading.Thread(target=lambda: context.run(self._run), name="sglc-repair", daemon=True).start()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Call a function when those before it are done."""
        future: Future[T] = Future()
        self._jobs.put(partial(_do, function, future))
        return future

    def stop(self) -> None:
        """Let the thread end when its jobs are done."""
        self._jobs.put(None)


def _do(function: Callable[[], T], future: Future[T]) -> None:
    """Call a function for who waits, unless nobody does any more."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except StopIteration:  # in a future it would end whoever waits
        future.set_exception(RuntimeError("the function raised StopIteration"))
    except BaseException as fault:
        future.set_exception(fault)
    else:
        future.set_result(result)
