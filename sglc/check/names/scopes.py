"""Scopes of a function: blocks of names, and what conditions prove about them.

No variable hides another one, nor a constant, type or error, so a value's name has one meaning in every block
that sees it. Members of enums and functions stand beside the variables: a member is found by the type that is
expected or through its enum, a function where it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sglc.check.core.context import WORDS, ModuleContext
from sglc.check.core.function_state import FunctionState, Local, Proved, Scope
from sglc.check.core.result import ExpressionType, LocalSymbol
from sglc.check.names.template_text import TemplateText
from sglc.check.types.kinds import allows_null, is_enum, without_null
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.syntax.tree import ast
from sglc.types.type import EnumType

_T = TypeVar("_T")

Hint = tuple[str, tuple[Edit, ...]]
"""A hint, and the edits that do what it says."""


@dataclass(slots=True, eq=False)
class Scopes:
    """Every variable is in one scope, and no scope hides a name of another."""

    module: ModuleContext
    function: FunctionState = field(default_factory=lambda: FunctionState(None, "const"))
    """The body that is being checked."""
    templates: TemplateText = field(init=False)
    left_of_paths: Callable[[ast.Expression, bool], dict[str, Any]] = lambda node, holds: {}
    """What `sglc.check.proofs` says that a condition leaves of paths."""

    def __post_init__(self) -> None:
        self.templates = TemplateText(self.module.source)

    def place(self) -> str:
        """What is being checked, in words."""
        return {"pure": "a pure fn", "test": "a test", "const": "a constant"}.get(
            self.function.kind, f"a {self.function.kind}"
        )

    @contextmanager
    def of_constant(self) -> Iterator[None]:
        """While a constant is checked, which is no part of the body around its use."""
        with self.restored():
            self.function = FunctionState(None, "const")
            yield

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Go back to this body and block, also where what is done in it is broken off."""
        function, scope = self.function, self.function.scope
        try:
            yield
        finally:
            self.function, function.scope = function, scope

    def open(self) -> None:
        """Begin a block of names."""
        self.function.scope = Scope(self.function.scope)

    def close(self) -> None:
        """End the innermost block; its names are kept for messages."""
        scope = self.function.scope
        for name, local in scope.names.items():
            self.function.closed[name] = local.span
        assert scope.parent is not None
        self.function.scope = scope.parent

    def inside(self, proved: Proved, action: Callable[[], _T]) -> _T:
        """Do something where a condition is known to hold."""
        if not proved:
            return action()
        self.open()
        self.function.scope.proved.add(proved)
        found = action()
        self.close()
        return found

    def assume(self, condition: ast.Expression) -> None:
        """Note what a condition proves, up to the end of the innermost block."""
        self.function.scope.proved.add(self.narrowings(condition, True))

    def bind(self, node: object, name: ast.Name, type: ExpressionType, kind: str, **facts: Any) -> Local:
        """Enter a variable into the innermost block; no other value is ever shadowed."""
        function = self.function
        label = name.text
        known = function.scope.find(label)
        taken = known.span if known is not None else None
        what = "a variable"
        if known is None:
            entity = self.module.names.get(label)
            if entity is not None and entity.kind in WORDS and entity.kind != "function":
                taken, what = entity.span, WORDS[entity.kind]
        if taken is not None and label != "_":
            self.module.report(
                "E0210",
                f"`{label}` is already {what}",
                name.span,
                label="a second meaning",
                reason="no value may hide another one, so that every line can be read by itself",
                secondary=(Label(taken, "first meaning"),) if taken is not name.span else (),
                hint="choose another name",
            )
        enum = is_enum(without_null(type, self.module.table), self.module.table)
        if enum is not None and self.is_member(enum, label):
            short = enum.name.rsplit(".", 1)[-1]
            self.module.report(
                "W0219",
                f"a value of `{short}` is called like its member `{label}`",
                name.span,
                label="easily taken for the member",
                reason=f"`{label}` is this variable from here on, and only `{short}.{label}` the member",
                hint="choose another name",
            )
        number = function.slots[label] = function.slots.get(label, 0) + 1
        slot = label if number == 1 else f"{label}.{number}"
        local = Local(label, slot, type, kind, name.span, 0, boundary=function.boundary, **facts)
        function.scope.names[label] = local
        function.locals.append(local)
        self.module.symbols[id(node)] = LocalSymbol(label, slot)
        return local

    def is_member(self, enum: EnumType, name: str) -> bool:
        """Whether an enum has a member of that name."""
        key = ("members", enum.name)
        known = self.module.program.memo.get(key)
        if known is None:
            known = self.module.program.memo[key] = frozenset(enum.members)
        return name in known

    def hidden_member(
        self, node: ast.Expression, type: ExpressionType
    ) -> tuple[str, tuple[Edit, ...]] | None:
        """What to do about a variable where its name is that of a member of the enum that is due."""
        enum = is_enum(without_null(type, self.module.table), self.module.table)
        if enum is None or not isinstance(node, ast.Reference) or not self.is_member(enum, node.name):
            return None
        if self.function.scope.find(node.name) is None:
            return None
        member = f"{enum.name.rsplit('.', 1)[-1]}.{node.name}"
        return f"`{node.name}` is the variable here; write `{member}` for the member", (
            Edit(node.span, member),
        )

    def narrowings(self, node: ast.Expression, holds: bool) -> Proved:
        """What is known of paths where the condition holds (or does not): that they are not null, and sets
        of the values that are left of them."""
        return Proved(self._not_null(node, holds), self.left_of_paths(node, holds))

    def _not_null(self, node: ast.Expression, holds: bool) -> dict[str, ExpressionType]:
        match node:
            case ast.Unary("not", operand):
                return self._not_null(operand, not holds)
            case ast.Binary("and" | "or" as operator, left, right):
                if (operator == "and") == holds:
                    return {**self._not_null(left, holds), **self._not_null(right, holds)}
                return {}
            case ast.Binary("==" | "!=" as operator, left, right):
                if (operator == "!=") != holds:
                    return {}
                if isinstance(left, ast.Null):
                    left, right = right, left
                if not isinstance(right, ast.Null):
                    return {}
                path = path_of(left)
                type = self.module.types.get(id(left))
                if path is None or type is None or not allows_null(type, self.module.table):
                    return {}
                return {path: without_null(type, self.module.table)}
        return {}


def path_of(node: ast.Expression) -> str | None:
    """`x.note` for a variable and its fields, None for anything that could change between two readings."""
    if isinstance(node, ast.Reference):
        return node.name
    if isinstance(node, ast.Attribute):
        inner = path_of(node.value)
        return None if inner is None else f"{inner}.{node.name.text}"
    return None
