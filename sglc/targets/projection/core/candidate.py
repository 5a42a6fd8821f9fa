"""The models that may fill a hole, with what each can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sglc.targets.projection.core.capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may fill holes: its name as `--model` has it, and what it can do. A model of this machine
    fills every hole exactly; its `able` is None."""

    name: str
    able: Capabilities | None = None


Candidates = Mapping[str, Sequence[Candidate]]
"""The models that a program may ask, by the names that it has for them, each with those that are asked where
it fails."""
