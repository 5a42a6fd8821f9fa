"""The protocol on the runs of a server: streamable HTTP at `/mcp`, or one client at stdin and stdout.

Clients up to 2025-11-25 shake hands and have a session, which belongs to the key that began it; those of
2026-07-28 send requests that stand alone. The official package speaks both.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import stat
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from io import TextIOWrapper
from typing import cast

import anyio
from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import ANYONE, Key
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.functions import OfTable
from sglc.runtime.serve.guard import MCP_PATH
from sglc.runtime.serve.mcp.calls import OPTIONS, Report, called
from sglc.runtime.serve.mcp.tools import tool_of
from sglc.runtime.serve.rest import key_of

LOG = logging.getLogger("sglc.serve")
MOST_SESSIONS = 1024
"""Most clients with a session at a time."""
SESSION_SECONDS = 30 * 60.0
"""Seconds without a request after which a session ends."""


class Tools:
    """The tools of a server, and the protocol's requests for them."""

    def __init__(self, served: Served, version: str = "") -> None:
        """Raises ArgumentError (E0828) where there is no function."""
        if not served.table.by_name:
            raise ArgumentError(
                "E0828",
                "there is no tool to serve",
                hint="`--mcp` needs the file of a program with a `pub fn`",
            )
        self._served = served
        self._tools = OfTable(served.table, lambda table: [tool_of(each) for each in table.by_name.values()])
        self.server: Server[dict[str, object]] = Server(
            "sglc", version=version, on_list_tools=self._list, on_call_tool=self._call
        )

    async def _list(
        self, context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools.now)

    async def _call(
        self, context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            function = self._served.table.get(params.name)
        except ArgumentError as error:
            told = f"{error.message}; {error.hint}" if error.hint else error.message
            raise MCPError(types.INVALID_PARAMS, told) from None
        meta = context.meta or {}
        try:
            return await called(
                self._served.runs,
                function,
                params.arguments or {},
                meta.get(OPTIONS),
                _key(context),
                _report(context) if meta.get("progress_token") is not None else None,
            )
        except MCPError:
            raise
        except Exception:  # the package would tell its text to the client
            number = secrets.token_urlsafe(6)
            LOG.exception("call %s of the tool %s failed within", number, function.name)
            told = f"a fault of the server; its log has it under {number}"
            raise MCPError(types.INTERNAL_ERROR, told) from None


def _key(context: ServerRequestContext) -> Key:
    """The key of the HTTP request that a call came by. Over stdin there is none: who starts it may call."""
    return key_of(context.request) if isinstance(context.request, Request) else ANYONE


def _report(context: ServerRequestContext) -> Report:
    async def report(number: float, news: str) -> None:
        await context.session.report_progress(number, message=news)

    return report


class McpFace:
    """Streamable HTTP at `/mcp`, behind the guard of the server."""

    def __init__(self, served: Served, version: str = "") -> None:
        """Raises ArgumentError (E0828) where there is no function."""
        self._manager = StreamableHTTPSessionManager(
            Tools(served, version).server,
            session_idle_timeout=SESSION_SECONDS,
            max_sessions=MOST_SESSIONS,
            max_request_body_size=served.runs.limits.body,
        )

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """What it answers over HTTP. Without GET: it tells nothing that no request asked for."""
        return [Route(MCP_PATH, _Owned(self._manager), methods=["POST", "DELETE"])]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Sequence[str]]:
        """See `Face.running`."""
        async with self._manager.run():
            yield [f"{MCP_PATH}    tools of the Model Context Protocol"]


class _Owned:
    """Requests with their key as the user, to whom a session belongs, and headers without space around their
    values (RFC 9110, 5.5), which the server leaves there and the package compares."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key: Key = scope["state"]["key"]
        user = AuthenticatedUser(AccessToken(token="", client_id=f"key {key.name}", scopes=[]))
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await self._manager.handle_request({**scope, "user": user, "headers": headers}, receive, send)


@contextmanager
def reserved_stdout() -> Iterator[TextIOWrapper]:
    """Stdout for the protocol alone: while the block runs, whatever else is written there goes to stderr."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(wire, "w", encoding="utf-8", newline="\n", closefd=False) as stream:
            yield stream
    finally:
        sys.stdout.flush()
        os.dup2(wire, 1)
        os.close(wire)


async def speak(served: Served, stdout: TextIOWrapper, version: str = "") -> None:
    """Answer the client at stdin until it closes that, or the process is told to end.

    Raises ArgumentError (E0828) where there is no function.
    """
    server = Tools(served, version).server
    lines = cast("anyio.AsyncFile[str] | None", await _lines(served.runs.limits.body))
    async with stdio_server(lines, anyio.wrap_file(stdout)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _lines(most: int) -> Lines | None:
    """The lines of stdin where it is a pipe or a socket, as clients give it. Else None: the package reads a
    file or a terminal in a thread, which ends with them alone."""
    kind = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return None
    wire = os.dup(0)
    with open(os.devnull, "rb") as nothing:  # what programs start reads nothing of it
        os.dup2(nothing.fileno(), 0)
    reader = asyncio.StreamReader(limit=most)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(wire, "rb"))
    return Lines(reader)


class Lines:
    """Messages at stdin, a line each. A thread could not be stopped while it waits for one."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readline()
        except ValueError:
            return "a line beyond the limit is no message"
        if not line:
            raise StopAsyncIteration
        return line.decode(errors="replace")
