"""Masks of many texts at once, as each engine offers them; runs in the process of the engine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mask.mask_engines import Engine, LLGuidance, Sglc, XGrammar

Fill = Callable[[], object]


def measure(engine: Engine, job: dict[str, Any]) -> dict[str, Any]:
    """Nanoseconds of each of `calls` calls, by the way of filling; `starts`: the tokens taken by each text.

    Every way is called twice before it is timed, so all masks are known to engines that keep them. Times are
    those of the wall clock, or of the processor (all threads together) where that is less.
    """
    tokens = engine.tokenizer.encode(job["text"])
    engine.compile("schema", job["constraint"], {})
    prefixes = [tokens[: start % len(tokens)] for start in job["starts"]]
    wall, cpu = time.perf_counter_ns, time.process_time_ns
    times = {}
    for name, fill in _ways(engine, prefixes, job["threads"]).items():
        fill()
        fill()
        spent = []
        for _ in range(job["calls"]):
            cpu_started, started = cpu(), wall()
            fill()
            stopped, cpu_stopped = wall(), cpu()
            spent.append(min(stopped - started, cpu_stopped - cpu_started))
        times[name] = spent
    return {"outcome": "right", "times": times}


def _ways(engine: Engine, prefixes: list[list[int]], threads: int) -> dict[str, Fill]:
    if isinstance(engine, Sglc):
        return _sglc(engine, prefixes)
    if isinstance(engine, XGrammar):
        return _xgrammar(engine, prefixes, threads)
    if isinstance(engine, LLGuidance):
        return _llguidance(engine, prefixes, threads)
    raise ValueError(f"{engine.package} has no batches")


def _sglc(engine: Sglc, prefixes: list[list[int]]) -> dict[str, Fill]:
    from sglc.runtime.adapters.bitmask import Guide, allocate, fill
    from sglc.runtime.mask.matcher import fill_masks

    vocabulary = engine._vocabulary
    guides = []
    for prefix in prefixes:
        guide = Guide(engine._constraint, vocabulary, [engine.tokenizer.end])
        assert guide.accept_all(prefix) == len(prefix)
        guides.append(guide)
    matchers = [guide.matcher for guide in guides]
    table = allocate(len(guides), vocabulary.size)
    expected = np.stack([matcher.mask() for matcher in matchers])

    def filled() -> None:
        fill_masks(matchers, table)

    for _ in range(3):
        table[:] = 77
        filled()
        assert np.array_equal(table, expected)
    return {
        "fill_masks": filled,
        "fill, with ends": lambda: fill(guides, table),
        "mask, not copied": lambda: [matcher.mask() for matcher in matchers],
    }


def _xgrammar(engine: XGrammar, prefixes: list[list[int]], threads: int) -> dict[str, Fill]:
    import xgrammar

    matchers = []
    for prefix in prefixes:
        matcher = xgrammar.GrammarMatcher(engine._grammar)
        assert all(matcher.accept_token(token) for token in prefix)
        matchers.append(matcher)
    table = xgrammar.allocate_token_bitmask(len(matchers), engine.tokenizer.size)
    ways: dict[str, Fill] = {}
    for count in sorted({1, threads}):
        batch = xgrammar.BatchGrammarMatcher(max_threads=count)
        ways[f"batch, threads: {count}"] = lambda batch=batch: batch.batch_fill_next_token_bitmask(
            matchers, table
        )
    return ways


def _llguidance(engine: LLGuidance, prefixes: list[list[int]], threads: int) -> dict[str, Fill]:
    import llguidance

    matchers = []
    for place, prefix in enumerate(prefixes):
        matcher = engine._first.deep_copy()
        assert matcher.consume_tokens(prefix)
        matchers.append((matcher, place))
    table = np.zeros((len(matchers), engine.tokenizer.words), np.int32)
    size = 4 * engine.tokenizer.words
    ways: dict[str, Fill] = {}
    for count in sorted({1, threads}):
        executor = llguidance.LLExecutor(num_threads=count)
        ways[f"par, threads: {count}"] = lambda executor=executor: executor.unsafe_compute_mask_ptr(
            matchers, table.ctypes.data, size, len(matchers)
        )
    return ways
