"""Masks as small differences to a few rows, for batches.

Where many rows are written at once, reading masks from memory costs as much as writing the rows: 512 masks
of 128,000 tokens are 8 MB. But most masks are one of a few large ones (all tokens that stay inside a string)
with some tokens more or less, or have few tokens at all. Written as a base row and the words in which they
differ, what is read stays in the first caches.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from sglc.kernels.bitmask.operations import RowDelta

_MOST_BASES = 12
"""Base rows of one vocabulary: of 128,000 tokens all together take 200 KB and stay in the second cache. Every
mask is compared with all of them."""
_SHARE = 8
"""A mask has a base if at most one word in so many is different."""


class BaseRows:
    """The base rows of a vocabulary; that which was of no use for the longest time makes room."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._lock = threading.Lock()
        self._rows: OrderedDict[int, np.ndarray] = OrderedDict()
        self._next = 0

    def source(self, row: np.ndarray) -> RowDelta:
        """A row (int32[words], never written to again) as a source of batches."""
        most = self._words // _SHARE
        filled = np.flatnonzero(row)
        if len(filled) <= most:
            return RowDelta(None, _changes(row, filled), self._words)
        with self._lock:
            known = list(self._rows.items())
            if known:
                different = np.array([np.count_nonzero(base != row) for _, base in known])
                nearest = int(different.argmin())
                if different[nearest] <= most:
                    number, base = known[nearest]
                    self._rows.move_to_end(number)
                    return RowDelta(base, _changes(row, np.flatnonzero(base != row)))
            self._rows[self._next] = row
            self._next += 1
            if len(self._rows) > _MOST_BASES:
                self._rows.popitem(last=False)
        return RowDelta(row)


def _changes(row: np.ndarray, places: np.ndarray) -> np.ndarray:
    """int32[k, 2]: the words of a row at some places."""
    return np.stack([places.astype(np.int32), row[places]], axis=1)
