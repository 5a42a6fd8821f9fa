"""Steps of the native executor beside llama.cpp's: decoding in batches, and reading prompts.

    python tests/benchmarks/engine/engine_step.py MODEL [--rounds 5] [--threads 2] [--markdown PAGE]

MODEL is what `sglc run --model` takes: the same weights as the file of SGLC_BENCH_GGUF. The variables that
name llama.cpp and its files are described in `llama_cpp.py`. Both sides read `batch` prompts of 64 tokens
and then write 32 tokens for each of them; no sampling, no masks. They take turns, the order changes from
round to round, and every figure is the median of the rounds. `--lock FILE` is held for a round.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from engine import llama_cpp
from report import surroundings, write_page

PROMPT, GENERATED, READ = 64, 32, 512
BARS = {
    "decode 1": (1.5, 1.0),
    "decode 1, from nothing": (1.5, 1.0),
    "decode 8": (2.0, 2.0),
    "decode 32": (2.0, 2.0),
    "prefill": (1.5, 1.5),
    "read 32": (1.5, 1.5),
}
"""At least so many times as fast as llama.cpp: with the shipped file, with the best of its files."""

Figures = dict[str, list[float]]


@contextmanager
def alone(path: str | None) -> Iterator[None]:
    """Hold a lock file, so that other programs that know it do not run now."""
    if path is None:
        yield
        return
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Ours:
    """The executor, driven as the engine drives it."""

    def __init__(self, model: str, kind: str, threads: int) -> None:
        from sglc.runtime.executor.choose import load_executor
        from sglc.runtime.kv.blocks import BLOCK_TOKENS

        self._executor: Any = load_executor(model, kind=kind, threads=threads)
        self.name = f"sglc {self._executor.kind}"
        self._blocks_each = -(-(max(PROMPT + GENERATED, READ) + 1) // BLOCK_TOKENS)
        self._executor.reserve(self._blocks_each * 32)
        random = np.random.default_rng(0)
        size = self._executor.tokenizer.size
        self._tokens = random.integers(3, size, max(PROMPT + GENERATED, READ)).tolist()
        self.decode(1)

    def _table(self, row: int) -> list[int]:
        return list(range(row * self._blocks_each, (row + 1) * self._blocks_each))

    def read(self, count: int) -> float:
        """Seconds of reading a prompt of `count` tokens at once."""
        from sglc.runtime.executor.plan import Piece

        started = time.perf_counter()
        self._executor.run([Piece(self._table(0), 0, self._tokens[:count])])
        return time.perf_counter() - started

    def decode(self, batch: int, prompt: int = PROMPT) -> tuple[float, float]:
        """Seconds of reading `batch` prompts, and of writing to all of them."""
        from sglc.runtime.executor.plan import Piece

        tables = [self._table(row) for row in range(batch)]
        started = time.perf_counter()
        for first in range(0, batch if prompt else 0, 4):
            prompts = [Piece(table, 0, self._tokens[:prompt]) for table in tables[first : first + 4]]
            self._executor.run(prompts)
        read = time.perf_counter()
        for place in range(prompt, prompt + GENERATED):
            self._executor.run([Piece(table, place, self._tokens[place : place + 1]) for table in tables])
        return read - started, time.perf_counter() - read

    def measure(self, batches: list[int], figures: Figures) -> None:
        for batch in batches:
            reading, writing = self.decode(batch)
            figures.setdefault(f"decode {batch}", []).append(batch * GENERATED / writing)
            figures.setdefault(f"read {batch}", []).append(batch * PROMPT / reading)
        figures.setdefault("prefill", []).append(READ / self.read(READ))
        figures.setdefault("decode 1, from nothing", []).append(GENERATED / self.decode(1, 0)[1])


def measure_llama(path: str, batches: list[int], threads: int, figures: Figures) -> None:
    rows = llama_cpp.batched_bench(path, batches=batches, prompt=PROMPT, generated=GENERATED, threads=threads)
    for row in rows:
        figures.setdefault(f"decode {row.batch}", []).append(row.generated)
        figures.setdefault(f"read {row.batch}", []).append(row.prompt)
    reading, writing = llama_cpp.bench(path, prompt=READ, generated=GENERATED, threads=threads)
    figures.setdefault("prefill", []).append(reading)
    figures.setdefault("decode 1, from nothing", []).append(writing)


def table(sides: dict[str, Figures], ours: str | None) -> str:
    """Medians, with the span from the slowest to the fastest round; then the ratios."""
    names = list(dict.fromkeys(name for figures in sides.values() for name in figures))
    lines = ["| tokens a second | " + " | ".join(sides) + " |", "|---|" + "--:|" * len(sides)]
    for name in names:
        cells = []
        for figures in sides.values():
            times = figures.get(name)
            cells.append(
                f"{statistics.median(times):,.0f} ({min(times):,.0f}–{max(times):,.0f})" if times else ""
            )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    if ours is None:
        return "\n".join(lines)
    peers = {side: figures for side, figures in sides.items() if side != ours}
    if not peers:
        return "\n".join(lines)
    first = next(iter(peers))
    lines += ["", f"| times as fast as | {first} | at least | the best of its files | at least |"]
    lines += ["|---|--:|--:|--:|--:|"]
    for name, (bar, bar_best) in BARS.items():
        if name not in sides[ours]:
            continue
        own = statistics.median(sides[ours][name])
        shipped = own / statistics.median(peers[first][name])
        best = own / max(statistics.median(figures[name]) for figures in peers.values())
        lines.append(f"| {name} | {shipped:.2f} | {bar} | {best:.2f} | {bar_best} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--executor", default="native")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("--lock")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    batches = [int(word) for word in options.batches.split(",")]
    about = surroundings()
    try:
        files = llama_cpp.files()
        about["engines"]["llama.cpp"] = {"version": llama_cpp.version()}
    except llama_cpp.Missing as fault:
        print(f"without llama.cpp: {fault}")
        files = {}
    sides: dict[str, Figures] = {}
    ours: Any = None
    if not options.peers_only:
        ours = Ours(options.model, options.executor, options.threads)
        sides[ours.name] = {}
    sides |= {f"llama.cpp {name}": {} for name in files}
    runs: list[tuple[str, str | None]] = [(f"llama.cpp {name}", path) for name, path in files.items()]
    if ours is not None:
        runs.insert(0, (ours.name, None))
    for number in range(options.rounds):
        with alone(options.lock):
            for side, path in runs if number % 2 == 0 else runs[::-1]:
                if path is None:
                    ours.measure(batches, sides[side])
                else:
                    measure_llama(path, batches, options.threads, sides[side])
        print(f"round {number + 1}, load {os.getloadavg()[0]:.1f}", flush=True)
    body = table(sides, None if ours is None else ours.name)
    print(body)
    if options.markdown:
        words = (
            f"Every side with {options.threads} threads; medians of {options.rounds} rounds, in brackets "
            f"the slowest and the fastest. `decode n`: {GENERATED} tokens for each of n prompts of "
            f"{PROMPT} tokens; `read n`: reading these prompts; `prefill`: reading {READ} tokens; `from "
            "nothing`: writing without a prompt."
        )
        write_page(options.markdown, "Steps of the engine", words, body, about)


if __name__ == "__main__":
    main()
