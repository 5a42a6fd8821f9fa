"""Statements of tests."""

from __future__ import annotations

from collections.abc import Callable

from sglc.check.core.result import FunctionSymbol
from sglc.ir import ops, terminators
from sglc.lower.context import Context, Surrounding
from sglc.lower.expressions import Expressions
from sglc.lower.witnesses import shown_text, witnesses
from sglc.syntax.tree import ast

Inside = Callable[[Surrounding, tuple[ast.Statement, ...]], None]


class Tests:
    """Lowers them in one function; `inside` lowers statements inside a surrounding."""

    def __init__(self, context: Context, expressions: Expressions, inside: Inside) -> None:
        self.context = context
        self.checked = context.checked
        self.build = context.build
        self.expressions = expressions
        self.inside = inside

    def mock(self, node: ast.Mock) -> None:
        """The value that a hole is to have, or a function of Python to give, next or always."""
        symbol = self.checked.symbols[id(node)]
        assert isinstance(symbol, FunctionSymbol)
        value = self.expressions.value(node.value)
        name = symbol.name if node.hole is None else f"{symbol.name}.{node.hole.text}"
        self.build.add(ops.MockHole(name, value, node.always, node.span))

    def fuzz(self, node: ast.Fuzz) -> None:
        """A loop over the rounds, with random values for holes in each. Each round says that it begins."""
        build = self.build
        iterator, number = build.fresh_slot("iterator"), build.fresh_slot("round")
        zero = build.const(0)
        (count,) = self.expressions.values((node.times,), node.span)
        rounds = build.value(ops.MakeRange, zero, count, False)
        build.store(iterator, build.value(ops.Iterate, rounds, span=node.times.span))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        build.end(terminators.Next(iterator, number, body, done, node.span))
        build.start(body)
        build.add(ops.SetFuzz(True, node.span))
        build.store(self.context.slot_of(node), self.expressions.value(node.call), node.span)
        self.inside(Surrounding("loop", done, each), node.body)
        build.end(terminators.Jump(each))
        build.start(done)
        build.add(ops.SetFuzz(False, node.span))

    def golden(self, node: ast.Golden) -> None:
        """A call of which it is noted what its holes are asked."""
        self.build.add(ops.BeginGolden(node.span))
        value = self.expressions.value(node.call)
        self.build.add(ops.EndGolden(value, node.span))

    def replay(self, node: ast.Replay) -> None:
        """A recorded run."""
        self.build.add(ops.ReplayTrace(node.path, node.span))

    def expect(self, node: ast.Expect) -> None:
        """A condition that a test asks, with the parts that a failure shows."""
        self.context.witnesses = {id(part): shown_text(part.span) for part in witnesses(node.condition)}
        value = self.expressions.value(node.condition)
        self.context.witnesses = {}
        self.build.add(ops.ExpectTrue(value, node.span))

    def expect_raises(self, node: ast.ExpectRaises) -> None:
        """A call that has to raise an error; what it returns or raises instead is the failure."""
        build = self.build
        name = self.checked.name_of(node)
        body, failed, came, other, done = (
            build.fresh_label(stem) for stem in ("try", "failed", "came", "other", "done")
        )
        build.end(terminators.Try(body, failed, False, node.span))
        build.start(body)
        self.expressions.value(node.call)
        build.add(ops.EndTry())
        build.add(ops.ExpectError(name, True, node.span))
        build.end(terminators.Jump(done))
        build.start(failed)
        build.end(terminators.Branch(build.value(ops.Catch, name, span=node.span), came, other, node.span))
        build.start(other)
        build.end(terminators.Reraise(build.value(ops.HandledError), node.span))
        build.start(came)
        build.add(ops.ExpectError(name, False, node.span))
        build.start(done)
