"""What is kept of the holes of a program at one backend, so that each run need not find it again."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping
from dataclasses import dataclass, field
from typing import TypeVar

from sglc.runtime.backends.repairing.values import Values
from sglc.runtime.decoding.requests import COMPILED
from sglc.targets.projection.core.enforcement import Projection

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kept:
    """How holes are asked for, and how their answers are read as JSON, by the keys of their requests."""

    projections: dict[Hashable, Projection] = field(default_factory=dict)
    readings: dict[Hashable, Values | None] = field(default_factory=dict)


def remember(known: MutableMapping[Hashable, T], key: Hashable, found: T) -> None:
    """Keep what was made for a hole; of COMPILED ones the oldest goes."""
    if len(known) >= COMPILED:
        del known[next(iter(known))]
    known[key] = found
