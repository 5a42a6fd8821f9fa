"""What parts of rules are before they become nodes, and what several builders do with them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar, overload

from sglc.immutable import value
from sglc.source import Span
from sglc.syntax.builders.context import Context
from sglc.syntax.tree import ast

T = TypeVar("T")

By = tuple[str, Span]
"""`by sum` of a `select`."""
Option = ast.HoleOption | By
Modifiers = list[Option | ast.Refinement | None]
"""What follows a type or choices, in any order; None for what was reported."""
Choices = ast.Expression | ast.TypeExpression
HoleContent = ast.Gen | ast.Choose | ast.Select
Body = tuple[ast.Statement, ...]
Bounds = tuple[int | None, int | None]
"""Least and greatest length of a list or map."""
RangeEnds = tuple[int | Decimal | None, int | Decimal | None, bool]
"""Lower and upper end of a range, and whether the upper one is left out."""


@value
class OpenType:
    """A type with what follows it and may belong to something else.

    `options` are those of the hole that the type stands in. `refinements` of `inner` made the type; those of
    the last arm of a union become those of the union.
    """

    type: ast.TypeExpression
    options: tuple[Option, ...] = ()
    inner: ast.TypeExpression | None = None
    refinements: tuple[ast.Refinement, ...] = ()


WrittenType = ast.TypeExpression | OpenType
"""A type as it was read."""


def bare(type: WrittenType) -> ast.TypeExpression:
    """A type without the options after it."""
    return type.type if isinstance(type, OpenType) else type


@overload
def settled(context: Context, type: WrittenType) -> ast.TypeExpression: ...
@overload
def settled(context: Context, type: WrittenType | None) -> ast.TypeExpression | None: ...
def settled(context: Context, type: WrittenType | None) -> ast.TypeExpression | None:
    """A type that stands alone: options of a hole after it are reported."""
    if not isinstance(type, OpenType):
        return type
    for option in type.options:
        kind, span = option if isinstance(option, tuple) else (option.kind, option.span)
        context.reporter.error(
            "E0121",
            f"`{span.text}` does not belong to a type",
            span.start,
            span.end,
            label="an option of a hole",
            reason="a type says which texts are legal; how a model writes them is said at the hole",
            hint="for a bound on the text itself write `max … chars`"
            if kind == "max_tokens"
            else f"write it in the hole: `?{{name: T {span.text}}}`",
        )
    return type.type


def split_by(context: Context, options: tuple[Option, ...]) -> tuple[tuple[ast.HoleOption, ...], By | None]:
    """Options of one hole without `by`, each kind once, and `by`."""
    by: By | None = None
    kept: dict[str, ast.HoleOption] = {}
    for option in options:
        if isinstance(option, tuple):
            by = option
            continue
        if option.kind in kept:
            span = option.span
            context.reporter.error("E0115", f"`{span.text.split()[0]}` is given twice", span.start, span.end)
        kept[option.kind] = option
    return tuple(kept.values()), by


def choice_options(context: Context, parts: Iterable[Option | ast.Refinement | None]) -> tuple[Option, ...]:
    """Options where no type stands before them: `until` is one of them, other refinements are reported."""
    kept: list[Option] = []
    for part in parts:
        if isinstance(part, ast.Until):
            value = ast.String((part.text,), part.span)
            kept.append(ast.HoleOption("until", value, part.span))
        elif isinstance(part, ast.HoleOption | tuple):
            kept.append(part)
        elif part is not None:
            context.reporter.error(
                "E0115",
                f"`{part.span.text}` does not go with options to choose from",
                part.span.start,
                part.span.end,
                label="refines a type",
            )
    return tuple(kept)


def present(parts: tuple[T | None, ...]) -> tuple[T, ...]:
    """The parts of an optional list: a single None stands for an absent one."""
    return () if parts and parts[0] is None else parts  # type: ignore[return-value]


def plain_text(context: Context, string: ast.String, what: str) -> str:
    """The text of a string that may not have inserts."""
    parts = [part for part in string.parts if isinstance(part, str)]
    if len(parts) < len(string.parts):
        context.reporter.error(
            "E0119",
            f"{what} cannot have `${{…}}` in it",
            string.span.start,
            string.span.end,
            label="must be known when the program is compiled",
        )
    return "".join(parts)


def literal_value(context: Context, node: ast.String | ast.Number, what: str) -> str | int | Decimal:
    """The value of a string without inserts or of a number."""
    return plain_text(context, node, what) if isinstance(node, ast.String) else node.value


def whole_number(context: Context, node: ast.Expression) -> int:
    """The value of a whole number that is written out; anything else is reported."""
    if isinstance(node, ast.Number) and isinstance(node.value, int):
        return node.value
    context.reporter.error(
        "E0120",
        "a whole number is needed here",
        node.span.start,
        node.span.end,
        label="not written as a whole number" if isinstance(node, ast.Number) else "is computed",
    )
    return 1
