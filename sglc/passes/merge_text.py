"""Adjacent literal text becomes one append; empty text goes.

    text "Theme: "              text "Theme: none\\n"
    %0 = load $x          →     %0 = load $x
    text "none\\n"               insert %0
    insert %0

Operations between two texts may stay there only if they cannot fail and leave the conversation alone.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.ir.module import Block, Function, Module
from sglc.ir.ops import Op, Text
from sglc.ir.shape import QUIET
from sglc.passes.rewrite import each_function, with_blocks


def run(module: Module) -> Module:
    """The module with its texts merged."""
    return each_function(module, _function)


def _function(function: Function) -> Function:
    return with_blocks(function, tuple([_block(block) for block in function.blocks]))


def _block(block: Block) -> Block:
    ops: list[Op] = []
    latest: int | None = None
    """Place in `ops` of the text that the next one can join."""
    changed = False
    for op in block.ops:
        if type(op) is Text:
            if not op.text:
                changed = True
                continue
            if latest is not None:
                earlier = ops[latest]
                assert isinstance(earlier, Text)
                ops[latest] = _joined(earlier, op)
                changed = True
                continue
            latest = len(ops)
        elif type(op) not in QUIET:
            latest = None
        ops.append(op)
    return replace(block, ops=tuple(ops)) if changed else block


def _joined(first: Text, second: Text) -> Text:
    """Both texts, at the place where the first begins: that is the place of its event."""
    return Text(first.text + second.text, first.span if first.span is not None else second.span)
