"""What the memory of keys and values costs: microseconds a step, a look-up, an eviction, a block on disk.

    python tests/benchmarks/engine/kv_pool.py [--gigabytes 10] [--markdown docs/benchmarks/kv.md]

Blocks are numbers here: no memory is taken for their contents, and copies cost nothing. A block is as large
as one of SmolLM2-135M in 16 bits, so the pool has as many blocks as the memory said would hold.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, thread_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import report
from mask.maskbench import show, table
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.kv.disk import DiskTier
from sglc.runtime.kv.eviction import Policy
from sglc.runtime.kv.sequence import Sequence

BLOCK_BYTES = 16 * 30 * 2 * 3 * 64 * 2
"""Sixteen positions of 30 layers, keys and values of 3 heads of 64 numbers of 2 bytes."""
PREFIX = list(range(600))
VOCABULARY = 49_152
STEPS = 1_000
POLICIES: tuple[Policy, ...] = ("lru", "lfu")
WORDS = f"""
What managing blocks costs beside the steps of a model. The pool is full when it is measured: every new block
is taken from the content that was used longest ago. Blocks have 16 positions and {BLOCK_BYTES:,} bytes, those
of SmolLM2-135M in 16 bits; their contents are not allocated. Times are wall clock, or processor time of the
thread where that is less, and include Python's garbage collections.
"""
DECODING = """
Every sequence goes on from one prefix of 600 tokens. Microseconds a step, for all sequences together: room is
reserved and a token committed for each. The last column is the step time of which the mean is one percent.
"""
EVICTION = """
Share of the tokens of prompts that are found: 100 prompts of 600 tokens, drawn 1,500 times with frequencies
1, 1/2, 1/3, …, in a pool with room for 53 of them; between two prompts texts of 200 tokens pass by that never
come again.
"""


def no_copy(source: int, target: int) -> None:
    """Blocks are numbers."""


def full_cache(blocks: int, policy: Policy = "lru") -> KVCache:
    """A pool of blocks that all hold something, a prefix of 600 tokens among it."""
    cache = KVCache(blocks, BLOCK_BYTES, copy_block=no_copy, policy=policy)
    chance = random.Random(1)
    while cache.pool.free:
        write(cache, [chance.randrange(VOCABULARY) for _ in range(320)])
    write(cache, PREFIX)
    return cache


def write(cache: KVCache, tokens: list[int]) -> None:
    """Compute tokens and let go of them."""
    sequence = cache.open(tokens)
    rest = tokens[sequence.length :]
    sequence.reserve(len(rest))
    sequence.commit(rest)
    sequence.release()


def timed(work: Callable[[], object]) -> float:
    """Microseconds that a call takes: wall clock, or processor time where that is less."""
    used, begun = thread_time(), perf_counter()
    work()
    return min(perf_counter() - begun, thread_time() - used) * 1e6


def marks(times: list[float]) -> list[str]:
    """Mean, median, p99 and worst."""
    ordered = sorted(times)
    chosen = [ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1]]
    return [show(value) for value in (sum(times) / len(times), *chosen)]


def steps(blocks: int) -> str:
    """Decoding: every sequence of a batch reserves a position and commits a token."""
    rows = [["sequences", "mean", "p50", "p99", "max", "evictions a step", "1 % of a step of"]]
    for size in (1, 8, 32, 128, 1000):
        cache = full_cache(blocks)
        batch = [cache.open([*PREFIX, VOCABULARY + number]) for number in range(size)]
        before = cache.stats().evictions
        count = STEPS if size < 1000 else STEPS // 5
        times = [timed(partial(decode, batch, step)) for step in range(count)]
        evictions = (cache.stats().evictions - before) / count
        mean = sum(times) / len(times)
        rows.append([f"{size:,}", *marks(times), f"{evictions:.2f}", f"{mean / 10:,.2f} ms"])
        cache.check()
    return table(rows)


def decode(batch: list[Sequence], step: int) -> None:
    """What a step does to the memory; no two sequences go on alike."""
    for sequence in batch:
        sequence.reserve(1)
    for number, sequence in enumerate(batch):
        sequence.commit([step * len(batch) + number])


def operations(blocks: int) -> str:
    """Single calls."""
    cache = full_cache(blocks)
    chance = random.Random(2)
    times: dict[str, list[float]] = {}

    def measure(name: str, work: Callable[[], object]) -> None:
        times.setdefault(name, []).append(timed(work))

    def one_round(known: list[int], fresh: list[int]) -> None:
        opened: list[Sequence] = []
        measure("`open` of 601 tokens, 600 known", lambda: opened.append(cache.open(known)))
        measure("`open` of 600 tokens, none known", lambda: opened.append(cache.open(fresh)))
        measure("`computed` of 601 tokens, 600 known", lambda: cache.computed(known))
        measure("`reserve` of 600 positions, 38 evictions", lambda: opened[1].reserve(600))
        measure("`commit` of 600 tokens, 37 blocks", lambda: opened[1].commit(fresh))
        measure("`fork` of 600 tokens", lambda: opened.append(opened[1].fork()))
        measure("`reserve` of 1 position after a fork", lambda: opened[2].reserve(1))
        measure("`rollback` by 300 tokens", lambda: opened[2].rollback(300))
        measure("`release` of 600 tokens", lambda: opened[1].release())
        opened[0].release()
        opened[2].release()

    for number in range(STEPS):
        fresh = [chance.randrange(VOCABULARY) for _ in range(600)]
        one_round([*PREFIX, VOCABULARY + number], fresh)
    held = [cache.open([*PREFIX, VOCABULARY + number]) for number in range(1000)]
    for _ in range(20):
        measure("`stats` with 1,000 sequences open", cache.stats)
    for sequence in held:
        sequence.release()
    return table([["call", "mean", "p50", "p99", "max"], *([name, *marks(t)] for name, t in times.items())])


def bookkeeping(blocks: int) -> str:
    """Memory and collections."""
    gc.collect()
    tracemalloc.start()
    cache = full_cache(blocks)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    collection = timed(gc.collect) / 1000
    checked = timed(cache.check) / 1000
    share = 100 * taken / blocks / BLOCK_BYTES
    return (
        f"To keep account of a full pool takes {taken / 2**20:.1f} MiB, {taken / blocks:,.0f} bytes or "
        f"{share:.2f} % of a block, its tokens included.\n"
        f"A garbage collection over all of it takes {collection:.0f} ms, `check` {checked:.0f} ms."
    )


def disk() -> str:
    """Blocks that go to disk when they are evicted and come back."""
    data = random.Random(3).randbytes(BLOCK_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        tier = DiskTier(Path(folder) / "kv", 1 << 30, "benchmark")
        names = [tier.name(b"x", (number,) * 16) for number in range(200)]
        written = [timed(partial(tier.write, name, lambda: data)) for name in names]
        read = [timed(partial(tier.read, name, BLOCK_BYTES)) for name in names]
        named = [timed(lambda: tier.name(b"x", tuple(range(16)))) for _ in names]
    rows = [["a block", "mean", "p50", "p99", "max"]]
    rows += [["written", *marks(written)], ["read and verified", *marks(read)], ["named", *marks(named)]]
    return table(rows)


def eviction() -> str:
    """Share of tokens found: some prompts come often, and texts that never come again pass by."""
    rows = [["passing texts for each prompt", *POLICIES]]
    for passing in (0, 1, 4, 16):
        rates = []
        for policy in POLICIES:
            chance = random.Random(4)
            cache = KVCache(2_000, BLOCK_BYTES, copy_block=no_copy, policy=policy)
            prompts = [[chance.randrange(VOCABULARY) for _ in range(600)] for _ in range(100)]
            weights = [1 / (rank + 1) for rank in range(100)]
            for prompt in chance.choices(prompts, weights, k=1500):
                write(cache, prompt)
                for _ in range(passing):
                    write(cache, [chance.randrange(VOCABULARY) for _ in range(200)])
            stats = cache.stats()
            asked = stats.tokens_looked_up - 1500 * passing * 200
            rates.append(f"{100 * stats.tokens_reused / asked:.1f} %")
        rows.append([str(passing), *rates])
    return table(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gigabytes", type=float, default=10.0, help="memory that the pool stands for")
    parser.add_argument("--markdown", help="write a page with the tables here")
    arguments = parser.parse_args()
    about = report.surroundings()
    blocks = int(arguments.gigabytes * 2**30) // BLOCK_BYTES
    pool = f"a pool of {arguments.gigabytes:g} GiB, {blocks:,} blocks"
    parts = [f"## Decoding, {pool}", DECODING.strip(), steps(blocks)]
    parts += ["## Single calls, microseconds, in the same pool", operations(blocks)]
    parts += ["## Bookkeeping", bookkeeping(blocks)]
    parts += ["## The tier on disk, microseconds", "Files stay in the page cache of the system.", disk()]
    parts += ["## Eviction", EVICTION.strip(), eviction()]
    body = "\n\n".join(parts)
    print(body)
    if arguments.markdown:
        report.write_page(arguments.markdown, "Memory of keys and values", WORDS, body, about)


if __name__ == "__main__":
    main()
