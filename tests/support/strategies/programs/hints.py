"""Programs with hints of calls put in at random: right ones, early ones, wrong ones, twice the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from sglc.ir import ops, terminators
from sglc.ir.flow import assigned_slots
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import operands, result
from sglc.ir.verify import verify
from sglc.passes.rewrite import renamed, with_blocks
from sglc.types.values import Value

Slice = tuple[ops.Op, ...]
"""A call and the operations that compute its arguments."""

EFFECTS = (ops.Generate, ops.SelectOption, ops.CallPart, ops.RunFork, ops.Iterate, ops.HandledError)
"""Operations with a result that an argument may use and that cannot be done twice."""


def hinted(module: Module, random: Random, most: int = 4) -> Module:
    """The module with up to `most` hints for each call of a `fn`, somewhere in the function of the call."""
    callees = {function.name for function in module.functions if function.kind == "fn"}
    made = replace(module, functions=tuple(_function(f, callees, random, most) for f in module.functions))
    assert verify(made) == []
    return made


def announced(module: Module, name: str, calls: list[tuple[str, tuple[Value, ...]]]) -> Module:
    """The module with hints of these calls, in their order, where a function begins."""
    functions = []
    for function in module.functions:
        if function.name == name:
            first, *others = function.blocks
            made: list[ops.Op] = []
            for callee, arguments in calls:
                temps = [ops.Const(1_000_000 + len(made) + k, value) for k, value in enumerate(arguments)]
                made += [*temps, ops.Start(callee, tuple(temp.result for temp in temps))]
            first = replace(first, ops=(*made, *first.ops))
            function = with_blocks(function, (first, *others))
        functions.append(function)
    return replace(module, functions=tuple(functions))


def _function(function: Function, callees: set[str], random: Random, most: int) -> Function:
    if function.kind == "pure":
        return function
    calls = [found for block in function.blocks for found in _calls(block, callees)]
    if not calls:
        return function
    known = assigned_slots(function, frozenset(parameter.slot for parameter in function.parameters))
    due: dict[str, list[Slice]] = {}
    for call in calls:
        needed = {op.slot for op in call if isinstance(op, ops.Load)}
        places = [label for label, slots in known.items() if needed <= slots]
        for _ in range(random.randrange(most + 1) if places else 0):
            due.setdefault(random.choice(places), []).append(_spoilt(call, random))
    blocks: list[Block] = []
    for block in function.blocks:
        blocks += _with_hints(block, due.get(block.label, []), len(blocks))
    return with_blocks(function, tuple(blocks))


def _calls(block: Block, callees: set[str]) -> list[Slice]:
    """The calls of a block whose arguments can be computed a second time."""
    makers = {result(op): op for op in block.ops if result(op) is not None}
    found: list[Slice] = []
    for op in block.ops:
        if not isinstance(op, ops.Call) or op.function not in callees:
            continue
        needed: dict[int, ops.Op] = {}
        work = list(op.arguments)
        while work:
            temp = work.pop()
            if temp not in needed:
                needed[temp] = makers[temp]
                work += operands(makers[temp])
        makes = [other for other in block.ops if result(other) in needed]
        pure = all(
            not isinstance(other, EFFECTS) and not (isinstance(other, ops.Call) and other.function in callees)
            for other in makes
        )
        if pure:
            found.append((*makes, op))
    return found


def _spoilt(call: Slice, random: Random) -> Slice:
    """The call, one time in five with another constant among what its arguments are made of."""
    if random.randrange(5):
        return call
    return tuple(
        replace(op, value=random.choice([0, 1, True, "x", None])) if isinstance(op, ops.Const) else op
        for op in call
    )


def _with_hints(block: Block, hints: list[Slice], number: int) -> list[Block]:
    """The block behind blocks that give the hints, each under a quiet handler."""
    made: list[Block] = []
    label = block.label
    used = max([result(op) or 0 for op in block.ops], default=0) + 100_000 * (number + 1)
    for index, hint in enumerate(hints):
        body, following = f"hint{number}.{index}", f"behind{number}.{index}"
        names: dict[int, int] = {}
        copies: list[ops.Op] = []
        for op in hint[:-1]:
            copy = renamed(op, names)
            used += 1
            names[copy.result] = used
            copies.append(replace(copy, result=used))
        call = renamed(hint[-1], names)
        start = ops.Start(call.function, call.arguments, call.span)
        made.append(Block(label, (), terminators.Try(body, following, True)))
        made.append(Block(body, (*copies, start, ops.EndTry()), terminators.Jump(following)))
        label = following
    made.append(Block(label, block.ops, block.end))
    return made
