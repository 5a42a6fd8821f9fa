"""A small HTTP client of one event loop, which takes little processor time beside a server that is measured.

Every request has a connection of its own, or one that is kept. Bodies are JSON; answers are whole, or streams
of server-sent events whose times are noted.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(slots=True)
class Answer:
    """What came: the status, the times of its first byte and of the first text, and the body.

    Times are seconds from the moment at which the request was due. `events` are those of a stream as text.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    first_byte: float = 0.0
    first_text: float = 0.0
    body: bytes = b""
    fault: str = ""

    @property
    def events(self) -> list[str]:
        """Data of server-sent events."""
        lines = self.body.decode().split("\n")
        return [line[6:].rstrip("\r") for line in lines if line.startswith("data: ")]


class Client:
    """Asks one server. `address` is as `http://127.0.0.1:8000`."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80

    async def post(self, path: str, body: object, *, since: float | None = None, **headers: str) -> Answer:
        """Send a request and read its answer. A connection that breaks is told in `fault`."""
        answer = Answer()
        started = time.perf_counter() if since is None else since
        exchange = _Exchange(self._request(path, body, headers))
        try:
            await asyncio.get_running_loop().create_connection(lambda: exchange, self.host, self.port)
            await exchange.ended
            exchange.read(answer, started)
        except (OSError, ValueError, EOFError, LookupError) as error:
            answer.fault = f"{type(error).__name__}: {error}"
        answer.seconds = (exchange.at or time.perf_counter()) - started
        return answer

    async def leave(self, path: str, body: object, seconds: float) -> None:
        """Send a request, and close the connection after so long."""
        _, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(self._request(path, body, {}))
        await asyncio.sleep(seconds)
        writer.close()

    def _request(self, path: str, body: object, headers: dict[str, str]) -> bytes:
        data = json.dumps(body).encode()
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = (
            f"POST {path} HTTP/1.1\r\nhost: {self.host}:{self.port}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(data)}\r\nconnection: close\r\n{more}\r\n"
        )
        return head.encode() + data


class _Exchange(asyncio.Protocol):
    """One request on a connection of its own, which the server closes behind its answer. Times are those at
    which bytes came, whatever this process does then."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._pieces: list[bytes] = []
        self.first_byte = self.first_text = self.at = 0.0
        """When the first byte, the first text and the last byte came."""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send it."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """More of the answer."""
        self.at = time.perf_counter()
        self.first_byte = self.first_byte or self.at
        if not self.first_text and is_text(data):
            self.first_text = self.at
        self._pieces.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """All of it is there, or it broke off."""
        if self.ended.done():
            return
        if exc is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(exc)

    def read(self, answer: Answer, started: float) -> None:
        """What came. Raises EOFError and ValueError for what is no answer, or not all of it."""
        head, end, rest = b"".join(self._pieces).partition(b"\r\n\r\n")
        if not end:
            raise EOFError("no head of an answer")
        first, *lines = head.decode("latin-1").split("\r\n")
        answer.status = int(first.split()[1])
        answer.headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        answer.first_byte = self.first_byte - started
        answer.first_text = max(0.0, self.first_text - started)
        if answer.headers.get("transfer-encoding") == "chunked":
            answer.body = _unchunked(rest)
        else:
            answer.body = rest
            if len(rest) < int(answer.headers.get("content-length", 0)):
                raise EOFError("the answer breaks off")


def _unchunked(data: bytes) -> bytes:
    """A body in chunks (RFC 9112, 7.1). Raises EOFError where the last one is not there."""
    parts: list[bytes] = []
    at = 0
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            raise EOFError("the answer breaks off")
        size = int(data[at:end], 16)
        if not size:
            return b"".join(parts)
        parts.append(data[end + 2 : end + 2 + size])
        at = end + 4 + size


def is_text(part: bytes) -> bool:
    """Whether a part of a stream has text of an answer: a chunk with content, or a partial value."""
    return (b'"content"' in part and b'"content":""' not in part and b'"content": ""' not in part) or (
        b"event: partial" in part
    )


def content_of(answer: Answer) -> str:
    """The text of an answer in OpenAI's protocol, streamed or whole. Raises ValueError for what is none."""
    if "text/event-stream" not in answer.headers.get("content-type", ""):
        return str(json.loads(answer.body)["choices"][0]["message"]["content"])
    text = ""
    for event in answer.events:
        if event != "[DONE]":
            chunk: dict[str, Any] = json.loads(event)
            for choice in chunk.get("choices", ()):
                text += choice["delta"].get("content") or ""
    return text
