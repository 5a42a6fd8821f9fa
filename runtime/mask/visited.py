"""Which nodes of the trie a search for a mask has been at, and with which configuration."""

from __future__ import annotations

import numpy as np

_MANY = 256
"""So many nodes are looked up by flags: a set of them takes longer to make than the flags of a whole trie."""


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
        if isinstance(before, np.ndarray) and before.dtype != np.bool_ and len(before) <= _MANY:
            before = self._nodes[config] = set(before.tolist())
        if isinstance(before, set) and len(entries) <= _MANY:
            nodes = entries.tolist()
            new = [node for node in nodes if node not in before]
            before.update(new)
            return entries if len(new) == len(nodes) else np.array(new, np.int32)
        flags = self._flags(config, before)
        entries = entries[~flags[entries]]
        flags[entries] = True
        return entries

    def _flags(self, config: int, before: np.ndarray | set[int]) -> np.ndarray:
        """bool[size]: whether a node is among those before."""
        if isinstance(before, np.ndarray) and before.dtype == np.bool_:
            return before
        found = np.zeros(self._size, bool)
        found[list(before) if isinstance(before, set) else before] = True
        self._nodes[config] = found
        return found
