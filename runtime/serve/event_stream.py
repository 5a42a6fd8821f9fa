"""A run as server-sent events (the `text/event-stream` of HTML): `id`, `event`, `data`."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send

from sglc.runtime.serve.problems import Problem
from sglc.runtime.serve.requests import until_gone
from sglc.runtime.serve.runs import Run, Runs

MEDIA_TYPE = "text/event-stream"
ALIVE_EVERY = 15.0
"""Seconds of silence after which a comment is sent: proxies close what is silent for half a minute."""
RUN_HEADER = b"sglc-run"
"""Names the run, for a client that goes on where its connection broke."""
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream:
    """An answer that tells what happens in a run after an event, until the run has ended. A client that
    leaves, or reads nothing for `idle` seconds, leaves the run."""

    def __init__(self, runs: Runs, run: Run, after: int = 0) -> None:
        self._runs = runs
        self._run = run
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._runs.enter(self._run)
        try:
            headers = [*HEADERS, (RUN_HEADER, self._run.id.encode())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            sending = asyncio.ensure_future(self._send(send))
            try:
                await until_gone(receive, sending)
            finally:
                sending.cancel()
        finally:
            self._runs.leave(self._run)

    async def _send(self, send: Send) -> None:
        run, number = self._run, self._after
        ended = False
        while not ended:
            text = ""
            try:
                async with asyncio.timeout(ALIVE_EVERY):
                    news = await run.log.after(number)
            except TimeoutError:
                text = ": still going\n\n"
            else:
                if news[0].number > number + 1:
                    text = f'event: lost\ndata: {{"after": {number}, "before": {news[0].number}}}\n\n'
                text += "".join(
                    f"id: {each.number}\nevent: {each.name}\ndata: {each.data}\n\n" for each in news
                )
                number, ended = news[-1].number, news[-1].last
            try:
                async with asyncio.timeout(self._runs.limits.idle):
                    await send({"type": "http.response.body", "body": text.encode(), "more_body": not ended})
            except TimeoutError:
                run.cancel(Problem(503, "Cancelled", "the client has read nothing for too long"))
                return
        self._runs.had(run)
