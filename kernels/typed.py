"""Kernels as plain functions: run as they stand they are the reference, translated they are machine code.

A kernel is a function of this module's small language, which is a part of Python:

- arguments are arrays of one dimension (`U8`, `I32`, `U32`, `I64`, `U64`, `F32`, `F64`) and numbers (`int`,
  `float`, `bool`); the result is a number or None;
- local variables hold numbers; their type is that of the first value given to them;
- `if`, `while`, `for … in range(…)`, `break`, `continue`, `return`, assignments to names and elements, also
  several at once; arithmetic, comparisons, `and`, `or`, `not`, conditional expressions; `min`, `max`, `abs`,
  `int`, `float`; calls of other kernels, of `bit_count` and `trailing_zeros`; constants of the module.

Whole numbers have 64 bits in machine code and wrap around there: a kernel keeps them small. Elements of `U64`
arrays are unsigned, and so is what `&`, `|`, `^`, `~` and shifts make of them. `//` and `%` are for divisors
above zero. Nothing is checked: an index must lie inside its array.

`sglc.kernels.llvm.translate` makes LLVM IR of it. Tests run both on the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

U8: TypeAlias = MutableSequence[int]
I32: TypeAlias = MutableSequence[int]
U32: TypeAlias = MutableSequence[int]
I64: TypeAlias = MutableSequence[int]
U64: TypeAlias = MutableSequence[int]
F32: TypeAlias = MutableSequence[float]
F64: TypeAlias = MutableSequence[float]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of the language. Calling it runs it as Python."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def annotations(self) -> dict[str, str]:
        """The kinds of the arguments in order, and of the result as `return`."""
        return {name: str(kind) for name, kind in self.function.__annotations__.items()}

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Declare a kernel. Its module must have `from __future__ import annotations`."""
    return Kernel(function)


def bit_count(word: int) -> int:
    """The number of bits set in a number that is not negative."""
    return word.bit_count()


def trailing_zeros(word: int) -> int:
    """The place of the lowest bit that is set, 64 for 0."""
    return (word & -word).bit_length() - 1 if word else 64


_KINDS = {
    "U8": np.uint8, "I32": np.int32, "U32": np.uint32, "I64": np.int64, "U64": np.uint64, "F32": np.float32,
    "F64": np.float64,
}  # fmt: skip


def run(kernel: Kernel, *arguments: np.ndarray | bytes | float) -> Any:
    """Run a kernel as Python on arrays of any shape, which are taken as the kinds it declares."""
    kinds = kernel.annotations.values()
    return kernel(*[_elements(given, kind) for given, kind in zip(arguments, kinds, strict=False)])


def _elements(given: np.ndarray | bytes | float, kind: str) -> Any:
    if not isinstance(given, np.ndarray):
        return given
    # A memory view gives and takes Python's own numbers.
    return given.reshape(-1).view(_KINDS[kind]).data if given.size else given
