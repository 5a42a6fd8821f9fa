"""The eviction order of blocks that nobody holds: a heap that follows the tree as it changes."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Literal

from sglc.runtime.kv.node import PrefixNode

Policy = Literal["lru", "lfu"]

SLACK = 64
"""Entries that the heap may have beyond twice the number of nodes nobody holds."""


class EvictionHeap:
    """The leaves of the tree that nobody holds, in the order in which they go.

    `lru`: the one whose last holder let go first. `lfu`: the one that was looked up least often, and among
    equals the one that was let go first. A node enters the heap with a new stamp whenever it becomes an
    unheld leaf. An entry is stale if its stamp is old, or if its node is held or has children now. Stale
    entries are skipped when they come up, and thrown out together when there are too many. So an eviction
    takes O(log n), and never a scan.
    """

    __slots__ = ("_entries", "_frequency", "_stamp", "policy")

    def __init__(self, policy: Policy) -> None:
        if policy not in ("lru", "lfu"):
            raise ValueError(f"no eviction policy is called {policy!r}; there are 'lru' and 'lfu'")
        self.policy = policy
        self._frequency = policy == "lfu"
        self._entries: list[tuple[int, int, int, PrefixNode]] = []
        self._stamp = 0

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, node: PrefixNode, idle: int) -> None:
        """Enter a leaf that nobody holds; `idle` nodes of the tree are held by nobody."""
        self._stamp += 1
        node.stamp = self._stamp
        heappush(self._entries, (node.uses if self._frequency else 0, node.used, node.stamp, node))
        if len(self._entries) > 2 * idle + SLACK:
            self._entries = [entry for entry in self._entries if _alive(entry)]
            heapify(self._entries)

    def pop(self) -> PrefixNode | None:
        """The leaf that goes next, taken out; None if there is none."""
        while self._entries:
            entry = heappop(self._entries)
            if _alive(entry):
                return entry[3]
        return None

    def nodes(self) -> set[int]:
        """Blocks of the leaves in the heap, for checks."""
        return {entry[3].block for entry in self._entries if _alive(entry)}


def _alive(entry: tuple[int, int, int, PrefixNode]) -> bool:
    node = entry[3]
    return node.stamp == entry[2] and not node.active and not node.children and node.parent is not None
