"""Patterns of `match`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sglc.source import Span
from sglc.syntax.tree.expressions import Name


@dataclass(frozen=True, slots=True, eq=False)
class WildcardPattern:
    """`_`."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class LiteralPattern:
    value: str | int | Decimal | bool | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class RangePattern:
    """`1..5`, both ends included; one may be absent. With `below` (`1..<6`) the maximum is not included."""

    minimum: int | Decimal | None
    maximum: int | Decimal | None
    below: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class NamePattern:
    """A bare name: an enum member, a variant or type name if one is known, else a binding."""

    name: Name
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class FieldPattern:
    name: Name
    pattern: Pattern


@dataclass(frozen=True, slots=True, eq=False)
class ConstructorPattern:
    """`Invoice(total = t, currency = "EUR")`."""

    name: Name
    fields: tuple[FieldPattern, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class AlternativesPattern:
    """`a | b`."""

    patterns: tuple[Pattern, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class SequencePattern:
    """`(a, b)`, against a tuple."""

    items: tuple[Pattern, ...]
    span: Span


Pattern = (
    WildcardPattern
    | LiteralPattern
    | RangePattern
    | NamePattern
    | ConstructorPattern
    | AlternativesPattern
    | SequencePattern
)
