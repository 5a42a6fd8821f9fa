"""Requests over HTTP, by httpx2: pooled connections, four bounds of time, a bound on bytes.

Only an encrypted connection is used again. What stands between may send a reply twice; on a connection that
is not encrypted the second would be taken for the next reply: the answer to another question. Certificates
are verified, and proxies of the environment are used. A redirect is followed only to the same host, so that
no key goes elsewhere. Nothing is retried here.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from functools import lru_cache
from typing import TypeVar
from urllib.parse import urljoin, urlsplit
from weakref import WeakKeyDictionary

import httpx2

from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.transport import HttpReply, HttpRequest, Timeouts, shown_address

MOST_BYTES = 64 << 20
"""Bytes of one reply, decompressed. The longest answers of models are some hundred thousand tokens, a few MB
with all that is around each in a stream; the rest is room for log-probabilities."""
MOST_REDIRECTS = 3
KEPT_CONNECTIONS = 64
"""Connections that wait for their next request. How many are open at once is the caller's to bound."""
KEPT_CONTEXTS = 4
"""Sets of trusted certificates that are kept: the variables that name them hardly ever change."""

_T = TypeVar("_T")


class HttpTransport:
    """A transport over the network. The connections are those of the event loop that uses them."""

    def __init__(self, *, verify: ssl.SSLContext | bool = True, most_bytes: int = MOST_BYTES) -> None:
        """`verify` may be a context with other certificates; it is False nowhere but in tests."""
        self._verify = verify
        self._most_bytes = most_bytes
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = WeakKeyDictionary()

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpReply]:
        """The reply. Leaving the block before its end closes the connection."""
        return self._exchange(request)

    @asynccontextmanager
    async def _exchange(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        client = self._client()
        waiting = _Waiting(request.timeouts, shown_address(request.url))
        response = await _opened(client, request, waiting)
        try:
            yield _Reply(response, waiting, self._most_bytes)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close the connections of the running loop; those of loops that have ended are gone with them."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS)
            verify = _trusted() if self._verify is True else self._verify
            client = httpx2.AsyncClient(verify=verify, limits=limits, follow_redirects=False)
            self._clients[loop] = client
        return client


def _trusted() -> ssl.SSLContext:
    """The certificates that are trusted: those of the system, or what OpenSSL's variables name."""
    return _read_once(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=KEPT_CONTEXTS)
def _read_once(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Certificates, read once for all transports of the process: there are hundreds."""
    return httpx2.create_ssl_context()


async def _opened(client: httpx2.AsyncClient, request: HttpRequest, waiting: _Waiting) -> httpx2.Response:
    """The reply up to its body, behind redirects within the host."""
    url = request.url
    headers = {"accept-encoding": "identity", **request.headers, **request.secrets}
    timeout = httpx2.Timeout(None, connect=request.timeouts.connect)

    async def sent() -> httpx2.Response:
        content = request.body or None
        if url.lower().startswith("http:"):
            headers["connection"] = "close"
        made = client.build_request(request.method, url, headers=headers, content=content, timeout=timeout)
        return await client.send(made, stream=True)

    for _ in range(MOST_REDIRECTS + 1):
        response = await waiting.first(sent())
        if not response.is_redirect:
            return response
        await response.aclose()
        target = urljoin(url, response.headers["location"])
        becomes_get = response.status_code in (301, 302, 303) and request.method != "GET"
        if _origin(target) != _origin(url) or becomes_get:
            raise BackendFault(
                "request",
                f"the server redirects to {shown_address(target)}; give that address",
                endpoint=waiting.endpoint,
                status=response.status_code,
            )
        url = target
    raise BackendFault("request", "the server redirects in a circle", endpoint=waiting.endpoint)


class _Reply:
    """A reply of httpx2."""

    def __init__(self, response: httpx2.Response, waiting: _Waiting, most_bytes: int) -> None:
        self._response = response
        self._waiting = waiting
        self._most_bytes = most_bytes
        self._headers = {name.lower(): value for name, value in response.headers.items()}

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._headers

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, without compression."""
        taken = 0
        async with aclosing(self._response.aiter_bytes()) as body:
            while True:
                wait = self._waiting.between if taken else self._waiting.first
                piece = await wait(anext(body, b""))
                if not piece:
                    return
                taken += len(piece)
                if taken > self._most_bytes:
                    raise BackendFault(
                        "protocol",
                        f"the reply is longer than {self._most_bytes:,} bytes",
                        endpoint=self._waiting.endpoint,
                    )
                yield piece


class _Waiting:
    """The bounds of time of one request, which begin when it is made."""

    def __init__(self, timeouts: Timeouts, endpoint: str) -> None:
        now = asyncio.get_running_loop().time()
        self.endpoint = endpoint
        self._timeouts = timeouts
        self._first = now + timeouts.first
        self._whole = now + timeouts.whole

    async def first(self, step: Awaitable[_T]) -> _T:
        """Something that comes before the first byte of the body, or is it."""
        return await self._until(step, self._first, f"nothing came within {self._timeouts.first:g} seconds")

    async def between(self, step: Awaitable[_T]) -> _T:
        """The next bytes."""
        until = asyncio.get_running_loop().time() + self._timeouts.between
        return await self._until(step, until, f"nothing more came for {self._timeouts.between:g} seconds")

    async def _until(self, step: Awaitable[_T], until: float, late: str) -> _T:
        if self._whole <= until:
            until, late = self._whole, f"the answer was not whole within {self._timeouts.whole:g} seconds"
        try:
            async with asyncio.timeout_at(until):
                return await step
        except TimeoutError:
            fault = BackendFault("connection", late, endpoint=self.endpoint, again=True)
        except httpx2.HTTPError as problem:
            fault = self._fault(problem)
        except httpx2.InvalidURL:
            fault = BackendFault("request", "the address is not a URL", endpoint=self.endpoint)
        raise fault

    def _fault(self, problem: httpx2.HTTPError) -> BackendFault:
        """What a problem of httpx2 means. Its own text may hold the request, so little of it is kept."""
        match problem:
            case httpx2.ConnectTimeout():
                message = f"no connection within {self._timeouts.connect:g} seconds"
            case httpx2.ConnectError():
                cause = _of_certificate(problem)
                if cause:
                    return BackendFault("connection", cause, endpoint=self.endpoint)
                message = f"no connection: {_line(str(problem))}"
            case httpx2.UnsupportedProtocol() | httpx2.LocalProtocolError():
                return BackendFault("request", "the request cannot be sent", endpoint=self.endpoint)
            case httpx2.DecodingError():
                message = "the reply cannot be decompressed"
                return BackendFault("protocol", message, endpoint=self.endpoint, again=True)
            case httpx2.ProxyError():
                message = "the proxy of the environment refuses the connection"
            case _:
                message = "the connection broke"
        return BackendFault("connection", message, endpoint=self.endpoint, again=True)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", parts.port or default


def _of_certificate(problem: BaseException | None) -> str:
    """What is wrong with a certificate, where that is what a problem comes from."""
    while problem is not None:
        if isinstance(problem, ssl.SSLCertVerificationError):
            return f"the certificate of the server is not valid: {_line(problem.verify_message)}"
        problem = problem.__cause__ or problem.__context__
    return ""


def _line(text: str) -> str:
    return " ".join(text.split())[:200]
