"""Kernels as plain functions: run as they stand they are the reference, translated they are machine code.

A kernel is a function of this module's small language, which is a part of Python:

- arguments are arrays of one dimension (`U8`, `I8`, `U16`, `I32`, `U32`, `I64`, `U64`, `F32`, `F64`),
  records of arrays and whole numbers (classes derived from `sglc.kernels.dsl.structs.Struct`), numbers
  (`int`, `float`, `bool`), lanes (`floats`, `ints`: 16 numbers of 32 bits, see `sglc.kernels.dsl.vectors`)
  and constants (`Constant`: whole numbers that are known when the code is made, a function for each set of
  them); the result is a number, lanes or None;
- `walk.nodes[at]` is an element of an array of a record; `nodes = walk.nodes` gives the array a short name;
  records are passed on as they are;
- local variables hold numbers or lanes; their type is that of the first value given to them; local arrays of
  lanes are made by `float_lanes` and `int_lanes`;
- `if`, `while`, `for … in range(…)`, `break`, `continue`, `return`, assignments to names and elements, also
  several at once; arithmetic, comparisons, `and`, `or`, `not`, conditional expressions; `min`, `max`, `abs`,
  `int`, `float`; calls of other kernels, of `bit_count` and `trailing_zeros`, of the functions on lanes;
  constants of the module, and those of a class or module that it knows (`Part.RULE`). An `if` whose test is
  a constant is decided when the code is made.

Whole numbers have 64 bits in machine code and wrap around there: a kernel keeps them small. Elements of `U64`
arrays are unsigned, and so is what `&`, `|`, `^`, `~` and shifts make of them. `//` and `%` are for divisors
above zero. Nothing is checked: an index must lie inside its array.

`sglc.kernels.llvm.translate` makes LLVM IR of it. Tests run both on the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeAlias, TypeVar, overload

import numpy as np

from sglc.kernels.dsl.structs import Struct, elements

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result", covariant=True)

Constant: TypeAlias = int
floats: TypeAlias = np.ndarray
ints: TypeAlias = np.ndarray
if TYPE_CHECKING:
    Number = TypeVar("Number", int, float)
    Places: TypeAlias = slice | np.ndarray | list[int] | tuple[int | slice | np.ndarray, ...]

    class _Array(np.ndarray, Generic[Number]):
        """An array as kernels see it: one dimension, whose elements are Python's numbers."""

        @overload  # type: ignore[override]
        def __getitem__(self, at: int, /) -> Number: ...
        @overload
        def __getitem__(self, at: Places, /) -> np.ndarray: ...
        def __getitem__(self, at: int | Places, /) -> Number | np.ndarray: ...

    U8: TypeAlias = _Array[int]
    I8: TypeAlias = _Array[int]
    U16: TypeAlias = _Array[int]
    I32: TypeAlias = _Array[int]
    U32: TypeAlias = _Array[int]
    I64: TypeAlias = _Array[int]
    U64: TypeAlias = _Array[int]
    F32: TypeAlias = _Array[float]
    F64: TypeAlias = _Array[float]
else:
    U8 = I8 = U16 = I32 = U32 = I64 = U64 = F32 = F64 = np.ndarray


@dataclass(frozen=True, slots=True)
class Kernel(Generic[Parameters, Result]):
    """A function of the language. Calling it runs it as Python."""

    function: Callable[Parameters, Result]
    noinline: bool = False
    """Machine code of its own instead of a copy in each kernel that calls it."""
    parallel: bool = False
    """Several threads run it at once on the same arrays, and meet by `sglc.kernels.dsl.vectors.arrive`."""

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def structs(self) -> dict[str, type[Struct]]:
        """The records among the arguments."""
        known = self.function.__globals__
        found = {name: known.get(kind) for name, kind in self.annotations.items()}
        return {
            name: kind for name, kind in found.items() if isinstance(kind, type) and issubclass(kind, Struct)
        }

    @property
    def annotations(self) -> dict[str, str]:
        """The kinds of the arguments in order, and of the result as `return`."""
        return {name: str(kind) for name, kind in self.function.__annotations__.items()}

    def __call__(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        return self.function(*arguments, **named)


AnyKernel: TypeAlias = Kernel[..., object]


@dataclass(frozen=True, slots=True)
class Specialised:
    """A kernel with values for its constants."""

    kernel: AnyKernel
    constants: Mapping[str, int]

    @property
    def name(self) -> str:
        """The kernel's name and the values in the order of its arguments."""
        return "_".join([self.kernel.name, *(str(int(value)) for value in self.values)])

    @property
    def values(self) -> list[int]:
        """The constants in the order of the arguments. Raises KeyError if one is missing."""
        return [self.constants[name] for name, kind in self.kernel.annotations.items() if kind == "Constant"]

    @property
    def annotations(self) -> dict[str, str]:
        """Kinds of the arguments that are left, and of the result."""
        return {name: kind for name, kind in self.kernel.annotations.items() if kind != "Constant"}


def kernel(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
    """Declare a kernel. Its module must have `from __future__ import annotations`."""
    return Kernel(function)


def kernel_noinline(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
    """Declare a kernel that is not copied into those that call it: for large ones with several callers."""
    return Kernel(function, noinline=True)


def parallel_kernel(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
    """Declare a kernel that several threads run at once on the same arrays."""
    return Kernel(function, parallel=True)


def parallel_kernel_noinline(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]:
    """Declare a parallel kernel that is not copied into those that call it."""
    return Kernel(function, noinline=True, parallel=True)


def bit_count(word: int) -> int:
    """The number of bits set in a number that is not negative."""
    return word.bit_count()


def trailing_zeros(word: int) -> int:
    """The place of the lowest bit that is set, 64 for 0."""
    return (word & -word).bit_length() - 1 if word else 64


def run(kernel: Kernel[..., Result], *arguments: np.ndarray | Struct | bytes | float) -> Result:
    """Run a kernel as Python on arrays of any shape, which are taken as the kinds it declares."""
    kinds = kernel.annotations.values()
    return kernel(*[_as_python(given, kind) for given, kind in zip(arguments, kinds, strict=False)])


def _as_python(given: np.ndarray | Struct | bytes | float, kind: str) -> object:
    if isinstance(given, Struct):
        return given.as_python()
    return elements(given, kind) if isinstance(given, np.ndarray) else given
