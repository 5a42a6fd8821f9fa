"""The function whose body is being checked: its blocks of names, and what was found in it so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sglc.check.core.context import Signature
from sglc.check.core.result import DependentType, ExpressionType, HoleFacts, HoleNode
from sglc.immutable import value
from sglc.source import Span
from sglc.types.model_use import ModelUse
from sglc.types.type import Type


@dataclass(slots=True, eq=False)
class Local:
    """A variable of a function. `kind`: parameter, let, var, loop, hole, error, it, binding, element."""

    name: str
    slot: str
    type: ExpressionType
    kind: str
    span: Span
    depth: int
    """Number of boundaries (loops, forks, tries) around it: a retry cannot jump over one."""
    used: bool = False
    hole: HoleNode | None = None
    dependent: DependentType | None = None
    """Its written type, where that depends on values of the run."""
    origins: tuple[Local, ...] = ()
    """Holes that its value was made from."""
    boundary: tuple[int, ...] = ()


@dataclass(slots=True)
class Proved:
    """What conditions prove about paths (`x`, `x.note`)."""

    types: dict[str, ExpressionType] = field(default_factory=dict)
    """Narrower types, which the code that follows relies on."""
    values: dict[str, Any] = field(default_factory=dict)
    """Sets of values (`sglc.check.proofs.possible`) that hold the value of the path, each found with what was
    known before it. Only answers of conditions are found by them."""

    def __bool__(self) -> bool:
        return bool(self.types or self.values)

    def add(self, other: Proved) -> None:
        """Take in what another condition proves."""
        self.types.update(other.types)
        self.values.update(other.values)

    def forget(self, path: str) -> None:
        """Drop what is known of a path and of the paths below it."""
        for table in (self.types, self.values):
            for known in [k for k in table if k == path or k.startswith(path + ".")]:
                del table[known]


@dataclass(slots=True)
class Scope:
    """One block of names. `hidden` keeps names of closed inner blocks for better messages."""

    parent: Scope | None
    names: dict[str, Local] = field(default_factory=dict)
    proved: Proved = field(default_factory=Proved)
    """What is proved inside this block."""
    element: frozenset[str] = frozenset()
    """Of what is done with one element of a list: `it`, and the fields that may stand for themselves. What is
    proved of these names outside is about other elements."""

    def find(self, name: str) -> Local | None:
        """The variable of that name in sight."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def narrowing(self, path: str) -> ExpressionType | None:
        """What is proved about a path here."""
        for proved in self._around(path):
            found = proved.types.get(path)
            if found is not None:
                return found
        return None

    def values_of(self, path: str) -> Any:
        """The set that is proved to hold the value of a path here; None where none is."""
        for proved in self._around(path):
            found = proved.values.get(path)
            if found is not None:
                return found
        return None

    def _around(self, path: str) -> Iterator[Proved]:
        """What is proved of a path's variable, the innermost block first."""
        scope: Scope | None = self
        root = path.partition(".")[0]
        while scope is not None:
            yield scope.proved
            if root in scope.element:
                return
            scope = scope.parent

    def forget(self, path: str) -> None:
        """Drop what was proved about a variable and its fields: it is assigned to."""
        scope: Scope | None = self
        while scope is not None:
            scope.proved.forget(path)
            scope = scope.parent

    def visible(self) -> Iterator[str]:
        """Names of all variables in sight, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


@dataclass(slots=True)
class ForkFrame:
    """What a fork's body has shown so far."""

    yields: list[tuple[ExpressionType, Span]] = field(default_factory=list)
    holes: list[tuple[str, ExpressionType]] = field(default_factory=list)
    scope: Scope | None = None
    """The scope of its body: what is bound outside belongs to the code around it."""


@value
class HoleCost:
    """What a hole can take of a budget, in tokens: the fewest in any run, and the most in some run."""

    name: str
    least: int
    most: int

    def times(self, fewest: int, most: int) -> HoleCost:
        """In a loop of `fewest` to `most` rounds."""
        return HoleCost(f"{most} × {self.name}", fewest * self.least, most * self.most)


@dataclass(slots=True)
class FunctionState:
    """The function, test or constant whose body is being checked."""

    signature: Signature | None
    kind: str
    """fn, part, pure, test, const."""
    result: ExpressionType = None  # type: ignore[assignment]
    has_roles: bool = False
    scope: Scope = field(default_factory=lambda: Scope(None))
    role: str | None = None
    role_span: Span | None = None
    loops: int = 0
    forks: list[ForkFrame] = field(default_factory=list)
    handlers: int = 0
    """How many `except` arms are around the current place."""
    boundary: tuple[int, ...] = ()
    """Identities of the loops, forks and tries around the current place, outermost first."""
    slots: dict[str, int] = field(default_factory=dict)
    """By name, how many variables of that name there are so far, each in a block of its own."""
    closed: dict[str, Span] = field(default_factory=dict)
    """Names that were bound in blocks that have ended, for better messages."""
    locals: list[Local] = field(default_factory=list)
    templates: list[tuple[Span, Local, bool]] = field(default_factory=list)
    """Places of text that name a variable in braces, and whether they stand in a string."""
    holes: dict[str, HoleFacts] = field(default_factory=dict)
    gens: int = 0
    mentioned: list[set[Local]] = field(default_factory=list)
    """Stack of collectors: every variable that is read while one is open is added to it."""
    schemas: list[tuple[Type, Span]] = field(default_factory=list)
    """Types shown by `schema(T)` in the body, and where."""
    generated: list[tuple[Type, Span]] = field(default_factory=list)
    models: ModelUse | None = None
    """What fills the holes here that name no model; None for the run's own."""
    element: tuple[ExpressionType, dict[str, ExpressionType]] | None = None
    """In what is done with an element of a list by `it`: the element's type and its fields."""
    costs: list[HoleCost] | None = None
    """Holes that every run passes, and those of loops; None where a run may pass by."""
