"""Which nodes of the trie a search for a mask has been at, and with which configuration."""

from __future__ import annotations

import numpy as np

_FEW = 48
"""More nodes are kept as they are, in order: a set of them takes longer to make than to look a few up."""
_LISTS = 4
"""So many lists of nodes are kept beside each other."""
_MANY = 1_000
"""More are looked up by flags of a whole trie."""


class Visited:
    """The nodes at which configurations have been, in one search over a trie of `size` nodes.

    Most configurations are met once, so the first nodes are kept as they are, and some more beside them.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._nodes: dict[int, list[np.ndarray] | np.ndarray | set[int]] = {}
        """Lists of nodes in order, or flags of all, or a set."""

    def fresh(self, entries: np.ndarray, config: int) -> np.ndarray:
        """The nodes, of int32 in order, that have not been at a configuration before, which they now have."""
        before = self._nodes.get(config)
        if before is None:
            self._nodes[config] = [entries]
        else:
            entries = self._fresh(entries, config, before)
        return entries

    def _fresh(
        self, entries: np.ndarray, config: int, before: list[np.ndarray] | np.ndarray | set[int]
    ) -> np.ndarray:
        if isinstance(before, list) and len(before) == 1 and max(len(before[0]), len(entries)) <= _FEW:
            before = self._nodes[config] = set(before[0].tolist())
        if isinstance(before, set):
            if len(before) <= _FEW and len(entries) <= _FEW:
                nodes = entries.tolist()
                new = [node for node in nodes if node not in before]
                before.update(new)
                return entries if len(new) == len(nodes) else np.array(new, np.int32)
            before = self._nodes[config] = [np.array(sorted(before), np.int32)]
        if isinstance(before, list):
            if sum(map(len, before)) <= _MANY and len(entries) <= _MANY:
                return self._beside(entries, before)
            flags = self._nodes[config] = np.zeros(self._size, bool)
            for nodes in before:
                flags[nodes] = True
            before = flags
        entries = entries[~before[entries]]
        before[entries] = True
        return entries

    def _beside(self, entries: np.ndarray, before: list[np.ndarray]) -> np.ndarray:
        """The nodes that are in none of some lists, to which they are added."""
        for nodes in before:
            if len(nodes):
                at = nodes.searchsorted(entries)
                at[at == len(nodes)] = 0
                entries = entries[nodes[at] != entries]
        if len(before) < _LISTS:
            before.append(entries)
        else:
            every = np.concatenate((*before, entries))
            every.sort()
            before[:] = [every]
        return entries
