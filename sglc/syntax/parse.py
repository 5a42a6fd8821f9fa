"""The API of the syntax room: text in, syntax tree and diagnostics out. Bad input never raises."""

from __future__ import annotations

from typing import Literal, cast

from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.source import Source, Span
from sglc.syntax.builders.parts import settled
from sglc.syntax.lexer.layout import Layout
from sglc.syntax.lexer.tokens import LexedText
from sglc.syntax.limits import LONG_LINE, too_deep, unreadable
from sglc.syntax.parser import Parser, language
from sglc.syntax.tree import ast

MANY_TOKENS = 100
"""Tokens of a line that may nest too deeply."""


def parse(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The module that could be read from a source, and everything to be said about its syntax, in order."""
    module, found = _read(source)
    if any(diagnostic.edits for diagnostic in found):
        from sglc.syntax.errors.core.sound_edits import with_sound_edits

        found = with_sound_edits(found, source, lambda text: faults_of(Source(source.name, text)))
    return module, found


def faults_of(source: Source) -> list[Diagnostic]:
    """What is said about the syntax of a source, with edits that are not yet tried."""
    return _read(source)[1]


def _read(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
    """The same, with edits that are not yet tried."""
    fault = unreadable(source)
    if fault is not None:
        return ast.Module(source, (), ""), [fault]
    return read(Parser(source))[:2]


def read(parser: Parser) -> tuple[ast.Module, list[Diagnostic], LexedText]:
    """The module of a parser's source, what is to be said about its syntax, and its tokens; edits are not yet
    tried.
    """
    source = parser.source
    declarations, lexed = parser.module()
    diagnostics = parser.reporter.diagnostics
    if _may_nest_deeply(source, lexed):
        declarations = too_deep(declarations, diagnostics)
    doc = parser.context.docs.of_module(declarations)
    parser.context.docs.report_strays()
    return ast.Module(source, declarations, doc), in_order(diagnostics), lexed


def _may_nest_deeply(source: Source, lexed: LexedText) -> bool:
    longest = max(map(len, source.text.splitlines()), default=0)
    return lexed.longest > MANY_TOKENS or longest > LONG_LINE


def parse_part(
    source: Source, start: int, end: int, goal: Literal["module", "block"]
) -> tuple[tuple[ast.Declaration | ast.Statement, ...], list[Diagnostic]]:
    """Characters `start` to `end` of a source as declarations (`module`) or statements (`block`), and what is
    to be said about their syntax, in order. What cannot be read is left out."""
    fault = unreadable(source)
    if fault is not None:
        return (), [fault]
    parser = Parser(source)
    found, lexed = parser.part(goal, start, end)
    diagnostics = parser.reporter.diagnostics
    nodes = tuple(found or ())
    if _may_nest_deeply(source, lexed):
        nodes = too_deep(nodes, diagnostics)
    if goal == "module":
        parser.context.docs.of_module(cast(tuple[ast.Declaration, ...], nodes))
    parser.context.docs.report_strays()
    return nodes, in_order(diagnostics)


def parse_expression(text: str, name: str = "<expression>") -> tuple[ast.Expression | None, list[Diagnostic]]:
    """One expression, as in `--arg`; None after an error."""
    source = Source(name, text)
    fault = unreadable(source)
    if fault is not None:
        return None, [fault]
    parser = Parser(source)
    node: ast.Expression | None = parser.fragment("expression")
    diagnostics = in_order(parser.reporter.diagnostics)
    return (None if has_errors(diagnostics) else node), diagnostics


def parse_type(text: str, name: str = "<type>") -> tuple[ast.TypeExpression | None, list[Diagnostic]]:
    """One type expression; None after an error."""
    source = Source(name, text)
    fault = unreadable(source)
    if fault is not None:
        return None, [fault]
    parser = Parser(source)
    node = settled(parser.context, parser.fragment("type_only"))
    diagnostics = in_order(parser.reporter.diagnostics)
    return (None if has_errors(diagnostics) else node), diagnostics


def tokens(source: Source) -> list[tuple[str, str, Span]]:
    """Kind, text and place of every token; indentation, line ends and the end of the file have no text."""
    found = Layout(source.text, language().words).module().tokens
    return [
        (kind.strip("_$"), source.text[start:end], Span(source, start, end))
        for kind, start, end in zip(found.kinds, found.starts, found.ends, strict=True)
    ]


def in_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics in the order of the text, each once."""
    seen: dict[tuple[str, int, int], Diagnostic] = {}
    for diagnostic in diagnostics:
        assert diagnostic.span is not None
        seen.setdefault((diagnostic.code, diagnostic.span.start, diagnostic.span.end), diagnostic)
    return sorted(seen.values(), key=lambda d: d.span.start if d.span else 0)
