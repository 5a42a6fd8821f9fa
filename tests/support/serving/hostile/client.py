"""A client that sends what it is told, byte by byte, and waits for what comes: many connections at a time."""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from serving.hostile.answers import Told, Wrong, answers_of, check
from serving.hostile.requests import Sent

SILENCE = 0.3
"""Seconds without a byte after which the client of a message that is not whole stops writing."""
PATIENCE = 60.0
"""Seconds in which a server must answer or close; then it hangs."""
AT_ONCE = 16
"""Connections at a time."""


async def exchange(port: int, sent: Sent) -> Told:
    """Send on a connection of its own, and read until the server closes it."""
    told = Told()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    try:
        writing = asyncio.ensure_future(_write(writer, sent))
        while True:
            wait = PATIENCE if sent.whole or told.left else SILENCE
            try:
                piece = await asyncio.wait_for(reader.read(1 << 18), wait)
            except TimeoutError:
                if wait == PATIENCE:
                    told.hung = True
                    break
                told.left = True
                with contextlib.suppress(OSError):
                    writer.write_eof()
                continue
            except ConnectionError:
                told.left = True  # it was closed with bytes of ours unread, which may take the answer along
                break
            if not piece:
                break
            told.data += piece
        writing.cancel()
    finally:
        writer.close()
    return told


async def _write(writer: asyncio.StreamWriter, sent: Sent) -> None:
    with contextlib.suppress(ConnectionError, RuntimeError):  # the server, or the client, has closed it
        for piece in sent.pieces:
            writer.write(piece)
            await writer.drain()
            if len(sent.pieces) > 1:
                await asyncio.sleep(0.001)


async def judged(port: int, sent: Sent, counts: Counter[str]) -> None:
    """Send, and judge what came. Raises Wrong."""
    told = await exchange(port, sent)
    if told.hung:
        raise Wrong(f"neither an answer nor an end; there was {told.data[-300:]!r}")
    found = answers_of(told, sent.head)
    if sent.whole and not found and not told.left:
        raise Wrong("no answer to a whole request")
    for each in found:
        check(each, sent.path)
        counts[str(each.status)] += 1
    counts["" if found else "closed"] += not found


async def many(
    seeds: range, one: Callable[[int, Counter[str]], Awaitable[None]], at_once: int = AT_ONCE
) -> tuple[Counter[str], list[str]]:
    """Do something for each seed, so many at a time; what came, and what was wrong, with its seed."""
    counts: Counter[str] = Counter()
    faults: list[str] = []
    numbers = iter(seeds)

    async def worker() -> None:
        for seed in numbers:
            try:
                await one(seed, counts)
            except (Wrong, OSError, ValueError) as wrong:
                faults.append(f"seed {seed}: {type(wrong).__name__}: {wrong}")
                if len(faults) > 20:
                    return

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return counts, faults


# -- the server -------------------------------------------------------------------------------------------


KNOWN = re.compile(
    r"[-0-9]+ [:0-9,]+ (?:[A-Z-]+ \S* (?:\d{3}|-) \d+ ms from=127\.0\.0\.1(?: trace=[0-9a-f]{32})?"
    r"|Invalid HTTP request received\.|Unsupported upgrade request\."
    r"|ending: \d+ runs have \S+ s)|serving .*|  (?:POST|GET) .*"
)
"""Lines that a server may write on stderr."""


@dataclass
class Process:
    """`sglc serve` as a process. `log` is the file of its stderr."""

    port: int
    log: Path
    process: subprocess.Popen[bytes]

    def unknown(self) -> list[str]:
        """Lines of the log that should not be there: the first of all, and the last of each kind."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        wrong = [line for line in lines if not KNOWN.fullmatch(line)]
        faults = {line.partition(":")[0]: line for line in wrong if re.match(r"[\w.]+:? ", line)}
        return [*wrong[:60], *list(faults.values())[:20]]

    @property
    def memory(self) -> float:
        """MiB of it that lie in memory."""
        status = Path(f"/proc/{self.process.pid}/status")
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text() if status.exists() else "")
        return int(found[1]) / 1024 if found else 0.0


@contextlib.contextmanager
def served(folder: Path, program: str, script: str, *more: str) -> Iterator[Process]:
    """Serve a program while the block runs; it must end well on SIGTERM."""
    (folder / "hostile.sgl").write_text(program, encoding="utf-8")
    (folder / "script.json").write_text(script, encoding="utf-8")
    log = folder / "stderr.txt"
    command = [sys.executable, "-P", "-m", "sglc", "serve", str(folder / "hostile.sgl"), "--port", "0"]
    command += ["--model", f"scripted:{folder / 'script.json'}", "--grace", "0", *more]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stderr=file, stdout=subprocess.DEVNULL)
    try:
        while not (found := re.search(r" at http://127\.0\.0\.1:(\d+)\n", log.read_text(errors="replace"))):
            assert process.poll() is None, log.read_text(errors="replace")
            time.sleep(0.02)
        yield Process(int(found[1]), log, process)
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
