"""Answers as a stream of chunks: server-sent events of data alone, the last of them `[DONE]`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from starlette.types import Receive, Scope, Send

from sglc.runtime.serve.event_stream import ALIVE_EVERY, HEADERS
from sglc.runtime.serve.openai.answering import Answering, Choice, Token
from sglc.runtime.serve.openai.errors import error_response, error_text
from sglc.runtime.serve.openai.shapes import Shape, call_piece, tokens_within
from sglc.runtime.serve.problems import Problem
from sglc.runtime.serve.requests import until_gone
from sglc.runtime.serve.runs import Run, Runs
from sglc.types.text.plain_json import write_json

DONE = "[DONE]"
_ALIVE = ": still going\n\n"


class Chunks:
    """An answer that is sent as it is written. What fails before there is any text is an error with its
    status; later it is a chunk with the error. A client that leaves ends the run, and so does one that reads
    nothing for the `idle` seconds of the server's limits."""

    def __init__(
        self, runs: Runs, run: Run, work: Answering, shape: Shape, *, usage: bool, logprobs: bool
    ) -> None:
        self._runs = runs
        self._run = run
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._runs.enter(self._run)
        assert self._run.task is not None
        self._run.task.add_done_callback(lambda _: self._work.news.set())
        try:
            sending = asyncio.ensure_future(self._send(scope, receive, send))
            try:
                if await until_gone(receive, sending):
                    await sending
            finally:
                sending.cancel()
        finally:
            self._runs.leave(self._run)

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        run, begun, ended = self._run, False, False
        while not ended:
            silent = not await self._news()
            ended = run.answer is not None
            if not begun and run.answer is not None and run.answer.problem is not None:
                await error_response(run.answer.problem)(scope, receive, send)
                return
            text = self._text(ended=ended) or (_ALIVE if silent else "")
            if not text:
                continue  # what may become a call is held back
            if not begun:
                await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
                begun = True
            if not await self._pass(send, text, more=not ended):
                return

    async def _news(self) -> bool:
        """Wait until there is more, the run has ended, or it is time for a sign of life: then False."""
        try:
            async with asyncio.timeout(ALIVE_EVERY):
                await self._work.news.wait()
        except TimeoutError:
            return False
        await self._runs.lull()
        self._work.news.clear()
        return True

    async def _pass(self, send: Send, text: str, *, more: bool) -> bool:
        """Send text; False where the client does not read it."""
        try:
            async with asyncio.timeout(self._runs.limits.idle):
                await send({"type": "http.response.body", "body": text.encode(), "more_body": more})
        except TimeoutError:
            self._run.cancel(Problem(503, "Cancelled", "the client has read nothing for too long"))
            return False
        return True

    def _text(self, *, ended: bool) -> str:
        """The events of all that is new."""
        rows: list[str] = []
        problem = self._run.answer.problem if self._run.answer is not None else None
        for at, choice in enumerate(self._work.choices):
            if self._open[at]:
                rows += map(write_json, self._news_of(at, choice))
        if ended and problem is not None:
            rows.append(error_text(problem))
        elif ended:
            if self._usage:
                rows.append(write_json(self._shape.last(self._work)))
            rows.append(DONE)
        return "".join(f"data: {row}\n\n" for row in rows)

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
