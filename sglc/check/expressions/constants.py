"""Expressions whose value must be known now: constants, defaults, counts, option values."""

from __future__ import annotations

from sglc.check.core.context import Entity, ModuleContext
from sglc.check.core.result import (
    DefaultArgument,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    Unknown,
)
from sglc.check.expressions.folding import convert, fold
from sglc.check.expressions.inference import Inference
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import INT, STR, UNKNOWN, said
from sglc.check.types.resolve import TypeResolver
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import ListOf
from sglc.types.values import Value


@node
class Constants:
    """Constants, defaults and what else must be known now."""

    module: ModuleContext
    scopes: Scopes
    types: TypeResolver
    inference: Inference

    def constant(self, entity: Entity) -> tuple[ExpressionType, Value] | None:
        """Type and value of a `const` of this module; None where it has none, which is reported once."""
        known = self.module.program.constants.get(entity.name)
        if known is not None:
            return None if isinstance(known[0], Unknown) else known
        node: ast.ConstDeclaration = entity.declaration
        with self.scopes.of_constant():
            type: ExpressionType = UNKNOWN if node.type is None else self.types.resolve(node.type)
            before = len(self.module.diagnostics)
            if node.type is None:
                type = self.inference.infer(node.value)
            else:
                self.inference.expect(node.value, type, f"constant `{node.name.text}`")
            quiet = len(self.module.diagnostics) > before
            found, value = fold(self.module, node.value)
        if not found:
            if not quiet and not isinstance(type, Unknown):
                self.module.report(
                    "E0325",
                    f"the value of `{node.name.text}` is not known at compile time",
                    node.value.span,
                    label="no constant",
                    hint="a constant is made of literals, other constants, enum members and records of them",
                )
            type, value = UNKNOWN, None
        elif isinstance(type, ListValue | RangeOf | ErrorOf | Never):
            self.module.report(
                "E0326",
                f"the type of `{node.name.text}` is not clear",
                node.value.span,
                label=f"this is {said(type)}",
                hint=f"write it down: `const {node.name.text}: [T] = …`",
            )
            type = UNKNOWN
        else:
            value = convert(self.module.table, value, type)
            self.module.constants[id(node.value)] = value
        self.module.program.constants[entity.name] = (type, value)
        return None if isinstance(type, Unknown) else (type, value)

    def default(self, node: ast.Expression, type: ExpressionType, what: str) -> DefaultArgument | None:
        """The value of a default; reported and None where it is none of the type."""
        before = len(self.module.diagnostics)
        with self.scopes.of_constant():
            self.inference.expect(node, type, f"the default of {what}")
            found, value = fold(self.module, node)
        if not found:
            if len(self.module.diagnostics) == before and self.module.types[id(node)] != UNKNOWN:
                self.module.report(
                    "E0325",
                    f"the default of {what} is not known at compile time",
                    node.span,
                    label="no constant",
                    hint="make it optional, and set the value in the body",
                )
            return None
        value = convert(self.module.table, value, type)
        self.module.constants[id(node)] = value
        return DefaultArgument(value)

    def needed(self, node: ast.Expression, target: ExpressionType, what: str) -> Value:
        """The constant value of an expression that must be known now; reported and None where it is not."""
        before = len(self.module.diagnostics)
        self.inference.expect(node, target, what)
        found, value = fold(self.module, node)
        if not found:
            if len(self.module.diagnostics) == before and self.module.types[id(node)] != UNKNOWN:
                self.module.report(
                    "E0325",
                    f"{what} must be known at compile time",
                    node.span,
                    label="no constant",
                    hint="write a number, or the name of a `const`",
                )
            return None
        if len(self.module.diagnostics) > before:
            return None
        self.module.constants[id(node)] = value
        return value

    def whole(self, node: ast.Expression, what: str) -> int | None:
        """The integer that an expression must have at compile time; reported and None if it has none."""
        found = self.needed(node, INT, what)
        return found if isinstance(found, int) else None

    def constant_texts(self, node: ast.Expression) -> list[str] | None:
        """The texts of `one of xs`, which must be known now; reported and None if not."""
        with self.scopes.of_constant():
            found = self.needed(node, ListOf(STR), "the list of `one of`")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else None
