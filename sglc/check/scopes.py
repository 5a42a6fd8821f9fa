"""Scopes of a function: blocks of names, and what conditions prove about them.

No name hides another one, so a name has one meaning in every block that sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sglc.check.declarations import WORDS, Declarations
from sglc.check.relations import allows_null, without_null
from sglc.check.result import ExpressionType, LocalSymbol
from sglc.check.state import FunctionState, Local, ModuleState, ProgramState, Scope
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax import ast


class Scopes(Declarations):
    """Every variable is in one scope, and no scope hides a name of another."""

    def __init__(self, program: ProgramState, module: ModuleState) -> None:
        super().__init__(program, module)
        self.types = module.types
        self.symbols = module.symbols
        self.function = FunctionState(None, "const")

    def place(self) -> str:
        """What is being checked, in words."""
        return {"pure": "a pure fn", "test": "a test", "const": "a constant"}.get(
            self.function.kind, f"a {self.function.kind}"
        )

    def open(self) -> None:
        self.function.scope = Scope(self.function.scope)

    def close(self) -> None:
        scope = self.function.scope
        for name, local in scope.names.items():
            self.function.closed[name] = local.span
        assert scope.parent is not None
        self.function.scope = scope.parent

    def inside(self, proved: dict[str, ExpressionType], action: Callable[[], Any]) -> Any:
        """Do something where a condition is known to hold."""
        if not proved:
            return action()
        self.open()
        self.function.scope.narrowed.update(proved)
        found = action()
        self.close()
        return found

    def bind(self, node: object, name: ast.Name, type: ExpressionType, kind: str, **facts: Any) -> Local:
        """Enter a variable into the innermost block; no name is ever shadowed."""
        function = self.function
        label = name.text
        known = function.scope.find(label)
        taken = known.span if known is not None else None
        what = "a variable"
        if known is None:
            entity = self.module.names.get(label)
            if entity is not None:
                taken, what = entity.span, WORDS[entity.kind]
            elif label in self.module.members and label not in self.module.names:
                owner = self.module.members[label][0].rsplit(".", 1)[-1]
                taken, what = self._declared_at(owner), f"a member of `{owner}`"
        if taken is not None and label != "_":
            self.program.report(
                "E0210", f"`{label}` is already {what}", name.span, label="a second meaning",
                reason="no name may hide another one, so that every line can be read by itself",
                secondary=(Label(taken, "first meaning"),) if taken is not name.span else (),
                hint="choose another name",
            )  # fmt: skip
        slot = label
        number = 2
        while slot in function.slots:
            slot = f"{label}.{number}"
            number += 1
        function.slots.add(slot)
        local = Local(label, slot, type, kind, name.span, 0, boundary=function.boundary, **facts)
        function.scope.names[label] = local
        function.locals.append(local)
        self.symbols[id(node)] = LocalSymbol(label, slot)
        return local

    def _declared_at(self, name: str) -> Span | None:
        entity = self.module.names.get(name)
        return None if entity is None else entity.span

    def narrowings(self, node: ast.Expression, holds: bool) -> dict[str, ExpressionType]:
        """Paths that are known not to be null where the condition holds (or does not)."""
        match node:
            case ast.Unary("not", operand):
                return self.narrowings(operand, not holds)
            case ast.Binary("and" | "or" as operator, left, right):
                if (operator == "and") == holds:
                    return {**self.narrowings(left, holds), **self.narrowings(right, holds)}
                return {}
            case ast.Binary("==" | "!=" as operator, left, right):
                if (operator == "!=") != holds:
                    return {}
                if isinstance(left, ast.Null):
                    left, right = right, left
                if not isinstance(right, ast.Null):
                    return {}
                path = path_of(left)
                type = self.types.get(id(left))
                if path is None or type is None or not allows_null(type, self.table):
                    return {}
                return {path: without_null(type, self.table)}
        return {}


def path_of(node: ast.Expression) -> str | None:
    """`x.note` for a variable and its fields, None for anything that could change between two readings."""
    if isinstance(node, ast.Reference):
        return node.name
    if isinstance(node, ast.Attribute):
        inner = path_of(node.value)
        return None if inner is None else f"{inner}.{node.name.text}"
    return None
