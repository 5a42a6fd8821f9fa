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
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port, limit=1 << 22)
        except OSError as error:
            answer.fault, answer.seconds = str(error), time.perf_counter() - started
            return answer
        try:
            writer.write(self._request(path, body, headers))
            await self._read(reader, answer, started)
        except (OSError, ValueError, EOFError) as error:
            answer.fault = answer.fault or f"{type(error).__name__}: {error}"
        finally:
            answer.seconds = time.perf_counter() - started
            writer.close()
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

    async def _read(self, reader: asyncio.StreamReader, answer: Answer, started: float) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        answer.first_byte = time.perf_counter() - started
        first, *lines = head.decode("latin-1").split("\r\n")
        answer.status = int(first.split()[1])
        answer.headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        parts: list[bytes] = []
        if answer.headers.get("transfer-encoding") == "chunked":
            while size := int(await reader.readline(), 16):
                part = (await reader.readexactly(size + 2))[:-2]
                if not answer.first_text and is_text(part):
                    answer.first_text = time.perf_counter() - started
                parts.append(part)
        else:
            parts.append(await reader.read())
        answer.body = b"".join(parts)


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
