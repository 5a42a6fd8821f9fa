"""The type that an expression is to have where it is being written."""

from __future__ import annotations

import re

from sglc.check.core.result import ExpressionType
from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.targets import field_of
from sglc.service.writing.context import Context
from sglc.service.writing.sight import declaration_at, type_of, type_of_expression
from sglc.service.writing.signature import called_target, open_call, signature
from sglc.syntax.parse import parse_expression
from sglc.syntax.tree import ast

_COMPARED = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\s*(?:==|!=|\bin|\bnot in)\s*\[?(?:[\w, ]*,\s*)?$")
_LET = re.compile(r"^\s*(?:let|var)\s+(\w+)\s*:\s*(.+?)\s*=\s*$")
_SET = re.compile(r"^\s*((?:[^\W\d]\w*\.)*[^\W\d]\w*)\s*[-+*/]?=\s*$")
_MOCKED = re.compile(r"^\s*mock\s+(\w+)\.(\w+)\s*=\s*$")


@value
class Expected:
    """A type, None where any will do, and parameters of the call around that are not given yet, each with its
    text."""

    type: ExpressionType | None = None
    parameters: tuple[tuple[str, str], ...] = ()


def expected_type(snapshot: Snapshot, offset: int, context: Context) -> Expected:
    """What is wanted at an offset."""
    before = context.before
    if match := _COMPARED.search(before):
        return Expected(_type_of_text(snapshot, match.group(1), offset))
    if match := _MOCKED.match(before):
        return Expected(_hole(snapshot, match.group(1), match.group(2)))
    call = open_call(snapshot.text, context.start)
    if call is not None:
        return _of_argument(snapshot, context)
    if re.match(r"\s*return\s+$", before):
        node = declaration_at(snapshot, offset)
        if isinstance(node, ast.FunctionDeclaration) and node.result is not None:
            return Expected(snapshot.tables.resolved(node.result))
    if match := _LET.match(before):
        return Expected(_written(snapshot, match.group(2)))
    if match := _SET.match(before):
        return Expected(_type_of_text(snapshot, match.group(1), offset))
    return Expected()


def _of_argument(snapshot: Snapshot, context: Context) -> Expected:
    call = open_call(snapshot.text, context.start)
    shown = signature(snapshot, context.start)
    if call is None or shown is None:
        return Expected()
    rest = shown.parameters[call.place :] if not call.named else shown.parameters
    parameters = (
        () if call.name else tuple((each.name, each.text) for each in rest if each.name not in call.named)
    )
    target = called_target(snapshot, call.called)
    if target is None or shown.active is None:
        return Expected(None, parameters)
    part = field_of(target, shown.parameters[shown.active].name)
    return Expected(None if part is None else type_of(snapshot, part), parameters)


def _type_of_text(snapshot: Snapshot, text: str, offset: int) -> ExpressionType | None:
    parsed, _ = parse_expression(text)
    return None if parsed is None else type_of_expression(snapshot, parsed, offset)


def _hole(snapshot: Snapshot, function: str, name: str) -> ExpressionType | None:
    from sglc.service.names.targets import binders, targets_of

    target = targets_of(snapshot, snapshot.checked.main).find(function)
    node = None if target is None else (target.aim or target).node
    for bound, label, kind in binders(getattr(node, "body", ())):
        if kind == "hole" and label.text == name:
            found = (snapshot.tables_of(module).hole(bound) for module in snapshot.checked.modules)
            facts = next((each for each in found if each is not None), None)
            return None if facts is None else facts.type
    return None


def _written(snapshot: Snapshot, text: str) -> ExpressionType | None:
    from sglc.check.types.resolve import BUILTIN_TYPES
    from sglc.types.type import Named

    known = BUILTIN_TYPES.get(text)
    if known is not None:
        return known
    names = (name for name in snapshot.checked.table if name.rpartition(".")[2] == text)
    name = next(names, None)
    return None if name is None else Named(name)
