"""Values that exist only while a program runs. What all values mean stands in `sglc.values`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from sglc.runtime.errors import SglError
from sglc.types.equality import equal
from sglc.types.values import Value
from sglc.values.kinds import MachineValue, as_kind, is_value, kind

if TYPE_CHECKING:
    from sglc.runtime.decoding.conversations.conversation import Conversation


@dataclass(slots=True)
class Cursor:
    """A place in a sequence that is being iterated over."""

    items: Sequence[object]
    index: int = 0


@dataclass(frozen=True, slots=True)
class Scored(MachineValue):
    """What `select` gives: the options with their probabilities, which sum to 1."""

    called: ClassVar[str] = "a scored choice"
    methods: ClassVar[Mapping[str, Callable[[list[object]], object]]] = {
        "p": lambda a: as_kind(a[0], Scored).p(a[1]),
        "logprob": lambda a: as_kind(a[0], Scored).logprob(a[1]),
    }

    top: object
    options: tuple[object, ...]
    probabilities: tuple[float, ...]

    def p(self, option: object) -> float:
        """Probability of an option; 0 of what was none."""
        for known, probability in zip(self.options, self.probabilities, strict=True):
            if equal(known, option):
                return probability
        return 0.0

    def logprob(self, option: object) -> float:
        """Natural logarithm of an option's probability; -inf for what was none, or has none."""
        p = self.p(option)
        return math.log(p) if p > 0 else -math.inf

    @property
    def margin(self) -> float:
        """Probability of the top option less that of the best other one."""
        others = [p for o, p in zip(self.options, self.probabilities, strict=True) if not equal(o, self.top)]
        return self.p(self.top) - max(others, default=0.0)

    def shown(self) -> object:
        """Its top option."""
        return self.top

    def attribute(self, name: str) -> object:
        """`top` or `margin`."""
        if name in ("top", "margin"):
            found: object = getattr(self, name)
            return found
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Filled(MachineValue):
    """What a hole gives whose figures the program reads: its value, and what its strategy found, by name."""

    called: ClassVar[str] = "a filled hole"

    value: object
    figures: Mapping[str, object]
    hole: str

    def shown(self) -> object:
        """Its value."""
        return self.value

    def attribute(self, name: str) -> object:
        """`value`, or a figure. Raises Unsupported where the strategy of the program was not taken."""
        if name == "value":
            return self.value
        if name not in self.figures:
            raise SglError(
                "Unsupported", f"hole `{self.hole}` was drawn token by token: it tells no `{name}`"
            )
        return self.figures[name]


@dataclass(slots=True)
class BranchValue(MachineValue):
    """One branch of a fork: its yielded value, its holes, and its conversation until one is adopted."""

    called: ClassVar[str] = "a branch"

    index: int
    value: object
    holes: Mapping[str, object]
    conversation: Conversation | None = None

    def shown(self) -> object:
        """What it yielded."""
        return self.value

    def attribute(self, name: str) -> object:
        """A hole, or `value`."""
        return self.value if name == "value" and name not in self.holes else self.holes[name]


@dataclass(frozen=True, slots=True)
class ErrorValue(MachineValue):
    """An error that was caught; `raised` is what a bare `raise` raises again, with its place."""

    called: ClassVar[str] = "an error"

    name: str
    message: str
    fields: Mapping[str, object]
    raised: SglError = field(compare=False, repr=False)

    def shown(self) -> object:
        """Its name, and its message if it has one."""
        return f"{self.name}: {self.message}" if self.message else self.name

    def attribute(self, name: str) -> object:
        """A field, else `name` or `message`."""
        if name not in self.fields and name in ("name", "message"):
            found: object = getattr(self, name)
            return found
        return self.fields[name]


def as_value(value: object) -> Value:
    """A value that may become part of a type; a range is the list of its numbers. Raises Failure."""
    if isinstance(value, range):
        return list(value)
    if is_value(value):
        return value
    raise failure(f"a type cannot depend on {kind(value)}")


def failure(message: str) -> SglError:
    """A fault at run time that is no fault of an operation on values: those raise `ValueFault`."""
    return SglError("Failure", message)
