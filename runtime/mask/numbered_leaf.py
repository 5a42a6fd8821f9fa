"""Leaves of automata whose states are made while they are read: numbered in the order they are met."""

from __future__ import annotations

from collections.abc import Iterable

from sglc.runtime.mask.leaf import LeafTable
from sglc.runtime.mask.spelling import ByteMoves


class NumberedLeaf(LeafTable):
    """The rows of `ByteMoves`; `places` are its local states by number."""

    def __init__(self, table: ByteMoves) -> None:
        super().__init__()
        self.encoding = table.encoding
        self.table = table

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        return [(low, high, self.number(t)) for low, high, t in self.table.moves(self.places[state])]
