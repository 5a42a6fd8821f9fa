"""The prefix tree: which block holds the keys and values of which tokens.

A radix tree cut at multiples of a block. Every edge holds at most one block's tokens. A node at depth d ends
at position 16 d; only the ends of released sequences are shorter. Each whole block is found by one look-up.
Where whole blocks end, the sorted keys of the children give the block with the longest common prefix in O(log
n). So prefixes match to the token, as in SGLang's RadixAttention (Zheng et al., 2024), over blocks as in
PagedAttention (Kwon et al., 2023).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator

from sglc.runtime.kv.blocks import BLOCK_MASK, BLOCK_SHIFT, BLOCK_TOKENS, BlockPool
from sglc.runtime.kv.eviction import EvictionHeap, Policy
from sglc.runtime.kv.node import PrefixNode


class PrefixTree:
    """Nodes over the blocks of a pool, who holds them, and which goes next.

    Whoever holds a node keeps all nodes above it. A count goes up the path only to the first node that
    somebody else holds. So a fork costs one count, and the number of blocks that could be evicted is known at
    any time.
    """

    __slots__ = ("_clock", "heap", "idle", "node_of", "pool", "root", "size")

    def __init__(self, pool: BlockPool, policy: Policy) -> None:
        self.pool = pool
        self.root = PrefixNode(None, (), -1)
        self.root.active = 1
        self.heap = EvictionHeap(policy)
        self.node_of: dict[int, PrefixNode] = {}
        """Block to its node; blocks that are free or unsaved have none."""
        self.size = 0
        """Nodes without the root."""
        self.idle = 0
        """Nodes that nobody holds."""
        self._clock = 0

    # -- finding --------------------------------------------------------------------------------------

    def walk(self, node: PrefixNode, tokens: tuple[int, ...]) -> tuple[PrefixNode, int]:
        """Follow whole blocks of `tokens` down from a node: the last node, and how many tokens led there."""
        position, last = 0, len(tokens) - BLOCK_TOKENS
        while position <= last:
            child = node.children.get(tokens[position : position + BLOCK_TOKENS])
            if child is None:
                break
            node = child
            position += BLOCK_TOKENS
        return node, position

    def most_alike(self, node: PrefixNode, tokens: tuple[int, ...]) -> tuple[PrefixNode | None, int, int]:
        """The block behind a node that begins most like `tokens`.

        Its node, None if it is still being written; its number; how many tokens it has in common with
        `tokens`. Of blocks that are being written one that was announced is looked at.
        """
        child, longest = self.nearest(node, tokens)
        writer = node.tails.get(tokens[0]) if node.tails and tokens else None
        if writer is not None:
            shared = in_common(tuple(writer.tokens[writer.length & ~BLOCK_MASK :]), tokens)
            if shared > longest:
                return None, writer.table[writer.length >> BLOCK_SHIFT], shared
        return child, child.block if child is not None else -1, longest

    def nearest(self, node: PrefixNode, tokens: tuple[int, ...]) -> tuple[PrefixNode | None, int]:
        """The child with the longest beginning in common with `tokens`, and how long that is."""
        order = node.order
        if not order or not tokens:
            return None, 0
        place = bisect_left(order, tokens)
        best, longest = -1, 0
        for neighbour in (place, place - 1):
            if 0 <= neighbour < len(order):
                shared = in_common(order[neighbour], tokens)
                if shared > longest:
                    best, longest = neighbour, shared
        return (node.children[order[best]], longest) if longest else (None, 0)

    # -- holding --------------------------------------------------------------------------------------

    def hold(self, node: PrefixNode) -> None:
        """Keep a node, and with it all above, from being evicted."""
        current: PrefixNode | None = node
        while current is not None:
            current.active += 1
            if current.active > 1:
                return
            self.idle -= 1
            current = current.parent

    def drop(self, node: PrefixNode) -> None:
        """Undo one `hold`. What nobody holds any more stays findable until it is evicted.

        The end of a sequence goes at once, if a longer block has come to cover it while it was held.
        """
        self._clock += 1
        current: PrefixNode | None = node
        while current is not None:
            current.active -= 1
            if current.active:
                return
            current.used = self._clock
            self.idle += 1
            above = current.parent
            if self._covered(current):
                self._free(current)
            elif not current.children:
                self.heap.push(current, self.idle)
            current = above

    # -- changing -------------------------------------------------------------------------------------

    def insert_held(self, parent: PrefixNode, key: tuple[int, ...], block: int, holders: int) -> PrefixNode:
        """Enter a whole block below a node that is held, `holders` times held itself.

        One hold on the parent goes over to the child, which keeps the parent in its stead.
        """
        node = self._insert(parent, key, block)
        node.active = holders
        self._remove_beginnings(parent, key)
        return node

    def insert_idle(self, parent: PrefixNode, key: tuple[int, ...], block: int) -> bool:
        """Enter the end of a released sequence; False if a block with these tokens is there already."""
        order = parent.order
        place = bisect_left(order, key)
        if place < len(order) and order[place][: len(key)] == key:
            return False
        node = self._insert(parent, key, block)
        self._clock += 1
        node.used = self._clock
        self.idle += 1
        self.heap.push(node, self.idle)
        self._remove_beginnings(parent, key)
        return True

    def evict(self, last: Callable[[PrefixNode], None] | None = None) -> PrefixNode | None:
        """Take the leaf that goes next out of the tree; its block is the caller's. None if all are held.

        `last` is called with the leaf while it is still in its place.
        """
        node = self.heap.pop()
        if node is not None:
            if last is not None:
                last(node)
            self.idle -= 1
            self._take_out(node)
        return node

    def claim(self, node: PrefixNode, last: Callable[[PrefixNode], None] | None = None) -> int:
        """Take out a node that the caller alone holds; its block is the caller's, as an unsaved one.

        What lies below, which nobody holds, is evicted; how many blocks that is. `last` is called for each of
        them, as by `evict`.
        """
        self.drop(node)
        below = [node]
        for current in below:
            below.extend(current.children.values())
        for current in reversed(below):
            if last is not None:
                last(current)
            self.idle -= 1
            self._take_out(current)
            if current is not node:
                self.pool.release(current.block)
        return len(below) - 1

    def _take_out(self, node: PrefixNode) -> None:
        parent = node.parent
        assert parent is not None and not node.children
        del parent.children[node.key]
        del parent.order[bisect_left(parent.order, node.key)]
        del self.node_of[node.block]
        node.parent = None
        self.size -= 1
        if not parent.active and not parent.children:
            self.heap.push(parent, self.idle)

    def _insert(self, parent: PrefixNode, key: tuple[int, ...], block: int) -> PrefixNode:
        node = PrefixNode(parent, key, block)
        parent.children[key] = node
        parent.order.insert(bisect_left(parent.order, key), key)
        self.node_of[block] = node
        self.size += 1
        return node

    def _remove_beginnings(self, parent: PrefixNode, key: tuple[int, ...]) -> None:
        """Free ends of released sequences that `key`, just entered, begins with."""
        order = parent.order
        while place := bisect_left(order, key):
            before = order[place - 1]
            node = parent.children[before]
            if node.active or key[: len(before)] != before:
                return
            self._free(node)

    def _covered(self, node: PrefixNode) -> bool:
        """Whether a node beside this one begins with all of its tokens."""
        size, parent = len(node.key), node.parent
        if size == BLOCK_TOKENS or parent is None:
            return False
        place = bisect_left(parent.order, node.key) + 1
        return place < len(parent.order) and parent.order[place][:size] == node.key

    def _free(self, node: PrefixNode) -> None:
        self.idle -= 1
        self._take_out(node)
        self.pool.release(node.block)

    # -- reading --------------------------------------------------------------------------------------

    def nodes(self) -> Iterator[PrefixNode]:
        """All nodes without the root, by their depth."""
        waiting = deque([self.root])
        while waiting:
            for child in waiting.popleft().children.values():
                yield child
                waiting.append(child)


def path(node: PrefixNode, above: PrefixNode) -> list[PrefixNode]:
    """The nodes from below `above` down to `node`."""
    found: list[PrefixNode] = []
    current: PrefixNode | None = node
    while current is not above:
        assert current is not None
        found.append(current)
        current = current.parent
    found.reverse()
    return found


def in_common(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """How many tokens two runs begin with in common."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            return count
        count += 1
    return count
