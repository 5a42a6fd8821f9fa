"""Brokers for tests: real servers of Redis and NATS as processes, which keep what they have on disk."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

T = TypeVar("T")


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Process:
    """A server that can be killed and started again at the same port, with what it has on disk."""

    def __init__(self, command: list[str], port: int) -> None:
        self._command = command
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None and time.monotonic() < end, "the broker does not start"
                time.sleep(0.02)

    def kill(self) -> None:
        """End it without a warning."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


class BrokerClient(Protocol):
    """What tests do at a broker, by the plain client of its package."""

    async def send(self, message: bytes) -> None:
        """Put a message in the queue."""

    async def result(self, digest: str) -> dict[str, Any] | None:
        """What is stored under a digest."""

    async def letters(self) -> list[dict[str, Any]]:
        """All dead letters."""

    async def replies(self, reply: str) -> list[dict[str, Any]]:
        """All answers of a reply."""

    async def open(self) -> int:
        """Messages that are still in the queue, taken or not."""

    async def close(self) -> None:
        """Leave."""


class RedisClient:
    """At Redis."""

    def __init__(self, port: int, name: str) -> None:
        from redis.asyncio import Redis

        self.redis = Redis(host="127.0.0.1", port=port)
        self.name = name

    async def send(self, message: bytes) -> None:
        await self.redis.xadd(f"{self.name}:calls", {"data": message})

    async def result(self, digest: str) -> dict[str, Any] | None:
        found = await self.redis.get(f"{self.name}:result:{digest}")
        return None if found is None else json.loads(found)

    async def letters(self) -> list[dict[str, Any]]:
        return await self._entries(f"{self.name}:dead")

    async def replies(self, reply: str) -> list[dict[str, Any]]:
        return await self._entries(f"{self.name}:reply:{reply}")

    async def _entries(self, stream: str) -> list[dict[str, Any]]:
        return [json.loads(fields[b"data"]) for _, fields in await self.redis.xrange(stream)]

    async def open(self) -> int:
        return int(await self.redis.xlen(f"{self.name}:calls"))

    async def close(self) -> None:
        await self.redis.aclose()


class NatsClient:
    """At NATS. The worker has made the streams."""

    def __init__(self, client: Any, name: str) -> None:
        self.client = client
        self.js = client.jetstream()
        self.name = name

    async def send(self, message: bytes) -> None:
        await self.js.publish(f"{self.name}.calls", message)

    async def result(self, digest: str) -> dict[str, Any] | None:
        from nats.js.errors import KeyNotFoundError

        try:
            found = await (await self.js.key_value(f"{self.name}-results")).get(digest)
        except KeyNotFoundError:
            return None
        return json.loads(found.value)

    async def letters(self) -> list[dict[str, Any]]:
        return await self._entries(f"{self.name}-dead", f"{self.name}.dead")

    async def replies(self, reply: str) -> list[dict[str, Any]]:
        return await self._entries(f"{self.name}-replies", f"{self.name}.reply.{reply}")

    async def _entries(self, stream: str, subject: str) -> list[dict[str, Any]]:
        info = await self.js.stream_info(stream)
        found = []
        for sequence in range(max(1, info.state.first_seq), info.state.last_seq + 1):
            message = await self.js.get_msg(stream, sequence)
            if message.subject == subject:
                found.append(json.loads(message.data))
        return found

    async def open(self) -> int:
        return int((await self.js.stream_info(f"{self.name}-calls")).state.messages)

    async def close(self) -> None:
        await self.client.close()


async def _quiet(error: Exception) -> None:
    """Nothing is told of a broker that is away."""


class TestBroker:
    """A broker of one kind, with its data in a folder."""

    __test__ = False

    def __init__(self, kind: str, folder: Path, name: str = "work") -> None:
        """Skips the test where the program or the package of the kind is not there."""
        pytest.importorskip(kind, reason=f"the package of {kind} is not there")
        program = shutil.which(f"{kind}-server", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
        if program is None:
            pytest.skip(f"there is no {kind}-server")
        self.kind, self.name = kind, name
        folder.mkdir(parents=True, exist_ok=True)
        port = free_port()
        if kind == "redis":
            command = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
            command += ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        else:
            command = [program, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder)]
        self.process = Process(command, port)

    def url(self, **options: object) -> str:
        """What `--queue` gets."""
        query = "&".join(f"{word}={value}" for word, value in {"name": self.name, **options}.items())
        return f"{self.kind}://127.0.0.1:{self.process.port}?{query}"

    async def client(self) -> BrokerClient:
        """A client of the package, connected."""
        if self.kind == "redis":
            return RedisClient(self.process.port, self.name)
        import nats

        url = f"nats://127.0.0.1:{self.process.port}"
        client = await nats.connect(url, error_cb=_quiet, max_reconnect_attempts=-1, reconnect_time_wait=1)
        return NatsClient(client, self.name)

    def ask(self, work: Callable[[BrokerClient], Awaitable[T]]) -> T:
        """Do something at the broker, from outside of any loop."""

        async def whole() -> T:
            client = await self.client()
            try:
                return await work(client)
            finally:
                await client.close()

        return asyncio.run(asyncio.wait_for(whole(), 120))

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        """Put messages in the queue."""

        async def sent(client: BrokerClient) -> None:
            for each in messages:
                await client.send(each if isinstance(each, bytes) else json.dumps(each).encode())

        self.ask(sent)

    def until_settled(self, seconds: float = 60.0) -> None:
        """Wait until the queue has no message any more."""

        async def waited(client: BrokerClient) -> None:
            end = time.monotonic() + seconds
            while await client.open():
                assert time.monotonic() < end, "messages are left"
                await asyncio.sleep(0.02)

        self.ask(waited)
