"""Who may come in at a port: a client that says the key before all else; and at a socket, its user alone."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from debugging.client import launcher
from debugging.scripts import PROGRAMS, settings_of
from sglc.debug.dap.entrance import LARGEST_OUTSIDE, MOST_WAITING, Entrance, new_key
from sglc.debug.dap.transport import serve_port, serve_socket

KEY = "a key of the right length"
LAUNCH = {"program": str(PROGRAMS / "notes.sgl"), "stopOnEntry": True, **settings_of("notes", "topic")}
WAIT = 30.0


class Far:
    """A client at the other end of a connection."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._next = 1

    async def read(self) -> dict[str, Any] | None:
        """The next message, None behind the last one."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), WAIT)
            found: dict[str, Any] = json.loads(await self.reader.readexactly(int(head.split(b":")[1])))
            return found
        return None

    async def ask(self, command: str, **arguments: object) -> dict[str, Any]:
        """The response to a request; events before it are passed over."""
        self._next += 1
        message = {"seq": self._next, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while (found := await self.read()) is not None:
            if found["type"] == "response":
                return found
        return {"success": False, "message": "the connection was closed"}

    async def left(self) -> bool:
        """Whether the adapter closes the connection."""
        while (found := await self.read()) is not None:
            assert found["type"] == "event"
        return True


@asynccontextmanager
async def port(entrance: Entrance) -> AsyncIterator[int]:
    """A port at which an adapter listens."""
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_port(0, launcher(), entrance, ready.set_result))
    try:
        yield await ready
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def connected(at: int) -> Far:
    far = Far(*await asyncio.open_connection("127.0.0.1", at))
    assert (await far.ask("initialize", adapterID="sgl"))["success"]
    return far


@pytest.mark.parametrize("key", [None, "", KEY[:-1], KEY + "s", KEY.upper(), 7, ["a"], "\ud800"])
def test_a_wrong_key_runs_nothing(key: object) -> None:
    async def session() -> None:
        async with port(Entrance(KEY)) as at:
            far = await connected(at)
            given = {} if key is None else {"key": key}
            answer = await far.ask("launch", **LAUNCH, **given)
            assert not answer["success"] and "key" in answer["message"] and KEY not in answer["message"]
            assert await far.left()

    asyncio.run(session())


def test_nothing_is_answered_before_the_key() -> None:
    async def session() -> None:
        async with port(Entrance(KEY)) as at:
            far = await connected(at)
            for command in (
                "threads",
                "evaluate",
                "setBreakpoints",
                "configurationDone",
                "source",
                "sgl/mask",
            ):
                answer = await far.ask(command, expression="1 + 1")
                assert not answer["success"] and "`launch` comes first" in answer["message"], command
            assert (await far.ask("launch", **LAUNCH, key=KEY))["success"]
            assert (await far.ask("threads"))["success"]
            assert (await far.ask("disconnect"))["success"] and await far.left()

    asyncio.run(session())


def test_clients_without_the_key_hold_up_nobody() -> None:
    async def session() -> None:
        async with port(Entrance(KEY, key_wait=0.2)) as at:
            silent = await connected(at)
            far = await connected(at)
            assert (await far.ask("launch", **LAUNCH, key=KEY))["success"]
            assert await silent.left()
            assert (await far.ask("configurationDone"))["success"]
            second = await connected(at)
            waiting = asyncio.create_task(second.ask("launch", **LAUNCH, key=KEY))
            await asyncio.sleep(0.3)
            assert not waiting.done()
            assert (await far.ask("disconnect"))["success"]
            assert (await waiting)["success"]

    asyncio.run(session())


def test_many_connections_are_turned_away() -> None:
    async def session() -> None:
        async with port(Entrance(KEY)) as at:
            held = [await connected(at) for _ in range(MOST_WAITING)]
            last = Far(*await asyncio.open_connection("127.0.0.1", at))
            assert await last.left()
            held[0].writer.close()
            del held

    asyncio.run(session())


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: %d\r\n\r\n" % (LARGEST_OUTSIDE + 1),
    ],
)
def test_what_a_browser_sends_is_no_message(data: bytes) -> None:
    async def session() -> None:
        async with port(Entrance(KEY)) as at:
            far = Far(*await asyncio.open_connection("127.0.0.1", at))
            far.writer.write(data)
            assert await far.left()

    asyncio.run(session())


def test_a_listener_ends_when_nobody_comes() -> None:
    entrance = Entrance(KEY, idle=0.05)
    asyncio.run(asyncio.wait_for(serve_port(0, launcher(), entrance, lambda _: None), WAIT))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files without owners")
def test_a_socket_in_a_file_is_its_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "debug.sock"

    async def session() -> None:
        ready = asyncio.Event()
        serving = asyncio.create_task(serve_socket(path, launcher(), Entrance(None), ready.set))
        await asyncio.wait_for(ready.wait(), WAIT)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.stat().st_uid == os.getuid()
        far = Far(*await asyncio.open_unix_connection(path))
        assert (await far.ask("initialize", adapterID="sgl"))["success"]
        assert (await far.ask("launch", **LAUNCH))["success"]
        assert (await far.ask("disconnect"))["success"]
        with pytest.raises(FileExistsError):
            await serve_socket(path, launcher(), Entrance(None), ready.set)
        assert path.exists()
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        assert not path.exists()

    asyncio.run(session())


def test_new_keys_differ() -> None:
    assert len({new_key() for _ in range(100)}) == 100 and len(new_key()) == 32


@pytest.mark.slow
def test_a_short_key_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sglc", "debug", "--dap-port", "0"],
        env={**os.environ, "SGLC_DEBUG_KEY": "short"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "at least 16 characters" in done.stderr and "listening" not in done.stdout
