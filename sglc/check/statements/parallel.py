"""`par`: calls that do not depend on each other.

The compiler finds such calls by itself and runs them together. `par` says that they are meant to be, so that
the checker tells of a line that makes one wait for another.
"""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.walk import mentions
from sglc.check.statements.blocks import Blocks, header
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast


@node
class ParallelCalls:
    """`par`: a block of statements that compute, none of which reads what another one sets."""

    module: ModuleContext
    blocks: Blocks

    def parallel(self, node: ast.Parallel) -> bool:
        """Check the statements; what they bind is known behind the block."""
        bound: dict[str, Span] = {}
        for statement in node.body:
            if not isinstance(statement, ast.Let | ast.Evaluate | ast.Assign):
                self.module.report(
                    "E0421",
                    "this cannot run beside other statements",
                    header(statement.span),
                    label="neither a call nor a value",
                    reason="the statements under `par` are calls and what is computed of them",
                    hint="move it out of the block",
                )
                continue
            self._independent(statement, bound)
            name = _set_by(statement)
            if name is not None:
                bound.setdefault(*name)
        return not self.blocks.body(node.body)

    def _independent(self, statement: ast.Let | ast.Evaluate | ast.Assign, bound: dict[str, Span]) -> None:
        read = (statement.value, statement.target) if isinstance(statement, ast.Assign) else statement.value
        needed = next((name for name in bound if mentions(read, (name,))), None)
        if needed is not None:
            self.module.report(
                "E0421",
                f"this waits for `{needed}`",
                statement.span,
                label="needs another statement of the block",
                secondary=(Label(bound[needed], "which is set here"),),
                hint="move it behind the block",
            )


def _set_by(statement: ast.Let | ast.Evaluate | ast.Assign) -> tuple[str, Span] | None:
    """The variable that a statement sets, and where."""
    if isinstance(statement, ast.Let):
        return statement.name.text, statement.name.span
    target = statement.target if isinstance(statement, ast.Assign) else None
    while isinstance(target, ast.Attribute | ast.Index):
        target = target.value
    return (target.name, target.span) if isinstance(target, ast.Reference) else None
