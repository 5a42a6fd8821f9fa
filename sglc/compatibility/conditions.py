"""Conditions of types in two builds: whether one is that of the other.

A condition that a mask keeps is data and compared as such. One that a pure function decides is the same where
the function, and all that it calls, have equal instructions, constants and types: what they are called, and
where they stand, makes no difference. Nothing is computed, so of others nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import OPCODES
from sglc.types import type as t


def deciders(program: Program) -> Mapping[str, bytes]:
    """Digests of the functions that decide conditions of a program's types, by their names."""
    names = {
        predicate.function
        for declared in program.table.values()
        if isinstance(declared, t.AliasType)
        for predicate in declared.predicates
    }
    places = {code.name: place for place, code in enumerate(program.codes) if code.name in names}
    return {name: _digest(program, place) for name, place in places.items()}


def _digest(program: Program, place: int) -> bytes:
    """Of a code and of those that it leads to, which are known by the order in which they are met."""
    order = [place]
    shown: list[str] = []
    types: list[t.Type] = []
    for index in order:  # which grows
        shown.append(_shown(program, program.codes[index], order, types))
    names = _named(program, types)
    shown += [repr((name, program.table.get(name))) for name in names]
    return sha256("\n".join(shown).encode("utf-8", "surrogatepass")).digest()


def _shown(program: Program, code: Code, order: list[int], types: list[t.Type]) -> str:
    """A code with what its operands index; codes are added to `order`, types to `types`."""
    instructions: list[tuple[object, ...]] = []
    for op, *given in code.instructions:
        operands: list[object] = []
        for kind, value in zip(OPCODES[op].operands, given, strict=False):
            match kind:
                case "constant":
                    operands.append(program.constants[value])
                case "name":
                    operands.append(program.names[value])
                case "type":
                    types.append(program.types[value])
                    operands.append(program.types[value])
                case "code":
                    if value not in order:
                        order.append(value)
                    operands.append(order.index(value))
                case _:
                    operands.append(value)
        instructions.append((op, *operands))
    own = [program.types[parameter.type] for parameter in code.parameters]
    types += own
    return repr((code.kind, own, len(code.slots), instructions))


def _named(program: Program, types: list[t.Type]) -> list[str]:
    """The declared types that types lead to, in the order in which they are met."""
    found: dict[str, None] = {}
    waiting: list[object] = list(types)
    while waiting:
        value = waiting.pop()
        if isinstance(value, t.Named | t.Applied) and value.name not in found:
            found[value.name] = None
            waiting.append(program.table.get(value.name))
        if isinstance(value, tuple | list):
            waiting += value
        else:
            waiting += [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]
    return list(found)
