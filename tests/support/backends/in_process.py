"""A transport that answers in the process: no socket, every byte is the test's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.transport import HttpReply, HttpRequest


@dataclass
class StubReply:
    """A reply. The bytes come `size` at a time; None is all at once."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    size: int | None = None
    breaks: bool = False
    """Whether the connection breaks behind the bytes."""

    async def pieces(self) -> AsyncIterator[bytes]:
        step = self.size or max(1, len(self.body))
        for at in range(0, len(self.body), step):
            yield self.body[at : at + step]
        if self.breaks:
            raise BackendFault("connection", "the connection broke", again=True)


App = Callable[[str, Any, HttpRequest], StubReply]
"""From path, body as JSON (None without one) and request to a reply."""


class InProcess:
    """The transport. `requests` are all that came, `bodies` their JSON."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.requests: list[HttpRequest] = []
        self.bodies: list[Any] = []
        self.open = 0
        self.closed = False

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        self.requests.append(request)
        body = json.loads(request.body) if request.body else None
        self.bodies.append(body)
        path = "/" + request.url.partition("://")[2].partition("/")[2]
        self.open += 1
        try:
            yield self.app(path, body, request)
        finally:
            self.open -= 1

    async def close(self) -> None:
        self.closed = True


def as_json(value: object, status: int = 200) -> StubReply:
    """A whole reply."""
    return StubReply(json.dumps(value).encode(), status)


def as_events(events: Sequence[object], *, done: bool = True, names: bool = False) -> StubReply:
    """A stream of events. With `names` the type of each stands in front of its data."""
    lines = [
        (f"event: {event['type']}\n" if names and isinstance(event, dict) else "")
        + f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
        for event in events
    ]
    text = "".join(lines) + ("data: [DONE]\n\n" if done else "")
    return StubReply(text.encode(), headers={"content-type": "text/event-stream; charset=utf-8"})
