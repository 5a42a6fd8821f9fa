"""What the values of a type look like in messages, refinements left aside.

`str max 20 chars` and `"EUR" | "USD"` are both text; `int | str` is a choice of two. Types with one shape are
written alike, so a choice has an arm for each shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, assert_never

from sglc.immutable import value
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declared_type,
)

LEAST, MOST = -(2**63), 2**63 - 1
"""What an int64 holds."""

Plain = Literal["text", "integer", "wide", "decimal", "float", "bool", "null", "json"]
"""Values without parts. "wide" are integers whose bounds do not fit an int64; these, decimals and JSON are
written as text."""


@value
class Leaf:
    """A value without parts."""

    kind: Plain


@value
class Declared:
    """A record, a union or an enum, by its qualified name. Only these may contain themselves."""

    name: str
    kind: Literal["enum", "record", "union"]


@value
class Items:
    """A list."""

    item: Shape


@value
class Entries:
    """A map from texts."""

    item: Shape


@value
class Row:
    """A tuple."""

    items: tuple[Shape, ...]


@value
class Maybe:
    """The item or null. The item is never null itself."""

    item: Shape


@value
class Choice:
    """One of several shapes, none of them a choice or null."""

    arms: tuple[Shape, ...]


Shape = Leaf | Declared | Items | Entries | Row | Maybe | Choice


class Shapes:
    """Shapes of the types of a program."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self._known: dict[Type, Shape] = {}

    def of(self, type: Type) -> Shape:
        """The shape of a type."""
        found = self._known.get(type)
        if found is None:
            found = self._known[type] = self._made(type)
        return found

    def _made(self, type: Type) -> Shape:
        match type:
            case Str() | OneOf() | SpanOf():
                return Leaf("text")
            case Int():
                return Leaf("integer" if _fits(type.minimum) and _fits(type.maximum) else "wide")
            case Dec():
                return Leaf("decimal")
            case Float():
                return Leaf("float")
            case Bool():
                return Leaf("bool")
            case Null():
                return Leaf("null")
            case Json():
                return Leaf("json")
            case Constant(value=constant):
                return _of_constant(constant)
            case ListOf(item=item):
                return Items(self.of(item))
            case MapOf(value=item):
                return Entries(self.of(item))
            case TupleOf(items=items):
                return Row(tuple(self.of(item) for item in items))
            case InForm(item=item):
                return self.of(item)
            case Optional(item=item):
                return _joined((Leaf("null"), self.of(item)))
            case Alternatives(arms=arms):
                return _joined(self.of(arm) for arm in arms)
            case Named(name) | Applied(name):
                return self._declared(name)
            case _:
                assert_never(type)

    def _declared(self, name: str) -> Shape:
        declared = declared_type(name, self.table)
        if isinstance(declared, AliasType):
            return self.of(declared.type)
        if isinstance(declared, EnumType):
            return Declared(name, "enum")
        return Declared(name, "union" if isinstance(declared, UnionType) else "record")


def _fits(bound: int | None) -> bool:
    return bound is None or LEAST <= bound <= MOST


def _of_constant(constant: object) -> Shape:
    if isinstance(constant, bool):
        return Leaf("bool")
    if isinstance(constant, int):
        return Leaf("integer" if _fits(constant) else "wide")
    return Leaf("text" if isinstance(constant, str) else "decimal")


def _joined(arms: Iterable[Shape]) -> Shape:
    """One shape for several: choices are opened, null makes the whole a maybe, equal ones are one."""
    found: dict[Shape, None] = {}
    nullable = False
    for arm in arms:
        if isinstance(arm, Maybe):
            nullable, arm = True, arm.item
        if arm == Leaf("null"):
            nullable = True
        elif isinstance(arm, Choice):
            found.update(dict.fromkeys(arm.arms))
        else:
            found[arm] = None
    if not found:
        return Leaf("null")
    made = next(iter(found)) if len(found) == 1 else Choice(tuple(found))
    return Maybe(made) if nullable else made
