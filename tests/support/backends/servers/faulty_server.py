"""A server on the loopback that speaks a protocol by one of the stubs, and a network that spoils its replies.

Requests come over real connections, and faults happen to the bytes on them: head, framing and body. Each
request asks for a row by a number in its prompt, and the answer is of that row.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from backends import stub_servers
from backends.faults import Fault, Scheduled, Seeded
from backends.in_process import StubReply
from backends.servers.raw_server import RawServer, Seen, raw_server
from backends.stub_model import StubModel
from sglc.runtime.backends.transport import HttpRequest
from sglc.runtime.mask.constraint import Constraint

PROGRAM = """record Row:
    number: int in 1000..9999
    said: "été" | "hiver"
    again: int in 1000..9999

pub fn row(n: int) -> Row:
    user: | Say row ${n}.
    assistant: | ?{found: Row}
    return found
"""
FIRST = 1_000
"""The number of the first row: all have four digits, so that no piece that is lost or doubled leaves one."""
NAMES = {
    "openai": "openai:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "vllm": "vllm:{}#served",
    "sglang": "sglang:{}#served",
    "llama": "llama:{}",
}
STUBS = {
    "openai": stub_servers.StubOpenAI,
    "anthropic": stub_servers.StubAnthropic,
    "vllm": stub_servers.StubVllm,
    "sglang": stub_servers.StubSGLang,
    "llama": stub_servers.StubLlama,
}
KEYS = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test"}
PREPARING = ("/apply-template", "/tokenize", "/models", "/props")
"""Ends of paths of requests that ask for no answer."""
RATES = {
    Fault("status", 429): 0.1,
    Fault("status", 429, retry_after=0.2): 0.1,
    Fault("status", 500): 0.05,
    Fault("status", 503): 0.025,
    Fault("status", 529): 0.025,
    Fault("drop"): 0.007,
    Fault("stall"): 0.007,
    Fault("cut"): 0.007,
    Fault("truncate"): 0.007,
    Fault("duplicate"): 0.007,
    Fault("garble", where=0.2): 0.004,
    Fault("garble", where=0.6): 0.004,
    Fault("twice"): 0.007,
    Fault("delay", seconds=0.2): 0.02,
    Fault("shred"): 0.02,
}
"""A fifth of 429, a tenth of 5xx, a twentieth of broken streams; late and slow ones besides."""


def value_of(number: int) -> dict[str, Any]:
    """What the server says of a row."""
    return {"number": number, "said": "été", "again": number}


class RowModel(StubModel):
    """Writes the row that was asked for last."""

    number = FIRST

    def write(self, constraint: Constraint | None) -> str:
        text = json.dumps(value_of(self.number), ensure_ascii=False)
        if constraint is not None and not _accepts(constraint, text):
            text = json.dumps({"value": value_of(self.number)}, ensure_ascii=False)
        return text


def _accepts(constraint: Constraint, text: str) -> bool:
    matcher = constraint.matcher(stub_servers_bytes())
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def stub_servers_bytes() -> Any:
    """The vocabulary of the stubs' model."""
    from backends import stub_model

    return stub_model._BYTES


@dataclass
class FaultyServer:
    """`asked` counts requests for an answer by row, `happened` faults by kind. Stalls last `stall` s."""

    kind: str
    source: Seeded | Scheduled
    stall: float = 1.0
    asked: Counter[int] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    raw: RawServer = field(default_factory=RawServer)

    def __post_init__(self) -> None:
        self._model = RowModel()
        self._stub = STUBS[self.kind](self._model)

    @property
    def name(self) -> str:
        """As `--model` has it."""
        return NAMES[self.kind].format(self.raw.url)

    @property
    def environment(self) -> dict[str, str]:
        """Keys and addresses."""
        base = {"OPENAI_BASE_URL": f"{self.raw.url}/v1", "ANTHROPIC_BASE_URL": self.raw.url}
        return {**KEYS, **base}

    async def answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        """Answer one request, or spoil the answer."""
        path = seen.line.split()[1]
        body = json.loads(seen.body) if seen.body else None
        if not path.endswith(PREPARING):
            told = re.search(r"Say row (\d+)", seen.body.decode())
            assert told is not None, seen.body
            self._model.number = int(told[1])
            self.asked[self._model.number] += 1
        fault = self.source.next()
        if fault is not None:
            self.happened[fault.kind] += 1
        if fault is not None and fault.kind == "status":
            error = json.dumps({"error": {"message": "not now", "type": "fault"}}).encode()
            after = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
            parts = _parts(StubReply(error, fault.status, {"content-type": "application/json", **after}))
        else:
            parts = _parts(self._stub._app(path, body, HttpRequest(path)))
        await _send(writer, parts, fault, self.stall)


def _parts(reply: StubReply) -> list[bytes]:
    """A reply as it goes over the connection: its head, its body in chunks by events, their end."""
    head = f"HTTP/1.1 {reply.status} Told\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    if "event-stream" not in reply.headers["content-type"]:
        return [f"{head}content-length: {len(reply.body)}\r\n\r\n".encode(), reply.body]
    events = [event + b"\n\n" for event in reply.body.split(b"\n\n") if event]
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    return [f"{head}transfer-encoding: chunked\r\n\r\n".encode(), *chunks, b"0\r\n\r\n"]


async def _send(writer: asyncio.StreamWriter, parts: list[bytes], fault: Fault | None, stall: float) -> None:
    whole = b"".join(parts)
    at = int(len(whole) * (0.5 if fault is None else fault.where))
    kind = None if fault is None else fault.kind
    if fault is not None and kind == "delay":
        await asyncio.sleep(fault.seconds)
    if kind == "drop":
        writer.transport.abort()
        return
    if kind == "garble":
        whole = whole[:at] + bytes((whole[at] ^ 0x5A,)) + whole[at + 1 :]
    elif kind == "duplicate":
        middle = len(parts) // 2
        whole = b"".join([*parts[: middle + 1], *parts[middle:]])
    elif kind == "twice":
        whole += whole
    elif kind == "truncate":
        whole = _truncated(parts, at)
    elif kind in ("cut", "stall"):
        whole = whole[:at]
    if kind == "shred":
        for place in range(0, len(whole), 7):  # through characters, lines and lengths of chunks
            writer.write(whole[place : place + 7])
            if place % 70 == 0:
                await writer.drain()
                await asyncio.sleep(0)
    else:
        writer.write(whole)
    await writer.drain()
    if kind == "stall":
        await asyncio.sleep(stall)
    if kind in ("stall", "cut"):
        writer.transport.abort()


def _truncated(parts: list[bytes], at: int) -> bytes:
    """A reply whose body ends early, within a character where it has one, as if it were whole."""
    head, body = parts[0], b"".join(parts[1:])
    place = next((n for n in range(len(body)) if body[n] & 0xC0 == 0x80), max(1, min(at, len(body) - 1)))
    if b"transfer-encoding" in head:
        flat = b"".join(part.split(b"\r\n", 1)[1].removesuffix(b"\r\n") for part in parts[1:-1])
        place = next((n for n in range(len(flat)) if flat[n] & 0xC0 == 0x80), len(flat) // 2)
        return head + b"%x\r\n%b\r\n0\r\n\r\n" % (place, flat[:place])
    head = re.sub(rb"content-length: \d+", b"content-length: %d" % place, head)
    return head + body[:place]


@asynccontextmanager
async def faulty_server(
    kind: str, source: Seeded | Scheduled, stall: float = 1.0
) -> AsyncIterator[FaultyServer]:
    """The server while the block runs."""
    server = FaultyServer(kind, source, stall)
    async with raw_server(server.answer) as raw:
        server.raw = raw
        yield server
