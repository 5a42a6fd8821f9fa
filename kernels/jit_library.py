"""Libraries of compiled kernels, built at first use.

Where LLVM cannot compile for this machine, the reference in Python runs, and a warning gives the reason once.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.language import AnyKernel, Kernel, Result, Specialised, run
from sglc.kernels.dsl.structs import KINDS, Struct

POINTER, COUNT, FLOAT, DOUBLE = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_double

_NUMBERS: dict[str, type] = {"int": COUNT, "float": DOUBLE, "bool": ctypes.c_bool}

_ARRAY = np.ndarray

Signature = tuple[type | None, ...]
"""The result and then the arguments of a compiled function."""

_forced_reference = False


class SlowKernels(RuntimeWarning):
    """Kernels cannot be compiled here: the reference in Python runs instead, hundreds of times slower."""


class _Unmade:
    """Why no machine code can be made: warned of once in a process, and kept for `reason_for_reference`."""

    def __init__(self) -> None:
        self.reason = ""

    def note(self, fault: Exception) -> None:
        """Keep the first reason, and warn of it."""
        first = not self.reason
        self.reason = self.reason or f"{type(fault).__name__}: {fault}"
        if first:
            warnings.warn(
                f"no machine code can be made ({self.reason}): "
                "kernels run in Python, hundreds of times slower",
                SlowKernels,
                stacklevel=4,
            )


_unmade = _Unmade()


def reason_for_reference() -> str:
    """Why kernels could not be compiled; empty where none failed."""
    return _unmade.reason


def use_reference(only: bool) -> None:
    """Run the reference from now on (True) or the compiled kernels again (False). For tests and debugging."""
    global _forced_reference
    _forced_reference = only


def typed_library(
    *kernels: AnyKernel | Specialised,
    brief: Collection[AnyKernel] = (),
    wide: bool = False,
) -> Library:
    """The library of some kernels of `sglc.kernels.dsl.language`; addresses stand for arrays and records.

    `wide` lets them use the longest vectors that the processor has.
    """

    def build() -> str:
        from sglc.kernels.llvm.target import host, wide_host
        from sglc.kernels.llvm.translate import translate

        return translate(kernels, "kernels", wide_host() if wide else host())

    signatures: dict[str, Signature] = {}
    for kernel in kernels:
        kinds = kernel.annotations
        result = _NUMBERS.get(kinds.pop("return", "None"))
        signatures[f"sglc_{kernel.name}"] = (
            result,
            *[_NUMBERS.get(kind, POINTER) for kind in kinds.values()],
        )
    return Library(build, signatures, [f"sglc_{kernel.name}" for kernel in brief], wide)


class Library:
    """The functions of one module. `build` gives its IR text, where no object code of it is kept.

    `signatures` are by the names in the IR; functions are attributes of what `functions` returns, without
    the prefix `sglc_`. Calls run without the interpreter lock, but for the `brief` functions (True: all):
    those take less time than it may take to get the lock back from a busy thread.
    """

    def __init__(
        self,
        build: Callable[[], str],
        signatures: Mapping[str, Signature],
        brief: Collection[str] | Literal[True] = (),
        wide: bool = False,
    ) -> None:
        self._wide = wide
        self._build = build
        self._signatures = signatures
        self._brief = frozenset(signatures if brief is True else brief)
        self._made = False
        self._functions: SimpleNamespace | None = None
        self._calls: dict[int, tuple[Callable[..., Any], tuple[int, ...]]] = {}
        """Functions, and where they take arrays, by the identity of kernels, which live as long as their
        modules."""

    def functions(self) -> SimpleNamespace | None:
        """The compiled functions, or None where the reference has to do."""
        if _forced_reference:
            return None
        if not self._made:
            self._functions = self._compile()
            self._made = True
        return self._functions

    def run(self, kernel: Kernel[..., Result], *arguments: np.ndarray | Struct | bytes | float) -> Result:
        """Run one of the kernels: its machine code, or the reference where there is none.

        Arrays have the kinds that the kernel declares; nobody checks them here.
        """
        found = None if _forced_reference else self._calls.get(id(kernel))
        if found is None:
            functions = self.functions()
            if functions is None:
                return run(kernel, *arguments)
            kinds = [kind for name, kind in kernel.annotations.items() if name != "return"]
            places = tuple([place for place, kind in enumerate(kinds) if kind in KINDS])
            found = self._calls[id(kernel)] = getattr(functions, kernel.name), places
        call, places = found
        given: list[object] = list(arguments)
        for place in places:
            array = given[place]
            if type(array) is _ARRAY:
                given[place] = address(array)
        result: Result = call(*given)
        return result

    def _compile(self) -> SimpleNamespace | None:
        try:
            from sglc.kernels.llvm import jit
            from sglc.kernels.llvm.target import host, wide_host

            target = wide_host() if self._wide else host()
            addresses = jit.library_functions(self._build, list(self._signatures), target)
        except (ImportError, OSError, RuntimeError) as fault:
            _unmade.note(fault)
            return None
        found = SimpleNamespace()
        for name, (result, *arguments) in self._signatures.items():
            function = jit.bind(addresses[name], result, *arguments, brief=name in self._brief)  # type: ignore[arg-type]
            setattr(found, name.removeprefix("sglc_"), function)
        return found
