"""Statements that only compute a value, which nothing reads: operators, and calls that do nothing else."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ExpressionType
from sglc.check.core.walk import parts
from sglc.check.names.builtins import LIST_METHODS, MAP_METHODS, READERS, SEEKERS, STR_METHODS
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import UNKNOWN, expand
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast

_ACTS = (ast.OrElse, ast.Gen, ast.Choose, ast.Select, ast.Fork)
"""Expressions that do something besides having a value."""
_METHODS = frozenset(STR_METHODS) | frozenset(LIST_METHODS) | frozenset(MAP_METHODS)


@node
class UnusedValues:
    """Finds them in the statements of one module."""

    module: ModuleContext
    scopes: Scopes

    def tell(self, value: ast.Expression, found: ExpressionType) -> None:
        """Report a statement that is an expression of this type, where it has no effect."""
        if found == UNKNOWN or isinstance(value, _ACTS):
            return
        if isinstance(value, ast.Call) and (self.scopes.function.kind == "test" or not self._is_idle(value)):
            return
        in_message = self.scopes.function.role is not None
        edit = None if in_message else self._assigned(value, found)
        shown = value.span.text
        text = shown if len(shown) <= 40 and "\n" not in shown else "…"
        hint = "bind it with `let`, or remove the line"
        if edit is not None:
            hint = f"values do not change: write `{edit.text}…`"
        elif in_message:
            hint = f"to write it into the prompt, put it on a pipe line: `| ${{{text}}}`; else {hint}"
        elif isinstance(value, ast.Call):
            hint = f"values do not change, and a call gives a new one: `let … = {text}`; or remove the line"
        self.module.report(
            "W0202",
            "this value is not used",
            value.span,
            label="has no effect",
            hint=hint,
            edits=() if edit is None else (edit,),
        )

    def _assigned(self, value: ast.Expression, found: ExpressionType) -> Edit | None:
        """`xs = ` before the call of a method on a variable that may have the value of the call."""
        if not isinstance(value, ast.Call) or not isinstance(value.function, ast.Attribute):
            return None
        owner = value.function.value
        if not isinstance(owner, ast.Reference):
            return None
        local = self.scopes.function.scope.find(owner.name)
        table = self.module.program.table
        if local is None or local.kind != "var" or expand(local.type, table) != expand(found, table):
            return None
        return Edit(Span(value.span.source, value.span.start, value.span.start), f"{owner.name} = ")

    def _is_idle(self, value: ast.Expression) -> bool:
        """Whether nothing in an expression does more than compute, and nothing in it is there to fail."""
        waiting: list[object] = [value]
        while waiting:
            each = waiting.pop()
            if isinstance(each, tuple):
                waiting += each
                continue
            if isinstance(each, _ACTS):
                return False
            if isinstance(each, ast.Call) and not _is_known(each.function):
                return False
            if isinstance(each, ast.Reference) and not self._is_idle_name(each.name):
                return False
            waiting += parts(each)
        return True

    def _is_idle_name(self, name: str) -> bool:
        entity = self.module.names.get(name)
        if entity is None or entity.kind != "function":
            return entity is not None or name not in READERS
        signature = self.module.program.signatures.get(entity.name)
        return signature is not None and signature.idle


def _is_known(function: ast.Expression) -> bool:
    """Whether it is known by its name what is called: a function, a constructor or a usual method."""
    function = function.value if isinstance(function, ast.Index) else function
    if isinstance(function, ast.Attribute):
        return function.name.text in _METHODS - SEEKERS
    return isinstance(function, ast.Reference)
