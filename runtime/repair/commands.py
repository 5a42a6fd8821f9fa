"""Programs of the system as models: a prompt on their standard input, text on their standard output."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Sequence

READ = 1 << 16
"""Bytes that are read at once, at most; what has been written is taken at once, however little it is."""


class CommandFault(Exception):
    """A program ended with another exit code than 0."""


class Command:
    """A program and its arguments. Each call runs it once.

    It gets a process group of its own, so that it is killed with all that it has started. What it writes on
    its standard error is not touched. Bytes that are no UTF-8 are not legal in any text.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(arguments)

    async def __call__(self, prompt: str) -> AsyncIterator[str]:
        """What it writes, piece by piece. Raises CommandFault at the end, OSError where it cannot be run."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._arguments, stdin=pipe, stdout=pipe, start_new_session=True
        )
        feeding = asyncio.ensure_future(_feed(process, prompt))
        decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        assert process.stdout is not None
        try:
            while data := await process.stdout.read(READ):
                yield decode(data)
            if rest := decode(b"", True):
                yield rest
            if code := await process.wait():
                raise CommandFault(f"`{self._arguments[0]}` ended with exit code {code}")
        finally:
            feeding.cancel()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _feed(process: asyncio.subprocess.Process, prompt: str) -> None:
    """Write the prompt; a program may end without reading it."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(prompt.encode("utf-8", "surrogateescape"))
        await process.stdin.drain()
    process.stdin.close()
