"""Statements that are read and do not run yet."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.check.core.context import ModuleContext
from sglc.check.expressions.inference import Inference
from sglc.syntax.tree import ast


@dataclass(frozen=True, slots=True, eq=False)
class UnavailableStatements:
    """Statements that are read and do not run yet. What stands in them is checked."""

    module: ModuleContext
    inference: Inference

    def golden(self, node: ast.Golden | ast.Replay) -> bool:
        """`golden` and `replay`: recorded runs."""
        if isinstance(node, ast.Golden):
            self.inference.infer(node.call)
        word = "golden" if isinstance(node, ast.Golden) else "replay"
        self.module.unavailable("E0916", f"`{word}` in tests", node.span, "write `mock` and `expect`")
        return False
