"""Assignments to variables and to parts of their values."""

from __future__ import annotations

from sglc.ir import ops
from sglc.lower.context import Context
from sglc.lower.dependents import Dependents
from sglc.lower.expressions import Expressions
from sglc.syntax.tree import ast


class Assignments:
    """Lowers the assignments of one function."""

    def __init__(self, context: Context, expressions: Expressions, dependents: Dependents) -> None:
        self.context = context
        self.checked = context.checked
        self.build = context.build
        self.expressions = expressions
        self.dependents = dependents

    def assign(self, node: ast.Assign) -> None:
        """`a.b[i] = e`: the parts on the way are changed in copies, from the inside out."""
        build = self.build
        path: list[tuple[str, str]] = []
        """Field names, and slots of index values, from the outside in."""
        steps: list[ast.Attribute | ast.Index] = []
        root: ast.Expression = node.target
        while isinstance(root, ast.Attribute | ast.Index):
            steps.append(root)
            root = root.value
        for step in reversed(steps):
            if isinstance(step, ast.Attribute):
                path.append(("field", step.name.text))
            else:
                slot = build.fresh_slot("index")
                build.store(slot, self.expressions.value(step.index), step.span)
                path.append(("item", slot))
        variable = self.context.slot_of(root)
        new = build.fresh_slot("new")
        if node.operator == "=":
            value = self.expressions.value(node.value)
        else:
            # The old value is read first, as it stands first.
            if self.expressions.splitting.splits(node.value):
                build.store(new, self._read(variable, path, node), node.span)
                right = self.expressions.value(node.value)
                kept = build.fresh_slot("operand")
                build.store(kept, right)
                left, right = build.load(new), build.load(kept)
            else:
                left = self._read(variable, path, node)
                right = self.expressions.value(node.value)
            value = build.value(ops.Binary, node.operator[0], left, right, span=node.span)
            due = self.checked.coercions.get(id(node))
            if due is not None:
                value = build.value(ops.CheckType, value, due, span=node.span)
        if not path:
            build.store(variable, self.dependents.later(variable, value, node.span), node.span)
            return
        build.store(new, value, node.span)
        for depth in range(len(path) - 1, -1, -1):
            owner = self._read(variable, path[:depth], node)
            kind, name = path[depth]
            if kind == "field":
                changed = build.value(ops.WithField, owner, build.load(new), name, span=node.span)
            else:
                changed = build.value(ops.WithItem, owner, build.load(name), build.load(new), span=node.span)
            if not depth:
                whole = self.checked.coercions.get(id(node.target))
                if whole is not None:
                    changed = build.value(ops.CheckType, changed, whole, span=node.span)
                changed = self.dependents.later(variable, changed, node.span)
            build.store(new if depth else variable, changed, node.span)

    def _read(self, variable: str, path: list[tuple[str, str]], node: ast.Assign) -> int:
        value = self.build.load(variable, node.span)
        for kind, name in path:
            if kind == "field":
                value = self.build.value(ops.GetField, value, name, span=node.span)
            else:
                value = self.build.value(ops.GetItem, value, self.build.load(name), span=node.span)
        return value
