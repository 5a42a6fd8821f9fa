"""IR as text. `read(print_module(m)) == m`.

One operation a line: `%2 = binary "+" %0 %1`. `%3` is a temporary, `$x` a variable, `^loop` a block, `@f` a
function, `h0` a hole, `r0` a retry policy. Blank lines and `; comments` mean nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sglc.ir.literal import print_literal
from sglc.ir.module import Block, Function, Module
from sglc.ir.ops import Op
from sglc.ir.shape import MNEMONICS, SHAPES
from sglc.ir.terminators import Terminator

_PLAIN_SLOT = re.compile(r"""[^\s"(),=:\[\]{}]+\Z""")
_PLAIN_FUNCTION = re.compile(r"[\w.]+\Z")


def print_slot(name: str) -> str:
    """A variable with its sigil, in quotes where its name has other characters."""
    return f"${name}" if _PLAIN_SLOT.match(name) else f"${json.dumps(name, ensure_ascii=False)}"


def print_function_name(name: str) -> str:
    """A function with its sigil, in quotes where its name has other characters."""
    return f"@{name}" if _PLAIN_FUNCTION.match(name) else f"@{json.dumps(name, ensure_ascii=False)}"


def _part(kind: str, value: Any) -> str:
    match kind:
        case "Temp":
            return f"%{value}"
        case "tuple[Temp, ...]":
            return f"({', '.join(f'%{temp}' for temp in value)})"
        case "Slot":
            return print_slot(value)
        case "Label":
            return f"^{value}"
        case "FunctionName":
            return print_function_name(value)
        case "Hole":
            return f"h{value}"
        case "Retry":
            return f"r{value}"
        case _:
            return print_literal(value)


def print_op(op: Op | Terminator) -> str:
    """One operation, without a line end."""
    shape = SHAPES[type(op)]
    words = [MNEMONICS[type(op)], *(_part(kind, getattr(op, name)) for name, kind in shape.parts)]
    text = " ".join(words)
    return f"%{op.result} = {text}" if shape.has_result else text  # type: ignore[union-attr]


def print_block(block: Block) -> str:
    """A label and the operations behind it, one a line."""
    lines = [f"^{block.label}:", *(f"  {print_op(op)}" for op in block.ops), f"  {print_op(block.end)}"]
    return "\n".join(lines)


def print_function(function: Function) -> str:
    """One function with its braces."""
    parameters = []
    for parameter in function.parameters:
        text = f"{parameter.name} {print_slot(parameter.slot)}: {print_literal(parameter.type)}"
        if parameter.has_default:
            text += f" = {print_literal(parameter.default)}"
        if parameter.untrusted:
            text = f"untrusted {text}"
        parameters.append(text)
    head = f"{function.kind} {print_function_name(function.name)}({', '.join(parameters)})"
    if function.result is not None:
        head += f" -> {print_literal(function.result)}"
    lines = [head + " {"]
    if function.parent is not None:
        lines.append(f"  parent {print_function_name(function.parent)}")
    if function.module:
        lines.append(f"  module {json.dumps(function.module)}")
    if function.copy_of:
        lines.append(f"  copy {print_function_name(function.copy_of)}")
    if function.within is not None:
        lines.append(f"  within {function.within}")
    if not function.public:
        lines.append("  private")
    if function.doc:
        lines.append(f"  doc {json.dumps(function.doc, ensure_ascii=False)}")
    if function.raises:
        lines.append(f"  raises {print_literal(function.raises)}")
    if function.tags:
        lines.append(f"  tags {print_literal(function.tags)}")
    for index, policy in enumerate(function.retries):
        slot = print_slot(policy.slot)
        lines.append(f"  retry r{index} {policy.strategy} {policy.attempts} h{policy.hole} {slot}")
    lines += [print_block(block) for block in function.blocks]
    lines.append("}")
    return "\n".join(lines)


def print_module(module: Module) -> str:
    """The whole module, declarations first."""
    lines = [f"module {json.dumps(module.name, ensure_ascii=False)}"]
    for name, declared in module.table.items():
        lines.append(f"type {json.dumps(name, ensure_ascii=False)} = {print_literal(declared)}")
    lines += [f"error {print_literal(error)}" for error in module.errors]
    lines += [f"hole h{index} = {print_literal(hole)}" for index, hole in enumerate(module.holes)]
    for function in module.functions:
        lines += ["", print_function(function)]
    return "\n".join(lines) + "\n"
