"""From what a session knows and what is typed to a program.

Statements become the body of one function. Its text is what was typed, so that every finding has its place;
the variables it speaks of are its parameters, of the types that they have. It gives back the variables that
it binds or changes. See decision 120.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from sglc.bytecode.code import Code, Program
from sglc.check.core.result import CheckedProgram, ExpressionType, Never, ScoredOf, Unknown
from sglc.check.core.walk import roles
from sglc.check.core.walk import statements as walked
from sglc.check.program import check
from sglc.check.show_types import show_found
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.driver import compile_source
from sglc.library import Library
from sglc.options import CompileOptions
from sglc.repl import names
from sglc.repl.composing import Composition
from sglc.repl.pieces import Declared
from sglc.repl.state import State, Variable
from sglc.runtime.decoding.conversations.said import Said
from sglc.source import Source, Span
from sglc.syntax.parse import parse_part
from sglc.syntax.tree import ast
from sglc.types.dependent import erased
from sglc.types.type import Null, TupleOf, Type
from sglc.types.values import Value

AT_PROMPT = "E0844"
"""Code of what cannot be typed at a prompt."""
UNTOLD = frozenset(("W0201", "W0203", "W0211"))
"""Findings that say nothing at a prompt: what nothing uses yet may be used by the next input."""
UNUSED = "W0202"
"""Code of an expression whose value nothing uses: at a prompt it is shown."""
DEFAULT = CompileOptions()
VALUE = "value'"
"""What the function calls the value of the last expression; nobody can type such a name."""
NULL = Null()
Node = TypeVar("Node", bound=object)


@dataclass(frozen=True, slots=True)
class Kept:
    """A variable that an input leaves behind: its value is one of what the function gives back."""

    name: str
    type: Type
    mutable: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Compiled:
    """An input as a program. `source` is its text, `composed` knows where that was typed.

    The function `name` takes `arguments` and gives back a tuple: the value of the last expression, if `shown`
    is its type, and the variables that are `kept`. Its conversation goes on from `said`.
    """

    program: Program
    name: str
    arguments: Mapping[str, Value]
    said: Said
    shown: Type | None
    kept: tuple[Kept, ...]
    composed: Composition
    source: Source
    notes: tuple[str, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    """Warnings."""

    @property
    def code(self) -> Code:
        """The function."""
        return self.program.codes[self.program.entry[self.name]]


@dataclass(frozen=True, slots=True)
class Unsound:
    """An input that has no program, and why."""

    found: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles inputs. `place` is what the text of the session is called, and where files are found."""

    place: str = "session"
    options: CompileOptions = DEFAULT

    def library(self) -> Library:
        """Where modules and included files are found."""
        return Library(allow_outside=self.options.allow_outside)

    def declarations(
        self, declared: Iterable[Declared]
    ) -> tuple[Program | None, list[Diagnostic], Composition, Source]:
        """The program of some declarations, and what was found, in the places of its text."""
        composed = Composition()
        for each in declared:
            composed.add(each.span)
        source = composed.source(self.place)
        result = compile_source(source, self.options, self.library())
        return result.program, result.diagnostics, composed, source

    def statements(self, state: State, spans: Sequence[Span]) -> Compiled | Unsound:
        """The program of an input that is statements."""
        text = _Text(self.place, state, spans)
        refused = text.refusals()
        if refused:
            return Unsound(tuple(refused))
        checked, found = self._checked(text)
        if checked is None or has_errors(found):
            return Unsound(tuple(text.told(found)))
        shown, kept, notes = text.kept(checked)
        options = replace(self.options, level=0)
        made = compile_source(
            text.source, options, self.library(), read=lambda _: text.returning(shown, kept)
        )
        if made.program is None or has_errors(made.diagnostics):
            return Unsound(tuple(text.told(made.diagnostics)))
        arguments = {text.parameter(name): state.variables[name].value for name in text.used}
        return Compiled(
            program=made.program,
            name=text.name,
            arguments=arguments,
            said=text.said,
            shown=shown,
            kept=kept,
            composed=text.composed,
            source=text.source,
            notes=notes,
            found=tuple(text.told(made.diagnostics)),
        )

    def type_of(self, state: State, spans: Sequence[Span]) -> str | Unsound:
        """The type of the last expression of an input, which is not run."""
        text = _Text(self.place, state, spans)
        refused = text.refusals()
        if refused:
            return Unsound(tuple(refused))
        checked, found = self._checked(text)
        if checked is None or has_errors(found):
            return Unsound(tuple(text.told(found)))
        return show_found(NULL if text.last is None else checked.main.types.get(id(text.last)))

    def _checked(self, text: _Text) -> tuple[CheckedProgram | None, list[Diagnostic]]:
        """The input as the checker sees it, with a look at each variable that it may leave behind. A name
        that cannot be seen there is no such variable."""
        while True:
            checked, found = check(text.source, self.library(), lambda _: text.looking())
            unseen = {name for each in found if (name := text.unseen(each)) is not None}
            if not unseen:
                return checked, found
            text.candidates = [each for each in text.candidates if each.text not in unseen]


class _Text:
    """One input, with the declarations and variables of the session, as a tree."""

    def __init__(self, place: str, state: State, spans: Sequence[Span]) -> None:
        self.state = state
        composed = self.composed = Composition()
        for each in state.declared:
            composed.add(each.span)
        composed.gap("\n")
        self.end = composed.length
        first = spans[0]
        self.name = "session"
        while self.name in state.names():
            self.name += "_"
        self._words: dict[str, tuple[int, int]] = {}
        mentioned = {word for span in spans for word in re.findall(r"\w+", span.text)}
        known = [name for name in state.variables if name in mentioned]
        here = Span(first.source, first.start, first.start)
        for name in (self.name, *known):
            home = state.variables[name].span if name in known else here
            self._words[name] = composed.word(name, home)
        composed.gap("\n")
        self.start = composed.length
        for span in spans:
            composed.add(span)
        self.source = composed.source(place)
        self.declarations, self.found = parse_part(self.source, 0, self.end, "module")
        body, found = parse_part(self.source, self.start, len(self.source.text), "block")
        self.found += found
        self.body: tuple[ast.Statement, ...] = body  # type: ignore[assignment]
        self.used = [name for name in known if name in names.read(self.body)]
        self.candidates = names.bound(self.body)
        self.changed = names.changed(self.body)
        last = self.body[-1] if self.body else None
        self.last = last.value if isinstance(last, ast.Evaluate) else None
        self.said, self.role = self._place()

    # -- where it stands in the conversation ---------------------------------------------------------

    def _place(self) -> tuple[Said, str]:
        """What the conversation begins with, and the role of text that has none: empty where it goes on with
        the last message, or where there are no roles."""
        said = self.state.said
        last = said.messages[-1][0] if said.messages else ""
        if not last or any(True for _ in roles(self.body)) or not names.writes(self.body):
            return replace(said, is_open=False), ""
        role = "assistant" if names.asks(self.body) else last
        return (replace(said, is_open=True), "") if role == last else (replace(said, is_open=False), role)

    def refusals(self) -> list[Diagnostic]:
        """What is wrong with the input before its names and types are looked at."""
        found: list[Diagnostic] = []
        said = self.state.said
        for node in walked(self.body):
            if isinstance(node, ast.Return):
                why, hint = "there is no function around it", "an expression alone shows its value"
                found.append(_refusal("`return` stands in a function", node.span, why, hint))
            elif isinstance(node, ast.Role) and node.tools:
                why = "tools are offered when a conversation begins, and belong to it until its end"
                hint = "declare a `fn` with this message, and call it"
                found.append(_refusal("a message with tools stands in a function", node.keyword, why, hint))
            elif isinstance(node, ast.Role) and said.messages:
                if not said.messages[-1][0]:
                    why, hint = "what was said has no roles", ":reset begins a new conversation"
                    found.append(_refusal("a role cannot follow text without one", node.keyword, why, hint))
                elif node.role == "system":
                    why, hint = "the conversation has begun", ":reset begins a new one"
                    message = "the system message comes first"
                    found.append(Diagnostic("E0419", message, node.keyword, reason=why, hint=hint))
        return self.told(found)

    # -- the tree ------------------------------------------------------------------------------------

    def word(self, name: str) -> Span:
        """Where a name stands that nobody typed in this input."""
        start, end = self._words.get(name) or self._words[self.name]
        return Span(self.source, start, end)

    def parameter(self, name: str) -> str:
        """What the function calls the value that a variable has before the input."""
        return name + "'"

    def looking(self) -> tuple[ast.Module, list[Diagnostic]]:
        """The input with a look at each variable behind it."""
        self.looks = {name.text: ast.Reference(name.text, self.word(name.text)) for name in self.candidates}
        looks = [ast.Evaluate(node, node.span) for node in self.looks.values()]
        return self._module([*self._whole(self.body), *looks], None)

    def returning(self, shown: Type | None, kept: Sequence[Kept]) -> tuple[ast.Module, list[Diagnostic]]:
        """The input that gives back the value of its last expression and its variables."""
        here = self.word(self.name)
        items: list[ast.Expression] = []
        body = self.body
        if shown is not None and self.last is not None:
            value, known = ast.Name(VALUE, here), ast.TypeKnown(shown, here)
            body = (*self.body[:-1], ast.Let(value, False, known, self.last, self.last.span))
            items.append(ast.Reference(VALUE, here))
        given = [ast.Reference(each.name, self.word(each.name)) for each in kept]
        items += [
            ast.Attribute(node, ast.Name("top", node.span), node.span) if each.name in self.scored else node
            for node, each in zip(given, kept, strict=True)
        ]
        types = (*(() if shown is None else (shown,)), *(each.type for each in kept))
        if not items:
            return self._module(self._whole(body), None)
        result = ast.Return(ast.TupleDisplay(tuple(items), here), here)
        return self._module([*self._whole(body), result], ast.TypeKnown(TupleOf(types), here))

    def _module(
        self, body: Sequence[ast.Statement], result: ast.TypeExpression | None
    ) -> tuple[ast.Module, list[Diagnostic]]:
        here = self.word(self.name)
        parameters = []
        for name in self.used:
            at = self.word(name)
            known = ast.TypeKnown(self.state.variables[name].type, at)
            parameters.append(ast.Parameter(ast.Name(self.parameter(name), at), False, known, None, at))
        function = ast.FunctionDeclaration(
            *("fn", ast.Name(self.name, here), (), tuple(parameters), result, None, None, ()),
            *(tuple(body), False, "", Span(self.source, here.start, len(self.source.text))),
        )
        declarations: tuple[ast.Declaration, ...] = self.declarations  # type: ignore[assignment]
        return ast.Module(self.source, (*declarations, function), ""), list(self.found)

    def _whole(self, body: tuple[ast.Statement, ...]) -> list[ast.Statement]:
        """The statements behind those that give variables their values, within a message if that is meant."""
        rebound = {name.text for name in self.candidates}
        given: list[ast.Statement] = []
        for name in self.used:
            if name not in rebound:
                at, variable = self.word(name), self.state.variables[name]
                value = ast.Reference(self.parameter(name), at)
                mutable = variable.mutable
                given.append(
                    ast.Let(ast.Name(name, at), mutable, ast.TypeKnown(variable.type, at), value, at)
                )
        own = [self._older(each, rebound, body[:at]) for at, each in enumerate(body)]
        if self.role and own:
            here = self.word(self.name)
            span = own[0].span.to(own[-1].span)
            return [*given, ast.Role(self.role, tuple(own), (), None, span, here)]
        return [*given, *self._in_messages(own)]

    def _in_messages(self, body: Sequence[ast.Statement]) -> list[ast.Statement]:
        """Statements in which text behind a message belongs to one: to the same, or with a hole in it to one
        of the assistant."""
        found: list[ast.Statement] = []
        at = -1
        """Where the last message stands."""
        for statement in body:
            last = found[at] if at >= 0 else None
            found.append(statement)
            if isinstance(statement, ast.Role):
                at = len(found) - 1
            elif isinstance(last, ast.Role) and names.writes((statement,)) and not any(roles((statement,))):
                role = "assistant" if names.asks((statement,)) else last.role
                if role == last.role:
                    whole = (*last.body, *found[at + 1 :])
                    found[at:] = [replace(last, body=whole, span=last.span.to(statement.span))]
                else:
                    here = self.word(self.name)
                    found[-1] = ast.Role(role, (statement,), (), None, statement.span, here)
                    at = len(found) - 1
        return found

    def _older(self, node: Node, rebound: set[str], before: tuple[ast.Statement, ...]) -> Node:
        """A statement in which variables that are bound anew, but not before it, have their older value."""
        already = {name.text for name in names.bound(before)}
        older = {name: self.parameter(name) for name in self.used if name in rebound - already}
        return cast(Node, names.renamed(node, older)) if older else node

    # -- what was found ------------------------------------------------------------------------------

    def unseen(self, found: Diagnostic) -> str | None:
        """The variable that an error of a look speaks of; None for every other finding."""
        span = found.span
        if found.severity != "error" or span is None or span.source is not self.source:
            return None
        if not self.end <= span.start < self.start:
            return None
        return next((name for name, node in self.looks.items() if node.span == span), None)

    def kept(self, checked: CheckedProgram) -> tuple[Type | None, tuple[Kept, ...], tuple[str, ...]]:
        """The type of the value to show, the variables that stay, and what is to be said of others."""
        types = checked.main.types
        kept: list[Kept] = []
        notes: list[str] = []
        self.scored: set[str] = set()
        mutable = {node.name.text for node in self.body if isinstance(node, ast.Let) and node.mutable}
        for name in self.candidates:
            found = types.get(id(self.looks[name.text]))
            if isinstance(found, ScoredOf):
                self.scored.add(name.text)
                notes.append(f"{name.text} keeps its best option: scores last as long as their input")
                found = found.option
            plain = _plain(found)
            if plain is None:
                notes.append(f"{name.text} is gone: {show_found(found)} lasts as long as its input")
            else:
                home = self.composed.home(name.span)
                kept.append(Kept(name.text, plain, name.text in mutable, home))
        there = {each.name for each in kept} | {name.text for name in self.candidates}
        for word in self.used:
            if word in self.changed and word not in there:
                old: Variable = self.state.variables[word]
                kept.append(Kept(word, old.type, old.mutable, old.span))
        found = None if self.last is None else types.get(id(self.last))
        shown = _plain(found)
        if shown is None and found is not None and not isinstance(found, Never | Unknown | Null):
            notes.append(f"the value is a {show_found(found)}, which is not shown")
        unique = {each.name: each for each in kept}
        return None if shown == NULL else shown, tuple(unique.values()), tuple(notes)

    def told(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Findings where they were typed, without those that say nothing at a prompt."""
        told = []
        for each in found:
            span = each.span
            ours = span is not None and span.source is self.source
            typed = ours and span is not None and span.start >= self.start
            shown = self.last is not None and span == self.last.span and each.code == UNUSED
            if each.severity != "error" and (shown or each.code in UNTOLD or not typed):
                continue
            told.append(self.composed.told(each, self.source))
        return told


def _refusal(message: str, span: Span, why: str, hint: str) -> Diagnostic:
    return Diagnostic(AT_PROMPT, message, span, reason=why, hint=hint)


def _plain(found: ExpressionType | None) -> Type | None:
    """The type of values that can be kept; None for what lives only in a run."""
    if found is None or not isinstance(found, Type):
        return None
    return erased(found)
