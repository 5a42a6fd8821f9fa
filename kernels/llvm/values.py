"""What the translation of kernels computes with: kinds of values and of arrays as types of LLVM."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from llvmlite import ir

from sglc.kernels.dsl.vectors import LANES

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
DOUBLE, FLOAT, HALF = ir.DoubleType(), ir.FloatType(), ir.HalfType()
FLOATS, INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(I32, LANES)
SHORTS, BYTES, HALVES = (ir.VectorType(kind, LANES) for kind in (I16, I8, HALF))

ELEMENTS: dict[str, tuple[ir.Type, str]] = {
    "U8": (I8, "word"),
    "I8": (I8, "int"),
    "U16": (I16, "word"),
    "I32": (I32, "int"),
    "U32": (I32, "word"),
    "I64": (I64, "int"),
    "U64": (I64, "word"),
    "F32": (FLOAT, "float"),
    "F64": (DOUBLE, "float"),
}
"""By kind of array: the type of an element in memory, and of its value."""
NUMBERS: dict[str, ir.Type] = {"int": I64, "word": I64, "float": DOUBLE, "bool": I1}
LANE_KINDS: dict[str, ir.Type] = {"floats": FLOATS, "ints": INTS}
VALUES = NUMBERS | LANE_KINDS
"""By kind of value: its type in registers."""
SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class KernelError(TypeError):
    """A kernel that is not written in the language."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number of the kind `int`, `word` (unsigned), `float` or `bool`, lanes, or `array of` lanes."""

    value: ir.Value
    kind: str


@dataclass(frozen=True, slots=True)
class Array:
    """An array argument, or an array of a record: where it begins, its kind, and what LLVM may take it for.

    Memory of two `alias` nodes is not the same memory; an array without one may be any.
    """

    pointer: ir.Value
    kind: str
    alias: ir.MDValue | None = None

    def load(self, b: ir.IRBuilder, place: ir.Value, align: int | None = None) -> ir.Value:
        """What lies at a place of the array."""
        found = b.load(place, align=align)
        if self.alias is not None:
            found.set_metadata("tbaa", self.alias)
        return found

    def store(self, b: ir.IRBuilder, value: ir.Value, place: ir.Value, align: int | None = None) -> None:
        """Set what lies at a place of the array."""
        made = b.store(value, place, align=align)
        if self.alias is not None:
            made.set_metadata("tbaa", self.alias)
