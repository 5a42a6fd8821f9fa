"""What a random program knows while it is written: types, functions, variables in sight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeVar

T = TypeVar("T")

TYPES = {
    "int": "int",
    "str": "str",
    "bool": "bool",
    "mood": "Mood",
    "card": "Card",
    "ints": "[int]",
    "strs": "[str]",
    "pair": "(int, str)",
}
"""The types of random programs by short name, as they are written."""

Kind = Literal["fn", "part", "pure", "fork"]
Role = Literal["", "system", "user", "assistant"]

MOST_ITEMS = 4
"""No list of a random program has more items, so that loops over any list end soon."""


@dataclass(frozen=True)
class Signature:
    """A function that others may call. `holes` bounds the holes that one call fills, retries included."""

    name: str
    kind: Kind
    parameters: tuple[str, ...]
    result: str
    holes: int
    raises: bool
    forks: bool
    """Whether it or what it calls has forks. Their branches share budgets in the order of their answers."""
    writes: Role = ""
    """Of a part: in which message it may stand; `assistant` where it has holes."""


@dataclass
class Scope:
    """Variables in sight, and where a statement stands."""

    kind: Kind
    role: Role = ""
    variables: dict[str, str] = field(default_factory=dict)
    changing: set[str] = field(default_factory=set)
    """Variables that statements may assign to."""
    holes: list[tuple[str, str]] = field(default_factory=list)
    """Holes of the message that is open, which a condition may draw again."""
    in_loop: bool = False

    def of(self, type: str) -> list[str]:
        """The variables of a type."""
        return [name for name, known in self.variables.items() if known == type]


class Writer:
    """The source of one function while it is drawn: choices, names, and how much it may still do.

    `rounds` is how often the place that is being written may run; `holes` counts the holes that one call of
    the function may fill, and stays below `most_holes`. So every program ends, and soon.
    """

    def __init__(
        self, random: Random, name: str, kind: Kind, functions: list[Signature], most_holes: int
    ) -> None:
        self.random = random
        self.name = name
        self.functions = functions
        self.scope = Scope(kind)
        self.most_holes = most_holes
        self.holes = 0
        self.rounds = 1
        self.raises = False
        self.forks = False
        self.size = 0
        """Statements written so far."""
        self._names = 0

    # -- choices -----------------------------------------------------------------------------------

    def one_of(self, *choices: T) -> T:
        """One of the choices; the first is the plainest."""
        return choices[self.random.randrange(len(choices))]

    def chance(self, percent: int) -> bool:
        """True that often; False is the plainer answer."""
        return self.random.randrange(100) >= 100 - percent

    def upto(self, most: int) -> int:
        """A number from 0 to `most`."""
        return self.random.randrange(most + 1)

    def fresh(self, stem: str) -> str:
        """A name that nothing in the program has."""
        self._names += 1
        return f"{stem}_{self.name}_{self._names}"

    # -- bounds ------------------------------------------------------------------------------------

    def affords(self, holes: int) -> bool:
        """Whether so many holes more, at this place, stay within the bound."""
        return self.holes + holes * self.rounds <= self.most_holes

    def spend(self, holes: int) -> None:
        """Count holes that are written at this place."""
        self.holes += holes * self.rounds

    @contextmanager
    def repeated(self, times: int) -> Iterator[None]:
        """What is written inside runs up to so many times as often."""
        before, looping = self.rounds, self.scope.in_loop
        self.rounds *= times
        self.scope.in_loop = True
        yield
        self.rounds, self.scope.in_loop = before, looping

    @contextmanager
    def block(self, role: Role | None = None) -> Iterator[None]:
        """Variables that are named inside are out of sight behind it."""
        scope = self.scope
        variables, changing, holes, around = (
            dict(scope.variables),
            set(scope.changing),
            list(scope.holes),
            scope.role,
        )
        if role is not None:
            scope.role, scope.holes = role, []
        yield
        scope.variables, scope.changing, scope.holes, scope.role = variables, changing, holes, around

    # -- calls -------------------------------------------------------------------------------------

    def callable(self, kinds: tuple[Kind, ...], result: str | None = None) -> list[Signature]:
        """Functions that may be called at this place."""
        return [
            known
            for known in self.functions
            if known.kind in kinds
            and (result is None or known.result == result)
            and self.affords(known.holes)
            and not (known.kind == "fn" and self.scope.kind == "pure")
        ]
