"""The view of declared types that all targets of types share: a fold over a type, places, losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar, assert_never

from sglc.targets.core.target import Written
from sglc.targets.projection.core.loss import Loss
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
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
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

CONDITION, WIDER = "a condition of a type", "every value of the type behind it"
"""What a target loses with a condition, and what it says instead."""
PLAIN = "all values that it can have"

Scalar = Str | Int | Dec | Float | Bool | Null | Constant | Json | OneOf | SpanOf
"""Types without parts."""

Unsaid = Callable[[Type], tuple[str, str] | None]
"""What a target cannot say of a type, its parts left aside: the construct, and what it says instead."""


class Notation(Protocol[T]):
    """How a target writes a type, given how it writes the parts."""

    def scalar(self, type: Scalar) -> T:
        """A type without parts."""

    def named(self, name: str) -> T:
        """A declared type by its qualified name."""

    def choice(self, type: Optional | Alternatives, arms: Sequence[T]) -> T:
        """`T?` or `A | B`; of `T?` the last arm is null."""

    def list(self, type: ListOf, item: T) -> T:
        """`list[T]` with its bounds."""

    def map(self, type: MapOf, key: T, value: T) -> T:
        """`map[K, V]` with its bounds."""

    def tuple(self, type: TupleOf, items: Sequence[T]) -> T:
        """`(A, B)`, items in order."""


def fold(type: Type, notation: Notation[T]) -> T:
    """A type in a notation, from the leaves up."""
    match type:
        case Named(name) | Applied(name):
            return notation.named(name)
        case InForm(item):
            return fold(item, notation)
        case Optional(item):
            return notation.choice(type, (fold(item, notation), notation.scalar(Null())))
        case Alternatives(arms):
            return notation.choice(type, [fold(arm, notation) for arm in arms])
        case ListOf(item):
            return notation.list(type, fold(item, notation))
        case MapOf(key, value):
            return notation.map(type, fold(key, notation), fold(value, notation))
        case TupleOf(items):
            return notation.tuple(type, [fold(item, notation) for item in items])
        case Str() | Int() | Dec() | Float() | Bool() | Null() | Constant() | Json() | OneOf() | SpanOf():
            return notation.scalar(type)
        case _:
            assert_never(type)


def inner_types(type: Type) -> Iterator[Type]:
    """A type and all its parts, declared types not entered."""
    yield type
    match type:
        case Optional(item) | ListOf(item) | InForm(item):
            yield from inner_types(item)
        case MapOf(key, value):
            yield from inner_types(key)
            yield from inner_types(value)
        case TupleOf(parts) | Alternatives(parts):
            for part in parts:
                yield from inner_types(part)


def places(table: TypeTable) -> Iterator[tuple[str, Type]]:
    """Where types stand in declarations: `Crew.name`, `Signal.Lamp.seconds`, `call_sign`."""
    for name, declared in table.items():
        match declared:
            case RecordType(fields=fields):
                yield from ((f"{name}.{field.name}", field.type) for field in fields)
            case UnionType(variants=variants):
                for variant in variants:
                    yield from ((f"{name}.{variant.name}.{f.name}", f.type) for f in variant.fields)
            case AliasType(type=type):
                yield name, type
            case EnumType():
                pass


def losses_of(table: TypeTable, unsaid: Unsaid) -> tuple[Loss, ...]:
    """What a target cannot say of the declared types, in their order."""
    parts = tuple(
        Loss(lost[0], place, lost[1])
        for place, type in places(table)
        for part in inner_types(type)
        if (lost := form_lost(part) or unsaid(part)) is not None
    )
    return parts + tuple(
        Loss(CONDITION, name, WIDER) for name, declared in table.items() if has_conditions(declared)
    )


def with_parameters(written: Written, opened: Sequence[str]) -> Written:
    """What a target of types wrote, with what it cannot say of the declared types with parameters."""
    lost = tuple(Loss("what a type takes from its parameters", name, PLAIN) for name in opened)
    return Written(written.text, written.losses + lost)


def has_conditions(declared: DeclaredType) -> bool:
    """Whether a declared type is an alias with conditions, which no target has words for."""
    return isinstance(declared, AliasType) and bool(declared.where or declared.predicates)


def form_lost(type: Type) -> tuple[str, str] | None:
    """What is lost of a type with a form, by targets that know JSON only."""
    if isinstance(type, InForm) and type.form != "json":
        return f"the form of `as {type.form}`", "the same value as JSON"
    return None
