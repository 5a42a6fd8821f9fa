"""Patterns of `match`."""

from __future__ import annotations

from decimal import Decimal

from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree.expressions import Name


@node
class WildcardPattern:
    """`_`."""

    span: Span


@node
class LiteralPattern:
    value: str | int | Decimal | bool | None
    span: Span


@node
class RangePattern:
    """`1..5`, both ends included; one may be absent. With `below` (`1..<6`) the maximum is not included."""

    minimum: int | Decimal | None
    maximum: int | Decimal | None
    below: bool
    span: Span


@node
class NamePattern:
    """A bare name: an enum member, a variant or type name if one is known, else a binding."""

    name: Name
    span: Span


@node
class FieldPattern:
    name: Name
    pattern: Pattern


@node
class ConstructorPattern:
    """`Invoice(total = t, currency = "EUR")`."""

    name: Name
    fields: tuple[FieldPattern, ...]
    span: Span


@node
class AlternativesPattern:
    """`a | b`."""

    patterns: tuple[Pattern, ...]
    span: Span


@node
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
