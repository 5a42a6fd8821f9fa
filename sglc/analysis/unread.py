"""Holes whose values nothing reads, and behind which nothing is read from the model.

    %0 = gen h0 ()              h0 is unread, but h1 is drawn behind it: the model reads what h0 wrote
    store $thoughts %0
    %1 = gen h1 ()
    store $answer %1
    %2 = gen h2 ()              h2 is unread, and the conversation is over
    store $remark %2
    %3 = load $answer
    return %3

Such a hole is not dropped: its text is part of the conversation, of the trace and of budgets, and another
number of holes gives other seeds. It is told (W0227).

Only functions with a conversation of their own and with a result are looked at. Who calls a `part` goes on in
its conversation, the holes of a fork's body are fields of its branches, and a function without a result is
called for its text.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.ir import ops
from sglc.ir.flow import block_map
from sglc.ir.module import Block, Function, Module
from sglc.ir.ops import Generate, Load, SelectOption, Store
from sglc.ir.shape import operands, successors
from sglc.source import Span
from sglc.types.type import Null

_GOES_ON = (ops.CallPart, ops.RunFork, ops.AdoptBranch)
"""Operations behind which others read the conversation, as far as one can see here."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A hole that nothing reads: its number, the function, and its place."""

    hole: int
    function: str
    span: Span | None


def unread_holes(module: Module) -> tuple[Unread, ...]:
    """The unread holes of a module, in order."""
    read: dict[str, set[str]] = {function.name: _read(function) for function in module.functions}
    for function in reversed(module.functions):
        if function.parent in read:
            read[function.parent] |= read[function.name]
    found: list[Unread] = []
    for function in module.functions:
        if function.kind == "fn" and function.result not in (None, Null()):
            found += _of(function, read[function.name], module)
    return tuple(found)


def _read(function: Function) -> set[str]:
    """Variables that a function reads."""
    return {op.slot for block in function.blocks for op in block.ops if type(op) is Load}


def _of(function: Function, read: set[str], module: Module) -> list[Unread]:
    blocks = block_map(function)
    asked: dict[str, bool] = {}
    """Whether something is read from the model on a road from the beginning of a block."""
    above: dict[str, list[str]] = {label: [] for label in blocks}
    for label, block in blocks.items():
        for target in successors(block.end):
            above[target].append(label)
        asked[label] = _asks(block, read)
    work = [label for label, asks in asked.items() if asks]
    while work:
        for label in above[work.pop()]:
            if not asked[label]:
                asked[label] = True
                work.append(label)
    found: list[Unread] = []
    for block in function.blocks:
        behind = any(asked[target] for target in successors(block.end))
        here: list[Unread] = []
        for op in reversed(block.ops):
            if isinstance(op, Generate | SelectOption) and not _is_read(op, block, read):
                named = not module.holes[op.hole].name.rpartition(".")[2].startswith("_")
                if not behind and named:
                    here.append(Unread(op.hole, function.name, op.span))
            elif isinstance(op, (*_GOES_ON, Generate, SelectOption)):
                behind = True
        found += reversed(here)
    return found


def _asks(block: Block, read: set[str]) -> bool:
    return any(
        isinstance(op, _GOES_ON) or (isinstance(op, Generate | SelectOption) and _is_read(op, block, read))
        for op in block.ops
    )


def _is_read(hole: Generate | SelectOption, block: Block, read: set[str]) -> bool:
    """Whether anything is done with the value but to keep it in a variable that nothing reads."""
    for op in (*block.ops, block.end):
        if hole.result in operands(op) and not (type(op) is Store and op.slot not in read):
            return True
    return False
