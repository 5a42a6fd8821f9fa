"""The leaf of an object's keys: one automaton over all names and families, with labels for what a key is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sglc.automata.charset import ALL
from sglc.kernels.reference_walk import BOUNDARY, ENDS, NO_MOVE
from sglc.kernels.subtrees import UNBOUNDED
from sglc.runtime.mask.key_table import KeyTable
from sglc.runtime.mask.leaf import LeafPlace, LeafTable, Names, Still, onward

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
        self._still: dict[tuple[int, int], tuple[Still | None, bool]] = {}
        self._labels = np.zeros(0, np.int32)
        self._names: dict[int, dict[str, int]] = {}
        self._bits: dict[bytes, int] = {}
        """The bit sets that `words` has given, back again."""

    def number(self, local: int) -> int:
        """The state of a local state of the key table."""
        found = self._numbers.get(local)
        if found is None:
            found = self._numbers[local] = len(self.places)
            self.places.append(local)
        return found

    def words(self, labels: int) -> np.ndarray:
        """A bit set of labels as uint64[W]."""
        found = np.array([labels >> 64 * word & _WORD for word in range(self.width)], np.uint64)
        self._bits[found.tobytes()] = labels
        return found

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
        return bool(self.table.below(self.places[state]) & self._bits[place.open.tobytes()])

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
            state = self.table.in_family(local, number)
            if state >= 0 and self._is_open(place, label):
                found, _ = self._of_family(number, state)
                if found is not None and (best is None or found.bytes.sum() > best.bytes.sum()):
                    best = found
        return best

    def names(self, place: LeafPlace) -> Names | None:
        local = self.places[place.state]
        others = [
            (number, label)
            for number, label in enumerate(self.table.family_labels)
            if self._is_open(place, label) and self.table.in_family(local, number) >= 0
        ]
        if len(others) != 1:
            return None
        number, label = others[0]
        still, accepting = self._of_family(number, self.table.in_family(local, number))
        if still is None or still.uniform is None or not accepting:
            return None
        known = self._names.get(local)
        if known is None:
            known = self._names[local] = self.table.names_below(local)
        return Names(known, label) if len(known) <= _FEW_NAMES else None

    def _is_open(self, place: LeafPlace, label: int) -> bool:
        return bool(int(place.open[label >> 6]) >> (label & 63) & 1)

    def _of_family(self, number: int, state: int) -> tuple[Still | None, bool]:
        """(characters with which the keys of a family go on from a state, whether they may end anywhere)."""
        key = (number, state)
        if key not in self._still:
            known = onward(self.table.families[number], state)
            if known.characters != ALL:
                # Names may go on with other characters.
                known = replace(known, uniform=False)
            self._still[key] = known.still(self.encoding), known.accepting
        return self._still[key]
