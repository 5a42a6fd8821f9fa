"""Declared errors and functions as their users see them."""

from __future__ import annotations

from decimal import Decimal

from sglc.callables.extern_spec import is_target
from sglc.check.core.context import ErrorFields, ModuleContext, Signature
from sglc.check.core.function_state import Local
from sglc.check.core.result import DefaultArgument, ExpressionType
from sglc.check.declarations.declared_types import DeclaredTypes
from sglc.check.declarations.dependent_types import DependentTypes
from sglc.check.expressions.constants import Constants
from sglc.check.names.builtins import ERRORS
from sglc.check.names.errors import error_named
from sglc.check.names.scopes import Scopes
from sglc.check.types.resolve import BUILTIN_TYPES
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import FieldType, Optional, Type

MAX_TIMEOUT = 86_400
"""Seconds: a day. Longer than that nobody waits for one call."""


@node
class Signatures:
    """The errors and functions of one module, as others see them."""

    module: ModuleContext
    scopes: Scopes
    dependent: DependentTypes
    constants: Constants
    declared: DeclaredTypes

    def define(self) -> None:
        """Define the errors of this module."""
        for entity in self.module.own("error"):
            node: ast.ErrorDeclaration = entity.declaration
            if node.name.text in ERRORS:
                self.module.report(
                    "E0204",
                    f"`{node.name.text}` is a built-in error",
                    node.name.span,
                    label="cannot be declared again",
                )
            fields = tuple(
                (field.name, _optional(field), DefaultArgument(field.default) if field.has_default else None)
                for field in self.declared.fields(entity.name, node.fields, json=False)
            )
            self.module.program.errors[entity.name] = ErrorFields(entity.name, fields)

    def signature(self, node: ast.FunctionDeclaration | ast.ExternDeclaration, name: str) -> Signature:
        """A function as its callers see it, under a qualified name.

        Types of parameters and of the result may have values of the parameters before them.
        """
        with self.scopes.of_constant():
            return self._in_scope(node, name)

    def _in_scope(self, node: ast.FunctionDeclaration | ast.ExternDeclaration, name: str) -> Signature:
        parameters: list[tuple[str, ExpressionType, DefaultArgument | None]] = []
        seen: dict[str, Span] = {}
        for parameter in node.parameters:
            label = parameter.name.text
            if label in seen:
                self.module.report(
                    "E0203",
                    f"parameter `{label}` is declared twice",
                    parameter.name.span,
                    label="again",
                    secondary=(Label(seen[label], "first declared here"),),
                )
                continue
            seen[label] = parameter.name.span
            type = self.dependent.written_type(parameter.type)
            default = None
            if parameter.default is not None:
                default = self.constants.default(parameter.default, type, f"parameter `{label}`")
            elif parameters and parameters[-1][2] is not None:
                self.module.report(
                    "E0311",
                    f"parameter `{label}` needs a default too",
                    parameter.name.span,
                    label="stands after a parameter with a default",
                    hint="move it to the front, or give it a default",
                )
            parameters.append((label, type, default))
            at = ast.Name(label, parameter.name.span)
            self.scopes.function.scope.names[label] = Local(label, label, type, "parameter", at.span, 0)
        result = (
            self.dependent.written_type(node.result) if node.result is not None else BUILTIN_TYPES["null"]
        )
        raises: list[str] = []
        for error in getattr(node, "raises", ()):
            found = error_named(self.module, error)
            if found is not None and found not in raises:
                raises.append(found)
        if isinstance(node, ast.ExternDeclaration):
            kind = "extern"
            self._extern(node, parameters)
        else:
            kind = "part" if node.kind == "aside" else node.kind
        return Signature(name, kind, tuple(parameters), result, tuple(raises), node, self.module)

    def _extern(
        self,
        node: ast.ExternDeclaration,
        parameters: list[tuple[str, ExpressionType, DefaultArgument | None]],
    ) -> None:
        """What an `extern py` says of its function: where it is, its key and its timeout."""
        report = self.module.report
        if not is_target(node.target):
            module, _, last = node.target.rpartition(".")
            meant = f'"{module}:{last}"' if is_target(f"{module}:{last}") else ""
            report(
                "E0440",
                f'"{node.target}" names no function of Python',
                node.target_span,
                label="not `module:function`",
                reason="a module is dotted names; a function is one name, and none that begins with `_`",
                hint=f"write `extern py {meant}`"
                if meant
                else 'write `extern py "tools:double" fn …` for `double` in `tools.py`',
                edits=(Edit(node.target_span, meant),) if meant else (),
            )
        if node.key is not None:
            key = node.key.text
            type = next((type for name, type, _ in parameters if name == key), None)
            if type is None:
                report(
                    "E0440",
                    f"there is no parameter `{key}`",
                    node.key.span,
                    label="unknown name",
                    reason="the key is the parameter that tells one write from another",
                )
            elif node.effects != "write":
                report(
                    "E0440",
                    f"a `{node.effects}` needs no key",
                    node.key.span,
                    label="for `effects write`",
                    reason="only what changes the world must not be done twice",
                    hint="leave `key` out",
                )
        if node.timeout is not None:
            count, unit = node.timeout
            if unit.text != "s" or not Decimal("0.001") <= count.value <= MAX_TIMEOUT:
                made, place = _seconds(Decimal(count.value), unit.text), count.span.to(unit.span)
                report(
                    "E0440",
                    f"a timeout is 0.001 to {MAX_TIMEOUT} seconds",
                    place,
                    label="not so long" if unit.text == "s" else "no seconds",
                    hint=f"write `timeout {made or '2.5 s'}`",
                    edits=(Edit(place, made),) if made else (),
                )


def _seconds(count: Decimal, unit: str) -> str:
    """A timeout of another unit in seconds; empty where the unit is unknown."""
    size = {"ms": Decimal("0.001"), "m": Decimal(60), "min": Decimal(60), "minutes": Decimal(60)}.get(unit)
    size = Decimal(1) if unit in ("seconds", "sec", "secs", "second") else size
    return "" if size is None else f"{(count * size).normalize():f} s"


def _optional(field: FieldType) -> Type:
    return Optional(field.type) if field.optional and not isinstance(field.type, Optional) else field.type
