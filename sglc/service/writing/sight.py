"""What is in sight at an offset, also where the text around it cannot be read.

Blocks are told by indentation, so that a half-written line takes nothing away.
"""

from __future__ import annotations

import re

from sglc.check.core.result import ExpressionType, ScoredOf
from sglc.check.expressions.builtin_results import SIMPLE
from sglc.check.names.builtins import FUNCTIONS
from sglc.check.types.kinds import field_type, item_of, without_null
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.occurrences import occurrences_of
from sglc.service.names.targets import Target, binders, owner_of_type, qualified, targets_of
from sglc.source import Source, Span
from sglc.syntax.tree import ast
from sglc.types.type import FieldType, RecordType, UnionType

_TRANSPARENT = re.compile(r"(?:system|user|assistant|tool|using|par|think)\b")
"""Blocks whose variables are in sight behind them."""


def declaration_at(snapshot: Snapshot, offset: int) -> ast.Declaration | None:
    """The declaration that an offset stands in, up to the next line at the left margin."""
    start = snapshot.source.declaration_start(offset)
    found = None
    for node in snapshot.tree.declarations:
        if node.span.start > offset:
            break
        found = node
    if found is None or found.span.start < start < found.span.end or found.span.end < start:
        return None
    return found


def variables_at(snapshot: Snapshot, offset: int) -> dict[str, Target]:
    """The variables in sight, the inner ones first."""
    node = declaration_at(snapshot, offset)
    if node is None:
        return {}
    found: dict[str, Target] = {}
    owner = node.title if isinstance(node, ast.TestDeclaration) else getattr(node, "name", None)
    label = owner.text if isinstance(owner, ast.Name) else str(owner or "")
    for parameter in getattr(node, "parameters", ()):
        found[parameter.name.text] = Target(
            "parameter", parameter.name.text, parameter.name.span, parameter, label
        )
    for bound, name, kind in binders(getattr(node, "body", ())):
        if isinstance(bound, ast.NamePattern) and snapshot.tables.symbol(bound) is None:
            continue
        if name.span.end <= offset and _reaches(snapshot.source, bound, name.span.start, offset):
            found[name.text] = Target(kind, name.text, name.span, bound, label)
    return dict(reversed(found.items()))


def _reaches(source: Source, bound: object, start: int, offset: int) -> bool:
    """Whether the block of a variable that is bound at `start` reaches to an offset."""
    first, last = source.position(start)[0], source.position(offset)[0]
    if isinstance(bound, ast.Lambda | ast.Comprehension):
        return first == last
    indent = _indent(source.line(first))
    if isinstance(bound, ast.Let) or hasattr(bound, "content") or isinstance(bound, ast.Gen | ast.Choose):
        indent = _outer(source, first, indent)
    elif isinstance(bound, ast.For | ast.Fork | ast.StreamFor | ast.Except | ast.NamePattern | ast.Ensure):
        indent += 1
    for number in range(first + 1, last + 1):
        line = source.line(number)
        here = _indent(line) if number < last else len(line) - len(line.lstrip())
        if (line.strip() or number == last) and here < indent and line.strip():
            return False
    return True


def _outer(source: Source, number: int, indent: int) -> int:
    """The indentation of the block that a line's variables belong to."""
    while indent and number > 1:
        number -= 1
        line = source.line(number)
        if line.strip() and _indent(line) < indent:
            if not _TRANSPARENT.match(line.strip()):
                break
            indent = _indent(line)
    return indent


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# -- types -----------------------------------------------------------------------------------------------


def type_of(snapshot: Snapshot, target: Target) -> ExpressionType | None:
    """The type of a variable, a field, a constant, or of what a function gives."""
    target = target.aim or target
    tables = snapshot.tables
    node = target.node
    found: ExpressionType | None
    match node:
        case ast.Parameter(type=written):
            return tables.resolved(written)
        case ast.Field():
            return _field(snapshot, target)
        case ast.Let(type=written, value=value):
            found = None if written is None else tables.resolved(written)
            return tables.type(value) if found is None else found
        case ast.Select():
            facts = tables.hole(node)
            return None if facts is None or facts.type is None else ScoredOf(facts.type)
        case ast.Gen() | ast.Choose():
            facts = tables.hole(node)
            return None if facts is None else facts.type
        case ast.For(iterable=iterable) | ast.Fork(iterable=iterable) | ast.Comprehension(iterable=iterable):
            found = tables.type(iterable)
            return None if found is None else item_of(found, snapshot.checked.table)
        case ast.Ensure(each=(_, values)):
            found = tables.type(values)
            return None if found is None else item_of(found, snapshot.checked.table)
        case ast.ConstDeclaration(value=value):
            return tables.type(value)
        case ast.FunctionDeclaration(result=written) | ast.ExternDeclaration(result=written):
            return None if written is None else _anywhere(snapshot, written)
    return _where_used(snapshot, target)


def _where_used(snapshot: Snapshot, target: Target) -> ExpressionType | None:
    """The type of a variable by the first place that reads it."""
    node = occurrences_of(snapshot).read_first.get(target)
    return None if node is None else snapshot.tables.type(node)


def _anywhere(snapshot: Snapshot, written: ast.TypeExpression) -> ExpressionType | None:
    found = (module.resolved.get(id(written)) for module in snapshot.checked.modules)
    return next((each for each in found if each is not None), None)


def _field(snapshot: Snapshot, target: Target) -> ExpressionType | None:
    for declared in snapshot.checked.table.values():
        shapes: tuple[RecordType, ...] = (declared,) if isinstance(declared, RecordType) else ()
        shapes = declared.variants if isinstance(declared, UnionType) else shapes
        for shape in shapes:
            if shape.name.rpartition(".")[2] == target.owner:
                found = next((each for each in shape.fields if each.name == target.name), None)
                if found is not None:
                    return field_type(found)
    return None


def fields_of_type(snapshot: Snapshot, found: ExpressionType) -> tuple[FieldType, ...]:
    """The fields of a record, or those of the variants of a union."""
    owner = owner_of_type(snapshot, found)
    if owner is None:
        return ()
    for name, declared in snapshot.checked.table.items():
        if qualified(snapshot, name) == owner:
            if isinstance(declared, RecordType):
                return declared.fields
            if isinstance(declared, UnionType):
                every = {each.name: each for variant in declared.variants for each in variant.fields}
                return tuple(every.values())
    return ()


def type_of_expression(snapshot: Snapshot, node: ast.Expression, offset: int) -> ExpressionType | None:
    """The type of an expression that stands in no tree, by what is in sight at an offset."""
    table = snapshot.checked.table
    match node:
        case ast.Reference(name):
            target = variables_at(snapshot, offset).get(name)
            target = target or targets_of(snapshot, snapshot.checked.main).find(name)
            return None if target is None else type_of(snapshot, target)
        case ast.Attribute(value, name):
            base = type_of_expression(snapshot, value, offset)
            if base is None:
                return None
            fields = fields_of_type(snapshot, without_null(base, table))
            return next((field_type(each) for each in fields if each.name == name.text), None)
        case ast.Index(value):
            base = type_of_expression(snapshot, value, offset)
            return None if base is None else item_of(base, table)
        case ast.Call(ast.Reference(name)) if name in FUNCTIONS:
            return SIMPLE.get(FUNCTIONS[name].result)
        case ast.Call(ast.Reference(name)):
            target = targets_of(snapshot, snapshot.checked.main).find(name)
            return None if target is None else type_of(snapshot, target)
        case ast.String():
            return SIMPLE["str"]
    return None


def type_definition(snapshot: Snapshot, offset: int) -> Span | None:
    """Where the type of the value at an offset is declared."""
    found = occurrences_of(snapshot).at(offset)
    owner = None if found is None else owner_of_type(snapshot, type_of(snapshot, found.target))
    return None if owner is None else owner.place
