"""What a client of OpenAI's protocol reads of an answer: all of it at once, or chunks while it is written.

Chunks are server-sent events of data alone, the last of them `[DONE]`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Protocol

from sglc.runtime.serve.openai.answering import Answering, Choice, Token
from sglc.runtime.serve.openai.errors import error_text
from sglc.runtime.serve.openai.shapes import Shape, call_piece, tokens_within
from sglc.runtime.serve.problems import Problem
from sglc.types.text.plain_json import write_json

DONE = "[DONE]"


class Told(Protocol):
    """What is told of an answer."""

    @property
    def news(self) -> asyncio.Event:
        """Set when there is more."""

    def chunks(self, *, ended: bool, problem: Problem | None) -> str:
        """The events of all that is new. With `ended` they are the last ones."""

    def whole(self) -> str:
        """The JSON text of a whole answer."""


def events_of(rows: Iterable[str]) -> str:
    """Rows of data as server-sent events."""
    return "".join(f"data: {row}\n\n" for row in rows)


class ToldHere:
    """What is told of an answer of this process, in a shape; `usage` and `logprobs` say whether its chunks
    tell of these."""

    def __init__(self, work: Answering, shape: Shape, *, usage: bool, logprobs: bool) -> None:
        self._work = work
        self._shape = shape
        self._usage = usage
        self._logprobs = logprobs
        self._sent = [0] * len(work.choices)
        """Characters of each answer."""
        self._told = [0] * len(work.choices)
        """Tokens of each answer."""
        self._called: list[list[int]] = [[] for _ in work.choices]
        """Characters of the arguments of each call of each answer."""
        self._open = [True] * len(work.choices)

    @property
    def news(self) -> asyncio.Event:
        """See `Told`."""
        return self._work.news

    def whole(self) -> str:
        """See `Told`."""
        return write_json(self._shape.whole(self._work))

    def chunks(self, *, ended: bool, problem: Problem | None) -> str:
        """See `Told`."""
        rows: list[str] = []
        for at, choice in enumerate(self._work.choices):
            if self._open[at]:
                rows += map(write_json, self._news_of(at, choice))
        if ended and problem is not None:
            rows.append(error_text(problem))
        elif ended:
            if self._usage:
                rows.append(write_json(self._shape.last(self._work)))
            rows.append(DONE)
        return events_of(rows)

    def _news_of(self, at: int, choice: Choice) -> Iterator[dict[str, object]]:
        """What is new of one answer: its text, its calls, its end."""
        content, done = choice.content, bool(choice.ended)
        first = not self._sent[at] and not self._called[at]
        if choice.reader is not None and not self._sent[at] and not (done and not choice.calls):
            content = content if content.strip() else ""  # blank text before calls is none
        text = content[self._sent[at] :]
        self._sent[at] += len(text)
        tokens: list[Token] = []
        if self._logprobs:
            tokens = tokens_within(choice, self._told[at], len(choice.text.encode()))
            self._told[at] += len(tokens)
        if text or (done and first and not choice.calls):
            yield self._shape.chunk(at, text, tokens, first=first)
            first = False
        pieces = list(self._calls_of(at, choice))
        if pieces:
            yield self._shape.called(at, pieces, first=first)
        if done:
            self._open[at] = False
            yield self._shape.ending(at, choice)

    def _calls_of(self, at: int, choice: Choice) -> Iterator[dict[str, object]]:
        """The pieces of calls that are new."""
        sent = self._called[at]
        for index, call in enumerate(choice.calls):
            if index == len(sent):
                sent.append(len(call.arguments))
                yield call_piece(index, call, call.arguments, first=True)
            elif sent[index] < len(call.arguments):
                yield call_piece(index, call, call.arguments[sent[index] :], first=False)
                sent[index] = len(call.arguments)
