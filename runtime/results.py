"""What runs and tests of a program give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sglc.bytecode.code import Place
from sglc.runtime.decoding.conversations.said import Said
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.draws import Drawn, Key, Round
from sglc.runtime.vm.state.run import CheckRecord, GoldenCall, HoleRecord, Missed, Statistics
from sglc.types.type import Type
from sglc.types.values import Value


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a function returned, the whole conversation as text, and what it took.

    `type` is the declared type of the value, None for a function that returns nothing.
    """

    value: Value
    type: Type | None
    text: str
    statistics: Statistics
    checks: tuple[CheckRecord, ...]
    holes: tuple[HoleRecord, ...] = ()
    said: Said | None = None
    """The conversation as another one can begin with it; None where the function has none."""


@dataclass(frozen=True, slots=True)
class TestResult:
    """How a test came out. `seed` repeats it; `unused` are mocks that no hole asked for, and their places."""

    __test__ = False

    name: str
    seed: int
    expectations: int
    missed: tuple[Missed, ...]
    error: SglError | None
    seconds: float
    unused: tuple[tuple[str, Place | None], ...] = ()
    goldens: tuple[GoldenCall, ...] = ()
    """Calls that are to be held against an earlier run."""
    replays: tuple[tuple[str, Place | None], ...] = ()
    """Traces of runs that are to be run again."""
    failed_draws: Mapping[Place | None, Mapping[Key, Drawn]] = field(default_factory=dict)
    """What holes had been given where an expectation was missed first in a `fuzz`, by its place."""
    error_round: Round | None = None
    """The round of `fuzz` that the error ended."""
    error_draws: Mapping[Key, Drawn] = field(default_factory=dict)
    """What holes had been given in it."""

    @property
    def passed(self) -> bool:
        """Whether all expectations held and no error ended the test."""
        return self.error is None and not self.missed
