"""How clients reach the adapter: at stdin and stdout; at a port of this machine or a socket in a file, one
after the other."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable
from errno import EEXIST
from pathlib import Path
from time import monotonic

from sglc.debug.dap.adapter import Adapter, Launch
from sglc.debug.dap.entrance import MOST_WAITING, Entrance
from sglc.debug.dap.messages import LONGEST_HEADER

CHUNK = 65536
LOOK = 5.0
"""Seconds between two looks whether a listener is idle."""


async def serve_stdio(launch: Launch) -> None:
    """Serve the client at stdin and stdout. What else is printed goes to stderr."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_HEADER)
    source, target = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def read() -> None:
        while True:
            try:
                data = os.read(source, CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(reader.feed_data if data else _ended(reader), data)
            except RuntimeError:  # the loop has ended
                return
            if not data:
                return

    def write(data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(target, view) :]
        except OSError:
            pass  # the client has left; its input ends, too

    threading.Thread(target=read, daemon=True).start()
    await Adapter(reader, write, launch).serve()


def _ended(reader: asyncio.StreamReader) -> Callable[[bytes], None]:
    return lambda _: reader.feed_eof()


async def serve_port(port: int, launch: Launch, entrance: Entrance, ready: Callable[[int], None]) -> None:
    """Serve clients at a port of 127.0.0.1, each when the one before it has left, until none comes for a
    while. `ready` is told the port. Raises OSError where it cannot be had."""
    served = _Served(launch, entrance)
    server = await asyncio.start_server(served.client, "127.0.0.1", port, limit=LONGEST_HEADER)
    ready(server.sockets[0].getsockname()[1])
    await served.until_idle(server)


async def serve_socket(path: Path, launch: Launch, entrance: Entrance, ready: Callable[[], None]) -> None:
    """The same at a socket in a file that its user alone may open. The file goes with the adapter.

    Raises OSError where it cannot be made, also where there is a file of that name.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no sockets in files")
    if path.exists() or path.is_symlink():
        raise FileExistsError(EEXIST, "there is a file of this name")
    served = _Served(launch, entrance)
    before = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(served.client, path, limit=LONGEST_HEADER)
    finally:
        os.umask(before)
    try:
        path.chmod(0o600)
        ready()
        await served.until_idle(server)
    finally:
        path.unlink(missing_ok=True)


class _Served:
    """The clients of one listener."""

    def __init__(self, launch: Launch, entrance: Entrance) -> None:
        self._launch = launch
        self._entrance = entrance
        self._connected = 0
        self._last = monotonic()

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until it leaves; where too many are connected, it has to leave at once."""
        if self._connected >= MOST_WAITING:
            writer.close()
            return
        self._connected += 1
        try:
            await Adapter(reader, writer.write, self._launch, self._entrance).serve()
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            self._connected -= 1
            writer.close()

    async def until_idle(self, server: asyncio.Server) -> None:
        """Serve until no client has been let in for a while."""
        entrance = self._entrance
        async with server:
            while monotonic() - self._last < entrance.idle:
                await asyncio.sleep(min(LOOK, entrance.idle))
                if entrance.turn.locked():
                    self._last = monotonic()
