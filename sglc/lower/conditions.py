"""`ensure` and `check`: conditions with what happens where they do not hold."""

from __future__ import annotations

from sglc.format.quoted import quoted
from sglc.ir import ops, terminators
from sglc.lower.context import Context
from sglc.lower.expressions import Expressions
from sglc.syntax.tree import ast


class Conditions:
    """Lowers the conditions of one function."""

    def __init__(self, context: Context, expressions: Expressions) -> None:
        self.context = context
        self.checked = context.checked
        self.build = context.build
        self.expressions = expressions

    def ensure(self, node: ast.Ensure) -> None:
        """An `ensure` or `check`, of each item where it says `each`."""
        build = self.build
        if node.each is None:
            self.one(node)
            return
        iterator = build.fresh_slot("iterator")
        _, items = node.each
        build.store(iterator, build.value(ops.Iterate, self.expressions.value(items), span=items.span))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, self.context.slot_of(node), body, done, node.span))
        build.start(body)
        self.one(node)
        build.end(terminators.Jump(each))
        build.start(done)

    def one(self, node: ast.Ensure) -> None:
        """The test of one condition, and what follows where it fails: a retry, an error, or a record."""
        build, span = self.build, node.condition.span
        holds, fails = build.fresh_label("holds"), build.fresh_label("fails")
        done = holds if node.hard else build.fresh_label("done")
        if id(node) in self.checked.tested:
            slot, type = self.checked.tested[id(node)]
            found = build.value(ops.IsType, build.load(slot, span), type, span=span)
            build.end(terminators.Branch(found, holds, fails, span))
        else:
            self.expressions.condition(node.condition, holds, fails)
        build.start(fails)
        reason = build.fresh_slot("reason")
        if node.message is not None:
            build.store(reason, self.expressions.value(node.message), span)
        else:
            build.store(reason, build.const(f"`{quoted(span)}` does not hold", span), span)
        retry = self.context.policy(node)
        if retry is not None:
            build.add(ops.TryAgain(retry, build.load(reason, span), node.span))
        if not node.hard:
            build.add(ops.RecordCheck(False, build.load(reason, span), node.span))
            build.end(terminators.Jump(done))
            build.start(holds)
            build.add(ops.RecordCheck(True, build.const(None, span), node.span))
        elif node.fallback is not None:
            self.expressions.raising(node.fallback)
        else:
            build.end(terminators.RaiseError("Rejected", (build.load(reason, span),), node.span))
        build.start(done)
