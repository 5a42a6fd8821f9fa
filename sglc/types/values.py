"""The values a program works with at run time.

Text, integers, exact decimals, floats, booleans and null are Python's own. Enum members, records, variants
and errors are the small immutable classes below. Lists are Python lists, tuples tuples, maps dicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class EnumValue:
    """Member `name` of enum `enum` (its qualified name)."""

    enum: str
    name: str

    def __str__(self) -> str:
        return self.name


class Parsed(str):
    """A text together with the grammar that it was written by: its portable text, values put in."""

    __slots__ = ("grammar",)
    grammar: str

    def __new__(cls, text: str, grammar: str) -> Parsed:
        made = super().__new__(cls, text)
        made.grammar = grammar
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.grammar


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A record, or a variant of a union (`variant` is then the variant's name, `type` the union's).

    `fields` keeps the order of the declaration; optional fields that are absent are None in it.
    """

    type: str
    fields: Mapping[str, object]
    variant: str | None = None

    def __hash__(self) -> int:
        return hash((self.type, self.variant, tuple(self.fields)))


Value = (
    str
    | int
    | Decimal
    | float
    | bool
    | None
    | EnumValue
    | RecordValue
    | list["Value"]
    | tuple["Value", ...]
    | dict[str, "Value"]
)
"""What a variable of a program may hold."""


MAX_DEPTH = 100
"""Levels of lists, maps, tuples and records that a value may have inside each other, wherever it comes from
or goes to: arguments, results, rows, what a model writes. Readers, checks, printers may recurse that far."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def is_too_deep(value: object) -> bool:
    """Whether a value nests more than MAX_DEPTH levels, or contains itself; parts are seen once a level."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        inside: dict[int, object] = {}
        for part in level:
            if isinstance(part, RecordValue):
                inside.update((id(item), item) for item in part.fields.values())
            elif isinstance(part, Mapping):
                inside.update((id(item), item) for item in part.values())
            elif isinstance(part, list | tuple):
                inside.update((id(item), item) for item in part)
        level = [part for part in inside.values() if isinstance(part, RecordValue | Mapping | list | tuple)]
        if not level:
            return False
    return True


class GivenError(ValueError):
    """A value that cannot be taken for a `one of`, `span of` or parameter; carries a sentence."""


class NothingLeft(GivenError):
    """With the given values a type has no value at all."""
