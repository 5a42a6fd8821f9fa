"""Transports that record what another one does, and that replay it without a network."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.recording.nearest import not_recorded
from sglc.runtime.backends.recording.traffic import Exchange, Fault, TrafficError, TrafficFile, digest
from sglc.runtime.backends.secrets import HIDDEN, Redactor
from sglc.runtime.backends.transport import HttpReply, HttpRequest, Transport
from sglc.runtime.errors import SglError

HEADERS = frozenset(("content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"))
"""Headers of replies that are recorded: what backends and policies read. Cookies and others may hold what
identifies an account."""
_LIMITS = ("x-ratelimit-", "anthropic-ratelimit-")


class RecordingTransport:
    """Sends requests by another transport and writes each exchange to a file, without secrets."""

    def __init__(
        self,
        inner: Transport,
        file: TrafficFile,
        secrets: Iterable[str] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`secrets`: values that no line may have, beside those that requests send in secret headers."""
        self._inner = inner
        self._file = file
        self._redactor = Redactor(secrets)
        self._now = now
        self._numbers = itertools.count()

    @contextlib.asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        """The reply; the exchange is written when it is given back. Raises BackendFault; and SglError, which
        no handler of a program catches, where it cannot be written: what follows would be missing."""
        self._redactor.learn(request.secrets.values())
        began, number = self._now(), next(self._numbers)
        copy: _Copy | None = None
        fault: BackendFault | None = None
        try:
            async with self._inner.send(request) as reply:
                copy = _Copy(reply, lambda: self._now() - began)
                yield copy
        except BackendFault as error:
            fault = error
            raise
        finally:
            self._write(self._exchange(number, request, copy, fault))

    async def close(self) -> None:
        """Close the connections, and the file."""
        try:
            await self._inner.close()
        finally:
            self._file.close()

    def _write(self, exchange: Exchange) -> None:
        try:
            self._file.write(exchange)
        except (OSError, TrafficError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else ""
            said = f"the recording cannot be written: {reason or problem}"
            raise SglError("Backend", said, fatal=True) from None

    def _exchange(
        self, number: int, request: HttpRequest, copy: _Copy | None, fault: BackendFault | None
    ) -> Exchange:
        clean = self._redactor
        made = Exchange(number, request.method, clean.url(request.url), clean.data(request.body))
        if copy is not None:
            times, pieces = [at for at, _ in copy.read], clean.pieces([piece for _, piece in copy.read])
            headers = {name: clean.text(value) for name, value in copy.headers.items() if _is_kept(name)}
            timed = tuple(zip(times, pieces, strict=True))
            made = replace(made, status=copy.status, headers=headers, pieces=timed, whole=copy.whole)
        if fault is not None and (copy is None or copy.fault is fault):
            message = clean.text(fault.message)
            told = Fault(fault.cause, message, fault.status, fault.again, fault.retry_after)
            made = replace(made, fault=told)
        return made


class ReplayingTransport:
    """Answers requests as they were answered when they were recorded: byte for byte, in pieces as they came,
    without a key and without waiting. Equal requests are answered in the order in which they were sent."""

    def __init__(self, exchanges: Sequence[Exchange], secrets: Iterable[str] = ()) -> None:
        """`secrets`: values that recordings do not have, beside those in secret headers of requests."""
        self._exchanges = list(exchanges)
        self._redactor = Redactor(secrets)
        self._left: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in self._exchanges:
            self._left[exchange.digest].append(exchange)

    @property
    def unused(self) -> int:
        """Exchanges that nothing has asked for."""
        return sum(map(len, self._left.values()))

    @contextlib.asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        """The reply that was recorded. Raises BackendFault as recorded; SglError, which no handler of a
        program catches, for a request that was not."""
        self._redactor.learn(value for value in request.secrets.values() if HIDDEN not in value)
        url, body = self._redactor.url(request.url), self._redactor.data(request.body)
        left = self._left.get(digest(request.method, url, body))
        if not left:
            raise not_recorded(Exchange(-1, request.method, url, body), self._exchanges)
        exchange = left.popleft()
        if not exchange.status and exchange.fault is not None:
            raise _raised(exchange)
        yield _Replayed(exchange)

    async def close(self) -> None:
        """Nothing is open."""


class _Copy:
    """A reply that notes what is read of it."""

    def __init__(self, inner: HttpReply, elapsed: Callable[[], float]) -> None:
        self._inner = inner
        self._elapsed = elapsed
        self.read: list[tuple[float, bytes]] = []
        self.whole = False
        self.fault: BackendFault | None = None

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._inner.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner.pieces():
                self.read.append((self._elapsed(), piece))
                yield piece
        except BackendFault as fault:
            self.fault = fault
            raise
        self.whole = True


class _Replayed:
    """A reply from a recording."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.status = exchange.status
        self.headers: Mapping[str, str] = exchange.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        for _, piece in self._exchange.pieces:
            yield piece
        if self._exchange.fault is not None:
            raise _raised(self._exchange)


def _raised(exchange: Exchange) -> BackendFault:
    fault = exchange.fault
    assert fault is not None
    return BackendFault(
        fault.cause,  # type: ignore[arg-type]
        fault.message,
        endpoint=exchange.url,
        status=fault.status,
        again=fault.again,
        retry_after=fault.retry_after,
    )


def _is_kept(name: str) -> bool:
    return name.lower() in HEADERS or name.lower().startswith(_LIMITS)
