"""Rows of `sglc run --data` at servers whose connections fail in every way, by each protocol.

    python -P tests/benchmarks/backends/faulty_rows.py [--rows 1000] [--kinds openai,vllm] [--markdown FILE]

A server on the loopback speaks the protocol; a fifth of its replies are 429, a tenth 500, 503 or 529, a
twentieth break: refused, stalled, cut, ended within a character, an event twice, the whole reply twice, a
byte garbled in head or body. Others are late or come in pieces of seven bytes. *Right* are rows whose value
is that of their own number. *Requests* are those for an answer, a row. *Memory* is the resident set of the
process that runs the rows, when 200 were done and at the end. *Late* is by how much rows with a deadline of
four seconds ended after it, at a server that stalls for ever and with timeouts that are longer: the worst and
the median, and how many of the rows. *Early* are rows at the same server where a stalled request ends after
a second: that opens the breaker, and a row whose deadline comes before its pause is over ends with `Backend`
at once. It is how many ended so, and the median of how long before the deadline; others end at the deadline.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from backends.faults import Fault, Seeded
from backends.servers.faulty_server import FIRST, NAMES, PROGRAM, RATES, FaultyServer, faulty_server, value_of
from report import surroundings, write_page

HEAD = (
    "protocol",
    "right",
    "requests",
    "most for one",
    "faults",
    "memory, MiB",
    "late, ms",
    "early",
)
TIMEOUTS = "first = 6\nbetween = 2\nwhole = 60\n"
DEADLINE = 4.0
LATE = 0.05
"""By which part of the deadline rows may end after it."""
PATIENT = "first = 60\nbetween = 60\nwhole = 60\n"
IMPATIENT = "first = 1\nbetween = 1\nwhole = 60\n"
STALLING = {Fault("stall", where=0.5): 1.0}
WIDTH = 32
EARLY = 200
"""Rows after which caches are full."""


@dataclass
class Ran:
    """What one command did: the lines of its results, and KiB of memory by how many rows were done."""

    entries: list[dict[str, Any]]
    memory: dict[int, int] = field(default_factory=dict)


async def ran(server: FaultyServer, rows: int, timeouts: str, *options: str) -> Ran:
    """`sglc run --data` on some rows at a server."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.sgl").write_text(PROGRAM)
        (folder / "sgl.toml").write_text(
            f'[models.main]\nuse = "{server.name}"\n\n[models.main.timeouts]\n{timeouts}'
        )
        numbers = range(FIRST, FIRST + rows)
        (folder / "rows.jsonl").write_text("".join(f'{{"n": {number}}}\n' for number in numbers))
        command = [sys.executable, "-P", "-m", "sglc", "run", "rows.sgl", "row", "--data", "rows.jsonl"]
        command += ["--out", "out.jsonl", "--concurrency", str(WIDTH), *options]
        environment = {**os.environ, **server.environment}
        with (folder / "err.txt").open("w") as err:
            process = await asyncio.create_subprocess_exec(
                *command, cwd=folder, env=environment, stdout=err, stderr=err
            )
        found = Ran([])
        ended = asyncio.ensure_future(process.wait())
        out = folder / "out.jsonl"
        while not ended.done():
            await asyncio.wait((ended,), timeout=0.05)
            done = out.read_bytes().count(b"\n") if out.exists() else 0
            resident = _resident(process.pid)
            if resident:
                found.memory[done] = resident
        if not out.exists() or not out.stat().st_size:
            raise SystemExit((folder / "err.txt").read_text())
        found.entries = [json.loads(line) for line in out.read_text().splitlines()]
        return found


def _resident(process: int) -> int:
    """KiB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


async def row(kind: str, rows: int, seed: int, waiting: int) -> tuple[str, ...]:
    """A row of the table."""
    async with faulty_server(kind, Seeded(RATES, seed), stall=5.0) as server:
        found = await ran(server, rows, TIMEOUTS)
    wrong = [each for each in found.entries if not _is_right(each)]
    for each in wrong:
        print(each, file=sys.stderr)
    numbers = {each["row"] for each in found.entries}
    right = len(numbers) - len({each["row"] for each in wrong})
    doubled = len(found.entries) - len(numbers)
    begun = min((done for done in found.memory if done >= min(EARLY, rows // 2)), default=0)
    memory = [found.memory[done] / 1024 for done in (begun, max(found.memory))]
    return (
        kind,
        f"{right} of {rows}" + (f", {doubled} twice" if doubled else ""),
        f"{sum(server.asked.values()) / rows:.2f}",
        f"{max(server.asked.values())}",
        f"{sum(server.happened.values())}",
        f"{memory[0]:.1f} / {memory[1]:.1f}",
        *await waited(kind, seed, waiting),
    )


def _is_right(entry: dict[str, Any]) -> bool:
    return bool(entry["ok"]) and entry["value"] == value_of(FIRST + entry["row"])


async def waited(kind: str, seed: int, rows: int) -> tuple[str, str]:
    """By how much rows ended after their deadline, and how many before it where the breaker opens."""
    late, early = await _ended(kind, seed, rows, PATIENT)
    assert len(late) == rows and not early, f"{len(early)} rows ended before the deadline"
    over = sum(each > LATE * DEADLINE for each in late)
    others, before = await _ended(kind, seed, rows, IMPATIENT)
    assert all(each <= LATE * DEADLINE for each in others) or over, "rows are late where the breaker opens"
    shown = f"{1000 * max(late):.0f} / {1000 * median(late):.0f} of {rows}"
    by = f", by {-median(before):.1f} s" if before else ""
    return shown + (f", {over} by more than {LATE:.0%}" if over else ""), f"{len(before)} of {rows}{by}"


async def _ended(kind: str, seed: int, rows: int, timeouts: str) -> tuple[list[float], list[float]]:
    """By how many seconds behind the deadline rows ended with `Timeout`, and with `Backend`."""
    async with faulty_server(kind, Seeded(STALLING, seed), stall=3600.0) as server:
        held = await ran(server, rows, timeouts, "--timeout", f"{DEADLINE:g}")
    after: dict[str, list[float]] = {"Timeout": [], "Backend": []}
    for each in held.entries:
        after[each["error"]["name"]].append(each["seconds"] - DEADLINE)
    assert sum(map(len, after.values())) == rows
    return after["Timeout"], after["Backend"]


async def run(given: argparse.Namespace) -> None:
    about = surroundings()
    rows = []
    for kind in given.kinds.split(","):
        rows.append(await row(kind, given.rows, given.seed, given.waiting))
        print(" | ".join(rows[-1]), flush=True)
    if given.markdown is not None:
        lines = (HEAD, ("---", *["--:"] * (len(HEAD) - 1)), *rows)
        table = "\n".join(f"| {' | '.join(each)} |" for each in lines)
        words = (__doc__ or "").split("\n\n", 2)[2]
        write_page(str(given.markdown), "Rows on failing connections", words, table, about)


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows at servers that fail in every way.")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--kinds", default=",".join(NAMES))
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--waiting", type=int, default=40, help="Rows with a deadline.")
    parser.add_argument("--markdown", type=Path)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
