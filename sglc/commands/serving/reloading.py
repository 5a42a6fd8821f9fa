"""A server whose files have changed: programs are compiled and keys are read again while it serves.

At SIGHUP that is done once; with `--reload` it is done wherever a file changed. What cannot be used is told
on stderr, and the server goes on with what it has.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sglc.commands.serving.programs import ServedPrograms
from sglc.commands.shared.invocation import CommandFailed, Invocation, counted, show
from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import read_keys
from sglc.runtime.serve.faces import Served

LOG = logging.getLogger("sglc.serve")
EVERY = 0.5
"""Seconds between two looks at the files."""
MOST_FILES = 10_000
"""Most files of a folder that are looked at: some 20 ms each time."""


@dataclass(slots=True)
class Reloading:
    """A face that has no paths: it takes over what has changed. `watched` says whether it looks for that;
    where programs are `fixed`, only keys are taken over."""

    invocation: Invocation
    programs: ServedPrograms
    keys: Path | None
    watched: bool
    fixed: bool
    served: Served
    _again: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def routes(self) -> tuple[()]:
        """None."""
        return ()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Sequence[str]]:
        """Take over changes as long as the server serves."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, AttributeError):  # Windows, other threads
            loop.add_signal_handler(signal.SIGHUP, self._again.set)
        tasks = [asyncio.ensure_future(self._take_over())]
        if self.watched:
            tasks.append(asyncio.ensure_future(self._watch()))
        try:
            yield ("files are watched: programs and keys are read again when they change",) * self.watched
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        before = await asyncio.to_thread(self._states)
        while True:
            await asyncio.sleep(EVERY)
            now = await asyncio.to_thread(self._states)
            if now != before:
                before = now
                self._again.set()

    async def _take_over(self) -> None:
        while True:
            await self._again.wait()
            self._again.clear()
            try:
                await self.reload()
            except Exception:  # a fault of our own must not end the watch
                LOG.exception("not taken over: what was there before is served")

    async def reload(self) -> None:
        """Compile the programs and read the keys once more, and serve them where they can be used."""
        try:
            programs = self.programs.programs
            if not self.fixed:
                programs = await asyncio.to_thread(self.programs.compile_again, self.invocation)
            keys = None if self.keys is None else await asyncio.to_thread(read_keys, self.keys)
            if self.programs.take(programs):
                LOG.info("programs changed: %s", counted(len(self.programs.table.by_name), "function"))
        except CommandFailed:
            LOG.warning("the programs have errors: those from before are served")
            return
        except ArgumentError as problem:
            show(self.invocation, [problem.diagnostic()])
            LOG.warning("not taken over: what was there before is served")
            return
        if keys is not None and keys != self.served.access.keys:
            self.served.access.replace(keys)
            LOG.info("keys changed: %s", counted(len(keys), "key"))

    def _states(self) -> dict[str, tuple[int, int]]:
        """By file: when it was written, and its size. All files in the folders of programs, and the keys."""
        found: dict[str, tuple[int, int]] = {}
        for folder in sorted({path.parent for path in self._files()}):
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if len(found) < MOST_FILES and not entry.name.startswith("."):
                        with contextlib.suppress(OSError):
                            state = entry.stat()
                            found[entry.path] = (state.st_mtime_ns, state.st_size)
        return found

    def _files(self) -> list[Path]:
        files = [each.file for each in self.programs.programs]
        files += [Path(name) for each in self.programs.programs for name in each.program.files]
        files += [] if self.keys is None else [self.keys]
        return [path.absolute() for path in files if path.exists()]
