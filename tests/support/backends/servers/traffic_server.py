"""A transport whose replies a test gives, and a backend of the simplest protocol over a transport."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sglc.runtime.backends.exchange import BackendFault, Ending, Event, Piece, Query, TextScore
from sglc.runtime.backends.transport import HttpReply, HttpRequest, Transport
from sglc.targets.projection.core.capabilities import Capabilities


@dataclass
class Reply:
    """What is answered; `fault` is raised behind the pieces, before anything if there is no status."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    fault: BackendFault | None = None


class GivenTransport:
    """Replies of a function of the request. It notes the requests."""

    def __init__(self, reply: Callable[[HttpRequest], Reply]) -> None:
        self._reply = reply
        self.requests: list[HttpRequest] = []
        self.closed = False

    @contextlib.asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        self.requests.append(request)
        found = self._reply(request)
        if found.fault is not None and not found.status:
            raise found.fault
        yield _Given(found)

    async def close(self) -> None:
        self.closed = True


class _Given:
    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.status, self.headers = reply.status, reply.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._reply.pieces:
            yield piece
        if self._reply.fault is not None:
            raise self._reply.fault


class PlainBackend:
    """The messages go out as JSON, the answer comes as text. Its key is in a header."""

    def __init__(self, transport: Transport, key: str, url: str = "https://model.test/v1/answer") -> None:
        self._transport = transport
        self._key = key
        self.name = "plain:model"
        self.endpoint = url
        self.capabilities = Capabilities()

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        messages = [[message.role, message.text] for message in query.messages]
        body = json.dumps({"messages": messages, "seed": query.seed}).encode()
        secrets = {"authorization": f"Bearer {self._key}"} if self._key else {}
        request = HttpRequest(self.endpoint, body, secrets=secrets)
        async with self._transport.send(request) as reply:
            if reply.status != 200:
                text = b"".join([piece async for piece in reply.pieces()]).decode()
                raise BackendFault("request", text, endpoint=self.endpoint, status=reply.status)
            async for piece in reply.pieces():
                yield Piece(piece.decode("utf-8", "replace"))
        yield Ending("stop")

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        raise NotImplementedError

    async def close(self) -> None:
        await self._transport.close()
