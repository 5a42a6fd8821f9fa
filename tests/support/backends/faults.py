"""A transport that does to another one's replies what networks and servers do, by a seed or by a schedule.

status      an error status in place of the reply, with `retry-after` where the fault has one
drop        no reply: the connection is refused
delay       the reply comes later
stall       the reply stops coming, until the request's time between bytes is up
cut         the connection breaks in the middle, between bytes
truncate    the body ends in the middle, as if it were whole, inside of a character where it has one
duplicate   a piece comes twice
garble      a byte is another one
shred       every byte comes by itself: no fault, but a reader must not mind
twice       all of it comes twice on the connection; only where there is one (`faulty_server`)
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from sglc.runtime.backends.exchange import BackendFault, Clock
from sglc.runtime.backends.transport import HttpReply, HttpRequest, Transport

Kind = Literal["status", "drop", "delay", "stall", "cut", "truncate", "duplicate", "garble", "shred", "twice"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one reply. `where` is the part of the body, from 0 to 1, at which it happens."""

    kind: Kind
    status: int = 500
    seconds: float = 1.0
    where: float = 0.5
    retry_after: float | None = None


ISSUE_RATES: Mapping[Fault, float] = {
    Fault("status", 429): 0.1,
    Fault("status", 429, retry_after=1.0): 0.1,
    Fault("status", 500): 0.05,
    Fault("status", 503): 0.025,
    Fault("status", 529): 0.025,
    Fault("stall"): 0.015,
    Fault("cut"): 0.015,
    Fault("truncate"): 0.01,
    Fault("drop"): 0.01,
}
"""A fifth of 429, a tenth of 5xx, a twentieth of broken and stalled streams."""


@dataclass
class Seeded:
    """Faults by chance."""

    rates: Mapping[Fault, float]
    seed: int
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    def next(self) -> Fault | None:
        """What happens to the next reply."""
        left = self._random.random()
        for fault, share in self.rates.items():
            left -= share
            if left < 0:
                return fault
        return None


@dataclass
class Scheduled:
    """Faults one by one, then none."""

    faults: Sequence[Fault | None]
    _sent: int = 0

    def next(self) -> Fault | None:
        """What happens to the next reply."""
        self._sent += 1
        return self.faults[self._sent - 1] if self._sent <= len(self.faults) else None


@dataclass
class FaultyTransport:
    """`happened` counts the faults by kind."""

    inner: Transport
    source: Seeded | Scheduled
    clock: Clock
    happened: dict[str, int] = field(default_factory=dict)

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        fault = self.source.next()
        if fault is not None:
            self.happened[fault.kind] = self.happened.get(fault.kind, 0) + 1
        match fault:
            case Fault("drop"):
                raise BackendFault(
                    "connection", "the connection is refused", endpoint=request.url, again=True
                )
            case Fault("status", status, retry_after=after):
                yield _Refusal(status, {} if after is None else {"retry-after": f"{after:g}"})
                return
            case Fault("delay", seconds=seconds):
                await self.clock.sleep(seconds)
        async with self.inner.send(request) as reply:
            yield reply if fault is None else _Spoilt(reply, fault, request, self.clock)

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class _Refusal:
    status: int
    headers: Mapping[str, str]

    async def pieces(self) -> AsyncIterator[bytes]:
        yield json.dumps({"error": {"message": "not now", "type": "fault", "code": None}}).encode()


@dataclass
class _Spoilt:
    reply: HttpReply
    fault: Fault
    request: HttpRequest
    clock: Clock

    @property
    def status(self) -> int:
        return self.reply.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.reply.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        pieces = [piece async for piece in self.reply.pieces()]
        whole = b"".join(pieces)
        at = min(int(len(whole) * self.fault.where), max(0, len(whole) - 1))
        match self.fault.kind:
            case "shred":
                for byte in whole:
                    yield bytes((byte,))
            case "duplicate":
                index = min(int(len(pieces) * self.fault.where), len(pieces) - 1)
                for piece in [*pieces[: index + 1], *pieces[index:]]:
                    yield piece
            case "garble":
                yield whole[:at] + bytes((whole[at] ^ 0x5A,)) + whole[at + 1 :]
            case "truncate":
                inside = next((n for n in range(at, len(whole)) if whole[n] & 0xC0 == 0x80), at)
                yield whole[:inside]
            case "cut" | "stall":
                yield whole[:at]
                if self.fault.kind == "stall":
                    await self.clock.sleep(self.request.timeouts.between)
                raise BackendFault("connection", "it broke off", endpoint=self.request.url, again=True)
            case _:
                for piece in pieces:
                    yield piece
