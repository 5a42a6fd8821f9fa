"""HTTP as backends need it: one request, one reply that is read piece by piece.

The connections, a recording and a replay are transports.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that a request may wait: to connect, for the first byte, between bytes, in all."""

    connect: float = 5.0
    first: float = 60.0
    between: float = 30.0
    whole: float = 600.0


TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request whose body is JSON. `secrets` are headers that no recording, trace or error may show."""

    url: str
    body: bytes = b""
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: Timeouts = TIMEOUTS


class HttpReply(Protocol):
    """A reply whose body is still to come."""

    @property
    def status(self) -> int:
        """The code of HTTP, 100 to 599, as the service sent it."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case."""

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises BackendFault where the connection breaks or time is up."""


class Transport(Protocol):
    """Sends requests."""

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpReply]:
        """The reply; its connection is given back or closed at the end of the block. Raises BackendFault."""

    async def close(self) -> None:
        """Close all connections."""


def shown_address(url: str) -> str:
    """An address without what may be secret of it: user, password, query, fragment. Empty if it is none."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return ""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}{parts.path}"
