"""Seconds of native steps by batch and by length of the context, and how near memory lets them come.

    python tests/benchmarks/model/native_step.py MODEL [--threads 2] [--rounds 9] [--markdown PAGE] [--lock
    FILE]

MODEL is what `sglc run --model` takes. A step computes one token for each of some sequences, which have their
own blocks. The floor is the time to read the weights and the keys and values once, at the speed at which as
many threads read memory here; it is measured in every round. Sizes take turns, figures are medians, and the
fastest step stands beside them. `--lock FILE` is held for a round.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.engine_step import alone
from report import surroundings, write_page

BATCHES = (1, 2, 4, 8, 16, 32)
LENGTHS = (16, 200, 1000)
READ = 256
MEMORY = 192 << 20
"""Bytes that are read for the speed of memory: much more than caches hold."""


def bandwidth(parts: list[np.ndarray], pool: ThreadPoolExecutor) -> float:
    """Bytes a second that threads read together."""
    started = time.perf_counter()
    list(pool.map(np.max, parts))
    return sum(part.nbytes for part in parts) / (time.perf_counter() - started)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("model")
    given.add_argument("--threads", type=int, default=2)
    given.add_argument("--rounds", type=int, default=9)
    given.add_argument("--batches", type=int, nargs="*", default=BATCHES)
    given.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    given.add_argument("--markdown")
    given.add_argument("--lock")
    options = given.parse_args()

    from sglc.runtime.executor.choose import load_executor
    from sglc.runtime.executor.plan import Piece
    from sglc.runtime.kv.blocks import BLOCK_TOKENS

    executor = load_executor(options.model, kind="native", threads=options.threads)
    weights = executor.weight_bytes  # type: ignore[attr-defined]
    each = -(-(max(options.lengths) + 1) // BLOCK_TOKENS)
    executor.reserve(each * max(options.batches))
    tokens = np.random.default_rng(0).integers(3, executor.tokenizer.size, max(options.lengths) + 1).tolist()
    tables = [list(range(row * each, (row + 1) * each)) for row in range(max(options.batches))]
    executor.run([Piece(tables[0], 0, tokens[: max(options.lengths)], 0)])
    for row in range(1, max(options.batches)):
        for source, target in zip(tables[0], tables[row], strict=True):
            executor.copy_block(source, target)
    parts = [np.ones(MEMORY // options.threads // 4, np.int32) for _ in range(options.threads)]
    steps: dict[tuple[int, int], list[float]] = {}
    speeds: list[float] = []
    reads: list[float] = []
    with ThreadPoolExecutor(options.threads) as pool:
        for _ in range(options.rounds):
            with alone(options.lock):
                speeds.append(bandwidth(parts, pool))
                for length in options.lengths:
                    for batch in options.batches:
                        pieces = [Piece(table, length, tokens[:1]) for table in tables[:batch]]
                        started = time.perf_counter()
                        executor.run(pieces)
                        steps.setdefault((length, batch), []).append(time.perf_counter() - started)
                started = time.perf_counter()
                executor.run([Piece(tables[0], 0, tokens[:READ])])
                reads.append(READ / (time.perf_counter() - started))
    speed = max(speeds)
    lines = ["| context | sequences | step | fastest | tokens a second | memory's floor | of the fastest |"]
    lines.append("|--:|--:|--:|--:|--:|--:|--:|")
    for (length, batch), found in steps.items():
        floor = (weights + batch * length * executor.block_bytes / BLOCK_TOKENS) / speed
        best, middle = min(found), statistics.median(found)
        lines.append(
            f"| {length:,} | {batch} | {1e3 * middle:.2f} ms | {1e3 * best:.2f} ms | {batch / middle:,.0f} "
            f"| {1e3 * floor:.2f} ms | {100 * floor / best:.0f} % |"
        )
    lines += [
        "",
        f"Reading {READ} tokens at once: {statistics.median(reads):,.0f} tokens a second, "
        f"{max(reads):,.0f} at best. Memory: {speed / 1e9:.1f} GB a second at best, "
        f"{statistics.median(speeds) / 1e9:.1f} in the middle; weights of {weights / 1e6:.1f} MB.",
    ]
    print("\n".join(lines))
    if options.markdown:
        words = (
            f"One token for each sequence, {options.threads} threads, medians of {options.rounds} rounds. "
            "The floor is the time to read weights, keys and values once, at the best speed of memory seen."
        )
        write_page(options.markdown, "Native steps", words, "\n".join(lines), surroundings())


if __name__ == "__main__":
    main()
