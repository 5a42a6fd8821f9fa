"""A backend as the loop of repair asks it: one stream of pieces a request, and the words that it might have
written instead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Event,
    Message,
    Piece,
    Query,
    Usage,
)
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair.answer import Answer
from sglc.runtime.repair.loop import Ask, Draft, Drafted, Fault

MOST_CHANCES = 20
"""Tokens of which probabilities are asked for: the most that common services tell."""
LONG_TOKEN = 128
"""Bytes that count as a token at least: no tokenizer has longer ones, but for runs of blanks and marks."""
READ_ON = 64
"""Characters that may come behind a whole value before its stream is closed: a fence and a short sentence.
Most models write nothing there, and the end of a stream tells what the answer took."""
READ_ON_SECONDS = 1.0
"""How long that may take: the end of an answer comes with its last token or not at all."""
END_SECONDS = 30.0
"""How long it may take where tokens are bounded. A busy server is waited for: without its count the bound is
held against the bytes of the answer, of which there are several for each token."""


class Asking:
    """Asks a backend for a query again and again, and counts what that takes."""

    def __init__(
        self,
        backend: Backend,
        query: Query,
        draft: Callable[[Draft], Coroutine[object, object, Drafted]] | None = None,
    ) -> None:
        """`draft`: a local model that writes a word where the backend tells of none."""
        self._backend = backend
        self._local = draft
        # What is enforced is enforced from where a request begins, so nothing goes on within it.
        self.continues = backend.capabilities.continues and query.enforced is None
        told = min(backend.capabilities.top_logprobs, MOST_CHANCES) if self.continues else 0
        self._query = replace(query, top_logprobs=told) if told > query.top_logprobs else query
        self._last: Piece | None = None
        self.drafts = draft is not None or told > 0
        self.usage = Usage()
        self.requests = 0
        self.uncounted = 0
        self.answered_by = ""

    async def write(self, ask: Ask) -> BackendStream:
        """Begin a request. Where the backend goes on behind texts, it is given the text so far."""
        query = self._query
        most = query.max_tokens if query.max_tokens is None else ask.length
        messages = query.messages + self._told(ask.fault)
        begun = query.begun + ask.text if self.continues else query.begun
        is_first = (messages, begun, most) == (query.messages, query.begun, query.max_tokens)
        sent = query if is_first else replace(query, messages=messages, begun=begun, max_tokens=most)
        return BackendStream(self, sent, ask.answer)

    def _told(self, fault: Fault | None) -> tuple[Message, ...]:
        """The turns that tell what was wrong. Text outside of messages has no place for them."""
        if fault is None or not any(message.role for message in self._query.messages):
            return ()
        return turns(fault, self._query.begun, goes_on=self.continues)

    def open(self, query: Query) -> AsyncIterator[Event]:
        """The events of a request."""
        self._last = None
        return self._backend.stream(query)

    def took(self, piece: Piece) -> None:
        """Note the piece that came last."""
        self._last = piece

    def ended(self, ending: Ending | None) -> None:
        """Note how a request ended; None where it was closed before."""
        self.requests += 1 if ending is None else ending.attempts
        if ending is None or ending.usage is None:
            self.uncounted += 1
        else:
            self.usage += ending.usage
        if ending is not None and ending.answered_by:
            self.answered_by = ending.answered_by

    async def draft(self, request: Draft) -> Drafted:
        """A word where the backend wrote something wrong: its own most probable legal token there, else one
        of the local model."""
        word = _chance(self._last, request.wrong, request.matcher)
        if word:
            return Drafted(word, 0, by="chance")
        return Drafted("", 0) if self._local is None else await self._local(request)


class BackendStream:
    """The pieces of one request, as repair reads streams.

    `tokens` of the answer so far, at the end as the backend counts them; `ended` is `length` where the bound
    on tokens ended it, `stop` where the model did.
    """

    def __init__(self, asking: Asking, query: Query, answer: Answer) -> None:
        self._asking = asking
        self._most = query.max_tokens
        self._answer = answer
        self._events = asking.open(query)
        self.tokens = 0
        self.ended = ""

    def __aiter__(self) -> BackendStream:
        return self

    async def __anext__(self) -> str:
        if self.ended:
            raise StopAsyncIteration
        async for event in self._events:
            if isinstance(event, Piece):
                self.tokens += max(1, len(event.text) // LONG_TOKEN)
                self._asking.took(event)
                return event.text
            self._end(event)
            break
        if not self.ended:
            self._end(Ending("stop"))
        raise StopAsyncIteration

    def _end(self, ending: Ending) -> None:
        self.ended = "length" if ending.reason == "length" else "stop"
        self._asking.ended(ending)
        if ending.usage is not None:
            self.tokens = max(1, ending.usage.output)
        if ending.reason == "length" and self._most is not None:
            self.tokens = max(self.tokens, self._most)
        elif ending.reason == "length" and not self._asking.continues:
            raise SglError("Truncated", "the backend has cut the answer off at its own bound of tokens")
        if ending.reason in ("refused", "filtered"):
            filtered = "a filter of contents has cut the answer off"
            raise SglError("Refused", ending.message or filtered)

    async def aclose(self) -> None:
        """End the request. Behind a whole value, and where the bound on tokens is reached, the end of the
        stream is read, if it comes soon."""
        at_bound = self._most is not None and self.tokens >= self._most
        if not self.ended and (self._answer.is_complete or at_bound):
            await self._read_on(READ_ON_SECONDS if self._most is None else END_SECONDS)
        if not self.ended:
            self.ended = "stop"
            self._asking.ended(None)
        close = getattr(self._events, "aclose", None)
        if close is not None:
            await close()

    async def _read_on(self, seconds: float) -> None:
        """Read up to the end of the stream, which tells its usage. What goes wrong there does not matter."""
        left = READ_ON
        with suppress(BackendFault, SglError, TimeoutError):
            async with asyncio.timeout(seconds):
                async for event in self._events:
                    if not isinstance(event, Piece):
                        self._end(event)
                        return
                    left -= max(1, len(event.text))
                    if left < 0:
                        return


def turns(fault: Fault, begun: str = "", *, goes_on: bool = False) -> tuple[Message, ...]:
    """What stands behind the messages where an answer is asked for again, or goes on behind its legal
    beginning: the answer, behind what was begun, and what is wrong."""
    wanted = "Go on behind what is right of it" if goes_on else "Write the whole answer again"
    told = f"That answer does not fit: {fault.reason}. {wanted}, and nothing else."
    answer = (Message("assistant", begun + fault.answer),) if fault.answer.strip() else ()
    return (*answer, Message("user", told))


def _chance(piece: Piece | None, wrong: str, matcher: Matcher) -> str:
    """The most probable token that could have stood where `piece` went wrong; what is new of it.

    Nothing where the piece is not one token, or nothing was told of it. `matcher` stands behind the legal
    beginning of the piece, which the token must have too.
    """
    if piece is None or len(piece.top) != 1 or not wrong or not piece.text.endswith(wrong):
        return ""
    kept = piece.text[: len(piece.text) - len(wrong)]
    for chance in sorted(piece.top[0], key=lambda each: -each.logprob):
        word = chance.text[len(kept) :]
        if word.strip() and chance.text.startswith(kept) and _is_legal(word, matcher):
            return word
    return ""


def _is_legal(word: str, matcher: Matcher) -> bool:
    try:
        return matcher.clone().accept_bytes(word.encode())
    except UnicodeEncodeError:
        return False
