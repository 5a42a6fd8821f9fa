"""The value of an operation on known values, as the machine computes it (`sglc.values`), within bounds.

An operation that fails has no value here: it stays, so that its error belongs to run time and to its place.
So does an operation whose value no constant can hold, or that is too much work for a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from sglc.ir import ops
from sglc.types.language.membership import is_member
from sglc.types.language.predicates import predicates_of
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    InForm,
    Json,
    ListOf,
    MapOf,
    Named,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)
from sglc.types.values import EnumValue, RecordValue
from sglc.values import parts
from sglc.values.builtins import call_function, call_method
from sglc.values.coerce import checked
from sglc.values.kinds import KIND_FAULTS, ValueFault
from sglc.values.operators import BINARY, UNARY
from sglc.values.text import display, written_as

LARGEST = 100_000
"""Most characters and items of a value that becomes a constant: as many as one that is written down may have
(`MAX_SIZE` of `sglc.check.expressions.folding`). An artefact holds it, and every run loads it."""
BREADTH = 1_000
"""Most items of a list, map, tuple or range that an operation goes over here. To sort them takes some
milliseconds."""
WORK = 200_000
"""Most items and characters that all operations of a module make or go over, and steps of calls: a fraction
of a second, however the program is written. Operations on single numbers are not counted: each stands in
the program."""
DEEPEST = 50
"""Most levels of a constant, well below those that files may have (`MAX_DEPTH`)."""


class Unknown(Exception):
    """The value of an operation is not known before it runs."""


class Budget:
    """The work that is left for one module."""

    def __init__(self, left: int = WORK) -> None:
        self.left = left

    def spend(self, work: int) -> None:
        """Raises Unknown where less is left."""
        if work > self.left:
            raise Unknown
        self.left -= work


def weight(value: object) -> int | None:
    """Characters and items in a value. None for what no constant can hold: a range, a text that knows its
    grammar, what is larger than LARGEST or deeper than DEEPEST."""
    total, level = 0, [value]
    for _ in range(DEEPEST):
        below: list[object] = []
        total += len(level)
        for part in level:
            if isinstance(part, str):
                if type(part) is not str:
                    return None
                total += len(part)
            elif isinstance(part, RecordValue):
                below += part.fields.values()
            elif isinstance(part, dict):
                below += part.keys()
                below += part.values()
            elif isinstance(part, list | tuple):
                below += part
            elif not (part is None or isinstance(part, int | float | Decimal | EnumValue)):
                return None
        if total + len(below) > LARGEST:
            return None
        if not below:
            return total
        level = below
    return None


def value_of(op: ops.Op, values: Sequence[object], table: TypeTable, budget: Budget) -> object:
    """The value of an operation of `EVALUATED` on its operands' values. Raises Unknown."""
    if type(op) not in _PICKS:
        for value in values:
            if isinstance(value, list | tuple | dict | range | str):
                if len(value) > (LARGEST if isinstance(value, str) else BREADTH):
                    raise Unknown
                budget.spend(len(value))
    try:
        found = _EVALUATE[type(op)](op, values, table)
    except (ValueFault, *KIND_FAULTS):
        raise Unknown from None
    if isinstance(found, str | list | tuple | dict | RecordValue):
        size = weight(found)
        if size is None:
            raise Unknown
        budget.spend(size)
    return found


def text_of(value: object, table: TypeTable, budget: Budget) -> str:
    """The text that `${value}` writes. Raises Unknown."""
    if isinstance(value, range) and len(value) > BREADTH:
        raise Unknown
    try:
        text = display(value, table)
    except ValueFault:
        raise Unknown from None
    if len(text) > LARGEST:
        raise Unknown
    if text is not value:
        budget.spend(len(text))
    return text


def _record(op: ops.MakeRecord, values: Sequence[object], table: TypeTable) -> object:
    assert isinstance(op.type, Named)
    return parts.record(op.type.name, values, table)


def _method(op: ops.CallMethod, values: Sequence[object], table: TypeTable) -> object:
    if not op.name.isidentifier():
        raise Unknown  # parts of a text by its grammar: the parser of the grammar is the machine's
    return call_method(op.name, list(values), table)


def _check(op: ops.CheckType, values: Sequence[object], table: TypeTable) -> object:
    _without_patterns(op.type, table)
    if predicates_of(op.type, table):
        raise Unknown
    return checked(values[0], op.type, table)


def _write(op: ops.WriteAs, values: Sequence[object], table: TypeTable) -> object:
    _without_patterns(op.type, table)
    return written_as(values[0], op.type, table)


def _is_type(op: ops.IsType, values: Sequence[object], table: TypeTable) -> object:
    _without_patterns(op.type, table)
    if predicates_of(op.type, table):
        raise Unknown
    return is_member(values[0], op.type, table)


def _without_patterns(type: Type, table: TypeTable) -> None:
    """Raises Unknown for types with patterns, grammars or schemas: compiling one costs more than a run."""
    seen: set[str] = set()
    work: list[Type] = [type]
    while work:
        match work.pop():
            case Str() as text if text.patterns or text.until or text.excludes or text.grammar:
                raise Unknown
            case Json() | OneOf() | SpanOf() | Applied():
                raise Unknown
            case ListOf(item=item) | Optional(item=item) | InForm(item=item):
                work.append(item)
            case MapOf(key=key, value=value):
                work += (key, value)
            case TupleOf(items=items) | Alternatives(arms=items):
                work += items
            case Named(name=name) if name not in seen:
                seen.add(name)
                match table.get(name):
                    case AliasType(type=inner, where=where):
                        if where is not None:
                            raise Unknown
                        work.append(inner)
                    case RecordType(fields=fields):
                        work += [field.type for field in fields]
                    case UnionType(variants=variants):
                        work += [field.type for one in variants for field in one.fields]


def _limit(op: object, values: Sequence[object], table: TypeTable) -> object:
    if not isinstance(values[0], int) or values[0] <= 0:
        raise Unknown
    return values[0] - 1


_EVALUATE: dict[type, Callable[[Any, Sequence[object], TypeTable], object]] = {
    ops.MakeList: lambda op, v, t: list(v),
    ops.MakeTuple: lambda op, v, t: tuple(v),
    ops.MakeMap: lambda op, v, t: parts.mapping(v),
    ops.MakeRecord: _record,
    ops.MakeVariant: lambda op, v, t: parts.variant(op.name, v, t),
    ops.Concat: lambda op, v, t: parts.joined(v, t),
    ops.Append: lambda op, v, t: parts.appended(v[0], v[1]),
    ops.Unary: lambda op, v, t: UNARY[op.operator](v[0]),
    ops.Binary: lambda op, v, t: BINARY[op.operator](v[0], v[1]),
    ops.MakeRange: lambda op, v, t: parts.span(v[0], v[1], inclusive=op.inclusive),
    ops.GetField: lambda op, v, t: parts.field_of(v[0], op.name),
    ops.GetItem: lambda op, v, t: parts.item_of(v[0], v[1]),
    ops.GetSlice: lambda op, v, t: parts.slice_of(v[0], v[1], v[2]),
    ops.WithItem: lambda op, v, t: parts.with_item(v[0], v[1], v[2]),
    ops.WithField: lambda op, v, t: parts.with_field(v[0], op.name, v[1]),
    ops.CallBuiltin: lambda op, v, t: call_function(op.name, list(v), t),
    ops.CallMethod: _method,
    ops.CheckType: _check,
    ops.WriteAs: _write,
    ops.IsVariant: lambda op, v, t: parts.is_variant(v[0], op.name),
    ops.IsType: _is_type,
    ops.Limit: _limit,
}
EVALUATED = frozenset(_EVALUATE)
"""Operations that only compute."""
_PICKS = frozenset(
    {ops.MakeList, ops.MakeTuple, ops.MakeMap, ops.MakeRecord, ops.MakeVariant, ops.GetField, ops.GetItem}
    | {ops.IsVariant}
)
"""Operations that do not go over the items of an operand."""
