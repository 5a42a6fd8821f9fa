"""Schemas as a graph: nodes that are conjunctions of parts, equal ones shared.

A part is one assertion or applicator of a schema object, in words that no longer depend on the draft. Parts
name subschemas by the number of their node; references are names too, resolved in `Graph.references`, so
that the graph may have cycles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from sglc.automata.number.number_set import NumberSet

NULL, BOOL, NUMBER, STRING, ARRAY, OBJECT = 1, 2, 4, 8, 16, 32
EVERY_TYPE = 63

Value = (
    None
    | str
    | Decimal
    | tuple[Literal["bool"], bool]
    | tuple[Literal["array"], tuple["Value", ...]]
    | tuple[Literal["object"], tuple[tuple[str, "Value"], ...]]
)
"""A JSON value that can be hashed: None, ("bool", b), Decimal, str, ("array", items), ("object", pairs)."""

RefKey = tuple[str, int, tuple[int, ...], str | None]
"""A reference by its keyword, the number of its resource, its scope and what it refers to."""


@dataclass(frozen=True, slots=True)
class Types:
    """Values of the types in `mask`; numbers only if integers where `integer`, and then spelled without a
    point where `plain`."""

    mask: int
    integer: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Range:
    numbers: NumberSet


@dataclass(frozen=True, slots=True)
class Length:
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Pattern:
    pattern: str
    path: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    path: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Items:
    """Item i is of `prefix[i]`, further ones of `rest` (None: anything, and not evaluated)."""

    prefix: tuple[int, ...]
    rest: int | None


@dataclass(frozen=True, slots=True)
class Size:
    """Items of an array, or entries of an object."""

    type: int
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Contains:
    """`low` to `high` items are of `item`; such items count as evaluated where `marks`."""

    item: int
    low: int
    high: int | None
    marks: bool


@dataclass(frozen=True, slots=True)
class Unique:
    path: str


@dataclass(frozen=True, slots=True)
class Properties:
    """`patterns` are (pattern, node, path)."""

    named: tuple[tuple[str, int], ...]
    patterns: tuple[tuple[str, int, str], ...]
    additional: int | None


@dataclass(frozen=True, slots=True)
class Names:
    names: int
    path: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Required:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dependent:
    """If `name` occurs, so do `names`, and the object is of `node` (if any)."""

    name: str
    names: tuple[str, ...]
    node: int | None


@dataclass(frozen=True, slots=True)
class All:
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Any_:
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class One:
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Not:
    node: int


@dataclass(frozen=True, slots=True)
class If:
    condition: int
    then: int
    otherwise: int


@dataclass(frozen=True, slots=True)
class Ref:
    """`key` is one of `Graph.references`."""

    key: RefKey
    path: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class UnevaluatedItems:
    node: int


@dataclass(frozen=True, slots=True)
class UnevaluatedProperties:
    node: int


Part = (
    Types
    | Values
    | Range
    | Length
    | Pattern
    | Format
    | Items
    | Size
    | Contains
    | Unique
    | Properties
    | Names
    | Required
    | Dependent
    | All
    | Any_
    | One
    | Not
    | If
    | Ref
    | UnevaluatedItems
    | UnevaluatedProperties
)


@dataclass(slots=True, eq=False)
class SchemaNode:
    """`mask` has every type that a value of the node can have, perhaps more."""

    number: int
    parts: tuple[Part, ...]
    path: str
    mask: int


class Graph:
    """Nodes by number; node 0 allows everything, node 1 nothing."""

    def __init__(self) -> None:
        self.nodes: list[SchemaNode] = []
        self.references: dict[RefKey, int] = {}
        self.written: dict[Decimal, set[str]] = {}
        """How json.dumps writes the floats of `const` and `enum` that are whole numbers."""
        self._parts: dict[Part, Part] = {}
        self._known: dict[tuple[int, ...], int] = {}
        self.add((), "#")
        self.add((Types(0),), "#")

    def add(self, parts: tuple[Part, ...], path: str) -> int:
        """The node of a conjunction; the path of an equal one that is there already stays.

        Equal parts of nodes are one object.
        """
        parts = tuple([self._parts.setdefault(part, part) for part in parts])
        key = tuple(map(id, parts))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.nodes)
            mask = EVERY_TYPE
            for part in parts:
                if isinstance(part, Types):
                    mask &= part.mask
                elif isinstance(part, Values):
                    mask &= _mask_of(part.values)
            self.nodes.append(SchemaNode(found, parts, path, mask))
        return found


def _mask_of(values: tuple[Value, ...]) -> int:
    mask = 0
    for value in values:
        mask |= type_of(value)
    return mask


def type_of(value: Value) -> int:
    """The bit of the JSON type that a value has."""
    if value is None:
        return NULL
    if isinstance(value, str):
        return STRING
    if isinstance(value, Decimal):
        return NUMBER
    return {"bool": BOOL, "array": ARRAY, "object": OBJECT}[value[0]]
