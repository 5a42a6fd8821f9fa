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
        self.places: list[int] = []
        self._numbers: dict[int, int] = {}

    def number(self, local: int) -> int:
        """The number of a local state."""
        found = self._numbers.get(local)
        if found is None:
            found = self._numbers[local] = len(self.places)
            self.places.append(local)
        return found

    def count(self) -> int:
        return len(self.places)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        return [(low, high, self.number(t)) for low, high, t in self.table.moves(self.places[state])]
