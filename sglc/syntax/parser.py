"""The parser of one source: the machine of the language calls the functions that build the nodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from sglc.immutable import value
from sglc.lalr.machine import LalrMachine, Run, Semantics
from sglc.lalr.reductions import BuildFunction
from sglc.source import Source, Span
from sglc.syntax.builders import (
    conditions,
    declarations,
    expressions,
    functions,
    grammars,
    holes,
    operators,
    patterns,
    refinements,
    statements,
    types,
)
from sglc.syntax.builders.context import Context, DocComments
from sglc.syntax.builders.literals import Literals
from sglc.syntax.builders.parts import HoleContent
from sglc.syntax.builders.prompt_lines import PromptLines
from sglc.syntax.errors.core.reporter import Reporter
from sglc.syntax.lexer.keywords import Words, instead_of, words_of
from sglc.syntax.lexer.layout import Layout
from sglc.syntax.lexer.tokens import INDENT_MARK, LexedText, StringPart
from sglc.syntax.tables import Tables, load
from sglc.syntax.tree import ast

if TYPE_CHECKING:
    from sglc.syntax.errors.mistake_reporter import MistakeReporter
    from sglc.syntax.errors.recover import Recovery

BUILDERS = (
    conditions,
    declarations,
    expressions,
    functions,
    grammars,
    holes,
    operators,
    patterns,
    refinements,
    statements,
    types,
)


def actions() -> dict[str, BuildFunction]:
    """The function of each action; a name that is a word of Python ends in an underscore."""
    return {
        name.rstrip("_"): function
        for module in BUILDERS
        for name, function in vars(module).items()
        if name[0] != "_" and isinstance(function, FunctionType) and function.__module__ == module.__name__
    }


@value
class Language:
    """What parsing needs to know of the language."""

    machine: LalrMachine
    words: Words


@cache
def language() -> Language:
    """The language of the grammar that is installed, made at the first call."""
    return language_of(load())


def language_of(tables: Tables) -> Language:
    """The language of some tables."""
    return Language(LalrMachine(tables, actions()), words_of(tables.literals))


Nodes = tuple[ast.Declaration | ast.Statement, ...]
_OTHER = re.compile(r"[^\n]")


def _alone(text: str, start: int, end: int) -> str:
    """A text in which all but characters `start` to `end` and the ends of lines are blanks."""
    if start == 0 and end == len(text):
        return text
    return _OTHER.sub(" ", text[:start]) + text[start:end] + _OTHER.sub(" ", text[end:])


class Parser:
    """Parses one source, as a whole or as one fragment; goes on behind faults, which are reported."""

    def __init__(self, source: Source) -> None:
        known = language()
        self.source = source
        self.machine = known.machine
        self.words = known.words
        self.reporter = Reporter(source)
        self.context = Context(self.reporter, DocComments(self.reporter))
        self.strings: dict[int, tuple[StringPart, ...]] = {}
        self.fences: dict[int, tuple[tuple[int, int], ...]] = {}
        self.semantics = Semantics(self.context, self._leaves(), partial(instead_of, source.text))

    def module(self) -> tuple[tuple[ast.Declaration, ...], LexedText]:
        """The declarations of a whole file and what the lexer made of it."""
        found, lexed = self.part("module", 0, len(self.source.text))
        return cast(tuple[ast.Declaration, ...], found or ()), lexed

    def part(self, goal: str, start: int, end: int) -> tuple[Nodes | None, LexedText]:
        """What characters `start` to `end` of the source are, as lines of a file: `module` or `block` is the
        start symbol. The others count as blanks, so that all spans are those of the whole source."""
        lexed = Layout(_alone(self.source.text, start, end), self.words).module()
        self.strings |= lexed.strings
        self.fences |= lexed.fences
        self.context.docs.note(lexed.docs)
        self.reporter.lexical_faults(lexed.faults)
        if any(fault.kind == "deep" for fault in lexed.faults):
            return None, lexed
        run = Run(self.machine, self.semantics, lexed.tokens, goal)
        if not run.step():
            self._recovery(run).go_on()
        found: Nodes | None = run.result
        return found, lexed

    def fragment(self, start: str) -> Any:
        """The value of a source that is one fragment, from a start symbol; None after a fault."""
        lexed = Layout(self.source.text, self.words).fragment()
        self.reporter.lexical_faults(lexed.faults)
        return self._inside(lexed, start, Span(self.source, 0, len(self.source.text)))

    def expression(self, lexed: LexedText, place: Span) -> ast.Expression | None:
        """The expression of an insert at `place`."""
        value: ast.Expression | None = self._inside(lexed, "expression", place)
        return value

    def hole(self, lexed: LexedText, place: Span) -> tuple[ast.Name, HoleContent] | None:
        """Name and content of the hole at `place`."""
        value: tuple[ast.Name, HoleContent] | None = self._inside(lexed, "hole", place)
        return value

    def _inside(self, lexed: LexedText, start: str, place: Span) -> Any:
        if lexed.strings:
            self.strings |= lexed.strings
        run = Run(self.machine, self.semantics, lexed.tokens, start)
        if run.step():
            return run.result
        self._recovery(run).report_inside(start, place)
        return None

    def _leaves(self) -> dict[str, Callable[[int, int], object]]:
        """Kind of token to what makes its value."""
        literals = Literals(self.reporter, self, self.strings)
        lines = PromptLines(self.reporter, self, self.words, self.fences)
        return {
            "NAME": literals.name,
            "NUMBER": literals.number,
            "STRING": literals.string,
            "REGEX": literals.regex,
            "PIPE": lines.pipe,
            "FENCE": lines.fence,
            "PATH": literals.characters,
            "INLINE_JSON": lambda start, end: (start, end),
            "ROLE": literals.name,
            "BINARY": literals.operator,
            "AUGMENTED": literals.characters,
            "OR_SKIP": lambda start, end: True,
            "_INDENT": lambda start, end: INDENT_MARK,
        }

    def _recovery(self, run: Run) -> Recovery:
        """How to go on behind a fault; what it takes is imported at the first one."""
        from sglc.syntax.errors.recover import Recovery

        return Recovery(run, self.mistakes)

    @cached_property
    def mistakes(self) -> MistakeReporter:
        """Made at the first fault."""
        from sglc.syntax.errors.mistake_reporter import MistakeReporter

        return MistakeReporter(self.reporter)
