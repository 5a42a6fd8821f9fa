"""The lowering of one function, composed of that of its expressions, holes and statements."""

from __future__ import annotations

from sglc.ir import ops, terminators
from sglc.ir.module import Block, Function, Parameter
from sglc.lower.conditions import Conditions
from sglc.lower.context import Context, HoleNode
from sglc.lower.dependents import Dependents
from sglc.lower.expressions import Expressions
from sglc.lower.holes import Holes
from sglc.lower.statements import Statements
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types import type as t
from sglc.types.type import Type


class FunctionLowering:
    """Lowers the bodies of functions, tests and forks; one object for each."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.expressions = Expressions(context, self._from_model)
        conditions = Conditions(context, self.expressions)
        self.holes = Holes(context, self.expressions, conditions)
        self.dependents = Dependents(context, self.expressions)
        self.statements = Statements(context, self.expressions, conditions, self.holes, self.dependents)

    def blocks(self, body: tuple[ast.Statement, ...], span: Span) -> tuple[Block, ...]:
        """The blocks of a body, which returns nothing where control reaches its end."""
        build = self.context.build
        self.statements.body(body)
        build.end(terminators.Return(build.const(None, span), span))
        return tuple(build.blocks)

    def _from_model(self, node: HoleNode | ast.Fork) -> int:
        return self._fork(node) if isinstance(node, ast.Fork) else self.holes.value(node)

    def _fork(self, node: ast.Fork) -> int:
        """The body becomes a function of its own that begins with its seed."""
        context = self.context
        # No declared function has a number as its last name.
        number = next(context.fork_numbers)
        name = f"{context.root}.fork.{number}"
        functions = context.program.functions
        place = len(functions)
        functions.append(None)
        inner = context.of_fork(name)
        body = FunctionLowering(inner)
        for option in node.options:
            if option.kind == "seed":
                inner.build.add(ops.SetSeed(body.expressions.value(option.value), option.span))
        blocks = body.blocks(node.body, node.span)
        variable = Parameter(node.variable.text, context.slot_of(node), self._variable_type(node.iterable))
        functions[place] = Function(
            name=name,
            kind="fork",
            parameters=(variable,),
            blocks=blocks,
            retries=tuple(inner.build.retries),
            parent=context.name,
            module=context.checked.name,
            copy_of=f"{context.known_as}.fork.{number}" if context.known_as != context.root else "",
            span=node.span,
        )
        items = self.expressions.value(node.iterable)
        return context.build.value(ops.RunFork, name, items, node.skip, span=node.span)

    def _variable_type(self, iterable: ast.Expression) -> Type:
        found = self.context.checked.types.get(id(iterable))
        return found.item if isinstance(found, t.ListOf) else t.Int()
