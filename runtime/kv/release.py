"""How many blocks a release of some holders would free, computed before any releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglc.runtime.kv.blocks import BLOCK_SHIFT
from sglc.runtime.kv.node import PrefixNode

if TYPE_CHECKING:
    from sglc.runtime.kv.cache import KVCache
    from sglc.runtime.kv.sequence import Sequence


class Release:
    """`blocks` says how many more blocks would be free or evictable if all that were added were released.

    Nothing is changed. The count is exact for shared blocks: such a block counts once, with its last user. It
    holds until the cache changes.
    """

    __slots__ = ("_cache", "_dropped", "blocks")

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache
        self._dropped: dict[int, int] = {}
        """By block, how many of its holders would be gone."""
        self.blocks = 0

    def add(self, sequence: Sequence) -> None:
        """An open sequence."""
        for block in sequence.table[sequence.length >> BLOCK_SHIFT :]:
            node = self._cache.tree.node_of.get(block)
            if node is not None:
                self.drop(node)
            elif self._dropped_of(block) == self._cache.pool.references[block]:
                self.blocks += 1
        self.drop(sequence.held)

    def drop(self, node: PrefixNode) -> None:
        """One hold on a node, as `PrefixTree.drop` undoes it."""
        current: PrefixNode | None = node
        while current is not None and self._dropped_of(current.block) == current.active:
            self.blocks += 1
            current = current.parent

    def _dropped_of(self, block: int) -> int:
        count = self._dropped[block] = self._dropped.get(block, 0) + 1
        return count
