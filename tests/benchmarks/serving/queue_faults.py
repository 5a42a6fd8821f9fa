"""Messages through `sglc serve --queue` while workers and broker are killed at random moments.

    python -P tests/benchmarks/serving/queue_faults.py [--kinds redis,nats] [--messages 2000] [--seed 0]

The broker is a process that keeps what it has on disk (`appendonly` with `appendfsync always`; file storage
of JetStream). It and the workers end by SIGKILL. *Missing* are messages without a result, *wrong* those with
another than theirs, *changed* those whose result was another one at an earlier look, *replies* the answers
at their common `reply`, *lacking* those without one there, *letters* the dead letters.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from serving.brokers import TestBroker
from serving.queue_faults import Faults, Soak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kinds", default="redis,nats")
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for kind in given.kinds.split(","):
        with tempfile.TemporaryDirectory() as folder:
            broker = TestBroker(kind, Path(folder) / "broker")
            broker.process.start()
            try:
                figures = asyncio.run(
                    Soak(broker, Path(folder) / "work", given.messages, Faults(given.seed)).run()
                )
            finally:
                broker.process.kill()
            print(f"{kind}: {'each result once' if figures.right else 'NOT RIGHT'}: {figures}", flush=True)


if __name__ == "__main__":
    main()
