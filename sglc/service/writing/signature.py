"""The call around an offset: what is called, and which parameter is being given."""

from __future__ import annotations

import itertools
import re

from sglc.check.names.builtins import FUNCTIONS, LIST_METHODS, MAP_METHODS, SCORED_METHODS, STR_METHODS
from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.shown import doc_of, one_line
from sglc.service.names.targets import Target, member_of, targets_of
from sglc.source import Span
from sglc.syntax.tree import ast

FARTHEST = 4_000
"""Characters before an offset that are looked at."""
_CALLED = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\s*$")
_METHODS = {**STR_METHODS, **LIST_METHODS, **MAP_METHODS, **SCORED_METHODS}


@value
class Parameter:
    """A parameter as it is shown: its name and its text, `name: T = default`."""

    name: str
    text: str
    doc: str = ""


@value
class Signature:
    """A call: what is called, its parameters, and which of them an offset stands in, if in any."""

    label: str
    parameters: tuple[Parameter, ...]
    active: int | None
    doc: str = ""
    target: Target | None = None


@value
class OpenCall:
    """A call whose bracket is open: the text of what is called, where it begins, and what was given."""

    called: str
    start: int
    place: int
    """Arguments before this one."""
    named: tuple[str, ...]
    """Those of them that were given by name."""
    name: str = ""
    """The name that this one is given by."""


def signature(snapshot: Snapshot, offset: int) -> Signature | None:
    """The call around an offset; None where there is none, or nobody knows what is called."""
    call = open_call(snapshot.text, offset)
    if call is None:
        return None
    found = _shown(snapshot, call, offset)
    if found is None:
        return None
    label, parameters, doc, target = found
    active: int | None = call.place
    if call.name:
        names = [each.name for each in parameters]
        active = names.index(call.name) if call.name in names else None
    if active is not None and active >= len(parameters):
        active = None
    return Signature(label, parameters, active, doc, target)


def open_call(text: str, offset: int) -> OpenCall | None:
    """The innermost call whose bracket is open at an offset, told from the text alone."""
    depth, place = 0, offset
    commas: list[int] = []
    least = max(0, offset - FARTHEST)
    quoted = False
    while place > least:
        place -= 1
        char = text[place]
        if char == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        elif quoted:
            if char == "\n":
                return None
        elif char in ")]}":
            depth += 1
        elif char in "([{":
            if depth:
                depth -= 1
                continue
            if char != "(":
                return None
            match = _CALLED.search(text, least, place)
            if match is None:
                return None
            bounds = [place, *reversed(commas), offset]
            pieces = [text[a + 1 : b] for a, b in itertools.pairwise(bounds)]
            names = [_argument_name(piece) for piece in pieces]
            given = tuple(name for name in names[:-1] if name)
            return OpenCall(match.group(1), match.start(1), len(commas), given, names[-1])
        elif char == "," and not depth:
            commas.append(place)
        elif char == "\n" and not depth and text[place + 1 : place + 2].strip():
            return None  # a line at the left margin begins a declaration
    return None


def _argument_name(piece: str) -> str:
    match = re.match(r"\s*([^\W\d]\w*)\s*=(?![=>])", piece)
    return match.group(1) if match else ""


def called_target(snapshot: Snapshot, called: str) -> Target | None:
    """The declaration that a text before a bracket names."""
    names = targets_of(snapshot, snapshot.checked.main)
    head, _, label = called.rpartition(".")
    if not head:
        target = names.find(label)
        if target is None:
            unions = [each for each in names.own.values() if each.kind == "union"]
            found = (member_of(each, label) for each in unions)
            target = next((each for each in found if each is not None), None)
        return None if target is None else target.aim or target
    return member_of(names.find(head), label)


_Found = tuple[str, tuple[Parameter, ...], str, Target | None]


def _shown(snapshot: Snapshot, call: OpenCall, offset: int) -> _Found | None:
    target = called_target(snapshot, call.called)
    if target is not None:
        return _declared(target)
    head, _, label = call.called.rpartition(".")
    is_method = bool(head) or snapshot.text[call.start - 1 : call.start] == "."
    row = _METHODS.get(label) if is_method else FUNCTIONS.get(label)
    if row is None:
        return None
    parameters = tuple(
        Parameter(name, f"{name}: {kind.rstrip('?…')}" + ("?" if kind.endswith("?") else ""))
        for name, kind in row.parameters
    )
    return _label(label, parameters, f" -> {row.result}"), parameters, row.meaning, None


def _declared(target: Target) -> _Found | None:
    node = target.node
    result = ""
    match node:
        case ast.FunctionDeclaration() | ast.ExternDeclaration():
            parts = [(each.name.text, each.span, "") for each in node.parameters]
            result = "" if node.result is None else f" -> {one_line(node.result.span.text)}"
        case ast.RecordDeclaration(fields=fields) | ast.ErrorDeclaration(fields=fields):
            parts = [(each.name.text, each.span, each.doc) for each in fields]
        case ast.Variant(fields=fields):
            parts = [(each.name.text, each.span, each.doc) for each in fields]
        case _:
            return None
    parameters = tuple(Parameter(name, _text(span), doc) for name, span, doc in parts)
    return _label(target.name, parameters, result), parameters, doc_of(target), target


def _text(span: Span) -> str:
    return one_line(span.text.partition("#")[0])


def _label(name: str, parameters: tuple[Parameter, ...], result: str) -> str:
    return f"{name}({', '.join(each.text for each in parameters)}){result}"
