"""`for` and `while`."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import HoleCost
from sglc.check.core.range_slips import Rounds
from sglc.check.core.walk import Body
from sglc.check.expressions.constants import Constants
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.iteration import Iteration
from sglc.check.names.scopes import Scopes
from sglc.check.statements.blocks import Blocks
from sglc.check.types.kinds import UNKNOWN, expand
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import ListOf, MapOf


@node
class Loops:
    """Loops: what they go over, and how often their holes are filled at least."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    constants: Constants
    iteration: Iteration
    blocks: Blocks

    def for_(self, node: ast.For) -> bool:
        """Rounds over a list, map or range."""
        item = self.iteration.iterated(node.iterable, Rounds(node.variable.text, node.body))
        self.scopes.open()
        self.scopes.bind(node, node.variable, item, "loop")
        self.loop(node, node.body, *self._rounds(node.iterable))
        self.scopes.close()
        return False

    def _rounds(self, node: ast.Expression) -> tuple[int, int]:
        """How often a loop runs at least, and at most in some run: 0 where that is not known."""
        if isinstance(node, ast.Range):
            (a, low), (b, high) = fold(self.module, node.start), fold(self.module, node.stop)
            if a and b and isinstance(low, int) and isinstance(high, int):
                rounds = max(0, high - low + node.inclusive)
                return rounds, rounds
        over = expand(self.module.types.get(id(node), UNKNOWN), self.module.table)
        if isinstance(over, ListOf | MapOf) and over.maximum is not None:
            return over.minimum, over.maximum
        return 0, 0

    def loop(self, marker: object, statements: Body, rounds: int = 0, most: int = 0) -> None:
        """A body that runs `rounds` times at least and `most` times at most (0: not known), whose edge is
        told by `marker`."""
        function = self.scopes.function
        for assigned in _assigned_names(statements):
            function.scope.forget(assigned)
        function.loops += 1
        costs = function.costs
        inner: list[HoleCost] | None = [] if most and costs is not None else None
        if any(_leaves(statement) for statement in statements):
            rounds = 0
        function.costs = inner
        self.scopes.open()
        self.blocks.bounded(marker, lambda: self.blocks.body(statements))
        self.scopes.close()
        function.costs = costs
        if inner and costs is not None:
            costs.extend(cost.times(rounds, most) for cost in inner)
        function.loops -= 1

    def while_(self, node: ast.While) -> bool:
        """Rounds while a condition holds."""
        # What the body assigns to may have another value when the condition is asked again.
        for assigned in _assigned_names(node.body):
            self.scopes.function.scope.forget(assigned)
        self.inference.told_condition(node.condition, "while")
        count: int | None = None
        if node.limit is None:
            self.module.report(
                "E0409",
                "a `while` needs a limit",
                node.condition.span,
                label="may go on for ever",
                hint="write `while … limit 10:`; more rounds raise `Budget`",
            )
        else:
            count = self.constants.whole(node.limit, "the limit")
            if count is not None and count < 1:
                self.module.report(
                    "E0409", "a limit is at least 1", node.limit.span, label=f"this is {count}"
                )
        self.scopes.open()
        self.scopes.assume(node.condition)
        for assigned in _assigned_names(node.body):
            self.scopes.function.scope.forget(assigned)
        self.loop(node, node.body, 0, count or 0)
        self.scopes.close()
        return False


def _assigned_names(statements: Body) -> set[str]:
    """Variables that statements assign to, at any depth."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign(target):
                while isinstance(target, ast.Attribute | ast.Index):
                    target = target.value
                if isinstance(target, ast.Reference):
                    found.add(target.name)
            case ast.If(branches, otherwise):
                for _, inner in branches:
                    found |= _assigned_names(inner)
                found |= _assigned_names(otherwise)
            case ast.Match(_, cases):
                for case in cases:
                    found |= _assigned_names(case.body)
            case ast.Try(body, handlers):
                found |= _assigned_names(body)
                for handler in handlers:
                    found |= _assigned_names(handler.body)
            case (
                ast.For()
                | ast.StreamFor()
                | ast.While()
                | ast.Role()
                | ast.Using()
                | ast.Parallel()
                | ast.Forget()
            ):
                found |= _assigned_names(statement.body)
    return found


def _leaves(statement: ast.Statement) -> bool:
    """Whether a loop's body may end a round or the loop early."""
    match statement:
        case ast.Break() | ast.Continue() | ast.Return() | ast.Raise():
            return True
        case ast.If(branches, otherwise):
            return any(_leaves(s) for _, body in branches for s in body) or any(_leaves(s) for s in otherwise)
        case ast.Match(_, cases):
            return any(_leaves(s) for case in cases for s in case.body)
        case ast.Role(_, body) | ast.Try(body):
            return any(_leaves(s) for s in body)
        case ast.StreamFor():
            return any(_leaves(s) for s in statement.body)
    return False
