"""Which worker has read which beginnings: a tree of blocks of tokens, by their names.

A node is a block behind all blocks above it (`runtime/kv/names.py`), with the workers that have it. A worker
has a block from when a call that begins with it goes there, until the worker says that the block has left its
memory. The tree is bounded; the blocks that no call had for the longest time are forgotten.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_BLOCKS = 1 << 20
"""Blocks that are remembered of all workers together: 16 million tokens, some 300 MB."""


@dataclass(slots=True)
class _Block:
    above: bytes | None
    workers: set[int] = field(default_factory=set)
    below: set[bytes] = field(default_factory=set)


class ReadPrefixes:
    """The tree. Workers are numbers."""

    def __init__(self, most: int = MOST_BLOCKS) -> None:
        self._most = most
        self.held: Counter[int] = Counter()
        """How many blocks each worker has."""
        self._blocks: OrderedDict[bytes, _Block] = OrderedDict()
        """The block used longest ago first. What lies above a block was always used after it, so that the
        first one has nothing below."""

    def __len__(self) -> int:
        return len(self._blocks)

    def note(self, worker: int, names: Sequence[bytes]) -> None:
        """A worker reads blocks, of which each is behind the one before."""
        above: bytes | None = None
        for name in names:
            block = self._blocks.get(name)
            if block is None:
                block = self._blocks[name] = _Block(above)
                if above is not None:
                    self._blocks[above].below.add(name)
            if worker not in block.workers:
                block.workers.add(worker)
                self.held[worker] += 1
            above = name
        for name in reversed(names):
            self._blocks.move_to_end(name)
        while len(self._blocks) > self._most:
            self._drop(next(iter(self._blocks)))

    def matches(self, names: Sequence[bytes], least: int = 1) -> dict[int, int]:
        """How many of these blocks, counted from the first, each worker has; only those that have `least`.
        What all have, such as a beginning that all calls share, costs nothing then."""
        found: dict[int, int] = {}
        alive: set[int] = set()
        for place, name in enumerate(names):
            block = self._blocks.get(name)
            having = block.workers if block is not None else set()
            still = alive & having if place else having
            if place >= least:
                for worker in alive - still:
                    found[worker] = place
            alive = still
            if not alive:
                return found
        if len(names) >= least:
            for worker in alive:
                found[worker] = len(names)
        return found

    def gone(self, worker: int, name: bytes) -> None:
        """A worker does not have a block any more, nor what is behind it."""
        waiting = [name]
        while waiting:
            each = waiting.pop()
            block = self._blocks.get(each)
            if block is None or worker not in block.workers:
                continue
            block.workers.discard(worker)
            self.held[worker] -= 1
            waiting += block.below
            if not block.workers:
                self._drop_if_bare(each)

    def forget(self, worker: int) -> None:
        """A worker has nothing any more."""
        for name in [name for name, block in self._blocks.items() if worker in block.workers]:
            self.gone(worker, name)
        self.held.pop(worker, None)

    def _drop_if_bare(self, name: bytes) -> None:
        """Take blocks that no worker has out of the tree, from one upwards, as far as nothing is below."""
        current: bytes | None = name
        while current is not None:
            block = self._blocks.get(current)
            if block is None or block.workers or block.below:
                return
            above = block.above
            self._drop(current)
            current = above

    def _drop(self, name: bytes) -> None:
        block = self._blocks.pop(name)
        self.held.subtract(block.workers)
        if block.above is not None and block.above in self._blocks:
            self._blocks[block.above].below.discard(name)
