"""How many items values have, and how many rounds loops, as far as the code alone says.

    known_lengths(function) -> Known
    length_of(block, temp, lengths) -> (least, greatest)

A list of constants, a range of constant ends and a written list have one length; a parameter has the bounds
of its type, if nothing else is stored in it; of all others nothing is known: at least 0, None for the
greatest. `while … limit n` has at most n rounds where n is a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sglc.ir import ops
from sglc.ir.module import Block, Function
from sglc.types.type import ListOf, TupleOf

Length = tuple[int, int | None]
"""The least and the greatest number of items, None where no greatest is known."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a function's variables: numbers of items, rounds of iterators, limits of loops."""

    lengths: dict[str, Length]
    """Of parameters that nothing is stored in."""
    rounds: dict[str, Length]
    limits: dict[str, int | None]


def known_lengths(function: Function) -> Known:
    """What is known of the variables of a function: from the types of its parameters, and from constants."""
    lengths: dict[str, Length] = {}
    for parameter in function.parameters:
        if isinstance(parameter.type, ListOf):
            lengths[parameter.slot] = parameter.type.minimum, parameter.type.maximum
        elif isinstance(parameter.type, TupleOf):
            lengths[parameter.slot] = len(parameter.type.items), len(parameter.type.items)
    rounds: dict[str, Length] = {}
    limits: dict[str, int | None] = {}
    stored: dict[str, int] = {}
    for block in function.blocks:
        for op in block.ops:
            if isinstance(op, ops.Store):
                stored[op.slot] = stored.get(op.slot, 0) + 1
    for block in function.blocks:
        makers = {op.result: op for op in block.ops if hasattr(op, "result")}
        for op in block.ops:
            if not isinstance(op, ops.Store):
                continue
            made = makers.get(op.value)
            if isinstance(made, ops.Iterate):
                usable = {slot: size for slot, size in lengths.items() if not stored.get(slot)}
                rounds[op.slot] = length_of(block, made.value, usable)
            elif isinstance(made, ops.Const) and type(made.value) is int:
                limits[op.slot] = max(limits.get(op.slot) or 0, made.value)
    once = {slot: size for slot, size in lengths.items() if not stored.get(slot)}
    return Known(once, rounds, limits)


def length_of(block: Block, temp: int, lengths: Mapping[str, Length]) -> Length:
    """The least and the greatest number of items of a temporary."""
    made = next((op for op in block.ops if getattr(op, "result", None) == temp), None)
    match made:
        case ops.Const(value=value) if isinstance(value, list | tuple | dict | str | range):
            return len(value), len(value)
        case ops.MakeList(items=items) | ops.MakeTuple(items=items):
            return len(items), len(items)
        case ops.MakeRange(start=start, stop=stop, inclusive=inclusive):
            ends = {op.result: op.value for op in block.ops if isinstance(op, ops.Const)}
            low, high = ends.get(start), ends.get(stop)
            if type(low) is int and type(high) is int:
                size = max(0, high - low + inclusive)
                return size, size
        case ops.Load(slot=slot):
            return lengths.get(slot, (0, None))
    return 0, None


def slot_of(block: Block, temp: int) -> str:
    """The variable that a temporary was loaded from; empty for another one."""
    return next((op.slot for op in block.ops if isinstance(op, ops.Load) and op.result == temp), "")
