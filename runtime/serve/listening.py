"""Listening for HTTP: sockets, connections with limits, and an end that loses no run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.responses import Response
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets import http11
from websockets.server import ServerProtocol

from sglc.runtime.serve.app import Application
from sglc.runtime.serve.problems import MEDIA_TYPE, Problem
from sglc.runtime.serve.runs import Runs

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application, ASGISendEvent

LOG = logging.getLogger("sglc.serve")
HEADER_BYTES = 64 * 1024
"""Most bytes of a request's line and headers. Browsers send some 2 kB; cookies of a site reach 16."""
HEADER_SECONDS = 20.0
"""Seconds in which a request's headers are there, from its first byte or that of the connection."""
LEFTOVER_SECONDS = 60.0
"""Seconds that a connection stays open for what its client sends between requests: the rest of a body that
nobody reads, or blank lines."""
MESSAGE_BYTES = 4 * 1024 * 1024
"""Most bytes of a message on a WebSocket, as many as of a request's body."""
MOST_CONNECTIONS = 4096
LAST_WORDS = 5.0
"""Seconds in which connections are to close when all runs have ended."""
NO_TEXT = 1007
"""Closes a WebSocket whose client sends a text that is no UTF-8 (RFC 6455, 7.4.1)."""
_TOO_LARGE = Problem(
    431, "Arguments", f"line and headers of the request are larger than {HEADER_BYTES} bytes"
)
_UNREADABLE = Problem(400, "Arguments", "the bytes are no request of HTTP/1.1")
_NO_HANDSHAKE = Problem(400, "Arguments", "the headers are no handshake of a WebSocket")
_FULL = Problem(429, "Busy", f"{MOST_CONNECTIONS} connections are open already", retry_after=1.0)


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens. `tls` are the files of its certificate and key."""

    host: str = "127.0.0.1"
    port: int = 8000
    tls: tuple[Path, Path] | None = None

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return "http" if self.tls is None else "https"


def bound(listening: Listening) -> socket.socket:
    """A socket at the place. Raises OSError where that cannot be had."""
    found = socket.getaddrinfo(
        listening.host, listening.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, kind, protocol, _, address = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made


def check_tls(listening: Listening) -> None:
    """Raises OSError or ssl.SSLError for a certificate and key that cannot be used."""
    if listening.tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*listening.tls, password=lambda: "")


def address_of(listening: Listening, made: socket.socket) -> str:
    """Where clients find the server."""
    host, port = made.getsockname()[:2]
    return f"{listening.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol of HTTP, with limits on connections and headers: neither too many nor without an
    end. What is refused here is a problem like all others. `refused` answers calls without room: see
    `Guard.refused`."""

    _header_bytes = 0
    _in_headers = True
    _late: asyncio.TimerHandle | None = None
    _going: RequestResponseCycle | None = None
    """The request that is going on; others may wait behind it."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        refused: Callable[[Scope], Response | None],
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._refused = refused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection has come; its headers have so much time."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(_FULL)
            return
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone, which is told the request that is going on, too: uvicorn tells the last one only."""
        self._headers_there()
        super().connection_lost(exc)
        if self._going is not None and not self._going.response_complete:
            self._going.disconnected = True
            self._going.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Bytes came. Headers with too many of them are refused with 431."""
        if self.transport.is_closing():
            return
        if self._in_headers:
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_BYTES + len(data) or (
                self._header_bytes > HEADER_BYTES and b"\r\n\r\n" not in data
            ):
                self._refuse(_TOO_LARGE)
                return
        super().data_received(data)
        if self._late is None and self.timeout_keep_alive_task is None and self._idle:
            # what is left of a request that has its answer, or blank lines before the next one
            self._late = self.loop.call_later(LEFTOVER_SECONDS, self._give_up)

    def handle_websocket_upgrade(self) -> None:
        """A WebSocket is asked for. Bytes of its headers that are no ASCII are read as `%XX`: versions of
        websockets decode them differently, and uvicorn fails where it does not know how."""
        if self._answers:
            self.transport.close()  # an answer to a request before it would be written into the WebSocket
            return
        self.scope["headers"] = [(name, _ascii(value)) for name, value in self.headers]
        super().handle_websocket_upgrade()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._going = cycle
        refusal = None if self.pipeline else self._refused(dict(cycle.scope))
        if refusal is None:
            super()._start_asgi_task(cycle, app)
        else:
            self._answer(cycle, refusal)

    def _answer(self, cycle: RequestResponseCycle, response: Response) -> None:
        """Answer now: writing waits for nothing but a client that takes no bytes, which is cut off."""
        messages: tuple[ASGISendEvent, ...] = (
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": response.raw_headers,
            },
            {"type": "http.response.body", "body": bytes(response.body)},
        )
        for message in messages:
            writing = cycle.send(message)
            try:
                writing.send(None)
            except StopIteration:
                continue
            writing.close()
            self.transport.close()
            return

    def send_400_response(self, msg: str) -> None:
        """The bytes are no request."""
        self._refuse(_UNREADABLE)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._await_headers()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its headers are there."""
        self._headers_there()
        super().on_headers_complete()

    @property
    def _idle(self) -> bool:
        """Whether no request is going on, and no WebSocket has taken the connection over."""
        return not self._answers and self.transport.get_protocol() is self

    @property
    def _answers(self) -> bool:
        """Whether a request has not its whole answer yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, problem: Problem) -> None:
        """Answer and close; only close where an answer is due to an earlier request, which would get it."""
        if not self._answers:
            self.transport.write(_written(problem))
        self.transport.close()

    def _await_headers(self) -> None:
        self._headers_there()
        self._in_headers, self._header_bytes = True, 0
        self._late = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _headers_there(self) -> None:
        self._in_headers = False
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self.transport is not None and not self.transport.is_closing() and not self._answers:
            self.transport.close()


class _Handshakes(ServerProtocol):
    """What websockets does with the bytes of a WebSocket; handshakes that it refuses get a problem."""

    def reject(self, status: HTTPStatus | int, text: str) -> http11.Response:
        """The answer to a handshake that is refused."""
        detail = " ".join(text.split()) or "the WebSocket is refused"
        response = super().reject(status, Problem(int(status), "Arguments", detail).text())
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = MEDIA_TYPE
        return response


class BoundedSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol of WebSockets. Messages are not compressed, since a small one could become a large
    one, and every handshake is answered."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = _Handshakes(max_size=config.ws_max_size, logger=self.logger)

    def data_received(self, data: bytes) -> None:
        """Bytes came, at first all of the handshake."""
        super().data_received(data)
        if not self.handshake_initiated:
            self.transport.write(_written(_NO_HANDSHAKE))
            self.transport.close()

    async def send(self, message: ASGISendEvent) -> None:
        """Write what the application says. An answer of HTTP is the end of the handshake."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True

    def send_receive_event_to_app(self) -> None:
        """A message is there. A text that is no UTF-8 ends the connection."""
        if self.curr_msg_data_type == "text" and not _is_text(b"".join(self.frames)):
            self.frames = []
            self.conn.fail(NO_TEXT, "the text is no UTF-8")
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _written(problem: Problem) -> bytes:
    """A problem as the bytes of an answer, which ends the connection."""
    body = problem.text().encode()
    headers = {**problem.headers, "content-type": MEDIA_TYPE, "content-length": str(len(body))}
    lines = [f"{name}: {value}\r\n" for name, value in (headers | {"connection": "close"}).items()]
    first = f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
    return "".join([first, *lines, "\r\n"]).encode() + body


def _ascii(value: bytes) -> bytes:
    return re.sub(rb"[\x80-\xff]", lambda found: b"%%%02X" % found[0][0], value)


async def listen(
    app: Application,
    runs: Runs,
    listening: Listening,
    made: socket.socket,
    ready: Callable[[], None],
    ended: asyncio.Event | None = None,
) -> None:
    """Serve until the process is told to end (SIGTERM, SIGINT); a second time ends runs at once. `ended` is
    another way to tell it.

    `ready` is called when requests are taken. Runs that go on then have the grace of the server's limits;
    those that begin no more are told so.
    """
    config = uvicorn.Config(
        app.answer,
        http=partial(BoundedProtocol, refused=app.refused),  # type: ignore[arg-type]
        ws=BoundedSocket,
        ws_max_size=MESSAGE_BYTES,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # it believes this machine's own by default; `Guard` asks whom it is to believe
        date_header=True,
        timeout_graceful_shutdown=int(LAST_WORDS),
        ssl_certfile=None if listening.tls is None else str(listening.tls[0]),
        ssl_keyfile=None if listening.tls is None else listening.tls[1],
        ssl_keyfile_password="",
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[made]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    ending = _Ending(server, runs)
    ending.install()
    waiting = None if ended is None else asyncio.ensure_future(ending.when(ended))
    if server.started:
        ready()
    try:
        await serving
    finally:
        if waiting is not None:
            waiting.cancel()


class _Ending:
    """What signals do."""

    def __init__(self, server: uvicorn.Server, runs: Runs) -> None:
        self._server = server
        self._runs = runs
        self._drain: asyncio.Task[None] | None = None

    def install(self) -> None:
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows, or not the main thread
                loop.add_signal_handler(each, self.begin)

    async def when(self, told: asyncio.Event) -> None:
        """End when something happens."""
        await told.wait()
        self.begin()

    def begin(self) -> None:
        """End; a second time, at once."""
        if self._drain is None:
            going = len(self._runs.going)
            LOG.info("ending: %d runs have %g s", going, self._runs.limits.grace)
            self._drain = asyncio.ensure_future(self._end(self._runs.limits.grace))
        else:
            for run in self._runs.going:
                run.cancel()

    async def _end(self, grace: float) -> None:
        await self._runs.drain(grace)
        await asyncio.sleep(0.05)  # what was told last is on its way
        self._server.should_exit = True
