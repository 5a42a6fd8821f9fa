"""Prompt tokens that workers compute where calls have eight beginnings: by the router, and in turn.

    python tests/benchmarks/cluster/affinity.py [--rows 12] [--beginnings 8] [--model smollm2] [--seeds 1]

Each beginning is a system message of some 400 tokens, and has `--rows` calls whose order is shuffled. The
calls go to one worker, to two workers by the router's rule, and to two workers in turn. Prints for each the
tokens of prompts that were computed, those that were looked up, and the ratio to one worker.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time

from sglc.commands.clustering.opening import divided
from sglc.driver import compile_source
from sglc.runtime.cluster.beginnings import Beginnings
from sglc.runtime.cluster.links import ProcessLink
from sglc.runtime.cluster.messages import Asked
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.router import Router, Rule
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.cluster.setup import ProgramSetup, WorkerSetup
from sglc.runtime.engine.core.options import EngineOptions
from sglc.runtime.model.load import load_tokenizer
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

PROGRAM = """
fn pick(rules: str, question: str) -> int:
    system: | ${rules}
    user: | ${question}
    assistant: | ?{n: int in 0..99}
    return n
"""
WORDS = "sea lamp coat river stone paper glass bread cloud wheel garden letter winter copper".split()


def calls(beginnings: int, rows: int, seed: int) -> list[dict[str, str]]:
    """Arguments of all calls, in a random order that is the same for a seed."""
    draws = random.Random(7 + seed)
    texts = [" ".join(draws.choices(WORDS, k=300)) + f" (house {n})" for n in range(beginnings)]
    found = [
        {"rules": text, "question": f"What is worth {draws.choice(WORDS)} number {row}?"}
        for text in texts
        for row in range(rows)
    ]
    draws.shuffle(found)
    return found


async def measured(
    model: str,
    workers: int,
    rule: Rule,
    width: int,
    arguments: list[dict[str, str]],
    memory: int | None,
    seed: int,
) -> tuple[int, int, float]:
    """Prompt tokens computed and looked up, and seconds without the start of the workers."""
    compiled = compile_source(Source("pick.sgl", PROGRAM)).program
    assert compiled is not None
    sizes = Sizes(workers, workers)
    setup = WorkerSetup(
        (ProgramSetup(compiled, {"main": (model,)}),),
        divided(EngineOptions(kv_memory=memory), sizes),
        width=width,
    )
    known = Beginnings(compiled, load_tokenizer(model))
    pool = Pool(ProcessLink.start, setup.line(), sizes, Router(seed, rule))
    await pool.open()
    begun = time.perf_counter()

    async def one(given: dict[str, str]) -> None:
        beginning = await known.of("pick", given)
        await pool.call(Asked("pick", json.dumps(given)), unheard, beginning)

    waiting = iter(arguments)

    async def some() -> None:
        for given in waiting:
            await one(given)

    await asyncio.gather(*(some() for _ in range(workers * (width + 8))))
    seconds = time.perf_counter() - begun
    await asyncio.sleep(0.6)  # the last figures
    figures = pool.figures
    await pool.close()
    return figures["looked_up"] - figures["reused"], figures["looked_up"], seconds


def unheard(event: Event) -> None:
    """Nobody listens."""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=12)
    options.add_argument("--beginnings", type=int, default=8)
    options.add_argument("--model", default="smollm2")
    options.add_argument("--width", type=int, default=8)
    options.add_argument("--memory", type=int, default=None, help="bytes of keys and values of each worker")
    options.add_argument("--seeds", type=int, default=1)
    given = options.parse_args()
    heads = ("seed", "workers", "rule", "computed", "looked up", "of one worker", "seconds")
    print(f"| {' | '.join(heads)} |\n|--:|--:|---|--:|--:|--:|--:|")
    cases: list[tuple[int, Rule]] = [(1, "affinity"), (2, "affinity"), (2, "round robin")]
    for seed in range(given.seeds):
        arguments, least = calls(given.beginnings, given.rows, seed), 0
        for workers, rule in cases:
            computed, looked_up, seconds = asyncio.run(
                measured(given.model, workers, rule, given.width, arguments, given.memory, seed)
            )
            least = least or computed
            row = (seed, workers, rule, computed, looked_up, f"{computed / least:.2f}", f"{seconds:.1f}")
            print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
