"""The figures of a process in Prometheus' text format: to a file, or for scraping over HTTP.

Names follow Prometheus' conventions: base units, `_total` for what only grows. Labels are names of functions
and holes, of which a program has finitely many; never texts.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.cache_files import write_atomically
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.statistics import DraftCounts
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.packages import MissingPackage
from sglc.runtime.metrics.report import cache_stats

try:
    from prometheus_client import CollectorRegistry, generate_latest, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
except ImportError as _missing:
    raise MissingPackage("prometheus_client", "writing metrics") from _missing

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from sglc.runtime.engine.base import Engine

ENGINE = {
    "forwards": ("forwards", "Forward passes."),
    "tokens_fed": ("computed_tokens", "Tokens computed."),
    "tokens_reused": ("reused_tokens", "Tokens that a cache held when a forward pass needed them."),
    "seconds": ("forward_seconds", "Time within forward passes."),
    "queued": ("queue_seconds", "Time that requests waited for a forward pass to begin with them."),
    "drafted": ("drafted_tokens", "Tokens computed ahead because they were likely."),
    "accepted": ("accepted_tokens", "Drafted tokens that came."),
    "preemptions": ("preemptions", "Times that a branch's memory was given to another."),
}
"""Field of an engine's statistics to the metric's name and help."""
HOLES = {
    "fillings": ("fillings", "Times that the hole was filled."),
    "failures": ("failures", "Fillings that ended in an error."),
    "tokens": ("tokens", "Tokens of the hole's values."),
    "sampled": ("sampled_tokens", "Tokens that were drawn."),
    "forced": ("forced_tokens", "Tokens that could be no others."),
    "prompt": ("prompt_tokens", "Tokens of the conversations before the hole."),
    "forwards": ("forwards", "Forward passes that had a part for the hole."),
    "drafted": ("drafted_tokens", "Tokens computed ahead for the hole."),
    "accepted": ("accepted_tokens", "Drafted tokens that came."),
    "mask_seconds": ("mask_seconds", "Time on masks and on drawing tokens."),
    "requests": ("requests", "Requests to models elsewhere."),
    "charged_prompt": ("charged_prompt_tokens", "Prompt tokens that models elsewhere counted."),
    "charged_cached": ("charged_cached_tokens", "Of these, tokens that they had."),
    "charged_output": ("charged_output_tokens", "Tokens of their answers; bytes where none were told."),
    "queue_seconds": ("queue_seconds", "Time until a forward pass began with the hole's request."),
}
"""Figure of a hole to the metric's name and help."""


class MetricsSource:
    """The collector that a Prometheus registry reads metrics from.

    `models` are the engines of the models that programs name, by these names.
    """

    def __init__(
        self, collector: Collector, engine: Engine | None = None, models: Mapping[str, Engine] | None = None
    ) -> None:
        self._collector = collector
        self._engine = engine
        self._models = {name: each for name, each in (models or {}).items() if each is not engine}

    def collect(self) -> Iterator[Metric]:
        """All metric families as they are now."""
        collector = self._collector
        with collector.lock:
            yield from list(self._functions())
            yield from list(self._holes())
        yield GaugeMetricFamily("sglc_running_runs", "Runs that have begun and not ended.", collector.running)
        if self._engine is not None:
            statistics = self._engine.statistics
            for name, (metric, text) in ENGINE.items():
                yield CounterMetricFamily(f"sglc_engine_{metric}", text, getattr(statistics, name))
            draft = self._engine.draft if isinstance(self._engine, BatchingEngine) else None
            if draft is not None:
                for name in ("forwards", "tokens_fed", "seconds"):
                    metric, text = ENGINE[name]
                    value = getattr(draft.statistics, name)
                    yield CounterMetricFamily(f"sglc_draft_model_{metric}", text, value)
            stats = cache_stats(self._engine)
            if stats is not None:
                yield from _cache(stats)
        if self._models:
            yield from self._named()

    def _named(self) -> Iterator[Metric]:
        for name, (metric, text) in ENGINE.items():
            family = CounterMetricFamily(f"sglc_model_{metric}", text, labels=["model"])
            for model, engine in self._models.items():
                family.add_metric([model], getattr(engine.statistics, name))
            yield family

    def _functions(self) -> Iterator[Metric]:
        runs = CounterMetricFamily("sglc_runs", "Runs that have ended.", labels=["function", "outcome"])
        calls = CounterMetricFamily("sglc_calls", "Times that a function was entered.", labels=["function"])
        retries = CounterMetricFamily("sglc_retries", "Holes drawn again.", labels=["function"])
        seconds = HistogramMetricFamily("sglc_run_seconds", "How long runs took.", labels=["function"])
        for name, figures in self._collector.functions.items():
            calls.add_metric([name], figures.calls)
            for outcome, count in figures.outcomes.items():
                runs.add_metric([name, outcome], count)
            if figures.runs:
                retries.add_metric([name], figures.retries)
                seconds.add_metric([name], figures.seconds.cumulative(), figures.seconds.total)
        yield from (runs, calls, retries, seconds)

    def _holes(self) -> Iterator[Metric]:
        holes = self._collector.holes
        for name, (metric, text) in HOLES.items():
            family = CounterMetricFamily(f"sglc_hole_{metric}", text, labels=["function", "hole"])
            for hole, figures in holes.items():
                family.add_metric(_split(hole), getattr(figures, name))
            yield family
        sent = CounterMetricFamily("sglc_draft_tokens", "Drafted tokens that were sent.", labels=["source"])
        came = CounterMetricFamily("sglc_draft_tokens_came", "Drafted tokens that came.", labels=["source"])
        whole = DraftCounts()
        for figures in holes.values():
            whole.merge(figures.drafts)
        for source, count in whole.sent.items():
            sent.add_metric([source], count)
            came.add_metric([source], whole.came[source])
        yield from (sent, came)
        seconds = HistogramMetricFamily(
            "sglc_hole_seconds", "How long it took to fill a hole.", labels=["function", "hole"]
        )
        for hole, figures in holes.items():
            seconds.add_metric(_split(hole), figures.seconds.cumulative(), figures.seconds.total)
        yield seconds


def _cache(stats: CacheStats) -> Iterator[Metric]:
    blocks = GaugeMetricFamily("sglc_cache_blocks", "Blocks of keys and values.", labels=["state"])
    for state in ("free", "cached", "held"):
        blocks.add_metric([state], getattr(stats, state))
    yield blocks
    yield GaugeMetricFamily("sglc_cache_pinned_blocks", "Held blocks of pinned prefixes.", stats.pinned)
    yield GaugeMetricFamily("sglc_cache_block_bytes", "Bytes of one block.", stats.block_bytes)
    for name, text in (
        ("tokens_looked_up", "Tokens that were to be computed."),
        ("tokens_reused", "Tokens looked up whose keys and values were there."),
        ("evictions", "Blocks given up for others."),
        ("copies", "Blocks copied."),
    ):
        yield CounterMetricFamily(f"sglc_cache_{name}", text, getattr(stats, name))
    looked = CounterMetricFamily(
        "sglc_cache_program_tokens_looked_up", "Tokens that were to be computed.", labels=["program"]
    )
    reused = CounterMetricFamily(
        "sglc_cache_program_tokens_reused", "Tokens looked up that were there.", labels=["program"]
    )
    for owner, share in stats.owners.items():
        looked.add_metric([owner], share.tokens_looked_up)
        reused.add_metric([owner], share.tokens_reused)
    yield from (looked, reused)
    disk = stats.disk
    if disk is None:
        return
    yield GaugeMetricFamily("sglc_disk_blocks", "Blocks of keys and values on disk.", disk.blocks)
    yield GaugeMetricFamily("sglc_disk_bytes", "Bytes of blocks on disk.", disk.bytes)
    yield CounterMetricFamily("sglc_disk_writes", "Blocks written to disk.", disk.writes)
    yield CounterMetricFamily("sglc_disk_reads", "Blocks read back from disk.", disk.reads)
    faults = CounterMetricFamily("sglc_disk_faults", "Blocks that disk failed.", labels=["kind"])
    for kind in ("write_faults", "read_faults", "corrupt"):
        faults.add_metric([kind.removesuffix("_faults")], getattr(disk, kind))
    yield faults


def _split(hole: str) -> list[str]:
    function, _, name = hole.rpartition(".")
    return [function, name]


def registry(source: MetricsSource) -> CollectorRegistry:
    """A registry of its own with these metrics, to join other exporters."""
    made = CollectorRegistry()
    made.register(source)
    return made


def text(source: MetricsSource) -> str:
    """The metrics in Prometheus' text format."""
    return str(generate_latest(registry(source)).decode())


def write(source: MetricsSource, path: Path) -> None:
    """Write the text to a file, which has the old or the new text at any time. Raises OSError.

    A new file is for this user alone, as all that tells of a run; one that is there keeps its permissions.
    """
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    write_atomically(path, generate_latest(registry(source)), mode=mode)


def serve(source: MetricsSource, address: str, port: int) -> Callable[[], None]:
    """Answer scrapes over HTTP in a thread of their own; what is returned ends that. Raises OSError."""
    server, thread = start_http_server(port, address, registry(source))

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
