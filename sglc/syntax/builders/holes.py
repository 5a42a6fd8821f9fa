"""Building holes: their options, `gen`, `choose` and `select`."""

from __future__ import annotations

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import (
    By,
    Choices,
    HoleContent,
    Modifiers,
    OpenType,
    WrittenType,
    bare,
    choice_options,
    plain_text,
    split_by,
)
from sglc.syntax.tree import ast


def _option(context: Context, kind: str, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    return ast.HoleOption(kind, value, context.span(start, end))


def max_tokens(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`max COUNT tok`: the budget of a hole."""
    return _option(context, "max_tokens", start, end, value)


def temp(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`temp NUMBER`: the temperature."""
    return _option(context, "temp", start, end, value)


def top_p(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`top_p NUMBER`: the probability that is kept."""
    return _option(context, "top_p", start, end, value)


def top_k(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`top_k COUNT`: how many tokens are kept."""
    return _option(context, "top_k", start, end, value)


def min_p(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`min_p NUMBER`: the least probability, as a share of the highest."""
    return _option(context, "min_p", start, end, value)


def seed(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`seed COUNT`."""
    return _option(context, "seed", start, end, value)


def samples(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`n COUNT`: the value is a list of so many."""
    return _option(context, "n", start, end, value)


def distinct(context: Context, start: int, end: int) -> ast.HoleOption:
    """`distinct`, beside `n COUNT`: no value comes twice."""
    return _option(context, "distinct", start, end, ast.Boolean(True, context.span(start, end)))


def decode(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`decode STRATEGY`."""
    return _option(context, "decode", start, end, value)


def weight(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`weight NUMBER`: the share of a blend's second model."""
    return _option(context, "weight", start, end, value)


def at_least(context: Context, start: int, end: int, value: ast.Expression) -> ast.HoleOption:
    """`at least NUMBER`: the least share of a blend's second model."""
    return _option(context, "at_least", start, end, value)


def model(
    context: Context, start: int, end: int, name: ast.Name, without: ast.Expression | None
) -> ast.ModelName:
    """`NAME`, or `NAME without TEXT`."""
    return ast.ModelName(name, without, context.span(start, end))


def using(context: Context, start: int, end: int, *models: ast.ModelName) -> ast.ModelClause:
    """`using MODEL or MODEL`."""
    return ast.ModelClause(models, False, context.span(start, end))


def blend(
    context: Context, start: int, end: int, base: ast.ModelName, teacher: ast.ModelName
) -> ast.ModelClause:
    """`using blend(BASE, TEACHER)`."""
    return ast.ModelClause((base, teacher), True, context.span(start, end))


def using_option(context: Context, start: int, end: int, models: ast.ModelClause) -> ast.HoleOption:
    """`using` as an option of a hole."""
    return _option(context, "using", start, end, models)


NORMALISERS = ("sum", "mean", "greedy", "contrast")
"""What may stand behind the `by` of a `select`."""
RULES = ("kl", "ess", "entropy", "forward")
"""What may stand behind the `by` of a hole with `using blend(…)`."""


def by(context: Context, start: int, end: int, name: ast.Name) -> By:
    """`by NAME`, with its place; reported if there is neither a normaliser nor a rule of that name."""
    if name.text not in NORMALISERS and name.text not in RULES:
        context.reporter.error(
            "E0115",
            f"there is no `by {name.text}`",
            name.span.start,
            name.span.end,
            hint="`by` takes sum, mean, greedy or contrast in a `select`; "
            "kl, ess, entropy or forward with `using blend(…)`",
        )
        return "", context.span(start, end)
    return name.text, context.span(start, end)


def _with_rule(
    context: Context, options: tuple[ast.HoleOption, ...], by: By | None, faulty: str, hint: str
) -> tuple[ast.HoleOption, ...]:
    """The options of a hole that scores nothing, with the rule of a blend; a normaliser is reported."""
    if by is None or not by[0]:
        return options
    name, span = by
    if name in RULES:
        return (*options, ast.HoleOption("by", ast.Reference(name, span), span))
    context.reporter.error(
        "E0115", "`by` is an option of `select`", span.start, span.end, label=faulty, hint=hint
    )
    return options


def gen(context: Context, start: int, end: int, type: WrittenType) -> ast.Gen:
    """`gen TYPE` with the options behind the type."""
    written = type.options if isinstance(type, OpenType) else ()
    options, by = split_by(context, written)
    options = _with_rule(context, options, by, "nothing is scored here", "write `select T by …`")
    return ast.Gen(bare(type), options, context.span(start, end))


hole_type = gen


def hole(
    context: Context, start: int, end: int, name: ast.Name, content: HoleContent
) -> tuple[ast.Name, HoleContent]:
    """The inside of `?{NAME: CONTENT}`."""
    return name, content


def choose(context: Context, start: int, end: int, choices: Choices, options: Modifiers) -> ast.Choose:
    """`choose CHOICES OPTIONS`."""
    kept, by = split_by(context, choice_options(context, options))
    faulty = "`choose` draws one option and scores none"
    kept = _with_rule(context, kept, by, faulty, "write `select … by …`")
    return ast.Choose(choices, kept, context.span(start, end))


def select(context: Context, start: int, end: int, choices: Choices, options: Modifiers) -> ast.Select:
    """`select CHOICES OPTIONS`; `by` among the options is its normaliser."""
    kept, by = split_by(context, choice_options(context, options))
    if by is not None and by[0] in RULES:
        context.reporter.error(
            "E0115",
            f"`by {by[0]}` is a rule of `using blend(…)`",
            by[1].start,
            by[1].end,
            label="no normaliser of a `select`",
            hint="`select … by` takes sum, mean, greedy or contrast",
        )
        by = None
    return ast.Select(choices, by[0] or None if by is not None else None, kept, context.span(start, end))


def choices(context: Context, start: int, end: int, first: ast.Expression, *more: ast.Expression) -> Choices:
    """A list, a name, or literals and types with `|` between them."""
    if not more:
        return _as_type(context, first) if _is_type(first) else first
    return ast.TypeUnion(tuple(_as_type(context, arm) for arm in (first, *more)), context.span(start, end))


def _as_type(context: Context, node: ast.Expression) -> ast.TypeExpression:
    match node:
        case ast.Reference(name):
            return ast.TypeName(name, (), node.span)
        case ast.Call(ast.Reference(name), arguments):
            return ast.TypeName(name, tuple(argument.value for argument in arguments), node.span)
        case ast.String():
            return ast.TypeLiteral(plain_text(context, node, "a literal type"), node.span)
        case ast.Number(value) | ast.Boolean(value):
            return ast.TypeLiteral(value, node.span)
    context.reporter.error(
        "E0101",
        "a type or a literal is needed here",
        node.span.start,
        node.span.end,
        hint="write the options as a list: `choose [a, b]`",
    )
    return ast.TypeName("null", (), node.span)


def _is_type(node: ast.Expression) -> bool:
    """Whether what follows `choose` is a type: a literal, or a name written as types are (`Mood`)."""
    match node:
        case ast.Reference(name) | ast.Call(ast.Reference(name)):
            return name[:1].isupper() and not name.isupper()
    return isinstance(node, ast.String | ast.Number | ast.Boolean)
