"""Leaves as automata over bytes that know nothing of what follows them.

A leaf (a text, a set of words) has its own small automaton; rows of its states are shared by all the places
where it occurs in a constraint. Tokens that stay inside a leaf are found by one native walk over its rows;
where a token leaves the leaf, the walk reports the node, and what follows takes over from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sglc.kernels.reference_walk import BOUNDARY, ENDS, KNOWN, NO_MOVE
from sglc.kernels.subtrees import UNBOUNDED, LeafArrays
from sglc.runtime.mask.columns import bytes_in, group_set
from sglc.runtime.mask.text import TextTable

_FEW = 4
"""Fewer bytes than this are walked."""


class LeafTable:
    """The rows of a leaf's states, made when they are first needed.

    Subclasses number their states from 0 and say what they are by `moves`, `describe` and `count`.
    """

    def __init__(self) -> None:
        self._size = 0
        self.arrays = LeafArrays(
            np.full((8, 256), NO_MOVE, np.int32),
            np.zeros(8, np.uint8),
            np.zeros(8, np.int32),
            np.zeros(8, np.int32),
        )
        self._lists: dict[int, list[int]] = {}
        self._quiet: dict[int, tuple[np.ndarray, np.ndarray] | None] = {}

    def count(self) -> int:
        """The number of states known so far."""
        raise TypeError(type(self).__name__)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        """(lowest byte, highest byte, state) of a state; may make new states known."""
        raise TypeError(type(self).__name__)

    def describe(self, state: int) -> tuple[int, int, int]:
        """(flags but KNOWN, fewest, most characters to the end of a word) of a state."""
        raise TypeError(type(self).__name__)

    def loops_on(self, state: int, low: int, high: int) -> bool:
        """Whether every character from `low` to `high` leads from the state back to it."""
        return False

    @property
    def any_length(self) -> bool:
        """Whether words of every length lead on from everywhere."""
        return False

    def quiet(self, state: int) -> tuple[np.ndarray, np.ndarray] | None:
        """(groups uint64[2], bytes bool[256]) that keep the leaf in a state; None if too few to be of use."""
        if state not in self._quiet:
            inside = np.array(self.row(state)[:128]) == state
            found = None
            if np.count_nonzero(inside) >= _FEW:
                groups = group_set(
                    inside, self.loops_on(state, 0x80, 0x9F), self.loops_on(state, 0xA0, 0x10FFFF)
                )
                found = groups, bytes_in(groups)
            if len(self._quiet) > 20_000:
                self._quiet.clear()
            self._quiet[state] = found
        return self._quiet[state]

    def current(self) -> LeafArrays:
        """The arrays, which are replaced when they grow."""
        self._describe()
        return self.arrays

    def fill(self, state: int) -> None:
        """Make the row of a state."""
        moves = tuple(self.moves(state))
        self._describe()
        row = self.arrays.rows[state]
        for low, high, target in moves:
            row[low : high + 1] = target
        self.arrays.flags[state] |= KNOWN

    def row(self, state: int) -> list[int]:
        """The row of a state as a list, for steps of one byte."""
        found = self._lists.get(state)
        if found is None:
            self._describe()
            if not self.arrays.flags[state] & KNOWN:
                self.fill(state)
            if len(self._lists) > 20_000:
                self._lists.clear()
            found = self._lists[state] = self.arrays.rows[state].tolist()
        return found

    def alive(self, state: int, least: int, most: int) -> bool:
        """Whether a word leads from a state with so many characters to come (most: UNBOUNDED is no limit)."""
        arrays = self.arrays
        return bool(arrays.lo[state] <= most and arrays.hi[state] >= least)

    def first(self, state: int, least: int, most: int) -> np.ndarray:
        """bool[256]: the bytes with which the leaf may go on."""
        row = np.array(self.row(state), np.int64)
        arrays = self.current()
        legal = row >= 0
        target = row[legal]
        taken = (arrays.flags[target] & BOUNDARY).astype(np.int64)
        legal[legal] = (arrays.lo[target] <= most - taken) & (arrays.hi[target] >= least - taken)
        return legal

    def _describe(self) -> None:
        count = self.count()
        if count == self._size:
            return
        arrays = self.arrays
        if count > len(arrays.flags):
            room = max(2 * len(arrays.flags), count)
            rows = np.full((room, 256), NO_MOVE, np.int32)
            rows[: self._size] = arrays.rows[: self._size]
            flags, lo, hi = np.zeros(room, np.uint8), np.zeros(room, np.int32), np.zeros(room, np.int32)
            for new, old in ((flags, arrays.flags), (lo, arrays.lo), (hi, arrays.hi)):
                new[: self._size] = old[: self._size]
            arrays = self.arrays = LeafArrays(rows, flags, lo, hi)
        for state in range(self._size, count):
            arrays.flags[state], arrays.lo[state], arrays.hi[state] = self.describe(state)
        self._size = count


class TextLeaf(LeafTable):
    """The leaf of a `TextTable`; its states are the table's local states."""

    def __init__(self, table: TextTable) -> None:
        super().__init__()
        self.table = table

    def count(self) -> int:
        return self.table.known

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        return self.table.moves(state)

    def describe(self, state: int) -> tuple[int, int, int]:
        table = self.table
        if state < table.boundary:
            ends = ENDS if state in table.dfa.accepting else 0
            longest = table.longest(state)
            return BOUNDARY | ends, table.shortest(state), UNBOUNDED if longest is None else longest
        targets = table.targets(state)
        longest = [table.longest(target) for target in targets]
        most = UNBOUNDED if None in longest else 1 + max(value for value in longest if value is not None)
        return 0, 1 + min(map(table.shortest, targets)), most

    def loops_on(self, state: int, low: int, high: int) -> bool:
        if state >= self.table.boundary:
            return False
        for first, last, target in self.table.dfa.edges[state]:
            if target == state and first <= low <= last:
                # Surrogates are no characters.
                low = 0xE000 if last == 0xD7FF else last + 1
        return low > high

    @property
    def any_length(self) -> bool:
        return self.table.any_length


def text_leaf(table: TextTable) -> TextLeaf:
    """The leaf of a table, made once."""
    if table.leaf is None:
        table.leaf = TextLeaf(table)
    leaf: TextLeaf = table.leaf
    return leaf


class WordLeaf(LeafTable):
    """The leaf of a finite set of words: states are numbered as they are met. `children` maps a place of the
    words' trie to the places below it by byte, `ends` says whether a place is a word."""

    def __init__(self, words: object) -> None:
        super().__init__()
        self.words = words
        self.places: list[tuple[int, int, int]] = []
        self._numbers: dict[tuple[int, int, int], int] = {}

    def number(self, place: tuple[int, int, int]) -> int:
        found = self._numbers.get(place)
        if found is None:
            found = self._numbers[place] = len(self.places)
            self.places.append(place)
        return found

    def count(self) -> int:
        return len(self.places)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        children = self.words.children(self.places[state])  # type: ignore[attr-defined]
        return [(byte, byte, self.number(child)) for byte, child in children.items()]

    def describe(self, state: int) -> tuple[int, int, int]:
        ends = ENDS if self.words.ends(self.places[state]) else 0  # type: ignore[attr-defined]
        return ends, 0, UNBOUNDED


@dataclass(frozen=True, slots=True)
class LeafPlace:
    """Where a thread is inside a leaf: a state and the characters still to come."""

    table: LeafTable
    state: int
    least: int = 0
    most: int | None = None
