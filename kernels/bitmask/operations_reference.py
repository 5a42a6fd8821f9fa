"""Mask rows in plain numpy. This file defines what the compiled row kernels must do.

A row is int32[words]; bit t % 32 of word t // 32 is token t.
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


def fill_row(base: np.ndarray | None, changes: np.ndarray | None, out: np.ndarray) -> None:
    """Write a mask: the base row (None: empty) with changes (int32[k, 2]: place of a word, and the word)."""
    out[:] = 0 if base is None else base
    if changes is not None:
        for place, word in changes:
            out[place] = word


def apply(logits: np.ndarray, rows: np.ndarray) -> None:
    """Set logits (float32[n, V]) to -inf in place where the bit of their row (int32[n, words]) is not set."""
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little", count=logits.shape[1])
    logits[bits == 0] = -np.inf
