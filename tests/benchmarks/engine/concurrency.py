"""Calls that do not depend on each other: run when their turn comes, and begun before it; the same texts.

    python -P tests/benchmarks/engine/concurrency.py [--executor KIND] [--model NAME] [--rounds 5]
    [--only NAME] [--markdown FILE]

The programs of `concurrency.sgl` are plain: four questions about one mail one below the other, a
comprehension over eight mails, and a single call, each call of some 45 tokens. *In order* is `--sequential`,
*ahead* is what is done without it. The two ways take turns, each with an engine of its own over one executor.
Every round has other mails, so that prompts are read, too. Figures are those of the median of the rounds,
ratios are medians of theirs; masks were found by a round before.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drafting.speculation import BLOCKS, Part
from report import surroundings, write_page
from sglc.driver import compile_file
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.executor.plan import Executor
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.session import Session

BOATS = ["sailing boat", "canoe", "old ferry", "fishing boat", "motor yacht", "dinghy", "rowing boat"]
FAULTS = [
    "the rudder is stuck and there is water in the locker below the seat",
    "the varnish comes off in large flakes after a single summer",
    "the engine stops whenever we go slower than a swan",
    "the mast leans to the left since the storm of last week",
    "one of the sails tore while we were far out on the lake",
    "the anchor winch makes a noise that wakes the whole harbour",
    "there is a hole near the bow, as large as an apple",
    "the compass shows north in every direction",
]
REASONS = [
    "My daughter has a regatta in ten days.",
    "We have guests who paid for a trip in May.",
    "Your last bill was higher than what we had agreed on.",
    "You mended the same thing only a month ago.",
    "I would rather sell it than spend another summer like this.",
]
WISHES = [
    "Could you please have a look at it before Friday?",
    "What would a new one cost, with all that belongs to it?",
    "May I come by and watch, so that I can do it myself next time?",
    "I ask for my money back, or for a good explanation.",
    "Please tell us honestly whether it is worth the work.",
]
WORDS = """*Computed* are the tokens that the model has read or tried, *cpu s* is processor time of all
threads. A step over more rows costs more (see [speculation.md](speculation.md)), so four or eight calls
together are never four or eight times as fast. Drafts bring the two ways closer: with them a call alone takes
fewer steps than it has tokens, and beside other calls few are worth their rows. The single call shows how far
the figures scatter: nothing in its program can run ahead, so that both ways do the same."""
PROGRAMS = ("one", "four", "eight")
IN_ORDER, AHEAD = "in order", "ahead"
WAYS = {IN_ORDER: 0, AHEAD: None}


@dataclass
class Run:
    """What one run took. `read` are the tokens that the model has computed, prompts included."""

    seconds: float
    cpu: float
    tokens: int
    read: int
    steps: int
    value: Any


def mail(number: int) -> str:
    """One of many mails; those of neighbouring numbers have nothing in common but their form."""
    return f"About our {BOATS[number % len(BOATS)]}: {FAULTS[number % len(FAULTS)]}."


def arguments(name: str, number: int, heat: float) -> dict[str, object]:
    """What a program is given in a round."""
    if name == "eight":
        return {"mails": [mail(8 * number + place) for place in range(8)], "heat": heat}
    text = f"{mail(number)} {REASONS[number % len(REASONS)]} {WISHES[number // 2 % len(WISHES)]}"
    return {"mail": text, "heat": heat}


class Way:
    """An engine that runs programs in one way. `place` is that of its blocks in the pool of the executor."""

    def __init__(
        self, program: Any, executor: Executor, concurrency: int | None, place: int, drafts: bool
    ) -> None:
        own: Any = Part(executor, BLOCKS * place)
        cache = KVCache(BLOCKS, own.block_bytes, copy_block=own.copy_block)
        self.engine = BatchingEngine(own, cache, speculate=drafts)
        self.session = Session(program, self.engine)
        self.concurrency = concurrency

    def run(self, name: str, number: int, heat: float) -> Run:
        """One run of a program."""
        work = self.engine.statistics
        fed, steps = work.tokens_fed, work.forwards
        given = arguments(name, number, heat)
        start, cpu = perf_counter(), process_time()
        ran = asyncio.run(self.session.run(name, given, seed=number, concurrency=self.concurrency))
        seconds, cpu = perf_counter() - start, process_time() - cpu
        tokens = ran.statistics.output_tokens
        return Run(seconds, cpu, tokens, work.tokens_fed - fed, work.forwards - steps, ran.value)


@dataclass(frozen=True)
class Kind:
    """How tokens are drawn: at which temperature, and whether drafts are computed ahead."""

    name: str
    temperature: float
    drafts: bool


KINDS = (
    Kind("greedy", 0.0, True),
    Kind("at temperature 0.8", 0.8, True),
    Kind("greedy, without drafts", 0.0, False),
)


def rounds_of(kind: Kind, name: str, ways: dict[str, Way], count: int) -> dict[str, list[Run]]:
    """The runs of one program in both ways. The first round finds the masks and does not count."""
    rounds: dict[str, list[Run]] = {way: [] for way in WAYS}
    for number in range(count + 1):
        for way in WAYS if number % 2 else reversed(WAYS):
            ran = ways[way].run(name, number, kind.temperature)
            if number:
                rounds[way].append(ran)
    return rounds


def row(kind: Kind, name: str, rounds: dict[str, list[Run]]) -> tuple[str, ...]:
    """The figures of a program."""
    pairs = list(zip(rounds[IN_ORDER], rounds[AHEAD], strict=True))
    typical = [sorted(each, key=lambda r: r.seconds)[len(each) // 2] for each in rounds.values()]
    return (
        kind.name,
        name,
        f"{typical[0].tokens:,}",
        *(f"{each.read:,}" for each in typical),
        *(f"{each.steps:,}" for each in typical),
        *(f"{each.seconds:.2f}" for each in typical),
        *(f"{each.cpu:.2f}" for each in typical),
        f"{statistics.median(one.seconds / other.seconds for one, other in pairs):.2f}",
        "yes" if all(one.value == other.value for one, other in pairs) else "no",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Calls in order and ahead.")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    executor = load_executor(given.model, kind=given.executor, threads=given.threads)
    executor.reserve(len(WAYS) * BLOCKS)
    program = compile_file(Path(__file__).with_suffix(".sgl")).program
    assert program is not None
    each_way = [f"{what} {way}" for what in ("computed", "steps", "s", "cpu s") for way in WAYS]
    table = [("tokens are drawn", "program", "tokens", *each_way, "times as fast", "same value")]
    print(" | ".join(table[0]), flush=True)
    for kind in KINDS:
        ways = {
            way: Way(program, executor, most, place, kind.drafts)
            for place, (way, most) in enumerate(WAYS.items())
        }
        for name in PROGRAMS:
            if given.only in (None, name):
                table.append(row(kind, name, rounds_of(kind, name, ways, given.rounds)))
                print(" | ".join(table[-1]), flush=True)
    if given.markdown is not None:
        words = (__doc__ or "").split("\n\n", 2)[2]
        body = f"{grid(table)}\n\n{WORDS}\n\n{executor.kind}, {executor.name}."
        write_page(str(given.markdown), "Calls ahead of their turn", words, body, surroundings())
    return 1 if any(each[-1] == "no" for each in table[1:]) and executor.invariant else 0


def grid(rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" + " --: |" * (len(rows[0]) - 1), *lines[1:]])


if __name__ == "__main__":
    sys.exit(main())
