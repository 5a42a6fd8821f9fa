"""Building patterns of `match`."""

from __future__ import annotations

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import RangeEnds, literal_value
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Name


def name_pattern(context: Context, start: int, end: int, name: Name) -> ast.NamePattern | ast.WildcardPattern:
    """`NAME` binds a value or names a member; `_` fits anything."""
    return ast.WildcardPattern(name.span) if name.text == "_" else ast.NamePattern(name, name.span)


def constructor_pattern(
    context: Context, start: int, end: int, name: Name, fields: list[ast.FieldPattern | None] | None
) -> ast.ConstructorPattern:
    """`NAME(FIELD = PATTERN, …)`."""
    return ast.ConstructorPattern(name, tuple(f for f in fields or () if f), context.span(start, end))


def field_pattern(
    context: Context, start: int, end: int, name: Name, pattern: ast.Pattern
) -> ast.FieldPattern:
    """`FIELD = PATTERN`."""
    return ast.FieldPattern(name, pattern)


def positional_pattern(context: Context, start: int, end: int, pattern: ast.Pattern) -> None:
    """A pattern where `FIELD = PATTERN` is due: reported, and left out."""
    context.reporter.error(
        "E0126",
        "a field in a pattern needs its name",
        start,
        end,
        hint=f"write `field = {context.source.text[start:end]}`",
    )


def literal_pattern(
    context: Context, start: int, end: int, value: ast.String | ast.Number
) -> ast.LiteralPattern:
    """A text or number."""
    plain = literal_value(context, value, "a pattern")
    return ast.LiteralPattern(plain, context.span(start, end))


def true_pattern(context: Context, start: int, end: int) -> ast.LiteralPattern:
    """`true`."""
    return ast.LiteralPattern(True, context.span(start, end))


def false_pattern(context: Context, start: int, end: int) -> ast.LiteralPattern:
    """`false`."""
    return ast.LiteralPattern(False, context.span(start, end))


def null_pattern(context: Context, start: int, end: int) -> ast.LiteralPattern:
    """`null`."""
    return ast.LiteralPattern(None, context.span(start, end))


def range_pattern(context: Context, start: int, end: int, bounds: RangeEnds) -> ast.RangePattern:
    """`LOW..HIGH`, `LOW..<HIGH` and such with an open side."""
    low, high, below = bounds
    return ast.RangePattern(low, high, below, context.span(start, end))


def alternatives(context: Context, start: int, end: int, *patterns: ast.Pattern) -> ast.AlternativesPattern:
    """`PATTERN | PATTERN`."""
    return ast.AlternativesPattern(patterns, context.span(start, end))


def sequence_pattern(context: Context, start: int, end: int, *items: ast.Pattern) -> ast.SequencePattern:
    """`(PATTERN, PATTERN)`, of a tuple."""
    return ast.SequencePattern(items, context.span(start, end))
