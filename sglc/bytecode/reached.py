"""What a call of a function may come to: the functions behind its instructions, and the holes in them."""

from __future__ import annotations

from collections.abc import Iterable

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES

_CALLS = frozenset(row.number for row in OPCODES if row.operands[:1] == ("code",))
_FILLS = frozenset(row.number for row in OPCODES if row.operands[:1] == ("hole",))
_CATCH = BY_NAME["CATCH"].number


def reached_codes(program: Program, code: Code) -> list[int]:
    """Indices of the codes that a call of a function may come to, its own among them, in order of the
    program. Validators of holes are not among them: they compute, and call nothing but pure functions."""
    waiting, seen = [program.codes.index(code)], set[int]()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            waiting += [a for op, a, _ in program.codes[index].instructions if op in _CALLS]
    return sorted(seen)


def holes_in(program: Program, codes: Iterable[int]) -> frozenset[int]:
    """Indices of the holes that these codes fill."""
    return frozenset(a for index in codes for op, a, _ in program.codes[index].instructions if op in _FILLS)


def catches(program: Program, codes: Iterable[int], error: str) -> bool:
    """Whether a handler in these codes names an error."""
    return any(
        op == _CATCH and program.names[a] == error
        for index in codes
        for op, a, _ in program.codes[index].instructions
    )
