"""Building expressions: references, calls, displays, conditionals."""

from __future__ import annotations

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import WrittenType, bare, plain_text, present
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name

_FOREIGN_WORDS = {"None": "null", "True": "true", "False": "false", "nil": "null", "undefined": "null"}


def reference(context: Context, start: int, end: int, name: Name) -> Expression:
    """A name; the word of another language for a value of this one (`True`, `None`) is reported and taken
    for it."""
    if name.text not in _FOREIGN_WORDS:
        return ast.Reference(name.text, name.span)
    meant = _FOREIGN_WORDS[name.text]
    context.reporter.error(
        "E0113",
        f"`{name.text}` is written `{meant}`",
        start,
        end,
        label="from another language",
        hint=f"write `{meant}`",
        edits=((start, end, meant),),
    )
    return ast.Null(name.span) if meant == "null" else ast.Boolean(meant == "true", name.span)


def true(context: Context, start: int, end: int) -> ast.Boolean:
    """`true`."""
    return ast.Boolean(True, context.span(start, end))


def false(context: Context, start: int, end: int) -> ast.Boolean:
    """`false`."""
    return ast.Boolean(False, context.span(start, end))


def null(context: Context, start: int, end: int) -> ast.Null:
    """`null`."""
    return ast.Null(context.span(start, end))


def attribute(context: Context, start: int, end: int, value: Expression, name: Name) -> ast.Attribute:
    """`VALUE.NAME`."""
    return ast.Attribute(value, name, context.span(start, end))


def call(
    context: Context, start: int, end: int, function: Expression, *arguments: ast.Argument | None
) -> ast.Call:
    """`FUNCTION(ARGUMENTS)`."""
    return ast.Call(function, present(arguments), context.span(start, end))


def positional(context: Context, start: int, end: int, value: Expression) -> ast.Argument:
    """An argument without a name."""
    return ast.Argument(None, value, context.span(start, end))


def named(context: Context, start: int, end: int, name: Name, value: Expression) -> ast.Argument:
    """`NAME=VALUE` among arguments."""
    return ast.Argument(name, value, context.span(start, end))


def index(context: Context, start: int, end: int, value: Expression, index: Expression) -> ast.Index:
    """`VALUE[INDEX]`."""
    return ast.Index(value, index, context.span(start, end))


def index_by_several(
    context: Context, start: int, end: int, value: Expression, *items: Expression
) -> ast.Index:
    """`VALUE[A, B]`, as if `A, B` stood in parentheses; the place of the tuple tells that it does not."""
    span = context.span(items[0].span.start, items[-1].span.end)
    return ast.Index(value, ast.TupleDisplay(items, span), context.span(start, end))


def lambda_(context: Context, start: int, end: int, parameter: Name, body: Expression) -> ast.Lambda:
    """`NAME => BODY` among arguments."""
    return ast.Lambda(parameter, body, context.span(start, end))


def slice_(
    context: Context,
    start: int,
    end: int,
    value: Expression,
    first: Expression | None,
    stop: Expression | None,
) -> ast.Slice:
    """`VALUE[FIRST:STOP]`; either end may be left out."""
    return ast.Slice(value, first, stop, context.span(start, end))


def list_(context: Context, start: int, end: int, *items: Expression | None) -> ast.ListDisplay:
    """`[ITEM, …]`."""
    return ast.ListDisplay(present(items), context.span(start, end))


def tuple_(context: Context, start: int, end: int, *items: Expression) -> ast.TupleDisplay:
    """`(ITEM, …)`."""
    return ast.TupleDisplay(items, context.span(start, end))


def map_(
    context: Context, start: int, end: int, *entries: tuple[Expression, Expression] | None
) -> ast.MapDisplay:
    """`{KEY: VALUE, …}`."""
    return ast.MapDisplay(present(entries), context.span(start, end))


def entry(
    context: Context, start: int, end: int, key: Expression, value: Expression
) -> tuple[Expression, Expression]:
    """`KEY: VALUE` of a map."""
    return key, value


def comprehension(
    context: Context,
    start: int,
    end: int,
    element: Expression,
    variable: Name,
    iterable: Expression,
    condition: Expression | None,
) -> ast.Comprehension:
    """`[ELEMENT for NAME in ITERABLE if CONDITION]`."""
    return ast.Comprehension(element, variable, iterable, condition, context.span(start, end))


def schema_of(
    context: Context, start: int, end: int, type: WrittenType, style: ast.String | None
) -> ast.SchemaOf:
    """`schema(TYPE, as="STYLE")`: the text of a type, for a prompt."""
    text = None if style is None else plain_text(context, style, "the style of a schema")
    return ast.SchemaOf(bare(type), text, context.span(start, end))


def conditional(
    context: Context, start: int, end: int, then: Expression, condition: Expression, otherwise: Expression
) -> ast.Conditional:
    """`THEN if CONDITION else OTHERWISE`."""
    return ast.Conditional(then, condition, otherwise, context.span(start, end))


def or_else(
    context: Context, start: int, end: int, value: Expression, fallback: Expression | ast.Raise
) -> ast.OrElse:
    """`VALUE else FALLBACK`: what happens where evaluating VALUE fails."""
    return ast.OrElse(value, fallback, context.span(start, end))
