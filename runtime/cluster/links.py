"""The connection of a front to one worker, and the one to a process of the same machine."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from sglc.runtime.cluster.messages import LONGEST_LINE

MODULE = "sglc.runtime.cluster.worker"
"""What a worker's process runs."""
PATIENCE = 5.0
"""Seconds that a worker has to end after it was told to."""


class Link(Protocol):
    """One worker, as its front has it. It ends with its front, however that ends."""

    @property
    def name(self) -> str:
        """What messages call the worker."""

    def send(self, line: str) -> None:
        """Hand a message over. What a worker that has died is told is lost."""

    async def receive(self) -> str | bytes | None:
        """The next message; None once the worker has died, or sent what nobody can read."""

    async def close(self, *, kill: bool = False) -> None:
        """End the worker: after what it does, or at once."""


Starter = Callable[[], Awaitable[Link]]
"""Starts a worker. Raises OSError, and ArgumentError where none can be had."""


class ProcessLink:
    """A process of this machine, over a pair of sockets. Nothing else has its other end: the process ends
    when this end is closed, also where the front was killed."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.process = process
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, variables: Mapping[str, str] | None = None) -> ProcessLink:
        """Start a process of this interpreter, with `variables` in its environment besides ours. What it
        writes to stdout and stderr goes to our stderr."""
        ours, theirs = socket.socketpair()
        try:
            command = [sys.executable, "-P", "-m", MODULE, str(theirs.fileno())]
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=(theirs.fileno(),),
                env={**os.environ, **(variables or {})},
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=LONGEST_LINE)
        return cls(process, reader, writer)

    @property
    def name(self) -> str:
        """See `Link.name`."""
        return f"process {self.process.pid}"

    def send(self, line: str) -> None:
        """See `Link.send`."""
        self._writer.write(line.encode("ascii") + b"\n")

    async def receive(self) -> str | bytes | None:
        """See `Link.receive`."""
        try:
            line = await self._reader.readline()
        except (OSError, ValueError):  # ValueError: longer than the limit
            return None
        return line if line.endswith(b"\n") else None

    async def close(self, *, kill: bool = False) -> None:
        """See `Link.close`."""
        if kill:
            self.process.kill()
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
        try:
            await asyncio.to_thread(self.process.wait, PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)


async def within(seconds: float, tasks: Sequence[asyncio.Task[None]]) -> None:
    """Let tasks end by themselves; those that have not by then are left."""
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
