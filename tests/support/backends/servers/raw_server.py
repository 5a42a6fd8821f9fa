"""A server on the loopback that answers what a test writes, byte for byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Seen:
    """A request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class RawServer:
    """Where the server is, and what came: requests, and how many connections."""

    url: str = ""
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0
    left: int = 0
    """Connections that the client closed."""


Answer = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(answer: Answer, context: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """`answer` writes the reply to each request; the connection stays open behind it."""
    server = RawServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while True:
                seen = await _read(reader)
                server.requests.append(seen)
                job = asyncio.ensure_future(answer(seen, writer))
                gone = asyncio.ensure_future(_gone(reader))
                await asyncio.wait((job, gone), return_when=asyncio.FIRST_COMPLETED)
                gone.cancel()
                if not job.done():
                    job.cancel()
                    raise ConnectionResetError
                await job
        except (asyncio.IncompleteReadError, ConnectionError):
            server.left += 1
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    host, port = listening.sockets[0].getsockname()[:2]
    server.url = f"{'https' if context else 'http'}://{host}:{port}"
    try:
        yield server
    finally:
        listening.close()


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(head[0], headers, body)


async def _gone(reader: asyncio.StreamReader) -> None:
    """Ends when the client has closed the connection; a client sends nothing while it waits."""
    while not reader.at_eof():
        await asyncio.sleep(0.005)


def reply(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    """A whole reply with a length."""
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n{headers}\r\n".encode() + body
