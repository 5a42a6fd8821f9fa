"""The figures of a process as plain data: for `--stats`, for `program.cache_stats()`, for whoever asks."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.core.step_time import StepMeasure
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.figures import REMOTE

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine


def report(
    collector: Collector,
    engine: Engine | None,
    models: Mapping[str, Engine] | None = None,
    backends: Mapping[str, Mapping[str, object]] | None = None,
) -> dict[str, object]:
    """Everything, as JSON has it: `functions`, `holes` and `process`, and `cache` where it is shared.

    `models` are the engines of the models that the program names: what each did, where it is another engine.
    `backends` is what models elsewhere were asked and what that cost (`Accounts.plain`).
    """
    with collector.lock:
        holes = {name: figures.plain() for name, figures in collector.holes.items()}
        functions = {
            name: {
                "calls": figures.calls,
                "runs": dict(figures.outcomes),
                "retries": figures.retries,
                "seconds": round(figures.seconds.total, 6),
                "p50": round(figures.seconds.quantile(0.5), 6),
                "p99": round(figures.seconds.quantile(0.99), 6),
            }
            for name, figures in collector.functions.items()
        }
    for name in functions:
        whole = collector.of_function(name)
        functions[name].update(tokens=whole.tokens, sampled=whole.sampled, forced=whole.forced)
    found: dict[str, object] = {"functions": functions, "holes": holes, "process": process(collector, engine)}
    stats = None if engine is None else cache_stats(engine)
    if stats is not None:
        found["cache"] = cache(stats)
    others = {name: _work(each) for name, each in (models or {}).items() if each is not engine}
    if others:
        found["models"] = others
    if backends:
        found["backends"] = {name: dict(spent) for name, spent in backends.items()}
    return found


def _work(engine: Engine) -> dict[str, object]:
    """What an engine did."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in asdict(engine.statistics).items()
    }


def cache_stats(engine: Engine) -> CacheStats | None:
    """The cache's statistics from any thread: what changes while it is counted is counted again."""
    for _ in range(5):
        with contextlib.suppress(RuntimeError):
            return engine.get_cache_stats()
    return None


def process(collector: Collector, engine: Engine | None) -> dict[str, object]:
    """What all runs took together."""
    whole, seconds = collector.total(), collector.seconds()
    with collector.lock:
        runs = sum(figures.runs for figures in collector.functions.values())
        failed = runs - sum(figures.outcomes.get("ok", 0) for figures in collector.functions.values())
    found: dict[str, object] = {
        "runs": runs,
        "failed": failed,
        "seconds": round(seconds, 6),
        "tokens": whole.tokens,
        "tokens_per_second": round(whole.tokens / seconds, 3) if seconds else 0.0,
        "sampled": whole.sampled,
        "forced": whole.forced,
        "mask_seconds": round(whole.mask_seconds, 6),
        "drafts": whole.drafts.plain(),
    }
    if whole.requests:
        found["remote"] = {name: getattr(whole, name) for name in REMOTE} | {"answered_by": whole.answered}
    if engine is not None:
        found["engine"] = _work(engine)
    if isinstance(engine, BatchingEngine):
        found["steps"] = steps(engine.measure)
        if engine.draft is not None:
            found["draft_model"] = {
                "name": engine.draft.model.name,
                **_counts(engine.draft.statistics),
                "steps": steps(engine.draft.measure),
            }
    return found


def _counts(statistics: Statistics) -> dict[str, object]:
    """The counts of an engine."""
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in asdict(statistics).items()
    }


def steps(measure: StepMeasure) -> dict[str, object]:
    """The steps of an engine that makes them for many requests together."""
    return {
        "steps": measure.steps,
        "largest": measure.largest,
        "mean": round(measure.requests / measure.steps, 3) if measure.steps else 0.0,
        "seconds": round(measure.seconds, 6),
        "scheduled": round(measure.scheduled, 6),
        "committed": round(measure.committed, 6),
    }


def cache(stats: CacheStats) -> dict[str, object]:
    """The cache of keys and values, with what is derived from its counts."""
    found = asdict(stats)
    found["hit_rate"] = round(stats.hit_rate, 4)
    found["bytes"] = stats.bytes
    for owner, share in stats.owners.items():
        found["owners"][owner]["hit_rate"] = round(share.hit_rate, 4)
    return found
