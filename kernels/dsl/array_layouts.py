"""Array layouts of the kernels, checked once where they enter; the kernels themselves check nothing."""

from __future__ import annotations

import numpy as np


class LayoutError(ValueError):
    """An array that does not keep the layout."""


def expect(array: object, name: str, kind: type, dimensions: int = 1) -> np.ndarray:
    """The same array. Raises LayoutError unless it is a contiguous one of that kind."""
    if not isinstance(array, np.ndarray) or array.dtype.type is not kind or array.ndim != dimensions:
        raise LayoutError(f"{name} must be a {np.dtype(kind).name} array with {dimensions} dimensions")
    if not array.dtype.isnative or not array.flags.c_contiguous:
        raise LayoutError(f"{name} must be contiguous")
    return array
