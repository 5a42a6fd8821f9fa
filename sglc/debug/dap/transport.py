"""How clients reach the adapter: at stdin and stdout, or at a port of this machine, one after the other."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable

from sglc.debug.dap.adapter import Adapter, Launch
from sglc.debug.dap.messages import LONGEST_HEADER

CHUNK = 65536


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


async def serve_port(port: int, launch: Launch, ready: Callable[[int], None]) -> None:
    """Serve clients at a port of 127.0.0.1, each when the one before it has left, until this is cancelled.

    `ready` is told the port. Raises OSError where it cannot be had.
    """
    turn = asyncio.Lock()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with turn:
            try:
                await Adapter(reader, writer.write, launch).serve()
                await writer.drain()
            except ConnectionError:
                pass
            finally:
                writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, limit=LONGEST_HEADER)
    ready(server.sockets[0].getsockname()[1])
    async with server:
        await server.serve_forever()
