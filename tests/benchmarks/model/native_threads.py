"""Tokens a second of native steps by batch, beside other busy processes, with a fixed number of threads and
with the number that the executor chooses.

    python tests/benchmarks/model/native_threads.py MODEL [--loads 0 2 4] [--batches 1 8 32] [--seconds 3]
        [--rounds 2] [--markdown PAGE] [--lock FILE]

MODEL is what `sglc run --model` takes. A step computes one token for each of some sequences of 200 tokens.
The other processes (`--loads`: how many) count without end. Modes take turns, each for some seconds without a
pause; figures are the medians of the rounds. `--lock FILE` is held while one batch is measured.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.engine_step import alone
from report import surroundings, write_page

LENGTH = 200


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that count without end."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def rate(executor: Any, pieces: list[Any], seconds: float) -> tuple[float, float]:
    """Tokens a second, and the longest step."""
    done, longest = 0, 0.0
    started = last = time.perf_counter()
    while last - started < seconds:
        executor.run(pieces)
        now = time.perf_counter()
        done, longest, last = done + len(pieces), max(longest, now - last), now
    return done / (last - started), longest


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("model")
    given.add_argument("--loads", type=int, nargs="*", default=[0, 2, 4])
    given.add_argument("--batches", type=int, nargs="*", default=[1, 8, 32])
    given.add_argument("--seconds", type=float, default=3.0)
    given.add_argument("--rounds", type=int, default=2)
    given.add_argument("--modes", nargs="*", default=["1", "2", "auto"])
    given.add_argument("--markdown")
    given.add_argument("--lock")
    options = given.parse_args()

    from sglc.runtime.executor.choose import load_executor
    from sglc.runtime.executor.plan import Piece
    from sglc.runtime.kv.blocks import BLOCK_TOKENS

    each = -(-(LENGTH + 1) // BLOCK_TOKENS)
    most = max(options.batches)
    tables = [list(range(row * each, (row + 1) * each)) for row in range(most)]
    executors: dict[str, Any] = {}
    for mode in options.modes:
        threads = None if mode == "auto" else int(mode)
        executor = executors[mode] = load_executor(options.model, kind="native", threads=threads)
        executor.reserve(each * most)
        executor.run([Piece(tables[0], 0, list(range(3, 3 + LENGTH)), 0)])
        for row in range(1, most):
            for source, target in zip(tables[0], tables[row], strict=True):
                executor.copy_block(source, target)
    lines = ["| others | sequences | " + " | ".join(f"{mode}" for mode in options.modes) + " |"]
    lines.append("|--:|--:|" + "--:|" * len(options.modes))
    for load in options.loads:
        for batch in options.batches:
            pieces = [Piece(table, LENGTH, [5]) for table in tables[:batch]]
            found: dict[str, list[float]] = {mode: [] for mode in executors}
            worst = dict.fromkeys(executors, 0.0)
            for _ in range(options.rounds):
                with alone(options.lock), busy(load):
                    time.sleep(0.2)
                    for mode, executor in executors.items():
                        rates, longest = rate(executor, pieces, options.seconds)
                        found[mode].append(rates)
                        worst[mode] = max(worst[mode], longest)
            cells = [f"{statistics.median(found[mode]):,.1f} ({1e3 * worst[mode]:.0f} ms)" for mode in found]
            lines.append(f"| {load} | {batch} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    if options.markdown:
        words = (
            "One token for each of some sequences of 200 tokens beside other processes that are always busy; "
            "tokens a second with 1 and 2 threads and with the number that is chosen, and the longest step."
        )
        write_page(options.markdown, "Threads on a busy machine", words, "\n".join(lines), surroundings())


if __name__ == "__main__":
    main()
