"""A small protocol for tests: an answer is numbered lines of JSON, each with a checksum of its text.

Real protocols have no checksums: here a garbled or doubled line is always noticed, so that what remains to be
seen is what policies make of it.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sglc.runtime.backends.exchange import BackendFault, Ending, Event, Piece, Query, TextScore, Usage
from sglc.runtime.backends.transport import HttpReply, HttpRequest, Timeouts, Transport
from sglc.targets.projection.core.capabilities import Capabilities

AGAIN = {408, 409, 429, 500, 502, 503, 504, 529}


def answer_of(name: str) -> str:
    """What the server writes for a query of this name: some words, not all of ASCII."""
    return " ".join(f"{name}·{word}é" for word in range(3 + len(name) % 3))


@dataclass
class _Reply:
    body: Sequence[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self.body:
            await asyncio.sleep(0.01)
            yield piece


@dataclass
class LineServer:
    """Writes `answer_of` the query's name, behind what was begun of it. `asked` counts requests by name."""

    asked: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=dict)
    open: int = 0
    most_open: int = 0

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        told = json.loads(request.body)
        text = answer_of(told["name"])
        assert text.startswith(told["begun"])
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(0.1)
            yield _Reply(list(_lines(text[len(told["begun"]) :])))
        finally:
            self.open -= 1

    async def close(self) -> None:
        pass


def _lines(text: str) -> Iterator[bytes]:
    words = [text[n : n + 3] for n in range(0, len(text), 3)]
    for number, word in enumerate(words):
        sum_ = zlib.crc32(word.encode())
        yield json.dumps({"n": number, "text": word, "sum": sum_}, ensure_ascii=False).encode() + b"\n"
    yield json.dumps({"n": len(words), "end": "stop", "prompt": 10, "output": len(words)}).encode() + b"\n"


@dataclass
class LineBackend:
    """Asks a `LineServer`; the query's `purpose` is its name."""

    transport: Transport
    server: LineServer
    name: str = "lines:one"
    endpoint: str = "http://one"
    capabilities: Capabilities = field(default_factory=Capabilities)
    timeouts: Timeouts = field(default_factory=Timeouts)

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        self.server.asked[query.purpose] += 1
        self.server.times.setdefault(query.purpose, []).append(asyncio.get_running_loop().time())
        body = json.dumps({"name": query.purpose, "begun": query.begun}).encode()
        async with self.transport.send(HttpRequest(self.endpoint, body, timeouts=self.timeouts)) as reply:
            if reply.status != 200:
                raise self._refused(reply)
            rest, number = b"", 0
            async for piece in reply.pieces():
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield self._event(line, number)
                    number += 1

    def _refused(self, reply: HttpReply) -> BackendFault:
        after = reply.headers.get("retry-after")
        return BackendFault(
            "rate" if reply.status == 429 else "overloaded" if reply.status >= 500 else "request",
            "not now",
            endpoint=self.endpoint,
            status=reply.status,
            again=reply.status in AGAIN,
            retry_after=None if after is None else float(after),
        )

    def _event(self, line: bytes, number: int) -> Event:
        try:
            told = json.loads(line)
            assert told["n"] == number
            if "end" in told:
                assert told["end"] == "stop"
                return Ending("stop", Usage(told["prompt"], told["output"]))
            assert told["sum"] == zlib.crc32(told["text"].encode())
            return Piece(told["text"])
        except (ValueError, AssertionError, KeyError, TypeError) as broken:
            raise BackendFault("protocol", "no line", endpoint=self.endpoint, again=True) from broken

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        raise BackendFault("request", "it scores nothing", endpoint=self.endpoint)

    async def close(self) -> None:
        await self.transport.close()
