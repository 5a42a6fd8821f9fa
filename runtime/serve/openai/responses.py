"""Answers over HTTP: chunks while they are written, and failures."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sglc.runtime.serve.event_stream import ALIVE_EVERY, HEADERS
from sglc.runtime.serve.openai.chunks import Told
from sglc.runtime.serve.openai.errors import error_text, status_of
from sglc.runtime.serve.openai.pace import Beat, StreamPace
from sglc.runtime.serve.problems import Problem
from sglc.runtime.serve.requests import json_response, until_gone
from sglc.runtime.serve.runs import Run, Runs

_ALIVE = ": still going\n\n"


def error_response(problem: Problem) -> Response:
    """A failure as an answer."""
    return json_response(error_text(problem), status_of(problem), problem.headers)


class Chunks:
    """An answer that is sent as it is written. What fails before there is any text is an error with its
    status; later it is a chunk with the error. A client that leaves ends the run, and so does one that reads
    nothing for the `idle` seconds of the server's limits."""

    def __init__(self, runs: Runs, run: Run, told: Told, pace: StreamPace) -> None:
        self._pace = pace
        self._runs = runs
        self._run = run
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._runs.enter(self._run)
        assert self._run.task is not None
        self._run.task.add_done_callback(lambda _: self._told.news.set())
        try:
            with self._pace.stream() as beat:
                sending = asyncio.ensure_future(self._send(scope, receive, send, beat))
                try:
                    if await until_gone(receive, sending):
                        await sending
                finally:
                    sending.cancel()
        finally:
            self._runs.leave(self._run)

    async def _send(self, scope: Scope, receive: Receive, send: Send, beat: Beat) -> None:
        run, begun, ended = self._run, False, False
        while not ended:
            silent = not await self._news(beat)
            ended = run.answer is not None
            problem = None if run.answer is None else run.answer.problem
            if not begun and problem is not None:
                await error_response(problem)(scope, receive, send)
                return
            text = self._told.chunks(ended=ended, problem=problem) or (_ALIVE if silent else "")
            if not text and not ended:
                continue  # what may become a call is held back
            if not begun:
                await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
                begun = True
            if not await self._pass(send, text, more=not ended):
                return

    async def _news(self, beat: Beat) -> bool:
        """Wait until there is more, the run has ended, or it is time for a sign of life: then False."""
        assert self._run.task is not None
        try:
            async with asyncio.timeout(ALIVE_EVERY):
                await beat.due(self._told.news, self._run.task)
        except TimeoutError:
            return False
        await self._runs.lull()
        self._told.news.clear()
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
