"""What passes share: changed copies of modules, functions and operations. Operations are never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, TypeVar

from sglc.ir.module import Block, Function, Module
from sglc.ir.ops import Op
from sglc.ir.shape import SHAPES, operands, result
from sglc.ir.terminators import Terminator

Part = TypeVar("Part", bound=Op | Terminator)


def each_function(module: Module, change: Callable[[Function], Function]) -> Module:
    """The module with every function changed; the same object if none was."""
    functions = tuple([change(function) for function in module.functions])
    if all(new is old for new, old in zip(functions, module.functions, strict=True)):
        return module
    return replace(module, functions=functions)


def with_blocks(function: Function, blocks: tuple[Block, ...]) -> Function:
    """The function with other blocks and its temporaries numbered in their order; itself if none differs."""
    return function if _has(function, blocks) else numbered(replace(function, blocks=blocks))


def with_unnumbered(function: Function, blocks: tuple[Block, ...]) -> Function:
    """`with_blocks`, but that the temporaries keep their numbers: for what is not done yet."""
    return function if _has(function, blocks) else replace(function, blocks=blocks)


def _has(function: Function, blocks: tuple[Block, ...]) -> bool:
    return len(blocks) == len(function.blocks) and all(
        [new is old for new, old in zip(blocks, function.blocks, strict=True)]
    )


def numbered(function: Function) -> Function:
    """The function with its temporaries numbered from 0 in the order they are written."""
    return replace(function, blocks=renumbered(function.blocks))


def renumbered(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks with their temporaries numbered from 0 in the order they are written."""
    count = 0
    done = []
    for block in blocks:
        names: dict[int, int] = {}
        ops: list[Op] = []
        # While every temporary keeps its number, operations are taken over as they are.
        moved = False
        for op in block.ops:
            if SHAPES[type(op)].has_result:
                temp: int = op.result  # type: ignore[union-attr]
                names[temp] = count
                moved = moved or temp != count
                ops.append(_rebuilt(op, names, count) if moved else op)
                count += 1
            else:
                ops.append(_rebuilt(op, names, None) if moved else op)
        if moved:
            done.append(Block(block.label, tuple(ops), _rebuilt(block.end, names, None)))
        else:
            done.append(block)
    return tuple(done)


def _same(op: Op | Terminator, names: Mapping[int, int]) -> bool:
    return all(names.get(temp, temp) == temp for temp in operands(op))


def renamed(op: Part, names: Mapping[int, int]) -> Part:
    """The operation with other operands; itself if none of its operands has another name."""
    return op if _same(op, names) else _rebuilt(op, names, result(op))


def _rebuilt(op: Part, names: Mapping[int, int], new: int | None) -> Part:
    found: Part = _REBUILT[type(op)](op, names, new)
    return found


def _rebuilding(cls: type) -> Callable[[Any, Mapping[int, int], int | None], Any]:
    """For operations of a class: a copy with other operands and another result."""
    shape = SHAPES[cls]
    if not shape.uses and not shape.has_result:
        return lambda op, names, new: op
    names_of_fields = [field.name for field in fields(cls)]
    parts_of = attrgetter(*names_of_fields)
    uses = [(names_of_fields.index(name), several) for name, several in shape.uses]
    to = names_of_fields.index("result") if shape.has_result else None

    def rebuilt(op: object, names: Mapping[int, int], new: int | None) -> object:
        parts = list(parts_of(op))
        for at, several in uses:
            value = parts[at]
            parts[at] = (
                tuple([names.get(temp, temp) for temp in value]) if several else names.get(value, value)
            )
        if to is not None:
            parts[to] = new
        return cls(*parts)

    return rebuilt


_REBUILT = {cls: _rebuilding(cls) for cls in SHAPES}


def relabelled(op: Any, labels: Mapping[str, str]) -> Terminator:
    """The terminator with other targets."""
    shape = SHAPES[type(op)]
    changes = {name: labels[getattr(op, name)] for name in shape.labels if getattr(op, name) in labels}
    found: Terminator = replace(op, **changes) if changes else op
    return found


def with_operands(op: Op, operands: Sequence[int], result: int) -> Op:
    """The operation on other operands, in the order in which it evaluates them, with another result."""
    changes: dict[str, Any] = {"result": result}
    left = list(operands)
    for name, several in SHAPES[type(op)].uses:
        count = len(getattr(op, name)) if several else 1
        changes[name] = tuple(left[:count]) if several else left[0]
        del left[:count]
    return replace(op, **changes)
