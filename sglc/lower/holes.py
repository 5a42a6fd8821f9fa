"""Holes, prompt lines and forks."""

from __future__ import annotations

from typing import Any

from sglc.check.core.result import ConstantSymbol, LocalSymbol
from sglc.ir import ops, terminators
from sglc.ir.module import Function, HoleInfo, Parameter
from sglc.lower.context import HoleNode
from sglc.lower.expressions import Operand
from sglc.lower.patterns import Patterns
from sglc.syntax import ast
from sglc.types import type as t
from sglc.types.type import Type

OPTIONS = ("max_tokens", "temp", "top_p", "top_k", "min_p", "seed", "n")
"""Options whose values are on the stack when the hole is filled; `until` is part of the type."""


class Holes(Patterns):
    def hole(self, node: HoleNode) -> int:
        """Fill a hole; the temporary that holds its value."""
        facts = self.checked.holes[id(node)]
        names: list[str] = []
        values: list[Operand] = []
        mode: Any = {ast.Gen: "gen", ast.Choose: "choose", ast.Select: "select"}[type(node)]
        choices = None
        if not isinstance(node, ast.Gen) and facts.type is None:
            names.append("options")
            choices = node.choices
        for number, value in enumerate(facts.given):
            names.append(f"given{number}")
            values.append(value)
        for argument in (argument for each in facts.validators for argument in each.arguments):
            names.append(f"asked{sum(name.startswith('asked') for name in names)}")
            values.append(argument)
        for option in node.options:
            if option.kind in OPTIONS:
                names.append(option.kind)
                values.append(option.value)
        hole = len(self.program.holes)
        by: Any = node.by if isinstance(node, ast.Select) and node.by else "greedy"
        self.program.holes.append(
            HoleInfo(
                f"{self.root}.{facts.name}",
                mode,
                facts.type,
                tuple(names),
                facts.stops,
                facts.end_of_message,
                by,
                facts.condition,
                tuple(validator.function for validator in facts.validators),
            )
        )
        slot = facts.slot if facts.slot is not None else self.build.fresh_slot("hole")
        self.snapshots(node, hole, slot)
        if choices is not None:
            symbol = self.checked.symbols.get(id(choices))
            if isinstance(choices, ast.TypeName) and isinstance(symbol, LocalSymbol | ConstantSymbol):
                # A variable that the grammar took for the name of a type.
                values.insert(0, symbol)
            else:
                values.insert(0, choices)  # type: ignore[arg-type]
        cls = ops.SelectOption if mode == "select" else ops.Generate
        found = self.build.value(cls, hole, self.values(values, node.span), span=node.span)
        if facts.where:
            self.build.store(slot, found, node.span)
            for condition in facts.where:
                self._one_condition(condition)
            found = self.build.load(slot, node.span)
        return found

    def _one_condition(self, node: ast.Ensure) -> None:
        """A condition and what happens where it does not hold. See `Statements`."""
        raise KeyError(node)

    def pipe(self, node: ast.PipeLine) -> None:
        """One pipe line: a newline if one is due, then its parts."""
        build = self.build
        build.add(ops.Line(node.span))
        for part in node.parts:
            match part:
                case ast.Text(text=text, span=span):
                    build.add(ops.Text(text, span))
                case ast.Insert(value=value, span=span):
                    build.add(ops.Insert(self.value(value), span))
                case ast.Hole(content=content, span=span):
                    build.store(self.slot_of(content), self.hole(content), span)
        if node.glued:
            build.add(ops.Glue(node.span))

    def fork(self, node: ast.Fork) -> int:
        """The body becomes a function of its own that begins with its seed."""
        # No declared function has a number as its last name.
        name = f"{self.root}.fork.{next(self.fork_numbers)}"
        place = len(self.program.functions)
        self.program.functions.append(None)
        body = type(self)(self.program, self.checked, name, self.root)
        body.policies = self.policies
        body.fork_numbers = self.fork_numbers
        body.elements = list(self.elements)
        body.caught = list(self.caught)
        # Slots of the compiler's own must not clash with those of the function around.
        body.build.slot_counts = self.build.slot_counts
        for option in node.options:
            if option.kind == "seed":
                body.build.add(ops.SetSeed(body.value(option.value), option.span))
        body.body(node.body)
        body.build.end(terminators.Return(body.build.const(None, node.span), node.span))
        variable = Parameter(node.variable.text, self.slot_of(node), self._variable_type(node.iterable))
        self.program.functions[place] = Function(
            name=name,
            kind="fork",
            parameters=(variable,),
            blocks=tuple(body.build.blocks),
            retries=tuple(body.build.retries),
            parent=self.name,
            module=self.checked.name,
            span=node.span,
        )
        items = self.value(node.iterable)
        return self.build.value(ops.RunFork, name, items, node.skip, span=node.span)

    def _variable_type(self, iterable: ast.Expression) -> Type:
        found = self.checked.types.get(id(iterable))
        return found.item if isinstance(found, t.ListOf) else t.Int()
