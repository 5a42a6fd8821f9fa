"""Branches: `tries = s.fork(3)` and the loop behind it, which says what each of them does."""

from __future__ import annotations

import ast as python
from collections.abc import Callable

from sglc.frontend.body.bindings import unnumbered
from sglc.frontend.body.context import Context
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.body.messages import Blocks
from sglc.syntax.tree import ast


class Forks:
    """Translates the forks of one function."""

    def __init__(
        self,
        context: Context,
        expressions: Expressions,
        writes: Callable[[python.AST], bool],
        blocks: Blocks,
    ) -> None:
        self.context = context
        self.expressions = expressions
        self.writes = writes
        self.blocks = blocks

    def is_fork(self, node: python.expr) -> bool:
        """Whether an expression is `s.fork(…)`, perhaps numbered by `enumerate`."""
        inner = unnumbered(node)
        return isinstance(inner, python.Call) and self.context.word(inner) == "fork"

    def begins(self, node: python.stmt) -> bool:
        """Whether a statement is `tries = s.fork(…)`."""
        return isinstance(node, python.Assign) and self.is_fork(node.value)

    def named(self, node: python.stmt, following: list[python.stmt], later: bool) -> ast.Statement:
        """A fork with the loop that follows it."""
        context = self.context
        assert isinstance(node, python.Assign)
        target = node.targets[0]
        loop = following[0] if following else None
        if (
            not isinstance(loop, python.For)
            or not isinstance(target, python.Name)
            or not isinstance(over := unnumbered(loop.iter), python.Name)
            or over.id != target.id
        ):
            raise context.refuse(
                "E0508",
                "the loop behind a fork says what its branches do",
                node,
                label="no loop over it follows",
                hint="write `tries = s.fork(3)` and, on the next line, `for t in tries:`",
            )
        call = unnumbered(node.value)
        assert isinstance(call, python.Call)
        made = self._fork(call, loop, later)
        name = ast.Name(target.id, context.span(target))
        return ast.Let(name, False, None, made, context.span(node).to(context.span(loop)))

    def alone(self, loop: python.For, later: bool) -> ast.Statement:
        """`for t in s.fork(3):`, whose branches nobody asks for."""
        call = unnumbered(loop.iter)
        assert isinstance(call, python.Call)
        return ast.Evaluate(self._fork(call, loop, later), self.context.span(loop))

    def _fork(self, call: python.Call, loop: python.For, later: bool) -> ast.Fork:
        context, span = self.context, self.context.span(loop)
        place, branch = self._variables(loop)
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if len(call.args) != 1 or given.keys() - {"seed", "skip"}:
            raise context.refuse(
                "E0505",
                "`fork` takes a number of branches",
                call,
                label="other arguments",
                hint="write `s.fork(3)`; `seed=False` gives all branches one seed, `skip=True` leaves out "
                "those that fail",
            )
        holes = self.expressions.holes
        seeded = "seed" not in given or bool(holes.constant(given["seed"], "`seed`"))
        skip = "skip" in given and bool(holes.constant(given["skip"], "`skip`"))
        count = self.expressions.of(call.args[0])
        numbers = ast.Range(ast.Number(0, span), count, False, count.span, count.span)
        seed = ast.HoleOption("seed", ast.Reference(place.text, place.span), place.span)
        context.states.add(branch)
        body = self.blocks(loop.body, later)
        context.states.discard(branch)
        if not _finished(body):
            body = (*body, ast.Yield(ast.Null(span), span))
        return ast.Fork(place, numbers, (seed,) if seeded else (), skip, body, span)

    def _variables(self, loop: python.For) -> tuple[ast.Name, str]:
        """The number of a branch, and the name of its conversation."""
        context, target = self.context, loop.target
        span = context.span(target)
        if isinstance(target, python.Name) and unnumbered(loop.iter) is loop.iter:
            number = f"{target.id}_number"
            while number in context.local:
                number += "_"
            return ast.Name(number, span), target.id
        match target:
            case python.Tuple(elts=[python.Name(id=number), python.Name(id=branch)]):
                return ast.Name(number, span), branch
        raise context.refuse(
            "E0508",
            "a loop over branches has one variable, or two with `enumerate`",
            target,
            label="other variables",
            hint="write `for t in tries:` or `for i, t in enumerate(tries):`",
        )


def _finished(body: tuple[ast.Statement, ...]) -> bool:
    """Whether every way through a block ends it by a value or an error."""
    if not body:
        return False
    match body[-1]:
        case ast.Yield() | ast.Raise():
            return True
        case ast.If(branches=branches, otherwise=otherwise):
            return _finished(otherwise) and all(_finished(branch) for _, branch in branches)
        case ast.Match(cases=cases):
            return all(_finished(case.body) for case in cases)
        case ast.Role(body=inner) | ast.Using(body=inner) | ast.Parallel(body=inner):
            return _finished(inner)
    return False
