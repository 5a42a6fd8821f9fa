"""Which nodes of the trie a search for a mask has been at, and with which configuration."""

from __future__ import annotations

import numpy as np


class Visited:
    """The nodes at which configurations have been, in one search; most configurations are met once."""

    def __init__(self) -> None:
        self._nodes: dict[int, np.ndarray] = {}

    def fresh(self, entries: np.ndarray, config: int) -> np.ndarray:
        """The nodes, of int32 in order, that have not been at a configuration before, which they now have."""
        before = self._nodes.get(config)
        if before is None or not len(before):
            self._nodes[config] = entries
            return entries
        at = before.searchsorted(entries)
        at[at == len(before)] = 0
        entries = entries[before[at] != entries]
        if len(entries):
            every = np.concatenate((before, entries))
            every.sort()
            self._nodes[config] = every
        return entries
