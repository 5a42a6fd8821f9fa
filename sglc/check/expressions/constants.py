"""Values known at compile time: literals, constants, enum members and what is computed from them.

Defaults, option values, counts and the values of `mock` are folded here. Folding follows what `infer` found,
so it runs after it and reports nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sglc.check.core.result import (
    ConstantSymbol,
    DefaultArgument,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    RecordSymbol,
    Unknown,
    VariantSymbol,
)
from sglc.check.core.state import Entity, FunctionState
from sglc.check.expressions.expressions import Expressions
from sglc.check.types.assignability import UNKNOWN, expand, said, widen
from sglc.syntax import ast
from sglc.types.arithmetic import ARITHMETIC, ArithmeticFault, compute, is_number, negated
from sglc.types.equality import equal
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

NONE: tuple[bool, Any] = (False, None)
MAX_SIZE = 100_000
"""Constant texts and lists may be this long; what is longer is computed at run time."""

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": equal, "!=": lambda a, b: not equal(a, b),
}  # fmt: skip


class Constants(Expressions):
    """What folds has one value whatever the program does."""

    def constant(self, entity: Entity) -> tuple[ExpressionType, Value] | None:
        """Type and value of a `const` of this module; None where it has none, which is reported once."""
        known = self.program.constants.get(entity.name)
        if known is not None:
            return None if isinstance(known[0], Unknown) else known
        node: ast.ConstDeclaration = entity.declaration
        outer, self.function = self.function, FunctionState(None, "const")
        type: ExpressionType = UNKNOWN if node.type is None else self.resolve(node.type)
        before = len(self.program.diagnostics)
        if node.type is None:
            type = self.infer(node.value)
        else:
            self.expect(node.value, type, f"constant `{node.name.text}`")
        quiet = len(self.program.diagnostics) > before
        found, value = self.fold(node.value)
        self.function = outer
        if not found:
            if not quiet and not isinstance(type, Unknown):
                self.program.report(
                    "E0325", f"the value of `{node.name.text}` is not known at compile time", node.value.span,
                    label="no constant",
                    hint="a constant is made of literals, other constants, enum members and records of them",
                )  # fmt: skip
            type, value = UNKNOWN, None
        elif isinstance(type, ListValue | RangeOf | ErrorOf | Never):
            self.program.report(
                "E0326", f"the type of `{node.name.text}` is not clear", node.value.span,
                label=f"this is {said(type)}", hint=f"write it down: `const {node.name.text}: [T] = …`",
            )  # fmt: skip
            type = UNKNOWN
        else:
            value = self.convert(value, type)
            self.module.constants[id(node.value)] = value
        self.program.constants[entity.name] = (type, value)
        return None if isinstance(type, Unknown) else (type, value)

    def default(self, node: ast.Expression, type: ExpressionType, what: str) -> DefaultArgument | None:
        outer, self.function = self.function, FunctionState(None, "const")
        before = len(self.program.diagnostics)
        self.expect(node, type, f"the default of {what}")
        found, value = self.fold(node)
        self.function = outer
        if not found:
            if len(self.program.diagnostics) == before and self.types[id(node)] != UNKNOWN:
                self.program.report(
                    "E0325", f"the default of {what} is not known at compile time", node.span,
                    label="no constant", hint="make it optional, and set the value in the body",
                )  # fmt: skip
            return None
        value = self.convert(value, type)
        self.module.constants[id(node)] = value
        return DefaultArgument(value)

    def needed(self, node: ast.Expression, target: ExpressionType, what: str) -> Any:
        """The constant value of an expression that must be known now; reported and None where it is not."""
        before = len(self.program.diagnostics)
        self.expect(node, target, what)
        found, value = self.fold(node)
        if not found:
            if len(self.program.diagnostics) == before and self.types[id(node)] != UNKNOWN:
                self.program.report(
                    "E0325", f"{what} must be known at compile time", node.span, label="no constant",
                    hint="write a number, or the name of a `const`",
                )  # fmt: skip
            return None
        if len(self.program.diagnostics) > before:
            return None
        self.module.constants[id(node)] = value
        return value

    def not_a_member(self, value: Any, target: ExpressionType) -> str | None:
        return super().not_a_member(self.convert(value, target), target)

    def fold(self, node: ast.Expression) -> tuple[bool, Any]:
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
                symbol = self.symbols.get(id(node))
                return (True, symbol.value) if isinstance(symbol, ConstantSymbol) else NONE
            case ast.Unary("-", operand):
                found, value = self.fold(operand)
                return (True, negated(value)) if found and is_number(value) else NONE
            case ast.ListDisplay(items) | ast.TupleDisplay(items):
                values = [self.fold(item) for item in items]
                if not all(found for found, _ in values) or len(values) > MAX_SIZE:
                    return NONE
                plain = [value for _, value in values]
                return True, plain if isinstance(node, ast.ListDisplay) else tuple(plain)
            case ast.MapDisplay(entries):
                whole: dict[str, Any] = {}
                for left, right in entries:
                    (a, k), (b, v) = self.fold(left), self.fold(right)
                    if not (a and b and isinstance(k, str)):
                        return NONE
                    whole[k] = v
                return True, whole
            case ast.Binary(sign, left, right) if sign in _COMPARISONS or sign in ARITHMETIC:
                return self._fold_binary(sign, left, right)
            case ast.Call():
                return self._fold_call(node)
        return NONE

    def _fold_binary(self, sign: str, left: ast.Expression, right: ast.Expression) -> tuple[bool, Any]:
        (a, x), (b, y) = self.fold(left), self.fold(right)
        if not (a and b):
            return NONE
        if sign in ("==", "!="):
            return True, _COMPARISONS[sign](x, y)
        if is_number(x) and is_number(y):
            if sign in _COMPARISONS:
                return True, _COMPARISONS[sign](x, y)
            try:
                return True, compute(sign, x, y)
            except ArithmeticFault:
                return NONE  # reported where the operator is checked
        texts = isinstance(x, str) and isinstance(y, str)
        lists = isinstance(x, list) and isinstance(y, list)
        if sign == "+" and (texts or lists) and len(x) + len(y) <= MAX_SIZE:
            return True, x + y
        return NONE

    def _fold_call(self, node: ast.Call) -> tuple[bool, Any]:
        symbol = self.symbols.get(id(node)) or self.symbols.get(id(node.function))
        arguments = self.module.arguments.get(id(node))
        if arguments is None or not isinstance(symbol, RecordSymbol | VariantSymbol):
            return NONE
        record = self.constructed(symbol)
        if record is None or len(record.fields) != len(arguments):
            return NONE
        fields: dict[str, Any] = {}
        for field, argument in zip(record.fields, arguments, strict=True):
            if isinstance(argument, DefaultArgument):
                fields[field.name] = argument.value
            else:
                found, value = self.fold(argument)
                if not found:
                    return NONE
                fields[field.name] = self.convert(value, field.type)
        if isinstance(symbol, RecordSymbol):
            return True, RecordValue(symbol.type, fields)
        return True, RecordValue(symbol.union, fields, symbol.variant)

    def constructed(self, symbol: RecordSymbol | VariantSymbol) -> RecordType | None:
        """The fields that a constructor takes."""
        if isinstance(symbol, RecordSymbol):
            declared = self.table.get(symbol.type)
            return declared if isinstance(declared, RecordType) else None
        union = self.table.get(symbol.union)
        if isinstance(union, UnionType):
            for variant in union.variants:
                if variant.name == symbol.variant:
                    return variant
        return None

    def convert(self, value: Any, type: ExpressionType) -> Any:
        """The value as the type holds it: integers become decimals or floats where those are due."""
        if value is None or isinstance(value, str | bool | RecordValue):
            return value
        plain = expand(type, self.table)
        match plain:
            case Dec() if isinstance(value, int):
                return Decimal(value)
            case Float() if isinstance(value, int | Decimal):
                return float(value)
            case Optional(item):
                return self.convert(value, item)
            case ListOf(item) if isinstance(value, list):
                return [self.convert(v, item) for v in value]
            case TupleOf(items) if isinstance(value, tuple) and len(value) == len(items):
                return tuple(self.convert(v, t) for v, t in zip(value, items, strict=True))
            case MapOf(_, inner) if isinstance(value, dict):
                return {k: self.convert(v, inner) for k, v in value.items()}
            case Alternatives(arms):
                if isinstance(value, int) and not any(
                    widen(arm, self.table).__class__.__name__ == "Int" for arm in arms
                ):
                    for arm in arms:
                        if isinstance(widen(arm, self.table), Dec | Float):
                            return self.convert(value, widen(arm, self.table))
                for arm in arms:
                    if not isinstance(expand(arm, self.table), Named):
                        found = self.convert(value, arm)
                        if found is not value:
                            return found
        return value
