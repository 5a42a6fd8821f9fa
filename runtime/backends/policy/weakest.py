"""What every backend of a chain can do: what holds for a query, whoever answers it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from sglc.targets.projection.core.capabilities import Capabilities, Dialect

NARROWER: tuple[Dialect, ...] = ("whole", "openai", "anthropic")
"""Dialects of JSON Schema, each with less than the one before."""


def weakest(members: Sequence[Capabilities]) -> Capabilities:
    """The capabilities that all of some backends have. A chain of one has its own."""
    return reduce(_both, members)


def _both(one: Capabilities, other: Capabilities) -> Capabilities:
    dialect = None
    if one.dialect is not None and other.dialect is not None:
        dialect = max(one.dialect, other.dialect, key=NARROWER.index)
    return Capabilities(
        notations=one.notations & other.notations,
        dialect=dialect,
        canonical=one.canonical and other.canonical,
        continues=one.continues and other.continues,
        scores=one.scores and other.scores,
        top_logprobs=min(one.top_logprobs, other.top_logprobs),
        seed=one.seed and other.seed,
        repetitions=_least((one.repetitions, other.repetitions)),
        temperature=one.temperature and other.temperature,
        samplers=one.samplers & other.samplers,
        context_length=_least((one.context_length, other.context_length)),
    )


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((each for each in numbers if each is not None), default=None)
