"""Calls of pure functions whose arguments are known: the result, by evaluating the function's operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sglc.ir import ops, terminators
from sglc.ir.flow import block_map
from sglc.ir.literal import print_literal
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import operands
from sglc.passes.evaluate import EVALUATED, Budget, Unknown, value_of
from sglc.values.kinds import ValueFault
from sglc.values.parts import items_of

STEPS = 1_000
"""Most operations of one call, calls inside it included: some milliseconds. A call that needs more is
no constant of the program but a computation."""
DEPTH = 50
"""Most calls inside each other: far below what the machine allows, and the evaluator is recursive."""


@dataclass(slots=True)
class _Steps:
    """What is left of the operations of one call."""

    left: int = STEPS

    def take(self, count: int, budget: Budget) -> None:
        self.left -= count
        if self.left < 0:
            raise Unknown
        budget.spend(count)


@dataclass(frozen=True, slots=True)
class _Items:
    """A place in a sequence that a loop goes over."""

    items: Sequence[object]
    at: int = 0


def _items(value: object) -> _Items:
    try:
        return _Items(items_of(value))
    except ValueFault:
        raise Unknown from None


class Calls:
    """Results of calls of one module, each evaluated once."""

    def __init__(self, module: Module, budget: Budget) -> None:
        self.functions = {f.name: f for f in module.functions if f.kind == "pure"}
        self.table = module.table
        self.budget = budget
        self._blocks: dict[str, dict[str, Block]] = {}
        self._found: dict[tuple[str, str], object] = {}

    def result(self, name: str, arguments: list[object]) -> object:
        """What a pure function gives. Raises Unknown where it fails, takes long, or does more than
        compute."""
        if any(isinstance(argument, range) for argument in arguments):
            raise Unknown
        key = (name, print_literal(arguments))
        if key not in self._found:
            try:
                self._found[key] = self._call(name, arguments, _Steps(), 0)
            except Unknown:
                self._found[key] = Unknown
        found = self._found[key]
        if found is Unknown:
            raise Unknown
        return found

    def _call(self, name: str, arguments: list[object], steps: _Steps, depth: int) -> object:
        function = self.functions.get(name)
        if function is None or depth == DEPTH:
            raise Unknown
        if name not in self._blocks:
            self._blocks[name] = block_map(function)
        return self._run(function, self._blocks[name], arguments, steps, depth)

    def _run(
        self,
        function: Function,
        blocks: dict[str, Block],
        arguments: list[object],
        steps: _Steps,
        depth: int,
    ) -> object:
        slots: dict[str, object] = {
            parameter.slot: value for parameter, value in zip(function.parameters, arguments, strict=True)
        }
        block = function.blocks[0]
        while True:
            values: dict[int, object] = {}
            steps.take(len(block.ops) + 1, self.budget)
            op: Any
            for op in block.ops:
                if type(op) in EVALUATED:
                    given = [values[temp] for temp in operands(op)]
                    values[op.result] = value_of(op, given, self.table, self.budget)
                elif type(op) is ops.Const:
                    values[op.result] = op.value
                elif type(op) is ops.Load:
                    values[op.result] = slots[op.slot]
                elif type(op) is ops.Store:
                    slots[op.slot] = values[op.value]
                elif type(op) is ops.Iterate:
                    values[op.result] = _items(values[op.value])
                elif type(op) is ops.Call:
                    given = [values[temp] for temp in op.arguments]
                    values[op.result] = self._call(op.function, given, steps, depth + 1)
                else:
                    raise Unknown
            match block.end:
                case terminators.Return(value=value):
                    return values[value]
                case terminators.Jump(target=target):
                    block = blocks[target]
                case terminators.Branch(condition=condition, then=then, otherwise=otherwise):
                    block = blocks[then if values[condition] else otherwise]
                case terminators.Next(iterator=iterator, item=item, body=body, done=done):
                    items = slots[iterator]
                    assert isinstance(items, _Items)
                    more = items.at < len(items.items)
                    if more:
                        slots[item] = items.items[items.at]
                        slots[iterator] = _Items(items.items, items.at + 1)
                    block = blocks[body if more else done]
                case _:
                    raise Unknown  # an error of the function belongs to run time
