"""Rows on workers that are killed at random moments: each stands once in the results, as of one process.

    python tests/benchmarks/cluster/dying_workers.py [--kills 50] [--rows 1500] [--ray] [--seed 1]

Runs `sglc run --data` with two workers on a scripted model whose rows take some tenths of a second, and kills
a random one of them (SIGKILL) at random moments. Then the same in one process. The two files, sorted and
without how long each row took, must be equal. Needs /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROGRAM = """
fn words(n: int) -> str:
    user: | x
    var all = ""
    assistant:
        for i in 1..n:
            | ?{word: str min 30 chars max 40 chars}
            all = all + word
    return all
"""
ROWS = (1, 40)
"""Least and most rows that end between two kills, and …"""
PAUSE = 0.5
"""… most seconds that go by then."""


def children(process: int) -> list[int]:
    """Processes that another one has started."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except FileNotFoundError:
        return []
    return [int(each) for each in text.split()]


def actors(process: int) -> list[int]:
    """Processes of actors of Ray below a process."""
    found, waiting = [], children(process)
    while waiting:
        each = waiting.pop()
        waiting += children(each)
        try:
            command = Path(f"/proc/{each}/cmdline").read_bytes()
        except FileNotFoundError:
            continue
        if command.startswith(b"ray::LineActor"):
            found.append(each)
    return found


def command(folder: Path, out: str, *more: str) -> list[str]:
    """The call of `sglc run`."""
    files = ["--data", str(folder / "rows.jsonl"), "--out", str(folder / out)]
    model = f"scripted:{folder / 'script.json'}"
    return [
        *(sys.executable, "-P", "-m", "sglc", "run", str(folder / "words.sgl")),
        *("--model", model, *files, *more),
    ]


def results(file: Path) -> list[str]:
    """The lines, sorted, without how long each row took."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(json.dumps({**row, "seconds": None}, sort_keys=True) for row in rows)


def killed(process: subprocess.Popen[bytes], find: Callable[[int], list[int]], kills: int, out: Path) -> int:
    """Kill workers at random moments until the process ends; how many were."""
    draws, count, goal = random.Random(kills), 0, 1
    while process.poll() is None:
        time.sleep(0.02)
        if count == kills or not out.exists() or out.read_bytes().count(b"\n") < goal:
            continue
        time.sleep(draws.uniform(0, PAUSE))
        there = find(process.pid)
        if there:
            with suppress(ProcessLookupError):
                os.kill(draws.choice(there), signal.SIGKILL)
                count += 1
            goal = out.read_bytes().count(b"\n") + draws.randint(*ROWS)
    return count


def main() -> None:
    """Run, kill, compare, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--rows", type=int, default=1500)
    options.add_argument("--ray", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    draws = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "words.sgl").write_text(PROGRAM, encoding="utf-8")
        (folder / "script.json").write_text("[]", encoding="utf-8")
        rows = [f'{{"n": {draws.randint(1, 12)}}}\n' for _ in range(given.rows)]
        (folder / "rows.jsonl").write_text("".join(rows), encoding="utf-8")
        more = ["--workers", "2", *(["--cluster", "local"] if given.ray else [])]
        begun = time.monotonic()
        with (folder / "stderr").open("wb") as err:
            process = subprocess.Popen(command(folder, "many.jsonl", *more), stderr=err)
            count = killed(process, actors if given.ray else children, given.kills, folder / "many.jsonl")
        seconds = time.monotonic() - begun
        told = (folder / "stderr").read_text(encoding="utf-8", errors="replace").splitlines()
        subprocess.run(command(folder, "one.jsonl"), check=True, stderr=subprocess.DEVNULL)
        many, one = results(folder / "many.jsonl"), results(folder / "one.jsonl")
        failed = sum(not json.loads(line)["ok"] for line in many)
        where = "Ray" if given.ray else "processes"
        print(f"{where}: {count} kills in {seconds:.0f} s, exit {process.returncode}")
        print(f"{len(many)} lines of {given.rows} rows, {failed} failed; equal to one process: {many == one}")
        print(f"deaths that were told: {sum('has died; another' in line for line in told)}; {told[-1:]}")


if __name__ == "__main__":
    main()
