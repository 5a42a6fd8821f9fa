"""A worker that is several processes of one machine: the first one works, the others compute their share of
its model (tensor parallelism, `runtime/executor/parallel.py`).

The processes get the variables that `torchrun` gives to its own. They find each other by a file in a folder
that only this user can read, and by the loopback, so that nothing of them can be reached from elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sglc.runtime.cluster.links import Link, ProcessLink, Starter

RENDEZVOUS = "SGLC_RENDEZVOUS"
"""Where the processes of a group find each other, as torch's `init_method` has it."""
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


class GroupLink:
    """The processes of a group as one worker: `links` has the first one and those that follow it. Where one
    of them dies, all do: a group is started again, not repaired."""

    def __init__(self, links: Sequence[ProcessLink], folder: Path) -> None:
        self._first, *self._others = links
        self._folder = folder
        self._watching = [asyncio.create_task(self._watch(each)) for each in self._others]

    @classmethod
    async def start(cls, size: int, threads: int | None) -> GroupLink:
        """Start a group of so many processes, each with `threads` threads, one where nothing is said. Raises
        OSError."""
        folder = Path(tempfile.mkdtemp(prefix="sglc-group-"))
        links: list[ProcessLink] = []
        try:
            for rank in range(size):
                links.append(await ProcessLink.start(variables(rank, size, folder, threads)))
        except BaseException:
            await asyncio.gather(*(each.close(kill=True) for each in links), return_exceptions=True)
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(links, folder)

    @property
    def name(self) -> str:
        """See `Link.name`."""
        return f"the group of {self._first.name}"

    def send(self, line: str) -> None:
        """See `Link.send`. All are set up by the same line; the others hear nothing else, as they follow."""
        self._first.send(line)
        if line.startswith(SETUP):
            for each in self._others:
                each.send(line)

    async def receive(self) -> str | bytes | None:
        """See `Link.receive`."""
        return await self._first.receive()

    async def close(self, *, kill: bool = False) -> None:
        """See `Link.close`. The others end when the first one does."""
        await self._first.close(kill=kill)
        await asyncio.gather(*(each.close(kill=kill) for each in self._others), return_exceptions=True)
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _watch(self, other: ProcessLink) -> None:
        """Drop what a process tells that follows, and end the first one where it dies: that one would wait
        for it for ever. One that ends in peace was told to by the first one."""
        while await other.receive() is not None:
            pass
        if await asyncio.to_thread(other.process.wait) != 0:
            self._first.process.kill()


SETUP = '{"setup"'
"""How the first message begins."""


def variables(rank: int, size: int, folder: Path, threads: int | None) -> dict[str, str]:
    """What a process of a group has in its environment, as those of `torchrun`."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "OMP_NUM_THREADS": str(threads or 1),
        "GLOO_SOCKET_IFNAME": os.environ.get("GLOO_SOCKET_IFNAME", LOOPBACK),
        RENDEZVOUS: f"file://{folder}/found",
    }


def process_starter(size: int, threads: int | None) -> Starter:
    """What starts workers on this machine: processes, or groups of `size` of them."""
    if size == 1:
        return ProcessLink.start

    async def start() -> Link:
        return await GroupLink.start(size, threads)

    return start
