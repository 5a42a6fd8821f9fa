"""Building grammars."""

from __future__ import annotations

from sglc.syntax.builders.context import Context
from sglc.syntax.builders.parts import plain_text, whole_number
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name


def grammar(
    context: Context,
    start: int,
    end: int,
    name: Name,
    parameters: tuple[ast.Parameter, ...] | None,
    *lines: ast.GrammarRule | ast.Regex | None,
) -> ast.GrammarDeclaration:
    """`grammar NAME:` with its rules and what is skipped between tokens."""
    doc = context.docs.take(start, end, block=True)
    rules = tuple(line for line in lines if isinstance(line, ast.GrammarRule))
    skips = [line for line in lines if isinstance(line, ast.Regex)]
    for again in skips[1:]:
        context.reporter.error(
            "E0135",
            "`skip` is given twice",
            again.span.start,
            again.span.end,
            label="the second one",
            hint="join the two with `|` in one pattern",
        )
    skip = skips[-1].pattern if skips else None
    return ast.GrammarDeclaration(name, parameters or (), rules, skip, False, doc, context.span(start, end))


def grammar_rule(
    context: Context, start: int, end: int, name: Name, body: ast.GrammarTerm
) -> ast.GrammarRule:
    """`NAME: BODY` in a grammar."""
    return ast.GrammarRule(name, body, context.span(start, end))


def grammar_skip(context: Context, start: int, end: int, regex: ast.Regex) -> ast.Regex:
    """`skip /REGEX/` in a grammar."""
    return regex


def grammar_choice(context: Context, start: int, end: int, *arms: ast.GrammarTerm) -> ast.GrammarChoice:
    """`A | B` in a rule."""
    return ast.GrammarChoice(arms, context.span(start, end))


def grammar_sequence(context: Context, start: int, end: int, *items: ast.GrammarTerm) -> ast.GrammarSequence:
    """`A B` in a rule."""
    return ast.GrammarSequence(items, context.span(start, end))


def grammar_symbol(context: Context, start: int, end: int, name: Name) -> ast.GrammarSymbol:
    """The name of a rule."""
    return ast.GrammarSymbol(name, name.span)


def grammar_text(context: Context, start: int, end: int, text: ast.String) -> ast.GrammarText:
    """A literal text in a rule."""
    return ast.GrammarText(plain_text(context, text, "the text of a rule"), text.span)


def grammar_regex(context: Context, start: int, end: int, regex: ast.Regex) -> ast.GrammarRegex:
    """A regular expression in a rule."""
    return ast.GrammarRegex(regex.pattern, regex.span)


def grammar_group(context: Context, start: int, end: int, inner: ast.GrammarTerm) -> ast.GrammarTerm:
    """`(BODY)` in a rule; the parentheses leave no node."""
    return inner


def grammar_one_of(context: Context, start: int, end: int, values: Expression) -> ast.GrammarOneOf:
    """`one of VALUES` in a rule."""
    return ast.GrammarOneOf(values, context.span(start, end))


def _repeat(
    context: Context, start: int, end: int, item: ast.GrammarTerm, low: int, high: int | None
) -> ast.GrammarRepeat:
    return ast.GrammarRepeat(item, low, high, context.span(start, end))


def zero_or_one(context: Context, start: int, end: int, item: ast.GrammarTerm) -> ast.GrammarRepeat:
    """`ITEM?`."""
    return _repeat(context, start, end, item, 0, 1)


def zero_or_more(
    context: Context, start: int, end: int, item: ast.GrammarTerm, *operator: object
) -> ast.GrammarRepeat:
    """`ITEM*`."""
    return _repeat(context, start, end, item, 0, None)


def one_or_more(
    context: Context, start: int, end: int, item: ast.GrammarTerm, *operator: object
) -> ast.GrammarRepeat:
    """`ITEM+`."""
    return _repeat(context, start, end, item, 1, None)


def exactly(
    context: Context, start: int, end: int, item: ast.GrammarTerm, count: ast.Number
) -> ast.GrammarRepeat:
    """`ITEM{COUNT}`."""
    return _repeat(context, start, end, item, whole_number(context, count), whole_number(context, count))


def between(
    context: Context, start: int, end: int, item: ast.GrammarTerm, low: ast.Number, high: ast.Number | None
) -> ast.GrammarRepeat:
    """`ITEM{LOW,HIGH}`; without HIGH there is no upper bound."""
    return _repeat(
        context,
        start,
        end,
        item,
        whole_number(context, low),
        None if high is None else whole_number(context, high),
    )
