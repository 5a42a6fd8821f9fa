"""Integrity checks of the KV cache: every count and link, verified against each other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from sglc.runtime.kv.blocks import BLOCK_MASK, BLOCK_SHIFT, BLOCK_TOKENS
from sglc.runtime.kv.node import PrefixNode
from sglc.runtime.kv.tree import path

if TYPE_CHECKING:
    from sglc.runtime.kv.cache import KVCache


def check_cache(cache: KVCache, pinned: list[PrefixNode]) -> None:
    """Raise AssertionError where a count or a link is not what the open sequences and pins make it."""
    tree = cache.tree
    nodes = list(tree.nodes())
    _check_links(cache, nodes)
    holders: Counter[PrefixNode] = Counter(pinned)
    tables: Counter[int] = Counter()
    for sequence in cache.sequences:
        whole = sequence.length >> BLOCK_SHIFT
        assert len(sequence.tokens) == sequence.length <= len(sequence.table) * BLOCK_TOKENS
        holders[sequence._node] += 1
        above = path(sequence._node, tree.root)
        assert [node.block for node in above] == sequence.table[:whole]
        assert [token for node in above for token in node.key] == sequence.tokens[: whole * BLOCK_TOKENS]
        for place, block in enumerate(sequence.table[whole:]):
            saved = tree.node_of.get(block)
            if saved is None:
                tables[block] += 1
                continue
            tail = tuple(sequence.tokens[whole * BLOCK_TOKENS :])
            assert place == 0 and tail and sequence._shared, "a block of the tree behind the tail"
            assert saved.parent is sequence._node and saved.key[: len(tail)] == tail
            holders[saved] += 1
    _check_counts(cache, nodes, holders)
    _check_blocks(cache, nodes, tables)
    for node in [tree.root, *nodes]:
        for token, writer in node.tails.items():
            assert writer in cache.sequences and writer._node is node and writer.length & BLOCK_MASK
            assert writer.tokens[writer.length & ~BLOCK_MASK] == token


def _check_links(cache: KVCache, nodes: list[PrefixNode]) -> None:
    tree = cache.tree
    assert len(nodes) == tree.size == len(tree.node_of)
    for node in nodes:
        assert tree.node_of[node.block] is node
        assert node.parent is not None and node.parent.children[node.key] is node
        assert 1 <= len(node.key) <= BLOCK_TOKENS
        assert len(node.key) == BLOCK_TOKENS or not node.children
    for node in [tree.root, *nodes]:
        assert node.order == sorted(node.children)
        for before, after in pairwise(node.order):
            covered = after[: len(before)] == before and not node.children[before].active
            assert not covered, "the end of a released sequence that a longer block covers"


def _check_counts(cache: KVCache, nodes: list[PrefixNode], holders: Counter[PrefixNode]) -> None:
    tree = cache.tree
    for node in reversed([tree.root, *nodes]):  # children before parents
        below = sum(1 for child in node.children.values() if child.active)
        own = 1 if node is tree.root else 0
        assert node.active == holders[node] + below + own, "a node is held by others than those it counts"
    assert tree.idle == sum(1 for node in nodes if not node.active)
    leaves = {node.block for node in nodes if not node.active and not node.children}
    assert tree.heap.nodes() == leaves, "the heap does not hold the leaves that can be evicted"


def _check_blocks(cache: KVCache, nodes: list[PrefixNode], tables: Counter[int]) -> None:
    pool = cache.pool
    free = set(pool.free)
    assert len(free) == len(pool.free), "a block is free twice"
    saved = {node.block for node in nodes}
    assert not free & saved and not free & tables.keys() and not saved & tables.keys()
    assert len(free) + len(saved) + len(tables) == pool.size == len(pool.references), "a block is lost"
    for block, count in enumerate(pool.references):
        expected = 0 if block in free else 1 if block in saved else tables[block]
        assert count == expected, f"block {block} is counted {count} times instead of {expected}"
