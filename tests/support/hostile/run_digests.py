"""What the run of a test depends on, as a digest: tests that a slip elsewhere in a program leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import OPCODES


def digests(program: Program) -> Callable[[Code], bytes]:
    """The digest of any test of a program.

    Equal digests mean equal instructions, constants, types, holes and errors in every code that the test can
    come to, and so equal runs for equal seeds, whatever else their programs have. Places are left out: two
    runs may tell of one failure at different lines.
    """
    shared = repr((sorted(program.table.items()), program.errors, program.files))

    def digest(test: Code) -> bytes:
        waiting, seen = [program.codes.index(test)], dict[int, str]()
        while waiting:
            index = waiting.pop()
            if index not in seen:
                seen[index], following = _shown(program, program.codes[index])
                waiting += following
        return sha256("\n".join((shared, *seen.values())).encode("utf-8", "replace")).digest()

    return digest


def _shown(program: Program, code: Code) -> tuple[str, list[int]]:
    """A code with what its operands index, and the codes that it leads to."""
    following: list[int] = []
    instructions: list[object] = []
    for op, *given in code.instructions:
        operands: list[object] = [op]
        for kind, value in zip(OPCODES[op].operands, given, strict=False):
            match kind:
                case "constant":
                    operands.append(program.constants[value])
                case "name":
                    operands.append(program.names[value])
                case "type":
                    operands.append(program.types[value])
                case "code":
                    operands.append(program.codes[value].name)
                    following.append(value)
                case "hole":
                    operands.append(_hole(program, value, following))
                case _:
                    operands.append(value)
        instructions.append(operands)
    types = [program.types[each.type] for each in code.parameters]
    retries = [(each, _hole(program, each.hole, following)) for each in code.retries]
    result = None if code.result is None else program.types[code.result]
    bare = replace(code, instructions=(), places=(), retries=(), parameters=(), result=None)
    names = [(each.name, each.has_default, each.default) for each in code.parameters]
    return repr((bare, names, types, result, retries, instructions)), following


def _hole(program: Program, index: int, following: list[int]) -> object:
    hole = program.holes[index]
    following += hole.validators
    type = None if hole.type is None else program.types[hole.type]
    judges = [program.codes[each].name for each in hole.validators]
    return replace(hole, type=None, validators=()), type, judges
