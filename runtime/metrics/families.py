"""The figures of a process as families of samples: plain data, which needs no package and can be sent.

Names follow Prometheus' conventions: base units; what only grows gets `_total` where it is written. Labels
are names of functions and holes, of which a program has finitely many; never texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.statistics import DraftCounts
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.figures import Histogram
from sglc.runtime.metrics.report import cache_stats

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine

Kind = Literal["counter", "gauge", "histogram"]
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


@dataclass(slots=True)
class Family:
    """A metric with its samples, by the values of its `labels`.

    A sample is numbers that add up where two are of one thing: one number, and of a histogram how many values
    there are up to each of BOUNDS, how many in all, and their sum.
    """

    kind: Kind
    name: str
    help: str
    labels: tuple[str, ...] = ()
    samples: dict[tuple[str, ...], tuple[float, ...]] = field(default_factory=dict)

    def add(self, value: float, *labels: str) -> None:
        """Say what the value for some labels is."""
        self.samples[labels] = (value,)

    def spread(self, histogram: Histogram, *labels: str) -> None:
        """Say what the distribution for some labels is."""
        self.samples[labels] = (*(count for _, count in histogram.cumulative()), histogram.total)


def counter(name: str, help: str, *labels: str) -> Family:
    """A family of what only grows, without samples."""
    return Family("counter", name, help, labels)


def gauge(name: str, help: str, *labels: str) -> Family:
    """A family of what rises and falls, without samples."""
    return Family("gauge", name, help, labels)


def single(kind: Kind, name: str, help: str, value: float) -> Family:
    """A family of one sample without labels."""
    return Family(kind, name, help, (), {(): (value,)})


class Source(Protocol):
    """What has families to show, such as `MetricsSource`."""

    def families(self) -> Iterable[Family]:
        """All as they are now."""


class MetricsSource:
    """Where the families of a process are read from: its collector and its engines.

    `models` are the engines of the models that programs name, by these names.
    """

    def __init__(
        self, collector: Collector, engine: Engine | None = None, models: Mapping[str, Engine] | None = None
    ) -> None:
        self._collector = collector
        self._engine = engine
        self._models = {name: each for name, each in (models or {}).items() if each is not engine}

    def families(self) -> Iterator[Family]:
        """All metrics as they are now."""
        collector = self._collector
        with collector.lock:
            yield from list(self._functions())
            yield from list(self._holes())
        yield single("gauge", "sglc_running_runs", "Runs that have begun and not ended.", collector.running)
        if self._engine is not None:
            statistics = self._engine.statistics
            for name, (metric, text) in ENGINE.items():
                yield single("counter", f"sglc_engine_{metric}", text, getattr(statistics, name))
            draft = self._engine.draft if isinstance(self._engine, BatchingEngine) else None
            if draft is not None:
                for name in ("forwards", "tokens_fed", "seconds"):
                    metric, text = ENGINE[name]
                    value = getattr(draft.statistics, name)
                    yield single("counter", f"sglc_draft_model_{metric}", text, value)
            stats = cache_stats(self._engine)
            if stats is not None:
                yield from _cache(stats)
        if self._models:
            yield from self._named()

    def _named(self) -> Iterator[Family]:
        for name, (metric, text) in ENGINE.items():
            family = counter(f"sglc_model_{metric}", text, "model")
            for model, engine in self._models.items():
                family.add(getattr(engine.statistics, name), model)
            yield family

    def _functions(self) -> Iterator[Family]:
        runs = counter("sglc_runs", "Runs that have ended.", "function", "outcome")
        calls = counter("sglc_calls", "Times that a function was entered.", "function")
        retries = counter("sglc_retries", "Holes drawn again.", "function")
        seconds = Family("histogram", "sglc_run_seconds", "How long runs took.", ("function",))
        for name, figures in self._collector.functions.items():
            calls.add(figures.calls, name)
            for outcome, count in figures.outcomes.items():
                runs.add(count, name, outcome)
            if figures.runs:
                retries.add(figures.retries, name)
                seconds.spread(figures.seconds, name)
        yield from (runs, calls, retries, seconds)

    def _holes(self) -> Iterator[Family]:
        holes = self._collector.holes
        for name, (metric, text) in HOLES.items():
            family = counter(f"sglc_hole_{metric}", text, "function", "hole")
            for hole, figures in holes.items():
                family.add(getattr(figures, name), *_split(hole))
            yield family
        sent = counter("sglc_draft_tokens", "Drafted tokens that were sent.", "source")
        came = counter("sglc_draft_tokens_came", "Drafted tokens that came.", "source")
        whole = DraftCounts()
        for figures in holes.values():
            whole.merge(figures.drafts)
        for source, count in whole.sent.items():
            sent.add(count, source)
            came.add(whole.came[source], source)
        yield from (sent, came)
        text = "How long it took to fill a hole."
        seconds = Family("histogram", "sglc_hole_seconds", text, ("function", "hole"))
        for hole, figures in holes.items():
            seconds.spread(figures.seconds, *_split(hole))
        yield seconds


@dataclass(frozen=True, slots=True)
class ReadFamilies:
    """Families that have been read already, as a source of them."""

    read: Sequence[Family]

    def families(self) -> Sequence[Family]:
        """All of them."""
        return self.read


def _cache(stats: CacheStats) -> Iterator[Family]:
    blocks = gauge("sglc_cache_blocks", "Blocks of keys and values.", "state")
    for state in ("free", "cached", "held"):
        blocks.add(getattr(stats, state), state)
    yield blocks
    yield single("gauge", "sglc_cache_pinned_blocks", "Held blocks of pinned prefixes.", stats.pinned)
    yield single("gauge", "sglc_cache_block_bytes", "Bytes of one block.", stats.block_bytes)
    for name, text in (
        ("tokens_looked_up", "Tokens that were to be computed."),
        ("tokens_reused", "Tokens looked up whose keys and values were there."),
        ("evictions", "Blocks given up for others."),
        ("copies", "Blocks copied."),
    ):
        yield single("counter", f"sglc_cache_{name}", text, getattr(stats, name))
    looked = counter("sglc_cache_program_tokens_looked_up", "Tokens that were to be computed.", "program")
    reused = counter("sglc_cache_program_tokens_reused", "Tokens looked up that were there.", "program")
    for owner, share in stats.owners.items():
        looked.add(share.tokens_looked_up, owner)
        reused.add(share.tokens_reused, owner)
    yield from (looked, reused)
    disk = stats.disk
    if disk is None:
        return
    yield single("gauge", "sglc_disk_blocks", "Blocks of keys and values on disk.", disk.blocks)
    yield single("gauge", "sglc_disk_bytes", "Bytes of blocks on disk.", disk.bytes)
    yield single("counter", "sglc_disk_writes", "Blocks written to disk.", disk.writes)
    yield single("counter", "sglc_disk_reads", "Blocks read back from disk.", disk.reads)
    faults = counter("sglc_disk_faults", "Blocks that disk failed.", "kind")
    for kind in ("write_faults", "read_faults", "corrupt"):
        faults.add(getattr(disk, kind), kind.removesuffix("_faults"))
    yield faults


def _split(hole: str) -> Sequence[str]:
    function, _, name = hole.rpartition(".")
    return function, name
