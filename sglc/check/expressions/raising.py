"""What fails: `raise`, and `else` after an expression."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import ErrorSymbol, ExpressionType
from sglc.check.expressions.arguments import Arguments
from sglc.check.expressions.inference import Inference
from sglc.check.names.errors import error_fields, error_named
from sglc.check.names.scopes import Scopes
from sglc.check.types.assignability import join
from sglc.check.types.kinds import UNKNOWN, said
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast


@node
class Raising:
    """`raise`, and `else` after what may fail."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    arguments: Arguments

    def or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        """The type of `value else fallback`."""
        found = self.inference.infer(node.value, expected)
        if isinstance(node.fallback, ast.Raise):
            self.raise_(node.fallback)
            return found
        other = self.inference.infer(node.fallback, expected if expected is not None else found)
        whole = join(found, other, self.module.table)
        if whole is None:
            self.module.report(
                "E0313",
                f"both sides must have one type, here {said(found)} and {said(other)}",
                node.span,
                label="two types",
            )
            return UNKNOWN
        return whole

    def raise_(self, node: ast.Raise) -> None:
        """`raise E(…)` as a statement or after `else`."""
        if node.error is None:
            if not self.scopes.function.handlers:
                self.module.report(
                    "E0403",
                    "a bare `raise` stands only inside `except`",
                    node.span,
                    label="nothing to raise again",
                )
            return
        caught = self.scopes.function.scope.find(node.error.text)
        if caught is not None and caught.kind == "error" and not node.arguments:
            caught.used = True
            once = self.scopes.function.handlers == 1
            again = Span(node.span.source, node.span.start, node.error.span.end)
            self.module.report(
                "E0207",
                f"`{node.error.text}` is an error that was caught, not a declared one",
                node.error.span,
                label="cannot be raised by its name",
                hint="`raise` alone raises it again" if once else "`raise` alone raises what this arm caught",
                edits=(Edit(again, "raise"),) if once else (),
            )
            return
        name = error_named(self.module, node.error)
        if name is None:
            for argument in node.arguments:
                self.inference.infer(argument.value)
            return
        self._raise(node, name)

    def _raise(self, node: ast.Raise, name: str) -> None:
        assert node.error is not None
        self.module.symbols[id(node)] = self.module.symbols[id(node.error)] = ErrorSymbol(name)
        fields = error_fields(self.module.program, name).fields
        self.arguments.bind(node, node.arguments, fields, f"`{node.error.text}`", node.span)
