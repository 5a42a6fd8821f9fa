"""Prompt tokens that workers compute where calls have few beginnings, over many seeds, in simulated time.

    python -P tests/benchmarks/cluster/affinity_seeds.py [--seeds 200] [--workers 2] [--rows 12] [--width 8]

The front is the real one, its workers are simulated (`tests/support/clustering/simulated_workers.py`); the
second one takes `--slow` times as long. A seed decides the order of calls, their times and the draws of the
router. Prints for each rule the tokens computed in relation to one worker (mean, most, seeds above 1.1), and
the time until all is done in relation to that of work spread evenly.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from clustering.simulated_workers import Traffic, simulated
from sglc.runtime.cluster.router import Rule


def main() -> None:
    """Simulate and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=200)
    for name in ("workers", "rows", "beginnings", "width"):
        options.add_argument(f"--{name}", type=int, default=getattr(Traffic(), name))
    options.add_argument("--slow", type=float, default=1.0)
    given = options.parse_args()
    traffic = Traffic(given.workers, given.rows, given.beginnings, given.width, given.slow)
    print("| rule | of one worker, mean | most | above 1.1 | time of the best, mean |\n|---|--:|--:|--:|--:|")
    rules: tuple[Rule, ...] = ("affinity", "round robin")
    for rule in rules:
        shares, times = zip(*(simulated(traffic, rule, seed) for seed in range(given.seeds)), strict=True)
        above = sum(share > 1.1 for share in shares)
        mean, time = statistics.fmean(shares), statistics.fmean(times)
        print(f"| {rule} | {mean:.3f} | {max(shares):.2f} | {above} of {len(shares)} | {time:.2f} |")


if __name__ == "__main__":
    main()
