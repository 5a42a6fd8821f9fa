"""Building types."""

from __future__ import annotations

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import (
    Bounds,
    OpenType,
    WrittenType,
    literal_value,
    plain_text,
    present,
    settled,
    whole_number,
)
from sglc.syntax.tree import ast


def type_name(context: Context, start: int, end: int, name: ast.Name) -> ast.TypeName:
    """The name of a type."""
    return ast.TypeName(name.text, (), name.span)


def type_partial(context: Context, start: int, end: int, name: ast.Name, part: ast.Name) -> ast.TypePartial:
    """`NAME.NAME` as a type; reported where the second name is not `Partial`."""
    if part.text != "Partial":
        context.reporter.error(
            "E0150",
            f"a type has no part `{part.text}`",
            part.span.start,
            part.span.end,
            hint=f"`{name.text}.Partial` is what is there of a `{name.text}` while it is written",
        )
    return ast.TypePartial(ast.TypeName(name.text, (), name.span), context.span(start, end))


def type_call(
    context: Context, start: int, end: int, name: ast.Name, *arguments: ast.Argument | None
) -> ast.TypeName:
    """`NAME(ARGUMENT, …)` as a type; an argument with a name is reported."""
    values = []
    for argument in present(arguments):
        if argument.name is not None:
            context.reporter.error(
                "E0127",
                "arguments of a type have no names",
                argument.span.start,
                argument.span.end,
                hint=f"write `{name.text}({argument.value.span.text})`",
            )
        values.append(argument.value)
    return ast.TypeName(name.text, tuple(values), context.span(start, end))


def type_literal(context: Context, start: int, end: int, value: ast.String | ast.Number) -> ast.TypeLiteral:
    """A text or number as a type: exactly this value."""
    plain = literal_value(context, value, "a literal type")
    return ast.TypeLiteral(plain, context.span(start, end))


def type_true(context: Context, start: int, end: int) -> ast.TypeLiteral:
    """`true` as a type."""
    return ast.TypeLiteral(True, context.span(start, end))


def type_false(context: Context, start: int, end: int) -> ast.TypeLiteral:
    """`false` as a type."""
    return ast.TypeLiteral(False, context.span(start, end))


def type_null(context: Context, start: int, end: int) -> ast.TypeName:
    """`null` as a type."""
    return ast.TypeName("null", (), context.span(start, end))


def type_list(
    context: Context, start: int, end: int, item: WrittenType, bounds: Bounds | None
) -> ast.TypeList:
    """`[ITEM; BOUNDS]`."""
    low, high = bounds or (None, None)
    return ast.TypeList(settled(context, item), low, high, context.span(start, end))


def type_map(
    context: Context, start: int, end: int, key: WrittenType, value: WrittenType, bounds: Bounds | None
) -> ast.TypeMap:
    """`{KEY: VALUE; BOUNDS}`."""
    low, high = bounds or (None, None)
    return ast.TypeMap(
        settled(context, key),
        settled(context, value),
        low,
        high,
        context.span(start, end),
    )


def type_tuple(context: Context, start: int, end: int, *items: WrittenType) -> ast.TypeTuple:
    """`(ITEM, ITEM)`."""
    return ast.TypeTuple(tuple(settled(context, item) for item in items), context.span(start, end))


def type_union(context: Context, start: int, end: int, *arms: WrittenType) -> WrittenType:
    """`ARM | ARM`; refinements and options behind the last arm belong to the whole union."""
    *firsts, last = arms
    types = [settled(context, arm) for arm in firsts]
    if not isinstance(last, OpenType):
        return ast.TypeUnion((*types, last), context.span(start, end))
    whole: ast.TypeExpression
    if last.inner is None:
        whole = ast.TypeUnion((*types, last.type), context.span(start, end))
    else:
        # The refinements of the last arm are those of the union.
        first, refinements = last.type.span.start, last.refinements
        end = first + len(context.source.text[first : refinements[0].span.start].rstrip())
        union = ast.TypeUnion((*types, last.inner), context.span(start, end))
        span = context.span(start, refinements[-1].span.end)
        whole = ast.TypeRefined(union, refinements, span)
    return OpenType(whole, last.options) if last.options else whole


def group(context: Context, start: int, end: int, inner: object) -> object:
    """Brackets around anything: those around a type keep its refinements from what stands before."""
    if not isinstance(inner, OpenType):
        return inner
    return OpenType(inner.type, inner.options) if inner.options else inner.type


def span_of(context: Context, start: int, end: int, value: ast.Expression) -> ast.TypeSpanOf:
    """`span of TEXT`."""
    return ast.TypeSpanOf(value, context.span(start, end))


def one_of(context: Context, start: int, end: int, values: ast.Expression) -> ast.TypeOneOf:
    """`one of VALUES`."""
    return ast.TypeOneOf(values, context.span(start, end))


def json_schema_file(context: Context, start: int, end: int, path: ast.String) -> ast.TypeJsonSchema:
    """`json schema "PATH"`."""
    return ast.TypeJsonSchema(plain_text(context, path, "a path"), False, context.span(start, end))


def json_schema_inline(context: Context, start: int, end: int, json: tuple[int, int]) -> ast.TypeJsonSchema:
    """`json schema { … }`: the JSON text between its braces, as it is written."""
    return ast.TypeJsonSchema(context.source.text[json[0] : json[1]], True, context.span(start, end))


def sql_table(context: Context, start: int, end: int, source: ast.String) -> ast.TypeSource:
    """`sql table "SOURCE"`: declarations, or the path of a file of them."""
    return _type_source(context, "sql", None, source, start, end)


def sql_table_from(
    context: Context, start: int, end: int, name: ast.Name | ast.String, source: ast.String
) -> ast.TypeSource:
    """`sql table NAME from "PATH"`."""
    return _type_source(context, "sql", name, source, start, end)


def typescript(context: Context, start: int, end: int, source: ast.String) -> ast.TypeSource:
    """`typescript "SOURCE"`: declarations, or the path of a file of them."""
    return _type_source(context, "typescript", None, source, start, end)


def typescript_from(
    context: Context, start: int, end: int, name: ast.Name, source: ast.String
) -> ast.TypeSource:
    """`typescript NAME from "PATH"`."""
    return _type_source(context, "typescript", name, source, start, end)


def _type_source(
    context: Context, kind: str, name: ast.Name | ast.String | None, source: ast.String, start: int, end: int
) -> ast.TypeSource:
    wanted = (
        plain_text(context, name, "a name") if isinstance(name, ast.String) else name.text if name else None
    )
    text = plain_text(context, source, "the source of a type")
    return ast.TypeSource(kind, wanted, text, source.span, context.span(start, end))


def bound_exactly(context: Context, start: int, end: int, count: ast.Number) -> Bounds:
    """`; COUNT`: exactly so many."""
    return whole_number(context, count), whole_number(context, count)


def bound_from(context: Context, start: int, end: int, low: ast.Number) -> Bounds:
    """`; LOW..`: at least so many."""
    return whole_number(context, low), None


def bound_between(context: Context, start: int, end: int, low: ast.Number, high: ast.Number) -> Bounds:
    """`; LOW..HIGH`, which holds both ends."""
    return whole_number(context, low), whole_number(context, high)


def bound_to(context: Context, start: int, end: int, high: ast.Number) -> Bounds:
    """`; ..HIGH`: at most so many."""
    return None, whole_number(context, high)


def bound_below(context: Context, start: int, end: int, low: ast.Number, high: ast.Number) -> Bounds:
    """`; LOW..<HIGH`: fewer than HIGH."""
    return whole_number(context, low), whole_number(context, high) - 1


def bound_to_below(context: Context, start: int, end: int, high: ast.Number) -> Bounds:
    """`; ..<HIGH`: fewer than HIGH."""
    return None, whole_number(context, high) - 1
