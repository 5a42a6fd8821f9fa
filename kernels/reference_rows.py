"""Mask rows in plain numpy. This file defines what the compiled row kernels must do.

A row is int32[words]; bit t % 32 of word t // 32 is token t. Sparse masks are ids: those that are set, or
those that are missing from some base row.
"""

from __future__ import annotations

import numpy as np


def unite(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """out = a ∪ b; the number of bits set in it. `out` may be one of the two."""
    return _counted(np.bitwise_or(a, b, out=out))


def intersect(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """out = a ∩ b; the number of bits set in it."""
    return _counted(np.bitwise_and(a, b, out=out))


def subtract(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """out = a without b; the number of bits set in it."""
    return _counted(np.bitwise_and(a, ~b, out=out))


def _counted(row: np.ndarray) -> int:
    return int(np.unpackbits(row.view(np.uint8)).sum())


def fill_row(base: np.ndarray | None, ids: np.ndarray, out: np.ndarray) -> None:
    """Write a mask: the ids (int32[n]), or, with a base row, the base without the ids."""
    bits = np.unpackbits(out.view(np.uint8), bitorder="little")
    if base is None:
        bits[:] = 0
        bits[ids] = 1
    else:
        bits[:] = np.unpackbits(base.view(np.uint8), bitorder="little")
        bits[ids] = 0
    out[:] = np.packbits(bits, bitorder="little").view(np.int32)


def apply(logits: np.ndarray, rows: np.ndarray) -> None:
    """Set logits (float32[n, V]) to -inf in place where the bit of their row (int32[n, words]) is not set."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little", count=logits.shape[1])
    logits[bits == 0] = -np.inf
