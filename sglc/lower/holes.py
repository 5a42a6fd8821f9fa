"""Holes, and what else a model answers."""

from __future__ import annotations

from typing import Any

from sglc.check.core.result import ConstantSymbol, LocalSymbol
from sglc.ir import ops
from sglc.ir.module import HoleInfo
from sglc.lower.conditions import Conditions
from sglc.lower.context import Context, HoleNode, told_slot
from sglc.lower.expressions import Expressions
from sglc.lower.splitting import Operand
from sglc.syntax.tree import ast

OPTIONS = ("max_tokens", "temp", "top_p", "top_k", "min_p", "seed", "n", "weight", "at_least")
"""Options whose values are on the stack when the hole is filled; `until` is part of the type."""


class Holes:
    """Lowers what a model answers in one function."""

    def __init__(self, context: Context, expressions: Expressions, conditions: Conditions) -> None:
        self.context = context
        self.checked = context.checked
        self.build = context.build
        self.expressions = expressions
        self.conditions = conditions

    def value(self, node: HoleNode) -> int:
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
        hole = len(self.context.program.holes)
        by: Any = node.by if isinstance(node, ast.Select) and node.by else "greedy"
        self.context.program.holes.append(
            HoleInfo(
                f"{self.context.known_as}.{facts.name}",
                mode,
                facts.type,
                tuple(names),
                facts.stops,
                facts.end_of_message,
                by,
                facts.condition,
                tuple(validator.function for validator in facts.validators),
                decoding=facts.decoding,
                models=facts.models,
                told=facts.told,
            )
        )
        slot = facts.slot if facts.slot is not None else self.build.fresh_slot("hole")
        self.context.snapshots(node, hole, slot)
        if choices is not None:
            symbol = self.checked.symbols.get(id(choices))
            if isinstance(choices, ast.TypeName) and isinstance(symbol, LocalSymbol | ConstantSymbol):
                # A variable that the grammar took for the name of a type.
                values.insert(0, symbol)
            else:
                values.insert(0, choices)  # type: ignore[arg-type]
        cls = ops.SelectOption if mode == "select" else ops.Generate
        found = self.build.value(cls, hole, self.expressions.values(values, node.span), span=node.span)
        if facts.told:
            told = told_slot(slot)
            self.build.store(told, found, node.span)
            found = self.build.value(ops.GetField, self.build.load(told, node.span), "value", span=node.span)
        if facts.where:
            self.build.store(slot, found, node.span)
            for condition in facts.where:
                self.conditions.one(condition)
            found = self.build.load(slot, node.span)
        return found
