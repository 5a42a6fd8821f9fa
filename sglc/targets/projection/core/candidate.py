"""The models that may fill a hole, with what each can do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Projection


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that may fill holes: its name as `--model` has it, and what it can do. A model of this machine
    fills every hole exactly; its `able` is None. `projections` keeps how holes are asked for: by the
    index of the hole's type, what is excluded, and whether a computation judges the answer."""

    name: str
    able: Capabilities | None = None
    projections: MutableMapping[Hashable, Projection] | None = field(default=None, compare=False, repr=False)


Candidates = Mapping[str, Sequence[Candidate]]
"""The models that a program may ask, by the names that it has for them, each with those that are asked where
it fails."""
