"""Values that are held against types which depend on values of the run."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.check.core.result import DependentType, LocalSymbol
from sglc.ir import ops
from sglc.lower.context import Context
from sglc.lower.expressions import Expressions
from sglc.lower.splitting import Operand
from sglc.source import Span
from sglc.syntax.tree import ast


class Dependents:
    """Lowers the checks of one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self.context = context
        self.build = context.build
        self.expressions = expressions

    def parameters(self, node: ast.FunctionDeclaration | ast.ExternDeclaration) -> None:
        """Hold the arguments of a function against the types of its parameters, in their order."""
        for parameter in node.parameters:
            due = self.context.checked.dependents.get(id(parameter.type))
            if due is not None:
                name = LocalSymbol(parameter.name.text, parameter.name.text)
                self.value(name, due, parameter.name.span)

    def value(self, node: Operand, due: DependentType, span: Span) -> int:
        """The value of an expression, a member of a type."""
        return self._held(self._with_given(node, due, span), due, span)

    def variable(self, node: ast.Let, due: DependentType) -> None:
        """A variable begins. What its type depends on is kept for its later values."""
        build = self.build
        slot = self.context.slot_of(node)
        value, *given = self._with_given(node.value, due, node.span)
        if node.mutable:
            slots = [build.fresh_slot("given") for _ in given]
            kept = build.fresh_slot("given")
            for name, temp in zip((kept, *slots), (value, *given), strict=True):
                build.store(name, temp, node.span)
            self.context.given[slot] = due, tuple(slots)
            value = self.later(slot, build.load(kept), node.span)
        else:
            value = self._held((value, *given), due, node.span)
        build.store(slot, value, node.span)

    def later(self, slot: str, value: int, span: Span) -> int:
        """Another value of a variable, a member of its type."""
        if slot not in self.context.given:
            return value
        due, slots = self.context.given[slot]
        return self._held((value, *[self.build.load(name) for name in slots]), due, span)

    def _with_given(self, node: Operand, due: DependentType, span: Span) -> tuple[int, ...]:
        return self.expressions.values((node, *due.given), span)

    def _held(self, values: Sequence[int], due: DependentType, span: Span) -> int:
        return self.build.value(ops.CheckGiven, tuple(values), due.type, span=span)
