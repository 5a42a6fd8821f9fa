"""Decides, for one block, where each temporary lives between its operation and its use.

The order of operations never changes. A temporary stays on the operand stack if its one use finds it there
in the right place; a constant or an unchanged variable is fetched where it is used; everything else is kept
in a slot. The stack is empty at the ends of blocks and at snapshots, so that retries and handlers need to
know nothing of it.
"""

from __future__ import annotations

from typing import Literal

from sglc.ir.module import Block
from sglc.ir.ops import Const, Load, Op, Snapshot, Store
from sglc.ir.shape import TOTAL, operands, result
from sglc.ir.terminators import Terminator

Home = Literal["stack", "again", "slot", "drop", "skip"]
"""`again`: made anew at each use; `drop`: popped at once, `skip`: not even made, for nothing uses it."""


def plan(block: Block) -> dict[int, Home]:
    """The home of every temporary of the block."""
    uses: dict[int, int] = {}
    makers: dict[int, tuple[int, Op]] = {}
    last_use: dict[int, int] = {}
    sequence: list[Op | Terminator] = [*block.ops, block.end]
    all_operands = [operands(op) for op in sequence]
    for index, op in enumerate(sequence):
        for temp in all_operands[index]:
            uses[temp] = uses.get(temp, 0) + 1
            last_use[temp] = index
        made = result(op)
        if made is not None:
            makers[made] = (index, op)  # type: ignore[assignment]
    homes: dict[int, Home] = {}

    def off_stack(temp: int) -> Home:
        """Where a temporary goes that cannot stay on the stack."""
        index, op = makers[temp]
        if isinstance(op, Const):
            return "again"
        if isinstance(op, Load):
            changed = any(
                isinstance(other, Store) and other.slot == op.slot
                for other in sequence[index + 1 : last_use[temp]]
            )
            return "slot" if changed else "again"
        return "slot"

    for temp, (_, op) in makers.items():
        count = uses.get(temp, 0)
        if count == 1:
            homes[temp] = "stack"
        elif count:
            homes[temp] = off_stack(temp)
        else:
            homes[temp] = "skip" if type(op) in TOTAL and not operands(op) else "drop"

    while True:
        misplaced = _misplaced(sequence, all_operands, homes)
        if not misplaced:
            return homes
        for temp in misplaced:
            homes[temp] = off_stack(temp)


def _misplaced(
    sequence: list[Op | Terminator], all_operands: list[tuple[int, ...]], homes: dict[int, Home]
) -> list[int]:
    """Temporaries on the stack at the first point where the stack does not serve an operation."""
    stack: list[int] = []
    for op, wanted in zip(sequence, all_operands, strict=True):
        on_stack = [temp for temp in wanted if homes[temp] == "stack"]
        if on_stack:
            count = len(on_stack)
            if tuple(on_stack) != wanted[:count] or stack[-count:] != on_stack:
                return on_stack
            del stack[-count:]
        if stack and isinstance(op, Snapshot):
            return stack
        temp = result(op)
        if temp is not None and homes[temp] == "stack":
            stack.append(temp)
    return stack
