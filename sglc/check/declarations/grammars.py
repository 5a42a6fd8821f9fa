"""Grammars as types: `grammar` blocks and imported files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from sglc.cfg.analysis.productive import rules_without_texts
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import (
    EMPTY,
    Alternatives,
    Expression,
    Grammar,
    Literal,
    Pattern,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Terminal,
)
from sglc.cfg.notation.reader import ENDINGS, SHIPPED, read_grammar, shipped_grammar
from sglc.check.core.context import ModuleContext, OpenGrammar
from sglc.check.core.files import file_text
from sglc.check.core.result import Unknown
from sglc.check.declarations.grammar_parameters import Parameters
from sglc.check.expressions.constants import Constants
from sglc.check.types.kinds import UNKNOWN
from sglc.check.types.resolve import TypeResolver
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types import type as t
from sglc.types.grammar_text import admitted

SKIP = "SKIP"
"""The terminal behind `skip /…/`. Rules cannot clash with it: there are no other terminals in a block."""

MAX_REPEAT = 10_000


@node
class Grammars:
    """A grammar is the alias of a text type that carries it."""

    module: ModuleContext
    types: TypeResolver
    constants: Constants

    def block(self, name: str, node: ast.GrammarDeclaration) -> t.Type:
        """The type of a `grammar` block; UNKNOWN, reported, where there is none."""
        source = self.module.source
        parameters = Parameters(self.module, self.types, self.constants, node)
        reader = _Block(self.module, parameters)
        rules: dict[str, Rule] = {}
        spans: dict[str, Span] = {}
        for rule in node.rules:
            label = rule.name.text
            if label in rules:
                self.module.report(
                    "E0203",
                    f"rule `{label}` is written twice",
                    rule.name.span,
                    label="again",
                    secondary=(Label(spans[label], "first written here"),),
                    hint="join the two with `|`",
                )
                reader.sound = False
                continue
            spans[label] = rule.name.span
            body = reader.expression(rule.body)
            rules[label] = Rule(label, body, at=rule.name.span.start, source=source)
        parameters.finish(node)
        if not reader.sound or not parameters.sound:
            return UNKNOWN  # type: ignore[return-value]
        terminals = {}
        if node.skip is not None:
            at = node.name.span.start
            terminals[SKIP] = Terminal(SKIP, Pattern(node.skip, at=at), at=at, source=source)
        names = tuple(parameters.types)
        grammar = Grammar(rules, terminals, tuple(terminals), "start", "sgl", names)
        found = self._admitted(name, grammar, node.name.span, reader.ends)
        if isinstance(found, Unknown):
            return found
        for label in rules_without_texts(grammar):
            self.module.report(
                "E0379",
                f"rule `{label}` writes no text",
                spans[label],
                label=f"every text of `{label}` would contain another one",
                reason="no alternative of it comes to an end",
                hint=f"give `{label}` an alternative without itself, or make the inner `{label}` optional: "
                f"`{label}?`",
            )
            return UNKNOWN  # type: ignore[return-value]
        for label in _unreached(grammar):
            self.module.report(
                "W0214",
                f"rule `{label}` is never used",
                spans[label],
                label="not reached from `start`",
                hint="remove it, or use it in another rule",
            )
        return found

    def open(self, name: str, node: ast.GrammarDeclaration) -> None:
        """Enter a block with parameters: it becomes a type where values are given to it."""
        self.module.program.open_grammars[name] = None
        found = self.block(name, node)
        if isinstance(found, t.Str):
            types = [self.module.resolved[id(parameter.type)] for parameter in node.parameters]
            names = [parameter.name.text for parameter in node.parameters]
            opened = OpenGrammar(found.grammar, dict(zip(names, types, strict=True)))
            self.module.program.open_grammars[name] = opened

    def _admitted(self, name: str, grammar: Grammar, span: Span, ends: dict[int, int]) -> t.Type:
        try:
            return t.Str(grammar=admitted(name, grammar))
        except GrammarError as error:
            self._grammar_error(error, span, ends)
            return UNKNOWN  # type: ignore[return-value]

    def _grammar_error(self, error: GrammarError, span: Span, ends: dict[int, int]) -> None:
        """A fault of a grammar, shown in the text that it stands in."""
        place = span
        notes: tuple[Label, ...] = ()
        if error.source is not None and 0 <= error.at <= len(error.source.text):
            end = ends.get(error.at) if error.source is span.source else None
            if end is None:
                word = re.compile(r"\w+|[^\n]?").match(error.source.text, error.at)
                end = word.end() if word else error.at
            place = Span(error.source, error.at, end)
            if error.source is not span.source:
                notes = (Label(span, "imported here"),)
        self.module.report(
            "E0350",
            "this grammar cannot be used",
            place,
            label=error.reason,
            hint=error.hint,
            secondary=notes,
        )

    def imported(self, name: str, node: ast.GrammarImport) -> t.Type:
        """The type of an imported grammar; UNKNOWN, reported, where there is none."""
        unknown: t.Type = UNKNOWN  # type: ignore[assignment]
        if node.library:
            return self._library_grammar(name, node)
        ending = PurePosixPath(node.path).suffix.removeprefix(".").lower()
        dialect = ENDINGS.get(ending)
        if dialect is None:
            known = ", ".join(f"`.{known}`" for known in ENDINGS)
            close = self.module.nearest(ending, ENDINGS)
            self.module.report(
                "E0352",
                f"`{node.path}` is in no notation that is known",
                node.span,
                label=f"ends in `.{ending}`" if ending else "without an ending",
                hint=f"write `import grammar {node.path}`, without quotes"
                if node.path in map("std.{}".format, SHIPPED)
                else f"did you mean `.{close}`?"
                if close
                else f"files end in {known}",
            )
            return unknown
        text = file_text(self.module, node.path, node.span)
        if text is None:
            return unknown
        try:
            grammar = read_grammar(text, dialect, name=node.path)
        except GrammarError as error:
            self._grammar_error(error, node.span, {})
            return unknown
        return self._admitted(name, grammar, node.span, {})

    def _library_grammar(self, name: str, node: ast.GrammarImport) -> t.Type:
        home, _, label = node.path.rpartition(".")
        if home != "std" or label not in SHIPPED:
            close = label if label in SHIPPED else self.module.nearest(label, SHIPPED)
            self.module.report(
                "E0352",
                f"the library has no grammar `{node.path}`",
                node.span,
                label="not found",
                reason=f"it has {', '.join(f'std.{known}' for known in SHIPPED)}",
                hint=f"write `import grammar std.{close}`"
                if close
                else 'a file stands in quotes: `import grammar "sum.lark"`',
            )
            return UNKNOWN  # type: ignore[return-value]
        return self._admitted(name, shipped_grammar(label), node.span, {})


class _Block:
    """Turns the terms of one block into expressions. `ends` maps where each begins to where it ends."""

    def __init__(self, module: ModuleContext, parameters: Parameters) -> None:
        self.module = module
        self.parameters = parameters
        self.ends: dict[int, int] = {}
        self.sound = True

    def expression(self, node: ast.GrammarTerm) -> Expression:
        at = node.span.start
        match node:
            case ast.GrammarSymbol(name=name):
                self.ends[at] = node.span.end
                return self.parameters.text(node) or Reference(name.text, at)
            case ast.GrammarText(text=text):
                self.ends[at] = node.span.end
                return Literal(text, at=at) if text else EMPTY
            case ast.GrammarRegex(pattern=pattern):
                self.ends[at] = node.span.end
                return Pattern(pattern, at=at)
            case ast.GrammarSequence(items=items):
                return Sequence(tuple(self.expression(item) for item in items))
            case ast.GrammarChoice(arms=arms):
                return Alternatives(tuple(self.expression(arm) for arm in arms))
            case ast.GrammarRepeat(item=item, minimum=low, maximum=high):
                self.count(low, high, node.span)
                return Repeat(self.expression(item), low, high)
            case ast.GrammarOneOf():
                self.ends[at] = node.span.end
                return self.parameters.one_of(node) or EMPTY

    def count(self, low: int, high: int | None, span: Span) -> None:
        report = self.module.report
        if high is not None and low > high:
            self.sound = False
            report(
                "E0304",
                f"nothing is repeated at least {low} and at most {high} times",
                span,
                label="the bounds contradict each other",
                hint=f"write `{{{high},{low}}}`",
            )
        elif max(low, high or 0) > MAX_REPEAT:
            self.sound = False
            report(
                "E0350", "this grammar cannot be used", span, label=f"repeats more than {MAX_REPEAT} times"
            )


def _unreached(grammar: Grammar) -> list[str]:
    """Rules that no text needs, in the order of the block."""
    reached: set[str] = set()
    waiting = [grammar.start]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in grammar.rules:
            continue
        reached.add(name)
        parts = [grammar.rules[name].body]
        while parts:
            match parts.pop():
                case Reference(name=used):
                    waiting.append(used)
                case Sequence(items=items):
                    parts += items
                case Alternatives(arms=arms):
                    parts += arms
                case Repeat(item=item):
                    parts.append(item)
    return [name for name in grammar.rules if name not in reached]
