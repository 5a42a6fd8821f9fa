"""Draft models: processor time of writing with one and without, when it is good, bad and dear; the same text.

    python -P tests/benchmarks/drafting/draft_model.py [--layers 268] [--noise 0 0.85] [--rounds 2]
    [--themes 2] [--markdown FILE]

The target is SmolLM2-135M (Q4_1) made deeper by layers whose output projections are zero, so that it is equal
to the bit, or noise, which sets how often it agrees; the draft model is SmolLM2 itself. So any ratio of costs
and any acceptance can be had without other weights. A program writes a text of 200 to 300 characters about a
theme. Ways take turns from theme to theme; each round begins without measured rates. Figures are those of the
quickest round. Time is processor time of the one thread that computes everything, less that of the target's
steps that read prompts; the draft model's reading counts. Prices are measured by the same clock, so that a
busy machine does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.kernels.llama.weight_layout import packed, quantised
from sglc.runtime.engine import draft_loading, results
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.step_time import StepMeasure
from sglc.runtime.engine.drafting import draft_model
from sglc.runtime.engine.drafting.kinds import ASKED
from sglc.runtime.engine.open import open_engine
from sglc.runtime.executor.choose import load_executor
from sglc.runtime.executor.native import NativeExecutor
from sglc.runtime.executor.plan import Piece
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.model.weights.family import Family
from sglc.runtime.model.weights.packed import MATRICES, PackedModel, vector_names
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.types.model_use import MAIN

PROGRAM = """
pub fn write(theme: str, warmth: float) -> str:
    user: | Write a short story about ${theme}.
    assistant: | ?{text: str min 200 chars max 300 chars temp warmth}
    return text
"""
THEMES = ["a lighthouse", "a lost dog", "two brothers", "the last train", "a garden", "an old map"]
MEMORY = 256 << 20
PROMPT = 24
"""Steps of so many tokens and more read prompts."""


class Reading(StepMeasure):
    """Knows how long steps took that read prompts."""

    reading = 0.0

    def record(self, requests: int, tokens: int, seconds: float) -> None:
        super().record(requests, tokens, seconds)
        if tokens >= PROMPT:
            self.reading += seconds


def aligned(size: int) -> np.ndarray:
    """Bytes that begin at a multiple of 64."""
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


def deepened(family: Family, model: PackedModel, more: int, noise: float) -> tuple[Family, PackedModel]:
    """The model with `more` layers behind its own, which repeat them but for their output projections.

    `noise` is the deviation of what all of them would add to the residual stream for inputs of deviation 1,
    if their noise were independent; it is the same in all, so they add some 16 times as much. 0 leaves the
    model's logits as they are, to the bit.
    """
    shape = family.shape
    random = np.random.default_rng(7)
    ends = []
    for inputs in (shape.heads * shape.size, shape.inner):
        deviation = noise / np.sqrt(2 * more * inputs)
        matrix = random.normal(0, 1, (shape.width, inputs)).astype(np.float32) * np.float32(deviation)
        ends.append(quantised(matrix, 4))
    starts, parts = [], [model.weights]
    at = len(model.weights)
    for each in ends:
        data = np.ascontiguousarray(packed(each)).reshape(-1).view(np.uint8)
        parts += [np.zeros(-at % 64, np.uint8), data]
        at += -at % 64
        starts.append([at, each.kind])
        at += len(data)
    weights = aligned(at)
    np.concatenate(parts, out=weights)
    places = model.places[: MATRICES * shape.layers].reshape(shape.layers, MATRICES, 2)
    extra = places[np.arange(more) % shape.layers].copy()
    extra[:, 1], extra[:, 3] = starts
    every = np.concatenate([places, extra]).reshape(-1, 2)
    deeper = replace(
        family,
        shape=replace(shape, layers=shape.layers + more),
        windows=family.windows + tuple(family.windows[layer % shape.layers] for layer in range(more)),
    )
    found, offset = {}, 0
    for name, length in vector_names(family):
        found[name] = model.vectors[offset : offset + length]
        offset += length
    vectors = []
    for name, _ in vector_names(deeper):
        words = name.split(".")
        if words[1] == "layers":
            words[2] = str(int(words[2]) % shape.layers)
        vectors.append(found[".".join(words)])
    digest = f"{model.digest} {more} {noise}"
    rest = model.places[MATRICES * shape.layers :]
    return deeper, PackedModel(weights, np.concatenate([every, rest]), np.concatenate(vectors), digest)


def step_seconds(executor: NativeExecutor, rows: int = 1) -> float:
    """Processor seconds of a step behind 64 tokens, the quickest of five."""
    executor.reserve(8)
    blocks = range(8)
    executor.run([Piece(blocks, 0, list(range(64)))])
    times = []
    for _ in range(5):
        begun = process_time()
        executor.run([Piece(blocks, 64, [9] * rows)])
        times.append(process_time() - begun)
    return min(times)


@dataclass
class Way:
    """A target with a draft model or without, and what it took."""

    name: str
    engine: Callable[[], BatchingEngine]
    seconds: list[float] = field(default_factory=list)
    tokens: int = 0
    steps: int = 0
    asked: int = 0
    """Steps of the draft model."""
    asking: float = 0.0
    """Seconds of these."""
    drafted: int = 0
    came: int = 0
    chance: float = 0.0
    """That a token of the draft model comes, as measured when the last round ended."""
    texts: list[str] = field(default_factory=list)


def run(ways: Sequence[Way], warmth: float, rounds: int, themes: Sequence[str]) -> None:
    """Let each way write about each theme, in turns."""
    program = compile_source(Source("write.sgl", PROGRAM)).program
    assert program is not None
    for _ in range(rounds):
        engines = [way.engine() for way in ways]
        for engine in engines:
            engine.measure = Reading()
        collectors = [Collector() for _ in ways]
        sessions = [
            Session(program, engine, recorder=collector)
            for engine, collector in zip(engines, collectors, strict=True)
        ]
        for way in ways:
            way.seconds.append(0.0)
            way.texts = []
        for seed, theme in enumerate(themes):
            for way, session in zip(ways, sessions, strict=True):
                gc.collect()
                begun = process_time()
                result = asyncio.run(session.run("write", {"theme": theme, "warmth": warmth}, seed=seed))
                measure = session.engine.measure  # type: ignore[union-attr]
                way.seconds[-1] += process_time() - begun - measure.reading
                measure.reading = 0.0
                way.texts.append(result.text)
        for way, engine, collector, session in zip(ways, engines, collectors, sessions, strict=True):
            drafting = session._served.by_name[MAIN].drafting
            assert drafting is not None
            way.chance = drafting._rates.rate[ASKED]
            way.tokens, way.steps = collector.total().sampled, engine.statistics.forwards
            counts = collector.total().drafts
            way.drafted, way.came = (each.get("draft model", 0) for each in (counts.sent, counts.came))
            way.asked = engine.draft.statistics.forwards if engine.draft is not None else 0
            way.asking = engine.draft.statistics.seconds if engine.draft is not None else 0.0
            engine.close()


def table(ways: Sequence[Way], what: str) -> str:
    """Rows of one workload; the first way has no draft model."""
    lines = []
    base = min(ways[0].seconds)
    for way in ways:
        gain = f"{base / min(way.seconds):.2f}" if way is not ways[0] else "-"
        same = "yes" if way.texts == ways[0].texts else "no"
        drafts = f"{way.came} / {way.drafted}" if way.drafted else "-"
        chance = f"{way.chance:.2f}" if way.drafted else "-"
        cells = [
            what,
            way.name,
            way.tokens,
            way.steps,
            f"{way.tokens / way.steps:.2f}",
            way.asked,
            f"{way.asking:.2f}",
            drafts,
        ]
        cells += [chance, f"{min(way.seconds):.2f}", gain, same]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


COLUMNS = (
    *(
        "workload",
        "draft model",
        "drawn",
        "steps",
        "drawn a step",
        "its steps",
        "their s",
        "came / sent",
        "chance",
    ),
    *("seconds", "times as fast", "same text"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n| --- | --- {'| --: ' * (len(COLUMNS) - 3)}| --- |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=268, help="more layers than the draft model has")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--themes", type=int, default=2)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.85], help="all cases at the last")
    parser.add_argument("--temperatures", type=float, nargs="*", default=[0.8, 0.0])
    parser.add_argument("--markdown")
    options = parser.parse_args()
    about = surroundings()
    # In one thread processor time is a clock like any other: prices are measured by it, too.
    results.perf_counter = draft_model.perf_counter = draft_loading.perf_counter = process_time  # type: ignore[attr-defined]
    base = load_executor("smollm2", kind="native", threads=1)
    assert isinstance(base, NativeExecutor)
    family, model, tokenizer = base._family, base._model, base.tokenizer
    layers, more = family.shape.layers, options.layers

    def executor(extra: int, noise: float, name: str) -> NativeExecutor:
        made = (family, model) if not extra else deepened(family, model, extra, noise)
        return NativeExecutor(name, tokenizer, *made, 1)

    def engine(noise: float, draft: tuple[int, float] | None) -> BatchingEngine:
        made = open_engine(executor(more, noise, "target"), memory=MEMORY)
        if draft is not None:
            made.draft = open_engine(executor(*draft, "draft"), memory=MEMORY, speculate=True)
            draft_loading.measure_steps(made.draft, draft_loading.MEASURED)
            draft_loading.measure_steps(made, draft_loading.MEASURED_TARGET)
        return made

    target = executor(more, 0.0, "target")
    rows = {count: step_seconds(target, count) for count in (1, 2, 3, 4, 6, 8)}
    drafted = step_seconds(base)
    target.close()
    told = ", ".join(f"{count}: {1e3 * seconds:.1f}" for count, seconds in rows.items())
    costs = (
        f"Target of {layers + more} layers; milliseconds of a step by rows: {told}. "
        f"The draft model's step takes {1e3 * drafted:.1f}, {drafted / rows[1]:.2f} of the target's."
    )
    print(costs, flush=True)
    found = [HEAD]
    print(HEAD, flush=True)
    for noise in options.noise:
        for warmth in options.temperatures:
            ways = [
                Way("none", lambda noise=noise: engine(noise, None)),
                Way("the model before", lambda noise=noise: engine(noise, (0, 0.0))),
            ]
            if noise == options.noise[-1]:
                ways += [
                    Way("a bad one", lambda noise=noise: engine(noise, (1, 60.0))),
                    Way("the target itself", lambda noise=noise: engine(noise, (more, noise))),
                ]
            run(ways, warmth, options.rounds, THEMES[: options.themes])
            found.append(table(ways, f"noise {noise:g}, temp {warmth:g}"))
            print(found[-1], flush=True)
    if options.markdown:
        write_page(options.markdown, "Draft models", str(__doc__), costs + "\n\n" + "\n".join(found), about)


if __name__ == "__main__":
    main()
