"""Time outside of the forward pass: schedule, masks, sampling, drafts, virtual machine, in large batches.

    python -P tests/benchmarks/model/outside_forward.py MODEL [--executor native] [--threads N] [--batches
    8,32]
        [--rounds 5] [--only PART] [--markdown PAGE]

MODEL is what `sglc run --model` takes. As many programs as the batch is wide run at any time, each writes an
object of six fields about a note of its own or invents a character, and the next begins when one has ended.
What counts are steps in which as many sequences take part as there are programs, less a quarter, and none
reads a prompt. A step's period is the time from the end of one forward pass to the end of the next; all of it
that is not spent in the executor is outside, whatever overlaps. Rounds alternate: bare ones give periods, the
others have clocks around the parts and say where the time goes. All rounds are of one engine, which has met
the types and the first prompts before.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import current_thread, main_thread
from time import perf_counter, thread_time
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine.engine_server import PROGRAM, RULES, note
from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.runtime.decoding import hole_decoder
from sglc.runtime.decoding.canonical_draw import CanonicalDraw
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.step_time import StepMeasure
from sglc.runtime.engine.drafting.drafts import Drafts
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.sampling import sampling_request
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.scheduling.schedule import Scheduler
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.executor.plan import Piece
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.session import Session
from sglc.source import Source

ENOUGH = 40
"""Steps that count, after which a round ends."""
READING = 2
"""More tokens than this for each sequence of a step: it reads a prompt."""
CHARACTERS = (Path(__file__).parents[1] / "engine" / "workloads.sgl").read_text(encoding="utf-8")
INVENT = "Invent a character of a story and reply with a JSON object: name, description, metadata."
PARTS: dict[str, list[tuple[Any, str]]] = {
    "schedule": [(Scheduler, "plan")],
    "commit": [(BatchingEngine, "_commit")],
    "drafts": [(Drafts, "propose"), (Drafts, "finish")],
    "sampling": [(sampling_request, "sample")],
    "masks": [(NextTokens, "row"), (NextTokens, "ready")],
    "advance": [(NextTokens, "allows"), (Matcher, "accept"), (Matcher, "forced"), (StopTracker, "feed")],
    "forced text": [(hole_decoder.HoleDecoder, "_append_forced"), (hole_decoder.HoleDecoder, "_heal")],
    "canonical": [(CanonicalDraw, "is_open")],
}
"""Functions by part. A part's time is without that of the parts that it calls."""


@dataclass
class Steps(StepMeasure):
    """Periods of the steps that count, and the time of their forward passes."""

    wide: int = 0
    done: Callable[[], object] = bool
    """Called when there are enough."""
    ended: float = 0.0
    outside: list[float] = field(default_factory=list)
    forward: list[float] = field(default_factory=list)
    rows: int = 0
    took: float = 0.0
    """Seconds of this thread between the ends of such passes, without those in which it computed itself."""
    within: float = 0.0
    """Seconds in which this thread has computed since the last one ended."""
    _thread: float = 0.0

    def record(self, requests: int, tokens: int, seconds: float) -> None:
        super().record(requests, tokens, seconds)
        now, thread = perf_counter(), thread_time()
        if self.ended and requests >= self.wide and tokens <= READING * requests:
            self.outside.append(now - self.ended - seconds)
            self.forward.append(seconds)
            self.rows += requests
            self.took += thread - self._thread - self.within
            if len(self.outside) == ENOUGH:
                self.done()
        self.ended, self._thread, self.within = now, thread, 0.0


class Clocks:
    """Seconds of this thread spent in each part; a part's own time stops while it calls another."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0.0)
        self.calls = dict.fromkeys(PARTS, 0)
        self._stack: list[str] = []
        self._since = 0.0
        self._were: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Clocks:
        for part, functions in PARTS.items():
            for owner, name in functions:
                function = getattr(owner, name)
                self._were.append((owner, name, function))
                setattr(owner, name, self._timed(part, function))
        return self

    def __exit__(self, *fault: object) -> None:
        for owner, name, function in self._were:
            setattr(owner, name, function)
        self._were.clear()

    def _timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        spent, stack = self.spent, self._stack

        def timed(*given: Any, **named: Any) -> Any:
            now = perf_counter()
            if stack:
                spent[stack[-1]] += now - self._since
            stack.append(part)
            self.calls[part] += 1
            self._since = now
            try:
                return function(*given, **named)
            finally:
                now = perf_counter()
                spent[stack.pop()] += now - self._since
                self._since = now

        return timed


@dataclass
class Round:
    """What a round gave, by its steps that count."""

    steps: int
    sequences: float
    period: float
    outside: float
    share: float
    thread: float
    """Seconds of this thread for a token."""
    parts: dict[str, float]
    """Seconds of all the round's steps by part, for a token."""


class Programs:
    """Objects and characters over one executor."""

    def __init__(self, model: str, kind: str, threads: int | None, only: str | None) -> None:
        self.executor = load_executor(model, kind=kind, threads=threads)
        self.only = only
        self._run = self.executor.run
        self.executor.run = self._clocked  # type: ignore[method-assign]
        self.engine = open_engine(self.executor)
        self.sessions = []
        for name, text in (("harbour.sgl", PROGRAM), ("workloads.sgl", CHARACTERS)):
            program = compile_source(Source(name, text)).program
            assert program is not None
            self.sessions.append(Session(program, self.engine))

    def _clocked(self, pieces: Sequence[Piece]) -> np.ndarray:
        """A forward pass; brief ones are computed by the thread of the event loop."""
        begun = thread_time()
        try:
            return self._run(pieces)
        finally:
            steps = self.engine.measure
            if current_thread() is main_thread() and isinstance(steps, Steps):
                steps.within += thread_time() - begun

    async def _place(self, place: int, objects: Session, characters: Session) -> None:
        """What one place of the batch runs, until it is cancelled."""
        number = place
        while True:
            if self.only == "objects" or (self.only is None and number % 2):
                await objects.run("entry", {"rules": RULES, "note": note(number)})
            else:
                await characters.run("character", {"rules": INVENT, "request": note(number)})
            number += 33

    async def _all(self, batch: int, steps: Steps) -> None:
        tasks = [asyncio.ensure_future(self._place(place, *self.sessions)) for place in range(batch)]
        ended = asyncio.Event()
        steps.done = ended.set
        first = asyncio.ensure_future(ended.wait())
        done, _ = await asyncio.wait([first, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in (first, *tasks):
            task.cancel()
        await asyncio.gather(first, *tasks, return_exceptions=True)
        for task in done - {first}:
            task.result()  # a fault

    def round(self, batch: int, clocks: Clocks | None) -> Round:
        """One round. Parts are those of all its steps."""
        steps = self.engine.measure = Steps(wide=max(1, batch - batch // 4))
        asyncio.run(self._all(batch, steps))
        outside, forward = steps.outside, steps.forward
        periods = [a + b for a, b in zip(outside, forward, strict=True)]
        drawn = 1 if clocks is None else clocks.calls["sampling"]
        return Round(
            len(outside),
            steps.rows / len(outside),
            statistics.median(periods),
            statistics.median(outside),
            sum(outside) / sum(periods),
            steps.took / steps.rows,
            {} if clocks is None else {part: spent / drawn for part, spent in clocks.spent.items()},
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Time outside of the forward pass.")
    parser.add_argument("model")
    parser.add_argument("--executor", default="native")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--batches", default="8,32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("objects", "characters"))
    parser.add_argument("--markdown")
    given = parser.parse_args()
    programs = Programs(given.model, given.executor, given.threads, given.only)
    batches = [int(word) for word in given.batches.split(",")]
    programs.round(max(batches), None)  # masks are made, prompts are read
    lines = [
        "| batch | steps | sequences | period | outside | share of the periods | µs of the thread a token |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    parts = ["", f"| µs a token | {' | '.join(PARTS)} |", "|---|" + "--:|" * len(PARTS)]
    for batch in batches:
        bare, timed = [], []
        for _ in range(given.rounds):
            bare.append(programs.round(batch, None))
            print(f"batch {batch}: {bare[-1].share:.1%} of {1e3 * bare[-1].period:.1f} ms", flush=True)
            with Clocks() as clocks:
                timed.append(programs.round(batch, clocks))
        middle = sorted(bare, key=lambda each: each.share)[len(bare) // 2]
        lines.append(
            f"| {batch} | {middle.steps:,} | {middle.sequences:.1f} | {1e3 * middle.period:.1f} ms "
            f"| {1e3 * middle.outside:.2f} ms | {middle.share:.1%} "
            f"| {1e6 * min(each.thread for each in bare):.0f} |"
        )
        cells = [f"{1e6 * min(each.parts[part] for each in timed):.1f}" for part in PARTS]
        parts.append(f"| batch {batch} | {' | '.join(cells)} |")
        print(lines[-1], parts[-1], sep="\n", flush=True)
    body = "\n".join(lines + parts)
    print(body)
    if given.markdown is not None:
        words = (__doc__ or "").split("\n\n", 2)[2]
        write_page(given.markdown, "Outside of the forward pass", words, body, surroundings())


if __name__ == "__main__":
    main()
