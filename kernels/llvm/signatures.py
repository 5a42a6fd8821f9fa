"""Kinds of what the functions of `sglc.kernels.dsl.vectors` are given, and of what they give."""

from __future__ import annotations

from llvmlite import ir

from sglc.kernels.llvm.values import BYTES, ELEMENTS, FLOATS, I8, I16, I32, I64, INTS, SHORTS

LANE_CALLS: dict[str, tuple[tuple[str, ...], str]] = {
    "spread": (("float",), "floats"),
    "spread_int": (("int",), "ints"),
    "fma": (("floats", "floats", "floats"), "floats"),
    "dot4": (("ints", "ints", "ints"), "ints"),
    "dot8": (("ints", "ints", "ints", "ints", "ints"), "ints"),
    "shift_right": (("ints", "int"), "ints"),
    "shift_left": (("ints", "int"), "ints"),
    "to_floats": (("ints",), "floats"),
    "nearest": (("floats",), "ints"),
    "as_floats": (("ints",), "floats"),
    "as_ints": (("floats",), "ints"),
    "greater": (("floats", "floats"), "floats"),
    "magnitudes": (("floats",), "floats"),
    "keep_first": (("floats", "int", "floats"), "floats"),
    "sum_floats": (("floats",), "float"),
    "max_floats": (("floats",), "float"),
    "sum_ints": (("ints",), "int"),
    "half_of": (("float",), "int"),
    "square_root": (("float",), "float"),
    "rounded": (("float", "int"), "float"),
    "elapsed_time": ((), "int"),
    "processor_time": ((), "int"),
}
"""Functions of numbers and lanes: the kinds of their arguments and of their result."""
MEMORY: dict[str, tuple[tuple[str, ...], ir.Type, str]] = {
    "load_floats": (("F32",), FLOATS, "floats"),
    "load_ints": (("I8", "I32", "U8"), INTS, "ints"),
    "load_halves": (("U16", "U8"), SHORTS, "floats"),
    "half_at": (("U8",), I16, "float"),
    "word_at": (("I8", "U8"), I32, "int"),
    "store_ints": (("I8", "I32"), INTS, ""),
    "put_word": (("I8", "U8"), I32, ""),
    "store_floats": (("F32",), FLOATS, ""),
    "store_bytes": (("I8",), BYTES, ""),
    "prefetch": (tuple(ELEMENTS), I8, ""),
    "arrive": (("I64",), I64, ""),
    "take": (("I64",), I64, "int"),
    "wait_for": (("I64",), I64, ""),
}
"""Functions of an array and an index: kinds of the array, type in memory, kind of the result."""
