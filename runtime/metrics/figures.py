"""Counts and distributions: what a process has done, by hole, by function and in all.

Everything only grows, as counters do. Plain numbers are kept, so that nothing is needed to collect them; how
they are shown is the affair of other modules.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field

from sglc.runtime.engine.core.statistics import DraftCounts

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of a histogram's buckets, in seconds."""


class Histogram:
    """How often values fell into buckets; a value equal to a bound falls into the bucket that ends there."""

    __slots__ = ("buckets", "count", "largest", "smallest", "total")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        """By bucket, the last one for what is above all bounds."""
        self.count = 0
        self.total = 0.0
        self.largest = 0.0
        self.smallest = math.inf

    def add(self, value: float) -> None:
        """Count one value, in seconds."""
        self.buckets[bisect_left(BOUNDS, value)] += 1
        self.count += 1
        self.total += value
        self.largest = max(self.largest, value)
        self.smallest = min(self.smallest, value)

    def quantile(self, share: float) -> float:
        """About the value below which that share of the values lies, linear inside a bucket; 0 for none."""
        wanted = share * self.count
        below = 0
        for index, size in enumerate(self.buckets):
            if size and below + size >= wanted:
                low = max(BOUNDS[index - 1] if index else 0.0, self.smallest)
                high = min(BOUNDS[index], self.largest) if index < len(BOUNDS) else self.largest
                return low + max(0.0, high - low) * (wanted - below) / size
            below += size
        return self.largest

    def cumulative(self) -> list[tuple[str, int]]:
        """(upper bound, number of values up to it), as Prometheus has it."""
        rows, total = [], 0
        for bound, size in zip((*map(str, BOUNDS), "+Inf"), self.buckets, strict=True):
            total += size
            rows.append((bound, total))
        return rows


@dataclass(slots=True)
class HoleFigures:
    """What all fillings of one hole took; seconds are sums. Failed ones count too."""

    mode: str = "gen"
    fillings: int = 0
    failures: int = 0
    tokens: int = 0
    """Tokens of the values."""
    sampled: int = 0
    """Tokens that were drawn."""
    forced: int = 0
    """Tokens that could be no others, so that the model was not asked."""
    prompt: int = 0
    """Tokens of the conversations before the hole."""
    behind: int = 0
    """Of these, tokens of constant text behind inserted values."""
    pressure: float = 0.0
    """Sum of -log of the probability of the legal tokens, in nats, over the tokens of `weighed`."""
    weighed: int = 0
    """Tokens that were drawn and at which the pressure was measured."""
    shared: int = 0
    """Tokens that two models drew together."""
    alpha: float = 0.0
    """Sum of the second model's share, over these."""
    chernoff: float = 0.0
    """Sum of how far apart the two were, in nats, over the tokens of `compared`."""
    compared: int = 0
    """Tokens that two models drew together and at which that was measured."""
    forwards: int = 0
    """Forward passes that had a part for this hole."""
    fed: int = 0
    """Tokens computed in them."""
    reused: int = 0
    drafted: int = 0
    accepted: int = 0
    drafts: DraftCounts = field(default_factory=DraftCounts)
    """Drafted tokens by their source."""
    mask_seconds: float = 0.0
    """On masks and on drawing tokens."""
    queue_seconds: float = 0.0
    """From a request until a forward pass began with it."""
    forward_seconds: float = 0.0
    requests: int = 0
    """Requests to models elsewhere."""
    charged_prompt: int = 0
    """Tokens of their prompts, as the servers count them."""
    charged_cached: int = 0
    """Of these, tokens that the servers had."""
    charged_output: int = 0
    """Tokens of their answers; bytes where a server told none."""
    answered: dict[str, int] = field(default_factory=dict)
    """Fillings by the model elsewhere that answered."""
    seconds: Histogram = field(default_factory=Histogram)

    def add(self, other: HoleFigures) -> None:
        """Count another's in; the distribution of its seconds stays behind."""
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.drafts.merge(other.drafts)
        for name, count in other.answered.items():
            self.answered[name] = self.answered.get(name, 0) + count

    def plain(self) -> dict[str, object]:
        """As JSON has it."""
        numbers = {name: getattr(self, name) for name in SUMMED}
        rounded = {
            name: round(value, 6) if isinstance(value, float) else value for name, value in numbers.items()
        }
        remote = {name: rounded.pop(name) for name in REMOTE}
        told = {**remote, "answered_by": dict(self.answered)} if self.requests else {}
        drafts = self.drafts.plain()
        return {
            "mode": self.mode,
            **rounded,
            **told,
            "drafts": drafts,
            "seconds": round(self.seconds.total, 6),
        }


SUMMED = (
    "fillings",
    "failures",
    "tokens",
    "sampled",
    "forced",
    "prompt",
    "behind",
    "pressure",
    "weighed",
    "shared",
    "alpha",
    "chernoff",
    "compared",
    "forwards",
    "fed",
    "reused",
    "drafted",
    "accepted",
    "mask_seconds",
    "queue_seconds",
    "forward_seconds",
    "requests",
    "charged_prompt",
    "charged_cached",
    "charged_output",
)
"""The figures of a hole that are added up."""


REMOTE = ("requests", "charged_prompt", "charged_cached", "charged_output")
"""Of these, what models elsewhere took; told where one was asked."""


@dataclass(slots=True)
class FunctionFigures:
    """What one function did: how often it was entered, and how the runs that began with it came out."""

    calls: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    """Number of runs by the name of the error that ended them; `ok` for none."""
    seconds: Histogram = field(default_factory=Histogram)
    """Of runs that began with this function."""
    retries: int = 0

    @property
    def runs(self) -> int:
        """Runs that began with this function and have ended, however they ended."""
        return sum(self.outcomes.values())
