"""Arrays for logits that are used again once nobody refers to them.

Logits of a step take megabytes: 32 rows of a vocabulary of 49,152 are 6 MB, and fresh memory costs the
system a page fault for each 4 kB of it. An array is free when the only reference left is the one held here;
a view of an array refers to it.

Rows begin at lines of memory, one line further apart than their width needs: with a width like that all rows
would begin at the same place of a page, and their numbers drive each other out of the nearest cache.
"""

from __future__ import annotations

import sys

import numpy as np

KEPT = 4
"""Most arrays that are kept for later."""
LINE = 16
"""Numbers of a line of memory."""


class RowBuffers:
    """Gives out float32 arrays for rows of some width, one line wider than that. For one thread at a time."""

    def __init__(self, width: int) -> None:
        self.apart = -(-width // LINE) * LINE + LINE
        """Numbers from the beginning of a row to that of the next."""
        self._kept: list[np.ndarray] = []

    def take(self, rows: int) -> np.ndarray:
        """An array [rows, apart] that nobody else refers to; its contents are not set."""
        size = max(rows, 1) * self.apart + LINE
        for index in range(len(self._kept)):
            # One reference is the list's, one the argument's of getrefcount itself.
            if len(self._kept[index]) >= size and sys.getrefcount(self._kept[index]) == 2:
                return self._lines(self._kept[index], rows)
        self._kept.append(np.empty(size, np.float32))
        if len(self._kept) > KEPT:
            del self._kept[0]
        return self._lines(self._kept[-1], rows)

    def _lines(self, kept: np.ndarray, rows: int) -> np.ndarray:
        start = -kept.ctypes.data % (4 * LINE) // 4
        return kept[start : start + rows * self.apart].reshape(rows, self.apart)
