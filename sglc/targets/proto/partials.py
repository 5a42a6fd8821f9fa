"""Values that are not complete: of a function whose result is that of a hole, typed as `T.Partial`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sglc.bytecode.code import Code, Program
from sglc.types.text.partial_types import partial_type
from sglc.types.type import DeclaredType, Type


@dataclass(frozen=True, slots=True)
class Partials:
    """What is there of results while a hole of the same type is filled, by functions."""

    table: Mapping[str, DeclaredType]
    """The declared types of the program, and their parts."""
    types: Mapping[str, Type]


def partials_of(program: Program) -> Partials:
    """Those of the public functions of a program."""
    table: dict[str, DeclaredType] = dict(program.table)
    found: dict[str, Type] = {}
    holes = {program.types[each.type] for each in program.holes if each.type is not None}
    for code in public_functions(program):
        if code.kind == "fn" and code.result is not None and program.types[code.result] in holes:
            found[code.name] = partial_type(program.types[code.result], table)
    return Partials(table, found)


def public_functions(program: Program) -> list[Code]:
    """The functions that are served."""
    codes = [program.codes[index] for index in program.entry.values()]
    return [each for each in codes if each.public and each.kind in ("fn", "pure")]
