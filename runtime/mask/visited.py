"""Which nodes of the trie a search for a mask has been at, and with which configuration."""

from __future__ import annotations

import numpy as np

_FEW = 48
"""More nodes are kept as they are, in order: a set of them takes longer to make than to look a few up."""
_MANY = 1_000
"""More are looked up by flags of a whole trie."""


class Visited:
    """The nodes at which configurations have been, in one search over a trie of `size` nodes.

    Most configurations are met once, so the first nodes are kept as they are.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._nodes: dict[int, np.ndarray | set[int]] = {}
        self._times: dict[int, int] = {}

    def times(self, config: int) -> int:
        """How often `fresh` has found something for a configuration."""
        return self._times.get(config, 0)

    def fresh(self, entries: np.ndarray, config: int) -> np.ndarray:
        """The nodes, of int32 in order, that have not been at a configuration before, which they now have."""
        before = self._nodes.get(config)
        if before is None:
            self._nodes[config] = entries
        else:
            entries = self._fresh(entries, config, before)
        if len(entries):
            self._times[config] = self._times.get(config, 0) + 1
        return entries

    def _fresh(self, entries: np.ndarray, config: int, before: np.ndarray | set[int]) -> np.ndarray:
        if len(before) <= _FEW and len(entries) <= _FEW:
            if isinstance(before, np.ndarray):
                before = self._nodes[config] = set(before.tolist())
            nodes = entries.tolist()
            new = [node for node in nodes if node not in before]
            before.update(new)
            return entries if len(new) == len(nodes) else np.array(new, np.int32)
        if isinstance(before, set):
            before = np.array(sorted(before), np.int32)
        if before.dtype != np.bool_ and 0 < len(before) <= _MANY and len(entries) <= _MANY:
            at = before.searchsorted(entries)
            at[at == len(before)] = 0
            entries = entries[before[at] != entries]
            every = self._nodes[config] = np.concatenate((before, entries))
            every.sort()
            return entries
        flags = self._flags(config, before)
        entries = entries[~flags[entries]]
        flags[entries] = True
        return entries

    def _flags(self, config: int, before: np.ndarray) -> np.ndarray:
        """bool[size]: whether a node is among those before."""
        if before.dtype == np.bool_:
            return before
        found = self._nodes[config] = np.zeros(self._size, bool)
        found[before] = True
        return found
