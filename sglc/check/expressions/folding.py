"""Values known at compile time: literals, constants, enum members and what is computed from them.

Folding follows what `infer` found, so it runs after it and reports nothing. What folds has one value whatever
the program does.
"""

from __future__ import annotations

from decimal import Decimal

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    ConstantSymbol,
    DefaultArgument,
    ExpressionType,
    RecordSymbol,
    VariantSymbol,
)
from sglc.check.types.kinds import Table, expand, widen
from sglc.syntax.tree import ast
from sglc.types.arithmetic import ARITHMETIC, is_number, negated
from sglc.types.type import (
    Alternatives,
    Dec,
    Float,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    TupleOf,
    UnionType,
)
from sglc.types.values import RecordValue, Value
from sglc.values.kinds import ValueFault, is_value
from sglc.values.operators import BINARY

NONE: tuple[bool, Value] = (False, None)

MAX_SIZE = 100_000
"""Constant texts and lists may be this long; what is longer is computed at run time."""

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})


def fold(module: ModuleContext, node: ast.Expression) -> tuple[bool, Value]:
    """Whether an expression has one value known now, and the value."""
    match node:
        case ast.Number(value) | ast.Boolean(value):
            return True, value
        case ast.String(parts):
            if not parts:
                return True, ""
            if len(parts) == 1 and isinstance(parts[0], str):
                return True, parts[0]
            return NONE
        case ast.Null():
            return True, None
        case ast.Reference() | ast.Attribute():
            symbol = module.symbols.get(id(node))
            return (True, symbol.value) if isinstance(symbol, ConstantSymbol) else NONE
        case ast.Unary("-", operand):
            found, number = fold(module, operand)
            return (True, negated(number)) if found and is_number(number) else NONE
        case ast.ListDisplay(items) | ast.TupleDisplay(items):
            values = [fold(module, item) for item in items]
            if not all(found for found, _ in values) or len(values) > MAX_SIZE:
                return NONE
            plain = [value for _, value in values]
            return True, plain if isinstance(node, ast.ListDisplay) else tuple(plain)
        case ast.MapDisplay(entries):
            whole: dict[str, Value] = {}
            for left, right in entries:
                (a, k), (b, v) = fold(module, left), fold(module, right)
                if not (a and b and isinstance(k, str)):
                    return NONE
                whole[k] = v
            return True, whole
        case ast.Binary(sign, left, right) if sign in _COMPARISONS or sign in ARITHMETIC:
            return _fold_binary(module, sign, left, right)
        case ast.Call():
            return _fold_call(module, node)
    return NONE


def _fold_binary(
    module: ModuleContext, sign: str, left: ast.Expression, right: ast.Expression
) -> tuple[bool, Value]:
    (a, x), (b, y) = fold(module, left), fold(module, right)
    if not (a and b):
        return NONE
    together = sign == "+" and (
        (isinstance(x, str) and isinstance(y, str)) or (isinstance(x, list) and isinstance(y, list))
    )
    if not (sign in ("==", "!=") or (is_number(x) and is_number(y)) or together):
        return NONE
    if together and len(x) + len(y) > MAX_SIZE:  # type: ignore[arg-type]
        return NONE
    try:
        found = BINARY[sign](x, y)
    except ValueFault:
        return NONE  # reported where the operator is checked
    assert is_value(found)
    return True, found


def _fold_call(module: ModuleContext, node: ast.Call) -> tuple[bool, Value]:
    symbol = module.symbols.get(id(node)) or module.symbols.get(id(node.function))
    arguments = module.arguments.get(id(node))
    if arguments is None or not isinstance(symbol, RecordSymbol | VariantSymbol):
        return NONE
    record = constructed(module.table, symbol)
    if record is None or len(record.fields) != len(arguments):
        return NONE
    fields: dict[str, Value] = {}
    for field, argument in zip(record.fields, arguments, strict=True):
        if isinstance(argument, DefaultArgument):
            fields[field.name] = argument.value
        else:
            found, value = fold(module, argument)
            if not found:
                return NONE
            fields[field.name] = convert(module.table, value, field.type)
    if isinstance(symbol, RecordSymbol):
        return True, RecordValue(symbol.type, fields)
    return True, RecordValue(symbol.union, fields, symbol.variant)


def constructed(table: Table, symbol: RecordSymbol | VariantSymbol) -> RecordType | None:
    """The fields that a constructor takes."""
    if isinstance(symbol, RecordSymbol):
        declared = table.get(symbol.type)
        return declared if isinstance(declared, RecordType) else None
    union = table.get(symbol.union)
    return union.variant(symbol.variant) if isinstance(union, UnionType) else None


def convert(table: Table, value: Value, type: ExpressionType) -> Value:
    """The value as the type holds it: integers become decimals or floats where those are due."""
    if value is None or isinstance(value, str | bool | RecordValue):
        return value
    plain = expand(type, table)
    match plain:
        case Dec() if isinstance(value, int):
            return Decimal(value)
        case Float() if isinstance(value, int | Decimal):
            return float(value)
        case Optional(item):
            return convert(table, value, item)
        case ListOf(item) if isinstance(value, list):
            return [convert(table, v, item) for v in value]
        case TupleOf(items) if isinstance(value, tuple) and len(value) == len(items):
            return tuple(convert(table, v, t) for v, t in zip(value, items, strict=True))
        case MapOf(_, inner) if isinstance(value, dict):
            return {k: convert(table, v, inner) for k, v in value.items()}
        case Alternatives(arms):
            if isinstance(value, int) and not any(
                widen(arm, table).__class__.__name__ == "Int" for arm in arms
            ):
                for arm in arms:
                    if isinstance(widen(arm, table), Dec | Float):
                        return convert(table, value, widen(arm, table))
            for arm in arms:
                if not isinstance(expand(arm, table), Named):
                    found = convert(table, value, arm)
                    if found is not value:
                        return found
    return value
