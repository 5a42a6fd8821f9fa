"""Which functions may have late text at all, by a look at their trees.

Most programs have none such. For them neither intermediate code is made nor its modules are loaded. What this
says is a bound from above: text counts as late as soon as something before it may vary.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import inf

from sglc.check.core.result import CheckedModule, CheckedProgram, LocalSymbol
from sglc.check.core.walk import parts
from sglc.syntax.tree import ast

WORTH_MOVING = 256
"""Characters of late text from which on a program is told. They are some 64 tokens, or four blocks of the
prefix cache. A model reads these in the time in which it draws about ten tokens (SmolLM2 with the native
executor: 2,856 tokens a second read, 444 drawn). Less is lost in what a block may gain or lose."""
MOST_READ = 5_000
"""Statements of one function that are read, those of its parts included at each call: more than programs
have. Behind them any text may follow."""


def late_text_candidates(checked: CheckedModule) -> frozenset[str]:
    """The functions of a module, by name, that may write as much constant text behind text that varies."""
    declared = {
        each.name.text: each
        for each in checked.module.declarations
        if isinstance(each, ast.FunctionDeclaration)
    }
    return frozenset(
        name
        for name, function in declared.items()
        if function.kind == "fn" and _Reading(checked, declared).of(function.body) >= WORTH_MOVING
    )


class _Ended(Exception):
    """The first hole, behind which nothing counts, or the limit of reading."""


class _Reading:
    """One function, read statement by statement."""

    def __init__(self, checked: CheckedModule, declared: Mapping[str, ast.FunctionDeclaration]) -> None:
        self._checked = checked
        self._declared = declared
        self._same: set[str] = set()
        """Variables that hold the same in every call."""
        self._varied = False
        self._late = 0.0
        self._left = MOST_READ
        self._within: list[str] = []

    def of(self, body: tuple[ast.Statement, ...]) -> float:
        """Characters of late text at most, up to the first hole."""
        with suppress(_Ended):
            self._read(body)
        return self._late

    def _read(self, body: tuple[ast.Statement, ...]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.Statement) -> None:
        self._left -= 1
        if self._left < 0:
            self._late = inf
            raise _Ended
        match statement:
            case ast.PipeLine(pieces):
                for piece in pieces:
                    self._piece(piece)
            case ast.Include():
                self._write(inf)
            case ast.Let(name=name, value=value):
                if self._is_same(value):
                    self._same.add(name.text)
            case ast.For(variable, iterable, body):
                if self._is_same(iterable):
                    self._same.add(variable.text)
                else:
                    self._varied = True
                self._read(body)
            case ast.Part(call=call):
                self._part(call)
            case ast.If(branches, otherwise):
                self._varied = True
                for _, body in branches:
                    self._read(body)
                self._read(otherwise)
            case ast.Match(_, cases):
                self._varied = True
                for case in cases:
                    self._read(case.body)
            case ast.Try(body, handlers):
                self._read(body)
                self._varied = True
                for handler in handlers:
                    self._read(handler.body)
            case ast.Think():
                raise _Ended
            case ast.StreamFor() | ast.While() | ast.Role() | ast.Using() | ast.Parallel() | ast.Forget():
                self._varied |= isinstance(statement, ast.StreamFor | ast.While)
                self._read(statement.body)

    def _piece(self, piece: ast.TextPart) -> None:
        match piece:
            case ast.Text(text):
                self._write(len(text))
            case ast.Insert(value):
                if self._is_same(value):
                    self._write(inf)
                else:
                    self._varied = True
            case ast.Hole():
                raise _Ended

    def _part(self, call: ast.Call) -> None:
        """What a part of this module writes; of another's anything may be expected."""
        name = call.function.name if isinstance(call.function, ast.Reference) else ""
        part = self._declared.get(name)
        if part is None or name in self._within:
            self._varied = True
            self._write(inf)
            return
        around = self._same
        self._same = set()
        if all(self._is_same(argument.value, around) for argument in call.arguments):
            self._same = {parameter.name.text for parameter in part.parameters}
        self._within.append(name)
        self._read(part.body)
        self._within.pop()
        self._same = around

    def _write(self, characters: float) -> None:
        if self._varied:
            self._late += characters + 1

    def _is_same(self, value: object, same: set[str] | None = None) -> bool:
        """Whether an expression speaks of no variable that may differ from call to call."""
        known = self._same if same is None else same
        if isinstance(value, tuple):
            return all(self._is_same(item, same) for item in value)
        if isinstance(value, ast.Reference):
            symbol = self._checked.symbols.get(id(value))
            return not isinstance(symbol, LocalSymbol) or symbol.name in known
        return all(self._is_same(item, same) for item in parts(value))


def reaches_outside(checked: CheckedProgram) -> bool:
    """Whether a program can do or hold anything that these findings are about."""
    return any(
        isinstance(node, ast.ExternDeclaration)
        or (isinstance(node, ast.FunctionDeclaration) and any(each.untrusted for each in node.parameters))
        for module in checked.modules
        for node in module.module.declarations
    )
