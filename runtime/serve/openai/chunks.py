"""Answers as a stream of chunks: server-sent events of data alone, the last of them `[DONE]`."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send

from sglc.runtime.serve.event_stream import ALIVE_EVERY, HEADERS
from sglc.runtime.serve.openai.answering import Answering
from sglc.runtime.serve.openai.errors import error_response, error_text
from sglc.runtime.serve.openai.shapes import Shape, tokens_within
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
        self._open = [True] * len(work.choices)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._runs.enter(self._run)
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
        run, answer = self._run, self._run.answer
        await self._news()
        answer = run.answer
        if answer is not None and answer.problem is not None:
            await error_response(answer.problem)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        ended = False
        while not ended:
            ended = run.answer is not None
            if not await self._pass(send, self._text(ended=ended) or _ALIVE, more=not ended):
                return
            if not ended:
                await self._news()

    async def _news(self) -> None:
        """Wait until there is more, the run has ended, or it is time for a sign of life."""
        assert self._run.task is not None
        news = asyncio.ensure_future(self._work.news.wait())
        try:
            await asyncio.wait(
                {news, self._run.task}, timeout=ALIVE_EVERY, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            news.cancel()
        self._work.news.clear()

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
            done = bool(choice.ended)
            if not self._open[at] or (not done and self._sent[at] == len(choice.text)):
                continue
            text, first = choice.text[self._sent[at] :], not self._sent[at]
            self._sent[at] = len(choice.text)
            tokens = []
            if self._logprobs:
                tokens = tokens_within(choice, self._told[at], len(choice.text.encode()))
                self._told[at] += len(tokens)
            if text or first:
                rows.append(write_json(self._shape.chunk(at, text, tokens, first=first)))
            if done:
                self._open[at] = False
                rows.append(write_json(self._shape.ending(at, choice)))
        if ended and problem is not None:
            rows.append(error_text(problem))
        elif ended:
            if self._usage:
                rows.append(write_json(self._shape.last(self._work)))
            rows.append(DONE)
        return "".join(f"data: {row}\n\n" for row in rows)
