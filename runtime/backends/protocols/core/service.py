"""The way to one service over HTTP: where it is, what goes with each request, how it refuses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from sglc.runtime.backends.event_stream import ServerEvent, closed_after, server_events
from sglc.runtime.backends.exchange import BackendFault, Clock
from sglc.runtime.backends.protocols.core.faults import fault_in_stream, fault_of_status
from sglc.runtime.backends.protocols.core.fields import Object, garbled, parsed
from sglc.runtime.backends.protocols.core.service_limits import ServiceLimits
from sglc.runtime.backends.registry import Opening
from sglc.runtime.backends.transport import HttpReply, HttpRequest, Timeouts, Transport
from sglc.types.text.plain_json import write_json

TICK = 1e-3
"""Seconds by which a request may end before the deadline that ends it: an event loop wakes sleepers early, by
the resolution of its clock. In a millisecond no request could have been sent again."""
MOST_ERROR_BYTES = 64 << 10
"""Bytes that are read of the body of an error; its message is at the beginning."""
_HALF = re.compile(r"(?<!\\)(?:\\\\)*\\ud[89a-f]")
"""The escape of half a pair of surrogates: whole characters are not escaped."""


@dataclass(slots=True)
class Service:
    """Sends requests below one address. `secrets` are headers with keys."""

    url: str
    transport: Transport
    timeouts: Timeouts
    clock: Clock | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    leave_out: frozenset[str] = frozenset()
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    @asynccontextmanager
    async def reply(
        self, path: str, body: Mapping[str, object] | None = None, deadline: float | None = None
    ) -> AsyncIterator[HttpReply]:
        """The reply to a body of JSON, or to a GET without one. Raises BackendFault for a refusal."""
        request = HttpRequest(
            self.url + path,
            b"" if body is None else self._written(body),
            "GET" if body is None else "POST",
            {"content-type": "application/json", "user-agent": "sglc", **self.headers},
            self.secrets,
            self._timeouts(deadline),
        )
        try:
            async with self.transport.send(request) as reply:
                self.limits.note(reply.headers)
                if not 200 <= reply.status < 300:
                    found = await _beginning(reply)
                    raise fault_of_status(reply.status, reply.headers, found, self.url, self._secret_words())
                yield reply
        except BackendFault as fault:
            fault.endpoint = fault.endpoint or self.url
            if deadline is not None and fault.cause == "connection" and self._now() >= deadline - TICK:
                fault.cause, fault.again = "deadline", False
            raise

    async def answer(
        self, path: str, body: Mapping[str, object] | None = None, deadline: float | None = None
    ) -> Object:
        """The JSON object of a whole reply."""
        async with self.reply(path, body, deadline) as reply, closed_after(reply.pieces()) as pieces:
            data = b"".join([piece async for piece in pieces])
            try:
                data.decode("utf-8")
            except UnicodeDecodeError:
                raise garbled("it is no UTF-8") from None
            return parsed(data)

    async def events(
        self, path: str, body: Mapping[str, object], deadline: float | None = None
    ) -> AsyncIterator[ServerEvent]:
        """The events of a stream. Raises BackendFault for an event that is an error."""
        async with self.reply(path, body, deadline) as reply:
            kind = reply.headers.get("content-type", "text/event-stream")
            if "event-stream" not in kind:
                raise garbled(f"a stream of events was asked for, and {kind} came")
            async with closed_after(server_events(reply.pieces())) as events:
                async for event in events:
                    yield event

    def refusal(self, error: object) -> BackendFault:
        """The fault of an error in a stream."""
        return fault_in_stream(error, self.url, self._secret_words())

    def _written(self, body: Mapping[str, object]) -> bytes:
        kept = {name: value for name, value in body.items() if name not in self.leave_out}
        written = write_json(kept)
        if _HALF.search(written):
            raise BackendFault("request", "a text has half a character in it", endpoint=self.url)
        return written.encode()

    def _timeouts(self, deadline: float | None) -> Timeouts:
        if deadline is None:
            return self.timeouts
        left = deadline - self._now()
        if left <= 0:
            raise BackendFault("deadline", "the deadline has passed", endpoint=self.url)
        return replace(self.timeouts, whole=min(left, self.timeouts.whole))

    def _now(self) -> float:
        return asyncio.get_running_loop().time() if self.clock is None else self.clock.now()

    def _secret_words(self) -> list[str]:
        """Keys, as they stand in headers and without `Bearer`."""
        return [word for value in self.secrets.values() for word in (value, value.rpartition(" ")[2])]


def service_of(
    opening: Opening,
    *,
    url: str,
    headers: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> Service:
    """The service of a backend. Without a transport it gets connections of its own."""
    transport = opening.transport
    if transport is None:
        from sglc.runtime.backends.http_transport import HttpTransport

        transport = HttpTransport()
    settings, clock = opening.settings, opening.clock
    return Service(
        *(url, transport, settings.timeouts, clock, headers or {}, secrets or {}, settings.leave_out),
        ServiceLimits(clock),
    )


def bearer(key: str) -> dict[str, str]:
    """The header with a key, if there is one."""
    return {"authorization": f"Bearer {key}"} if key else {}


def with_version(url: str) -> str:
    """An address with `/v1` behind it, unless it has a path already. A whole path of chat completions is
    cut back to its beginning."""
    url = url.rstrip("/").removesuffix("/chat/completions").rstrip("/")
    return url if "/" in url.partition("://")[2] else f"{url}/v1"


async def _beginning(reply: HttpReply) -> bytes:
    """The beginning of the body of an error; what breaks meanwhile changes nothing."""
    data = b""
    try:
        async with closed_after(reply.pieces()) as pieces:
            async for piece in pieces:
                data += piece
                if len(data) > MOST_ERROR_BYTES:
                    break
    except BackendFault:
        pass
    return data[:MOST_ERROR_BYTES]
