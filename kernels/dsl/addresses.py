"""Where the data of arrays begin, for machine code."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

import numpy as np


def _slow_address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


_HEADER = object.__basicsize__
_pointer_at = ctypes.c_void_p.from_address


def _fast_address(array: np.ndarray) -> int:
    """Reads the array object's first field, which numpy's C interface fixes to be the pointer to its data."""
    return _pointer_at(id(array) + _HEADER).value or 0


def _choose() -> Callable[[np.ndarray], int]:
    """The fast way (a fifth of the time, which is that of a small kernel) where it is seen to be right."""
    if sys.implementation.name != "cpython":
        return _slow_address
    whole = np.arange(8, dtype=np.int32)
    probes = (whole, whole[3:], whole.reshape(2, 4), np.zeros(0, np.float32))
    right = all(_fast_address(probe) == _slow_address(probe) for probe in probes)
    return _fast_address if right else _slow_address


address = _choose()
"""Where an array's data begin. It is the caller who keeps the array alive."""
