"""A node of the tree of prefixes: one block, and the tokens whose keys and values it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglc.runtime.kv.sequence import Sequence


class PrefixNode:
    """A block whose content is known: keys and values of `key` behind the tokens of the nodes above.

    A node with fewer tokens than a block is the end of a sequence that was released. It is a leaf.
    """

    __slots__ = (
        "active",
        "block",
        "children",
        "digest",
        "key",
        "order",
        "parent",
        "stamp",
        "tails",
        "used",
        "uses",
    )

    def __init__(self, parent: PrefixNode | None, key: tuple[int, ...], block: int) -> None:
        self.parent = parent
        """None for the root, and for a node that has been taken out of the tree."""
        self.key = key
        self.block = block
        self.children: dict[tuple[int, ...], PrefixNode] = {}
        self.order: list[tuple[int, ...]] = []
        """Keys of the children, sorted. The key most like some tokens stands where the tokens would be
        inserted."""
        self.tails: dict[int, Sequence] = {}
        """Unsaved blocks that follow this node: by their first token, a sequence that writes one."""
        self.active = 0
        """Holders, plus children with holders at or below them. A node with none may be evicted."""
        self.used = 0
        """When its last holder let go, by the tree's clock."""
        self.uses = 1
        """How often it was computed or found."""
        self.stamp = 0
        """Number of its last entry in the heap of eviction."""
        self.digest: bytes | None = None
        """Name of the node on disk, made when it is asked for."""
