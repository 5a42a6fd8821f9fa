"""The block allocator: free blocks, and how many tables an unsaved block stands in."""

from __future__ import annotations

BLOCK_TOKENS = 16
"""Positions of one block, in the cache and in the pools of executors."""
BLOCK_SHIFT = 4
"""Position p lies in block `table[p >> BLOCK_SHIFT]`."""
BLOCK_MASK = BLOCK_TOKENS - 1
"""Position p lies at place `p & BLOCK_MASK` of its block."""


class PoolFull(Exception):
    """Too few blocks are free or evictable. Nothing has changed. A caller may try again when others have let
    go."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(f"{needed} blocks are needed, {available} are free or can be evicted")
        self.needed = needed
        self.available = available


class BlockPool:
    """A free list and reference counts. The contents of blocks belong to the executor.

    A block is in one of three states. It is free (count 0). It stands in the tree of prefixes (count 1, held
    by the tree). Or it is unsaved: a sequence is writing it, and each table that it stands in counts once.
    """

    __slots__ = ("free", "references", "size")

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"a pool needs at least one block, not {size}")
        self.size = 0
        self.free: list[int] = []
        """Free blocks. The last one is taken next, so that memory that was touched lately is touched
        again."""
        self.references: list[int] = []
        self.grow(size)

    def grow(self, size: int) -> None:
        """Make the pool `size` blocks large. Raises ValueError if it is larger already."""
        if size < self.size:
            raise ValueError(f"a pool of {self.size} blocks cannot shrink to {size}")
        self.free[:0] = range(size - 1, self.size - 1, -1)
        self.references.extend([0] * (size - self.size))
        self.size = size

    def take(self) -> int:
        """A free block, now counted once. Raises IndexError if there is none."""
        block = self.free.pop()
        self.references[block] = 1
        return block

    def retain(self, block: int) -> None:
        """Count an unsaved block once more."""
        self.references[block] += 1

    def release(self, block: int) -> None:
        """Count a block once less; it is free when nobody counts it."""
        left = self.references[block] - 1
        self.references[block] = left
        if not left:
            self.free.append(block)
