"""What every request passes: its host, its origin, its key; then what it asked for is logged.

Texts, arguments, keys and queries are never logged. A server without keys is for its own machine, so it
answers only what is addressed to it: a page of a browser cannot reach it by another name (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sglc.runtime.serve.access import ANYONE, Access, Key
from sglc.runtime.serve.problems import Problem, Refusal, internal, refusal
from sglc.runtime.serve.requests import problem_response
from sglc.runtime.serve.runs import Runs

LOG = logging.getLogger("sglc.serve")
ACCESS = logging.getLogger("sglc.serve.access")
OPEN = ("/healthz", "/readyz")
"""What is told without a key."""
PAGE = "/ui"
"""Where the page for browsers lies, whose files hold no data: told without a key, too."""
MCP_PATH = "/mcp"
"""The origin of requests to it is checked as that of a WebSocket, as the Model Context Protocol wants it."""
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
KEY_PROTOCOL = "sglc.key."
"""A WebSocket of a browser has no header for a key: it offers a protocol with this before the key."""
FORWARDED = "x-forwarded-for"
AsResponse = Callable[[Problem], Response]
"""How a face tells that it refuses."""
_TRACE = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
_LONGEST_PATH = 200


@dataclass(frozen=True, slots=True)
class Proxies:
    """Addresses and networks whose word is taken for where a request comes from (`X-Forwarded-For`); none by
    default, since whoever sends a request writes its headers."""

    trusted: tuple[IPv4Network | IPv6Network, ...] = ()

    def client_of(self, scope: Scope, headers: Headers) -> str:
        """The address that a request comes from: that of the connection, or where a trusted proxy has it, the
        last one in the header that is not itself such a proxy. What is no address is not taken."""
        peer = scope.get("client")
        found = "" if peer is None else str(peer[0])
        if not self.trusted:
            return found
        told = [each.strip() for line in headers.getlist(FORWARDED) for each in line.split(",")]
        while told and self._trusts(found):
            address = _address(told.pop())
            if not address:
                break
            found = address
        return found

    def _trusts(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        # a socket for both versions has addresses of the older one in a spelling of the newer one
        mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
        return any((mapped or found) in network for network in self.trusted)


NO_PROXIES = Proxies()


def _address(text: str) -> str:
    """The address in a part of the header, which may have a port; empty for anything else."""
    text = text[: text.index("]")].removeprefix("[") if text.startswith("[") and "]" in text else text
    text = text.partition(":")[0] if text.count(":") == 1 else text
    try:
        return str(ip_address(text))
    except ValueError:
        return ""


class Guard:
    """Stands before the application. `hosts` are the names that it answers to, None for all; `origins` the
    pages that may open a WebSocket or send to MCP_PATH, besides those of the server itself. `below` enters
    the trace of a `traceparent` while a request is answered. `calls` are beginnings of paths at which a POST
    begins a run of `runs`, and how a refusal is told there. `proxies` are believed where a request comes
    from."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        hosts: Collection[str] | None,
        origins: Collection[str],
        runs: Runs,
        calls: Mapping[str, AsResponse],
        below: Callable[[str], AbstractContextManager[object]] | None = None,
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        self._runs = runs
        self._proxies = proxies
        self._calls = calls
        self._coming = 0
        """Calls that were let in, and whose runs may not have begun yet."""
        self._app = app
        self._access = access
        self._hosts = hosts
        self._origins = origins
        self._below = below or nullcontext

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = Headers(scope=scope)
        trace = trace_of(headers.get("traceparent", ""))
        number = secrets.token_urlsafe(6)
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *_ALWAYS]}
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        key: Key = ANYONE
        try:
            key = self._admit(scope, headers)
            scope.setdefault("state", {}).update(key=key, trace=trace, number=number)
            with self._below(headers.get("traceparent", "") if trace else ""):
                await self._app(scope, receive, sending)
        except Refusal as refused:
            status = status or refused.problem.status
            await _refuse(scope, receive, sending, refused.problem)
        except Exception:
            LOG.exception("request %s failed within", number)
            if not status:
                await _refuse(scope, receive, sending, internal(number))
        finally:
            self._log(scope, headers, status, began, key)

    def refused(self, scope: Scope) -> Response | None:
        """The answer to a call that cannot begin, None to all other requests.

        It is asked as soon as the head of a request is read: where hundreds come at once, none of those that
        are refused waits until it is its turn in the event loop. Pages of browsers do: they need headers of
        CORS.
        """
        told = next((each for path, each in self._calls.items() if scope["path"].startswith(path)), None)
        if told is None or scope["method"] != "POST":
            return None
        try:
            self._runs.check(self._coming)
        except Refusal as full:
            problem = full.problem
        else:
            self._let_in()
            return None
        began, headers, key = time.monotonic(), Headers(scope=scope), ANYONE
        if "origin" in headers:
            return None
        try:
            key = self._admit(scope, headers)
            response = told(problem)
        except Refusal as refused:
            response = problem_response(refused.problem)
        response.raw_headers.extend(_ALWAYS)
        self._log(scope, headers, response.status_code, began, key)
        return response

    def _log(self, scope: Scope, headers: Headers, status: int, began: float, key: Key) -> None:
        client, trace = self._proxies.client_of(scope, headers), trace_of(headers.get("traceparent", ""))
        ACCESS.info(
            "%s %s %s %.0f ms%s%s%s",
            scope.get("method", "WS"),
            _shown(scope["path"]),
            status or "-",
            (time.monotonic() - began) * 1000,
            f" from={client}" if client else "",
            f" key={key.name}" if key.name else "",
            f" trace={trace}" if trace else "",
        )

    def _let_in(self) -> None:
        """A call comes. Two turns of the event loop later, one for its handler and one for its run, it counts
        among the runs, if its body has come along."""
        loop = asyncio.get_running_loop()
        self._coming += 1
        loop.call_soon(loop.call_soon, self._has_come)

    def _has_come(self) -> None:
        self._coming -= 1

    def _admit(self, scope: Scope, headers: Headers) -> Key:
        """Raises Refusal for a request that is not to be answered."""
        if self._hosts is not None and host_of(headers.get("host", "")) not in self._hosts:
            raise refusal(421, "Access", "this server does not go by that name")
        if scope["type"] == "websocket" or scope["path"] == MCP_PATH:
            self._check_origin(headers)
        if _is_open(scope["path"]) or scope.get("method") == "OPTIONS":
            return ANYONE
        given = headers.get("authorization", "")
        if not given and scope["type"] == "websocket":
            offered = [each for each in scope.get("subprotocols", ()) if each.startswith(KEY_PROTOCOL)]
            given = f"Bearer {offered[0].removeprefix(KEY_PROTOCOL)}" if offered else ""
        return self._access.admit(given)

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is None or origin in self._origins or "*" in self._origins:
            return
        if _place_of(origin) != headers.get("host", "").lower():
            raise refusal(403, "Access", "pages of that origin may not call this server", hint="see --cors")


_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]


async def _refuse(scope: Scope, receive: Receive, send: Send, problem: Problem) -> None:
    """Answer a request, or refuse a WebSocket before it is accepted."""
    if scope["type"] == "http":
        await problem_response(problem)(scope, receive, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        response = problem_response(problem)
        head = {"status": response.status_code, "headers": response.raw_headers}
        await send({"type": "websocket.http.response.start", **head})
        await send({"type": "websocket.http.response.body", "body": response.body})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": problem.detail[:100]})


def _is_open(path: str) -> bool:
    return path in OPEN or path == PAGE or path.startswith(f"{PAGE}/")


def _place_of(origin: str) -> str | None:
    """Name and port in a header `Origin`; None where it is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def host_of(header: str) -> str:
    """The name in a header `Host`, without its port."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


def trace_of(header: str) -> str:
    """The id of the trace in a header `traceparent` (W3C Trace Context); empty for none."""
    found = _TRACE.fullmatch(header.strip())
    return "" if found is None or not int(found[1], 16) else found[1]


def _shown(path: str) -> str:
    """A path as a log has it: on one line, not without end."""
    text = path if len(path) <= _LONGEST_PATH else path[:_LONGEST_PATH] + "…"
    return (
        text.encode("ascii", "backslashreplace")
        .decode()
        .replace("\n", "\\n")
        .replace("\r", "\\r")
        .replace("\x1b", "\\x1b")
    )
