"""Statements that are read and do not run yet."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.check.core.context import ModuleContext
from sglc.check.expressions.inference import Inference
from sglc.check.names.scopes import Scopes
from sglc.check.statements.blocks import header
from sglc.check.statements.loops import Loops
from sglc.check.types.kinds import UNKNOWN
from sglc.syntax.tree import ast


@dataclass(frozen=True, slots=True, eq=False)
class UnavailableStatements:
    """Statements that are read and do not run yet. What stands in them is checked."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    loops: Loops

    def stream(self, node: ast.StreamFor) -> bool:
        """`stream`: a result as it is written."""
        self.inference.infer(node.call)
        self.module.unavailable(
            "E0913", "`stream` in programs", header(node.span), "call the function and use its result"
        )
        self.scopes.open()
        self.scopes.bind(node, node.variable, UNKNOWN, "loop", used=True)
        self.loops.loop(node, node.body)
        self.scopes.close()
        return False

    def golden(self, node: ast.Golden | ast.Replay) -> bool:
        """`golden` and `replay`: recorded runs."""
        if isinstance(node, ast.Golden):
            self.inference.infer(node.call)
        word = "golden" if isinstance(node, ast.Golden) else "replay"
        self.module.unavailable("E0916", f"`{word}` in tests", node.span, "write `mock` and `expect`")
        return False
