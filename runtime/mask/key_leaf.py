"""The leaf of an object's keys: one automaton over all names and families, with labels for what a key is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sglc.automata.charset import ALL
from sglc.kernels.reference_walk import BOUNDARY, ENDS, NO_MOVE
from sglc.kernels.subtrees import UNBOUNDED
from sglc.runtime.mask.key_table import KeyTable
from sglc.runtime.mask.leaf import LeafPlace, LeafTable, Names, Still, common_characters, still_on

_WORD = (1 << 64) - 1
_FEW_NAMES = 2000
"""More names than this are found by walking."""


class KeyLeaf(LeafTable):
    """The rows of a `KeyTable`, whose local states are numbered as they are met."""

    eager = True

    def __init__(self, table: KeyTable, labels: int) -> None:
        self.width = max(1, (labels + 63) // 64)
        super().__init__(self.width)
        self.table = table
        self.encoding = table.encoding
        self.places: list[int] = []
        self._numbers: dict[int, int] = {}
        self._still: dict[int, Still | None] = {}
        self._labels = np.zeros(0, np.int32)
        self._names: dict[int, Names | None] = {}

    def number(self, local: int) -> int:
        """The state of a local state of the key table."""
        found = self._numbers.get(local)
        if found is None:
            found = self._numbers[local] = len(self.places)
            self.places.append(local)
        return found

    def words(self, labels: int) -> np.ndarray:
        """A bit set of labels as uint64[W]."""
        return np.array([labels >> 64 * word & _WORD for word in range(self.width)], np.uint64)

    def count(self) -> int:
        return len(self.places)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        return [(low, high, self.number(t)) for low, high, t in self.table.moves(self.places[state])]

    def plain_step(self, state: int, byte: int) -> int | None:
        local = self.places[state]
        if local < 0:
            return None
        found = self.table.after(local, byte)
        return NO_MOVE if found is None else self.number(found)

    def describe(self, state: int) -> tuple[int, int, int]:
        local = self.places[state]
        if local < 0:
            return 0, 0, UNBOUNDED
        return BOUNDARY | (ENDS if self.table.end(local) >= 0 else 0), 0, UNBOUNDED

    def alive(self, state: int, least: int, most: int, place: LeafPlace) -> bool:
        open = int.from_bytes(place.open.astype("<u8").tobytes(), "little")
        return bool(self.table.below(self.places[state]) & open)

    def labels(self, state: int) -> Sequence[int]:
        below = self.table.below(self.places[state])
        return [below >> 64 * word & _WORD for word in range(self.width)]

    def label(self, state: int) -> int:
        return self.table.end(self.places[state])

    def labels_of(self, states: np.ndarray) -> np.ndarray | None:
        known = len(self._labels)
        if known < len(self.places):
            more = [self.table.end(local) for local in self.places[known:]]
            self._labels = np.concatenate([self._labels, np.array(more, np.int32)])
        return self._labels[states]

    def still(self, place: LeafPlace, longest: int) -> Still | None:
        local = self.places[place.state]
        if local < 0:
            return None
        best: Still | None = None
        for number, label in enumerate(self.table.family_labels):
            if self._is_open(place, label) and self.table.in_family(local, number):
                found = self._of_family(number)
                if found is not None and (best is None or found.bytes.sum() > best.bytes.sum()):
                    best = found
        return best

    def names(self, place: LeafPlace) -> Names | None:
        other = [label for label in self.table.family_labels if self._is_open(place, label)]
        if len(other) != 1:
            return None
        local = self.places[place.state]
        found = self._names.get(local)
        if found is None:
            names = self.table.names_below(local)
            if len(names) <= _FEW_NAMES:
                found = Names(names, other[0])
            self._names[local] = found
        return found

    def _is_open(self, place: LeafPlace, label: int) -> bool:
        return bool(int(place.open[label >> 6]) >> (label & 63) & 1)

    def _of_family(self, number: int) -> Still | None:
        """Characters with which every key of a family can go on."""
        if number not in self._still:
            characters = common_characters(self.table.families[number].edges)
            found = still_on(characters, self.encoding, -1)
            if found is not None and characters == ALL:
                found = replace(found, uniform=ALL)
            self._still[number] = found
        return self._still[number]
