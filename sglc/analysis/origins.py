"""Where the values of a function come from: what differs from call to call, and what is the same in each.

A value's *origins* are what it was made from: parameters of the function, holes that the model filled, calls
that ask a model, errors. A value without origins is the same in every call. Control counts too: what is
stored under a condition has the origins of the condition (control dependence after Ferrante, Ottenstein and
Warren 1987, over the post-dominators of the blocks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sglc.ir import ops
from sglc.ir.flow import block_map
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import operands, result, successors
from sglc.ir.terminators import Branch, Next, Try


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """One thing that a value was made from. `name` is that of the parameter, the hole (as in `HoleInfo`, or
    its index before linking) or the function; empty for an error."""

    kind: Literal["parameter", "hole", "call", "fork", "error"]
    name: str = ""


Origins = frozenset[Origin]
SAME: Origins = frozenset()
"""Of what is the same in every call."""
_ERROR: Origins = frozenset({Origin("error")})


@dataclass(slots=True)
class FunctionOrigins:
    """The origins of one function's variables and conditions."""

    slots: dict[str, Origins] = field(default_factory=dict)
    """By variable: of all values that it ever holds."""
    control: dict[str, Origins] = field(default_factory=dict)
    """By block: of the conditions that decide whether control comes to it."""
    streams: Origins = SAME
    """Of what is read of streams."""

    def of_temps(self, module: Module, block: Block) -> dict[int, Origins]:
        """The origins of each temporary of a block."""
        found: dict[int, Origins] = {}
        for op in block.ops:
            temp = result(op)
            if temp is not None:
                found[temp] = self._of_result(module, op, found)
        return found

    def of_end(self, module: Module, block: Block, temps: Mapping[int, Origins]) -> Origins:
        """The origins of what a block's terminator decides by."""
        end = block.end
        if isinstance(end, Branch):
            return temps.get(end.condition, SAME)
        if isinstance(end, Next):
            return self.slots.get(end.iterator, SAME)
        return _ERROR if isinstance(end, Try) else SAME

    def _of_result(self, module: Module, op: ops.Op, temps: Mapping[int, Origins]) -> Origins:
        if isinstance(op, ops.Load):
            return self.slots.get(op.slot, SAME)
        found = SAME.union(*[temps.get(temp, SAME) for temp in operands(op)])
        match op:
            case ops.Generate(hole=hole) | ops.SelectOption(hole=hole):
                return found | {Origin("hole", module.holes[hole].name)}
            case ops.Call(function=name) | ops.CallPart(function=name):
                return found | {Origin("call", name)} if asks(module, name) else found
            case ops.NextPart() | ops.GetPart() | ops.CloseStream():
                return found | self.streams
            case ops.RunFork(function=name):
                return found | {Origin("fork", name)}
            case ops.HandledError() | ops.Catch():
                return found | _ERROR
        return found


def asks(module: Module, name: str) -> bool:
    """Whether a call of a function may ask a model, or Python: by holes of its own, or of what it calls."""
    seen: set[str] = set()
    work = [name]
    while work:
        here = work.pop()
        if here in seen or here not in module.by_name:
            continue
        seen.add(here)
        for block in module.by_name[here].blocks:
            for op in block.ops:
                if isinstance(op, ops.Generate | ops.SelectOption | ops.CallPython):
                    return True
                if isinstance(op, ops.Call | ops.OpenStream | ops.CallPart | ops.RunFork):
                    work.append(op.function)
    return False


def origins(
    module: Module,
    function: Function,
    given: Mapping[str, Origins] | None = None,
    around: Mapping[str, Origins] | None = None,
) -> FunctionOrigins:
    """The origins of a function's values: a least fixed point over its blocks.

    `given` says the origins of its parameters' values by slot, where they are arguments of a known call; a
    parameter that it does not name is an origin itself. `around` are those of the variables that a fork body
    shares with the function that it stands in.
    """
    found = FunctionOrigins(dict(around or {}))
    for parameter in function.parameters:
        own = frozenset({Origin("parameter", parameter.name)})
        found.slots[parameter.slot] = own if given is None else given.get(parameter.slot, own)
    depends = control_dependence(function)
    blocks = block_map(function)
    opened = [op.function for block in blocks.values() for op in block.ops if isinstance(op, ops.OpenStream)]
    found.streams = frozenset(Origin("call", name) for name in opened)
    found.control = dict.fromkeys(blocks, SAME)
    changed = True
    while changed:
        changed = False
        ends: dict[str, Origins] = {}
        for label, block in blocks.items():
            temps = found.of_temps(module, block)
            ends[label] = found.of_end(module, block, temps)
            for op in block.ops:
                if isinstance(op, ops.Store):
                    new = temps.get(op.value, SAME) | found.control[label]
                    changed |= _add(found.slots, op.slot, new)
            if isinstance(block.end, Next):
                new = found.slots.get(block.end.iterator, SAME) | found.control[label]
                changed |= _add(found.slots, block.end.item, new)
        for label, deciders in depends.items():
            for decider in deciders:
                changed |= _add(found.control, label, ends[decider] | found.control[decider])
    return found


def _add(table: dict[str, Origins], key: str, new: Origins) -> bool:
    old = table.get(key, SAME)
    table[key] = old | new
    return not new <= old


def control_dependence(function: Function) -> dict[str, frozenset[str]]:
    """By block: the blocks whose terminators decide whether control comes to it.

    Of a `try` only the way to its handler is such a decision: its body is always entered.
    """
    blocks = block_map(function)
    after = _post_dominators(function)
    found: dict[str, set[str]] = {label: set() for label in blocks}
    for label, block in blocks.items():
        targets = successors(block.end)
        if len(targets) < 2:
            continue
        decisive = (block.end.handler,) if isinstance(block.end, Try) else targets
        for target in decisive:
            for here in after[target]:
                if here not in after[label] or here == label:
                    found[here].add(label)
    return {label: frozenset(deciders) for label, deciders in found.items()}


def _post_dominators(function: Function) -> dict[str, frozenset[str]]:
    """By block: the blocks that every way from it to an end of the function goes through, itself included."""
    blocks = block_map(function)
    whole = frozenset(blocks)
    found = dict.fromkeys(blocks, whole)
    changed = True
    while changed:
        changed = False
        for label in reversed(blocks):
            targets = successors(blocks[label].end)
            common = frozenset.intersection(*[found[t] for t in targets]) if targets else frozenset()
            new = common | {label}
            if new != found[label]:
                found[label], changed = new, True
    return found
