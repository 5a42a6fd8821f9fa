"""The door to the kernels: checks the arrays, then runs the compiled kernel, or the reference without one.

Signatures (all arrays contiguous):
  TrieWalk(trie: TrieArrays).run(rows, row_of, stack, start, mask) -> int
  masked_argmax(logits: float32[V], mask: int32[ceil(V/32)]) -> (index, value)
  masked_log_sum_exp(logits: float32[V], mask: int32[ceil(V/32)] | None, scale=1.0) -> float
"""

from __future__ import annotations

import numpy as np

from sglc.kernels import reference
from sglc.kernels.contract import LayoutError, TrieArrays, expect


class TrieWalk:
    """The walk of one trie; see `reference.walk`."""

    def __init__(self, trie: TrieArrays) -> None:
        self.trie = trie

    def run(
        self, rows: np.ndarray, row_of: np.ndarray, stack: np.ndarray, start: int, mask: np.ndarray
    ) -> int:
        return reference.walk(self.trie, rows, row_of, stack, start, mask)


def _check_logits(logits: np.ndarray, mask: np.ndarray | None) -> None:
    expect(logits, "logits", np.float32)
    if mask is not None:
        expect(mask, "mask", np.int32)
        if 32 * len(mask) < len(logits):
            raise LayoutError("the mask is shorter than the logits")


def masked_argmax(logits: np.ndarray, mask: np.ndarray) -> tuple[int, float]:
    """(index, value) of the largest logit whose bit is set; (-1, -inf) if there is none."""
    _check_logits(logits, mask)
    return reference.masked_argmax(logits, mask)


def masked_log_sum_exp(logits: np.ndarray, mask: np.ndarray | None, scale: float = 1.0) -> float:
    """log of the sum of exp(scale * logit) over the set bits, or over all logits without a mask."""
    _check_logits(logits, mask)
    return reference.masked_log_sum_exp(logits, mask, scale)
