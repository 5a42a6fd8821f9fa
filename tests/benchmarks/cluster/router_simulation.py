"""The router at a thousand workers, on recorded traffic: tokens found again, and how evenly work is spread.

    python tests/benchmarks/cluster/router_simulation.py TRACE [--workers 1000] [--copies 20] [--rule NAME]

TRACE is `conversation_trace.jsonl` of the FAST'25 release of Mooncake (repository kvcache-ai/Mooncake, folder
FAST25-release/traces, Apache 2.0): one line a request with `timestamp` (ms), `input_length`, `output_length`
and `hash_ids`, the names of its blocks of 512 tokens behind all blocks before them. One hour of traffic is
too little for so many workers, so that copies of it are laid over each other: each is shifted by a time of
its own and has conversations of its own; what more than `SHARED` requests begin with stays the same in all.

A worker does `WIDTH` requests at a time, others wait; it reads `PROMPT` tokens a second and writes a token in
`TOKEN` seconds, and holds `BLOCKS` blocks, of which the one used longest ago goes first. Prints a row for
each rule.
"""

from __future__ import annotations

import argparse
import bisect
import hashlib
import heapq
import json
import random
import statistics
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from sglc.runtime.cluster.router import Beginning, Router
from sglc.runtime.kv.blocks import BLOCK_TOKENS

WIDTH = 4
PROMPT = 2_000.0
TOKEN = 0.05
BLOCKS = 128
TRACED = 512
"""Tokens of a block of the trace."""
SHARED = 100
BOUND = 1.25
"""Of consistent hashing with bounded loads: the most that a worker has, of the mean."""
POINTS = 64
"""Points of each worker on the ring."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the traffic; seconds from the beginning."""

    at: float
    prompt: int
    answer: int
    names: tuple[bytes, ...]


@dataclass(slots=True)
class Worker:
    """A simulated worker. `busy` are the seconds of all that it did."""

    going: int = 0
    waiting: deque[Request] = field(default_factory=deque)
    cache: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    busy: float = 0.0
    done: int = 0

    def read(self, names: Sequence[bytes], gone: Callable[[bytes], None]) -> int:
        """Read blocks: how many of them were there from the first on."""
        found = 0
        while found < len(names) and names[found] in self.cache:
            found += 1
        for name in reversed(names):
            self.cache[name] = None
            self.cache.move_to_end(name)
        while len(self.cache) > BLOCKS:
            gone(self.cache.popitem(last=False)[0])
        return found


Rule = Callable[[Request, dict[int, int]], int]
"""Who gets a request, by how many each worker has."""


def traffic(trace: Path, copies: int, seed: int) -> list[Request]:
    """The requests of all copies, by time."""
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    often = Counter(name for line in lines for name in line["hash_ids"])
    hour = max(line["timestamp"] for line in lines) / 1000 + 1
    draws = random.Random(seed)
    found = []
    for copy in range(copies):
        shift = draws.uniform(0, hour) if copy else 0.0
        for line in lines:
            names = tuple(
                (f"{name}" if often[name] > SHARED else f"{copy}/{name}").encode()
                for name in line["hash_ids"]
            )
            at = (line["timestamp"] / 1000 + shift) % hour
            found.append(Request(at, line["input_length"], line["output_length"], names))
    found.sort(key=lambda request: request.at)
    return found


class Ring:
    """Consistent hashing of the first blocks that not all have, with or without bounded loads."""

    def __init__(self, workers: int, bounded: bool) -> None:
        self._points = sorted(
            (self._place(f"{w}/{p}".encode()), w) for w in range(workers) for p in range(POINTS)
        )
        self._places = [place for place, _ in self._points]
        self._bounded = bounded
        self._total = 0

    @staticmethod
    def _place(name: bytes) -> int:
        return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")

    def __call__(self, request: Request, loads: dict[int, int]) -> int:
        own = next((name for name in request.names if b"/" in name), request.names[-1])
        at = bisect.bisect(self._places, self._place(own))
        if not self._bounded:
            return self._points[at % len(self._points)][1]
        most = ceil(BOUND * (sum(loads.values()) + 1) / len(loads))
        while True:
            worker = self._points[at % len(self._points)][1]
            if loads[worker] < most:
                return worker
            at += 1


def rules(workers: int, seed: int) -> dict[str, tuple[Rule, Router]]:
    """The rules by their names, with the router that is told what leaves a worker's memory."""
    draws = random.Random(seed)

    def least(request: Request, loads: dict[int, int]) -> int:
        lowest = min(loads.values())
        while loads[worker := draws.randrange(workers)] != lowest:
            if draws.random() < 0.01:
                return next(each for each, load in loads.items() if load == lowest)
        return worker

    def two(request: Request, loads: dict[int, int]) -> int:
        return min(draws.sample(range(workers), 2), key=lambda worker: loads[worker])

    router = Router(seed)

    def affinity(request: Request, loads: dict[int, int]) -> int:
        names = request.names
        router.answered(request.answer * BLOCK_TOKENS // TRACED)  # on the scale of the names
        return router.choose(Beginning(names, len(names) * BLOCK_TOKENS), loads, WIDTH)

    unread = Router()
    return {
        "random": (lambda request, loads: draws.randrange(workers), unread),
        "least loaded": (least, unread),
        "less loaded of two": (two, unread),
        "consistent hashing": (Ring(workers, False), unread),
        "consistent hashing, bounded": (Ring(workers, True), unread),
        "affinity": (affinity, router),
    }


def simulated(requests: list[Request], workers: int, rule: Rule, router: Router) -> dict[str, float]:
    """What came of all requests under a rule."""
    there = [Worker() for _ in range(workers)]
    loads = dict.fromkeys(range(workers), 0)
    ends: list[tuple[float, int]] = []
    prompt = reused = 0
    waits: list[float] = []
    choosing = 0.0

    def begin(number: int, request: Request, now: float) -> None:
        nonlocal prompt, reused
        worker = there[number]
        worker.going += 1
        found = min(
            worker.read(request.names, lambda name: router.read.gone(number, name)) * TRACED,
            request.prompt - 1,
        )
        prompt += request.prompt
        reused += found
        takes = (request.prompt - found) / PROMPT + request.answer * TOKEN
        worker.busy += takes
        worker.done += 1
        waits.append(now - request.at)
        heapq.heappush(ends, (now + takes, number))

    def ended(now: float, number: int) -> None:
        worker = there[number]
        worker.going -= 1
        loads[number] -= 1
        if worker.waiting:
            begin(number, worker.waiting.popleft(), now)

    for request in requests:
        while ends and ends[0][0] <= request.at:
            ended(*heapq.heappop(ends))
        begun = time.perf_counter()
        number = rule(request, loads)
        choosing += time.perf_counter() - begun
        loads[number] += 1
        if there[number].going < WIDTH:
            begin(number, request, request.at)
        else:
            there[number].waiting.append(request)
    while ends:
        ended(*heapq.heappop(ends))
    busy = [worker.busy for worker in there]
    mean = statistics.fmean(busy)
    waits.sort()
    return {
        "reused": 100 * reused / prompt,
        "work": sum(busy) / 3600,
        "spread": statistics.pstdev(busy) / mean,
        "most": max(busy) / mean,
        "late": 100 * sum(wait > 0.001 for wait in waits) / len(waits),
        "p99": waits[int(0.99 * len(waits))],
        "micros": 1e6 * choosing / len(requests),
    }


def main() -> None:
    """Simulate and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("trace", type=Path)
    options.add_argument("--workers", type=int, default=1000)
    options.add_argument("--copies", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--rule", help="only the rules whose names begin so")
    given = options.parse_args()
    requests = traffic(given.trace, given.copies, given.seed)
    blocks = sum(len(request.names) for request in requests)
    distinct = len({name for request in requests for name in request.names})
    most = 100 * (1 - distinct / blocks)
    print(
        f"{len(requests)} requests, {blocks} blocks, {distinct} distinct: at most {most:.1f} % found again\n"
    )
    heads = (
        "found again",
        "work, hours",
        "σ of work / mean",
        "most / mean",
        "wait",
        "wait p99",
        "µs a choice",
    )
    print(f"| rule | {' | '.join(heads)} |\n|---|{'--:|' * len(heads)}")
    for name, (rule, router) in rules(given.workers, given.seed).items():
        if given.rule is not None and not name.startswith(given.rule):
            continue
        found = simulated(requests, given.workers, rule, router)
        shares = (
            f"{found['reused']:.1f} % | {found['work']:.0f} | {found['spread']:.2f} | {found['most']:.2f}"
        )
        waits = f"{found['late']:.1f} % | {found['p99']:.1f} s | {found['micros']:.0f}"
        print(f"| {name} | {shares} | {waits} |", flush=True)


if __name__ == "__main__":
    main()
