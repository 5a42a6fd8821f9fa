"""Arrays for logits that are used again once nobody refers to them.

Logits of a step take megabytes: 32 rows of a vocabulary of 49,152 are 6 MB, and fresh memory costs the
system a page fault for each 4 kB of it. An array is free when the only reference left is the one held here;
a view of an array refers to it.
"""

from __future__ import annotations

import sys

import numpy as np

KEPT = 4
"""Most arrays that are kept for later."""


class RowBuffers:
    """Gives out float32 arrays [rows, width]. For one thread at a time."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._kept: list[np.ndarray] = []

    def take(self, rows: int) -> np.ndarray:
        """An array [rows, width] that nobody else refers to; its contents are not set."""
        for index in range(len(self._kept)):
            # One reference is the list's, one the argument's of getrefcount itself.
            if self._kept[index].shape[0] >= rows and sys.getrefcount(self._kept[index]) == 2:
                return self._kept[index][:rows]
        made = np.empty((max(rows, 1), self.width), np.float32)
        self._kept.append(made)
        if len(self._kept) > KEPT:
            del self._kept[0]
        return made[:rows]
