"""Forks and branches."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import ForkFrame
from sglc.check.core.range_slips import Rounds
from sglc.check.core.result import BranchOf, ExpressionType, ListValue, Unknown
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.iteration import Iteration
from sglc.check.names.scopes import Scopes
from sglc.check.statements.blocks import Blocks, header
from sglc.check.types.assignability import join
from sglc.check.types.kinds import NEVER, NULL, UNKNOWN, item_of, numeric_rank, said
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast


@node
class Forks:
    """Branches share nothing: what one gives is its value and its holes."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    iteration: Iteration
    blocks: Blocks

    def fork(self, node: ast.Fork) -> ExpressionType:
        """The type of a list of branches."""
        function = self.scopes.function
        if function.kind in ("pure", "test", "const"):
            self.module.report(
                "E0404", f"a fork cannot stand in {self.scopes.place()}", node.span, label="asks a model"
            )
        item = self.iteration.iterated(
            node.iterable, Rounds(node.variable.text, (node.options, node.body), True)
        )
        self.scopes.open()
        self.scopes.bind(node, node.variable, item, "loop")
        self._options(node)
        self.scopes.open()
        frame = ForkFrame(scope=function.scope)
        function.forks.append(frame)
        loops, function.loops = function.loops, 0
        costs, function.costs = function.costs, None
        reached = self.blocks.bounded(node, lambda: self.blocks.body(node.body))
        function.costs = costs
        function.loops = loops
        function.forks.pop()
        self.scopes.close()
        self.scopes.close()
        if reached:
            self.module.report(
                "E0414",
                "a branch of this fork can end without a value",
                header(node.span),
                label="not every way through it yields" if frame.yields else "its body never yields",
                secondary=tuple(Label(span, "this way does") for _, span in frame.yields[:1]),
                hint="" if frame.yields else "end the body with `yield …`, the branch's `.value`",
            )
        return ListValue(BranchOf(self._value(frame), tuple(frame.holes)))

    def _options(self, node: ast.Fork) -> None:
        for option in node.options:
            if option.kind != "seed":
                self.module.report(
                    "E0330",
                    f"a fork takes `seed`, not `{option.kind}`",
                    option.span,
                    label="not an option of forks",
                )
                continue
            found = self.inference.infer(option.value)
            if not isinstance(found, Unknown) and numeric_rank(found, self.module.table) != 0:
                self.module.report(
                    "E0330",
                    f"`seed` is an integer, not {said(found)}",
                    option.value.span,
                    label=f"this is {said(found)}",
                )

    def _value(self, frame: ForkFrame) -> ExpressionType:
        """The one type of what the branches yield."""
        value: ExpressionType = NULL if not frame.yields else NEVER
        for found, span in frame.yields:
            whole = join(value, found, self.module.table)
            if whole is None:
                self.module.report(
                    "E0313",
                    f"branches yield one type, here {said(value)} and {said(found)}",
                    span,
                    label="another type",
                )
                whole = UNKNOWN
            value = whole
        return value

    def yield_(self, node: ast.Yield) -> bool:
        """The value of a branch."""
        found = self.inference.infer(node.value)
        if not self.scopes.function.forks:
            self.module.report(
                "E0414",
                "`yield` stands outside any fork",
                node.span,
                label="no branch to give a value",
                hint="write `return`",
            )
            return True
        if not isinstance(found, Unknown):
            self.inference.displayable(node.value, found)
        self.scopes.function.forks[-1].yields.append((found, node.span))
        return True

    def adopt(self, node: ast.Adopt) -> bool:
        """The branch that the conversation goes on with."""
        found = self.inference.infer(node.value)
        if not isinstance(found, BranchOf | Unknown):
            self.module.report(
                "E0414",
                f"`adopt` takes a branch of a fork, not {said(found)}",
                node.value.span,
                label=f"this is {said(found)}",
                hint="pick one: `adopt ideas.max(by = value)`"
                if item_of(found, self.module.table) is not None
                else "",
            )
        return False
