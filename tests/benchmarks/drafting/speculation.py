"""Speculation: tokens a second token by token, with forced text at once, and with drafts; the same text.

    python -P tests/benchmarks/drafting/speculation.py [--executor KIND] [--model NAME] [--rounds 5]
    [--markdown FILE]

Programs of `speculation.sgl` run greedily on SmolLM2-135M, one after the other, each on several inputs: texts
that quote or change a text in the prompt, records of what a text says, and records that are invented. Three
ways share an executor and take turns from input to input: *token by token* computes every token of an answer
in a step of its own, those too that the types force; *forced text at once* puts these into the step of the
next token that is asked for, without drafts; *all* drafts besides. Figures are those of the median of the
rounds, ratios are medians of theirs. Time is that of writing: steps that read prompts are not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, thread_time_ns
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import surroundings, write_page
from sglc.driver import compile_file
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.core.step_time import StepMeasure
from sglc.runtime.engine.drafting.drafts import Drafts
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.executor.plan import Executor, Piece
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.session import Session

BLOCKS = 256
WORDS = """*Tokens* are all that the values have, *drawn* those that the model was asked for; the rest is
forced by the types. *Drafted* tokens were computed ahead, *came* says how many of them were drawn or forced
then. *µs of drafts* is processor time for each token drawn, of the quickest round. Rounds begin without
history. Steps cost, as the engine with drafts has measured them:"""
TOKENS, FORCED, ALL = WAYS = ("token by token", "forced at once", "all")
PROMPT = 24
"""Steps of so many tokens and more read prompts; their time is not counted."""
GIVEN = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
WORKLOADS: dict[str, list[dict[str, str]]] = {
    "quote": [{"text": each["text"], "about": each["about"]} for each in GIVEN["texts"]],
    "change": [{name: each[name] for name in ("text", "old", "new")} for each in GIVEN["texts"]],
    "summary": [{"text": each["text"]} for each in GIVEN["texts"]],
    "character": [{"role": role} for role in GIVEN["roles"]],
}


class Reading(StepMeasure):
    """Knows how many steps read prompts, and how long they took."""

    prompts = 0
    reading = 0.0

    def record(self, requests: int, tokens: int, seconds: float) -> None:
        super().record(requests, tokens, seconds)
        if tokens >= PROMPT:
            self.prompts += 1
            self.reading += seconds


class Alone(Branch):
    """A branch that knows where the answer begins."""

    answer = 0

    @contextmanager
    def apart(self) -> Iterator[Statistics]:
        self.answer = len(self.tokens)
        with super().apart() as own:
            yield own


class Stepwise(BatchingEngine):
    """Computes every token of an answer in a step of its own, as an engine does that only masks logits."""

    def branch(self, owner: str = "") -> Branch:
        return Alone(self, Statistics(), owner)

    def put_back(self, branch: Branch) -> None:
        """Keep the branch: text that was forced at its end is still to be computed."""
        self.last = branch

    async def logits(self, branch: Branch, drafts: Sequence[int] = ()) -> np.ndarray:
        await self.catch_up(branch)
        return await super().logits(branch)

    async def draw(
        self, branch: Branch, sampling_request: SamplingRequest, drafts: Sequence[int] = ()
    ) -> Sampled:
        await self.catch_up(branch)
        return await super().draw(branch, sampling_request)

    async def catch_up(self, branch: Branch) -> None:
        """Compute what an answer's last token follows."""
        assert isinstance(branch, Alone)
        handle = branch.handle
        begun = handle.sequence.length if handle is not None and handle.sequence is not None else 0
        for size in range(max(begun + 1, branch.answer), len(branch.tokens)):
            await self._served(branch, branch.tokens[:size], size - 1, 0)

    async def finish(self) -> None:
        """Compute the text that was forced at the end."""
        await self.catch_up(self.last)
        self.last.close()


class Part:
    """Blocks of an executor's pool from a number on, so that two engines may share it."""

    def __init__(self, executor: Executor, first: int) -> None:
        self._executor = executor
        self._first = first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    def run(self, pieces: Sequence[Piece]) -> Any:
        first = self._first
        return self._executor.run(
            [
                Piece([first + block for block in piece.table], piece.start, piece.tokens, piece.wanted)
                for piece in pieces
            ]
        )

    def copy_block(self, source: int, target: int) -> None:
        self._executor.copy_block(self._first + source, self._first + target)


@dataclass
class Round:
    """What one way of running a workload took."""

    seconds: float = 0.0
    tokens: int = 0
    sampled: int = 0
    steps: int = 0
    drafted: int = 0
    accepted: int = 0
    proposing: int = 0
    """Nanoseconds of the thread spent on drafts."""
    texts: list[Any] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return self.tokens / self.seconds


class Way:
    """Engines that speculate in one way, over one executor. `place` is that of its blocks in the pool."""

    def __init__(self, program: Any, executor: Executor, name: str, place: int) -> None:
        self.program = program
        self.executor: Any = Part(executor, BLOCKS * place)
        self.name = name
        self.cost = StepCost()

    def begin(self) -> None:
        """As a new process that knows what steps cost."""
        cache = KVCache(BLOCKS, self.executor.block_bytes, copy_block=self.executor.copy_block)
        kind = Stepwise if self.name == TOKENS else BatchingEngine
        self.engine = kind(self.executor, cache, speculate=self.name == ALL)
        if self.name == ALL:
            self.engine.cost = self.cost
        self.engine.measure = self.measure = Reading()
        self.session = Session(self.program, self.engine)
        self.round = Round()

    async def _run(self, name: str, arguments: dict[str, str]) -> Any:
        ran = await self.session.run(name, arguments)
        if isinstance(self.engine, Stepwise):
            await self.engine.finish()
        return ran

    def run(self, name: str, arguments: dict[str, str]) -> None:
        """One input of a workload."""
        before = self.measure.reading
        start = perf_counter()
        ran = asyncio.run(self._run(name, arguments))
        result, work = self.round, self.engine.statistics
        result.seconds += perf_counter() - start - (self.measure.reading - before)
        result.tokens += ran.statistics.output_tokens
        result.sampled += ran.statistics.sampled_tokens
        result.steps = self.measure.steps - self.measure.prompts
        result.drafted, result.accepted = work.drafted, work.accepted
        result.texts.append(ran.text)


def timed_drafts() -> list[int]:
    """A clock that runs while drafts are proposed, in nanoseconds of the thread."""
    clock, propose = [0], Drafts.propose

    def timed(self: Drafts, tokens: list[int], masks: Any, forced: tuple[int, ...] = ()) -> Draft:
        start = thread_time_ns()
        try:
            return propose(self, tokens, masks, forced)
        finally:
            clock[0] += thread_time_ns() - start

    Drafts.propose = timed  # type: ignore[method-assign]
    return clock


def main() -> int:
    parser = argparse.ArgumentParser(description="Tokens a second with drafts and without.")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inputs", type=int, default=12)
    parser.add_argument("--only", choices=sorted(WORKLOADS))
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    executor = load_executor(given.model, kind=given.executor, threads=given.threads)
    executor.reserve(len(WAYS) * BLOCKS)
    program = compile_file(Path(__file__).with_suffix(".sgl")).program
    assert program is not None
    clock = timed_drafts()
    ways = {name: Way(program, executor, name, place) for place, name in enumerate(WAYS)}
    head = (
        "workload",
        "tokens",
        "drawn",
        *(f"steps {way}" for way in WAYS),
        "drafted",
        "came",
        *(f"tok/s {way}" for way in WAYS),
        f"over {FORCED}",
        f"over {TOKENS}",
        "µs of drafts",
        "same text",
    )
    table = [head]
    different = 0
    for name, inputs in WORKLOADS.items():
        if given.only not in (None, name):
            continue
        inputs = inputs[: given.inputs]
        rounds: dict[str, list[Round]] = {way: [] for way in WAYS}
        for number in range(given.rounds):
            for way in ways.values():
                way.begin()
            clock[0] = 0
            for place, arguments in enumerate(inputs):
                turn = (number + place) % len(WAYS)
                for each in WAYS[turn:] + WAYS[:turn]:
                    ways[each].run(name, arguments)
            ways[ALL].round.proposing = clock[0]
            for key, way in ways.items():
                rounds[key].append(way.round)
        drafted = rounds[ALL]
        same = all(each.texts == drafted[0].texts for key in WAYS for each in rounds[key])
        different += not same
        typical = {key: sorted(each, key=lambda r: r.seconds)[len(each) // 2] for key, each in rounds.items()}
        first = typical[ALL]
        table.append(
            (
                name,
                f"{first.tokens:,}",
                f"{first.sampled:,}",
                *(f"{typical[way].steps:,}" for way in WAYS),
                f"{first.drafted:,}",
                f"{first.accepted:,}",
                *(f"{typical[way].speed:.0f}" for way in WAYS),
                *(f"{ratio(drafted, rounds[way]):.2f}" for way in (FORCED, TOKENS)),
                f"{min(r.proposing / r.sampled for r in drafted) / 1000:.0f}",
                "yes" if same else "no",
            )
        )
        print(" | ".join(table[-1]), flush=True)
    cost = ways[ALL].cost
    rows = (1, 2, 3, 4, 6, 8, 12, 16)
    curve = [("rows of a step", *map(str, rows)), ("ms", *(f"{1000 * cost.estimate(n):.1f}" for n in rows))]
    print(curve)
    if given.markdown is not None:
        words = (__doc__ or "").split("\n\n", 2)[2]
        body = f"{grid(table)}\n\n{WORDS}\n\n{grid(curve)}\n\n{executor.kind}, {executor.name}."
        write_page(str(given.markdown), "Speculation", words, body, surroundings())
    return 1 if different and executor.invariant else 0


def ratio(ours: list[Round], others: list[Round]) -> float:
    """How many times as fast, in the middle of the rounds."""
    return statistics.median(a.speed / b.speed for a, b in zip(ours, others, strict=True))


def grid(rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" + " --: |" * (len(rows[0]) - 1), *lines[1:]])


if __name__ == "__main__":
    sys.exit(main())
