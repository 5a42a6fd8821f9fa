"""What is being typed as a program, for the editor's questions: the session's declarations, then the input.

Statements stand in a function whose parameters are the variables of the session. Its text is one that `parse`
reads; only the types of the parameters are put into the tree, as they are known (decision 120).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sglc.check.program import Workspace
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.repl.pieces import DECLARING, goes_on
from sglc.repl.state import State, Variable
from sglc.source import Source
from sglc.syntax.pieces import PieceReader
from sglc.syntax.tree import ast

if TYPE_CHECKING:
    from sglc.service.core.snapshot import Snapshot

INDENT = "    "
_DECLARES = re.compile(r"(?:pub\s+)?(?:pure\s+)?\w+\s+(\w*)")
_CALL = re.compile(r"(?:part|aside)\s+\w+\((?![^)]*\w\s*:)[^\n]*$")
"""A `part` or `aside` that is called, not declared."""


class Typing:
    """Snapshots of what is being typed. Modules that are used are kept from one to the next."""

    def __init__(self) -> None:
        self._workspace = Workspace()
        self._reader = PieceReader()
        self._newest: tuple[State, str, Snapshot, int, str] | None = None
        self.lock = Lock()
        """Whoever asks holds it: terminals ask beside their loop. A snapshot holds until the next is made."""

    def snapshot(
        self, place: str, state: State, text: str, *, allow_outside: bool = False
    ) -> tuple[Snapshot, int, str]:
        """The program of an input whose end the cursor stands at, the offset of the cursor, and the name of
        the function that statements stand in, which nobody has typed."""
        from sglc.service.core.snapshot import snapshot_of

        if self._newest is not None and self._newest[0] is state and self._newest[1] == text:
            return self._newest[2:]
        composed, known, name = _composed(state, text)
        source = Source(place, composed)
        library = self._workspace.library(allow_outside=allow_outside)
        library.add(source)

        def read(source: Source) -> tuple[ast.Module, list[Diagnostic]]:
            tree, found = self._reader(source)
            return replace(tree, declarations=tuple(_shortened(tree, known, name, state.variables))), found

        snapshot = snapshot_of(self._workspace, Path(place), source, library, read)
        self._newest = (state, text, snapshot, len(composed), name)
        return snapshot, len(composed), name


def declares(piece: str) -> bool:
    """Whether a piece of an input that is being typed is meant as a declaration: its first word is complete,
    and a name or a path comes next."""
    lines = [line for line in piece.split("\n") if not line.startswith("#")]
    first = next((line for line in lines if line.strip()), "")
    word, blank, rest = first.partition(" ")
    if not blank or word not in DECLARING or (rest.strip() and rest.lstrip()[0] not in _NAMING):
        return False
    return len(lines) > 1 or _CALL.match(first) is None


_NAMING = frozenset('_"./abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')


def _composed(state: State, text: str) -> tuple[str, int, str]:
    """The text of the program, which ends at the cursor; how much of it is functions whose bodies nobody
    asks about; and the name of the function of the statements."""
    *before, last = list(_pieces(text)) or [""]
    declared = [each for each in before if declares(each)]
    anew = {match[1] for each in [*declared, last] if (match := _DECLARES.match(each)) and declares(each)}
    older = [each for each in state.declared if each.kind != "test" and anew.isdisjoint(each.names)]
    kept = [_ended(each.span.text) for each in older]
    known = 0 if last.startswith("test") else sum(map(len, kept))  # tests ask for holes
    lines = [*kept, *map(_ended, declared)]
    name = "session"
    while name in state.variables or any(re.search(rf"\b{name}\b", each) for each in (*lines, text)):
        name += "_"
    if declares(last):
        return "".join(lines) + last, known, name
    parameters = ", ".join(f"{each}: json" for each in state.variables)
    lines += [f"fn {name}({parameters}):\n", INDENT + "null\n"]
    statements = [each for each in before if not declares(each)]
    body = "\n".join(INDENT + line for each in (*statements, last) for line in _lines(each))
    return "".join(lines) + body, known, name


def _ended(piece: str) -> str:
    return piece if piece.endswith("\n") else piece + "\n"


def _lines(piece: str) -> list[str]:
    return (piece[:-1] if piece.endswith("\n") else piece).split("\n")


def _pieces(text: str) -> Iterator[str]:
    """The pieces of an input, each with its line end: from a line at the margin to the next that begins
    something."""
    piece: list[str] = []
    for line in re.findall(r"[^\n]*\n|[^\n]+$", text):
        if piece and (line.startswith("|") or not goes_on(line)):
            yield "".join(piece)
            piece = []
        piece.append(line)
    if piece:
        yield "".join(piece)


def _shortened(
    tree: ast.Module, known: int, name: str, variables: Mapping[str, Variable]
) -> Iterator[ast.Declaration]:
    """The declarations: functions within the first `known` characters without their bodies, which were
    checked when they were taken, and parameters of the function of a name with the types of the variables."""
    for each in tree.declarations:
        if not isinstance(each, ast.FunctionDeclaration):
            yield each
        elif each.name.text == name:
            given = [
                replace(parameter, type=ast.TypeKnown(variables[parameter.name.text].type, parameter.span))
                for parameter in each.parameters
                if parameter.name.text in variables
            ]
            yield replace(each, parameters=tuple(given))
        else:
            yield replace(each, body=()) if each.span.end <= known else each
