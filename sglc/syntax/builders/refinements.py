"""Building what refines a type: bounds, patterns, conditions."""

from __future__ import annotations

from sglc.immutable import value
from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import (
    OpenType,
    Option,
    RangeEnds,
    WrittenType,
    bare,
    plain_text,
    whole_number,
)
from sglc.syntax.tree import ast


@value
class QuestionMark:
    """A `?` after a type and where it stands."""

    at: int


def refined(
    context: Context,
    start: int,
    end: int,
    base: WrittenType,
    *parts: Option | ast.Refinement | QuestionMark | None,
) -> WrittenType:
    """Fold what follows a type into refinements and `?`.

    Options are kept for the hole, also those of a type in brackets: `(str max 3 tok) max 5 chars`.
    """
    begin = bare(base).span.start
    type = bare(base)
    refinements: list[ast.Refinement] = []
    options: list[Option] = [*base.options] if isinstance(base, OpenType) else []
    for part in parts:
        if isinstance(part, ast.HoleOption | tuple):
            options.append(part)
        elif isinstance(part, QuestionMark):
            if refinements:
                type = _with(context, type, refinements, begin)
                refinements = []
            if isinstance(type, ast.TypeOptional):
                hint = "leave one out"
                context.reporter.error("E0101", "`?` is written twice", part.at, part.at + 1, hint=hint)
            else:
                type = ast.TypeOptional(type, context.span(begin, part.at + 1))
        elif part is not None:
            refinements.append(part)
    if refinements:
        whole = _with(context, type, refinements, begin)
        return OpenType(whole, tuple(options), type, tuple(refinements))
    if options:
        return OpenType(type, tuple(options))
    return base if type is bare(base) else type


def _with(
    context: Context, type: ast.TypeExpression, refinements: list[ast.Refinement], begin: int
) -> ast.TypeRefined:
    span = context.span(begin, refinements[-1].span.end)
    return ast.TypeRefined(type, tuple(refinements), span)


def optional(context: Context, start: int, end: int) -> QuestionMark:
    """`?` behind a type."""
    return QuestionMark(start)


def range_refinement(context: Context, start: int, end: int, ends: RangeEnds) -> ast.RangeRefinement:
    """`in LOW..HIGH` behind a type."""
    low, high, below = ends
    return ast.RangeRefinement(low, high, below, context.span(start, end))


def range_from(context: Context, start: int, end: int, low: ast.Number) -> RangeEnds:
    """`LOW..`."""
    return low.value, None, False


def range_between(context: Context, start: int, end: int, low: ast.Number, high: ast.Number) -> RangeEnds:
    """`LOW..HIGH`, which holds both ends."""
    return low.value, high.value, False


def range_below(context: Context, start: int, end: int, low: ast.Number, high: ast.Number) -> RangeEnds:
    """`LOW..<HIGH`, which does not hold its end."""
    return low.value, high.value, True


def range_to(context: Context, start: int, end: int, high: ast.Number) -> RangeEnds:
    """`..HIGH`, which holds its end."""
    return None, high.value, False


def range_to_below(context: Context, start: int, end: int, high: ast.Number) -> RangeEnds:
    """`..<HIGH`, which does not hold its end."""
    return None, high.value, True


def negative(context: Context, start: int, end: int, number: ast.Number) -> ast.Number:
    """`-NUMBER`."""
    return ast.Number(-number.value, context.span(start, end))


def where(context: Context, start: int, end: int, condition: ast.Expression) -> ast.Where:
    """`where CONDITION` behind a type."""
    return ast.Where(condition, context.span(start, end))


def max_chars(context: Context, start: int, end: int, count: ast.Expression) -> ast.MaxChars:
    """`max COUNT chars`."""
    return ast.MaxChars(whole_number(context, count), context.span(start, end))


def min_chars(context: Context, start: int, end: int, count: ast.Expression) -> ast.MinChars:
    """`min COUNT chars`."""
    return ast.MinChars(whole_number(context, count), context.span(start, end))


def matching(context: Context, start: int, end: int, regex: ast.Regex) -> ast.Matching:
    """`matching /REGEX/`."""
    return ast.Matching(regex.pattern, context.span(start, end))


def until(context: Context, start: int, end: int, value: ast.Expression) -> ast.Until | None:
    """`until "TEXT"`; None if it is no plain text, which is reported."""
    text = _text_of(context, value, "until")
    return None if text is None else ast.Until(text, context.span(start, end))


def not_containing(context: Context, start: int, end: int, value: ast.Expression) -> ast.NotContaining | None:
    """`not containing "TEXT"`; None if it is no plain text, which is reported."""
    text = _text_of(context, value, "not containing")
    return None if text is None else ast.NotContaining(text, context.span(start, end))


def _text_of(context: Context, value: ast.Expression, word: str) -> str | None:
    if isinstance(value, ast.String):
        return plain_text(context, value, f"the text after `{word}`")
    context.reporter.error(
        "E0115",
        f"`{word}` needs a text in quotes",
        value.span.start,
        value.span.end,
        label="must be known when the program is compiled",
        hint=f'write `{word} "…"`',
    )
    return None


def multiple_of(context: Context, start: int, end: int, number: ast.Number) -> ast.MultipleOf:
    """`multiple of NUMBER`."""
    return ast.MultipleOf(number.value, context.span(start, end))


def surface(context: Context, start: int, end: int, name: ast.Name) -> ast.Surface:
    """`as NAME`: how the value is written."""
    return ast.Surface(name.text, context.span(start, end))
