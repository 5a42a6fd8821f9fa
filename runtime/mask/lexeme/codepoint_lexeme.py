"""Lexemes as walks read them: character by character, states loaded when walks come to them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sglc.automata.work import spend
from sglc.kernels.trie.api import UNBOUNDED, first_bytes
from sglc.kernels.trie.arrays import CharacterArrays
from sglc.kernels.trie.codepoint_blocks import BLOCKS
from sglc.kernels.trie.utf8_walk import JSON, JSON_ANY, LOADED, RAW
from sglc.kernels.trie.walks import ENDS, KNOWN
from sglc.runtime.mask.core.table_bytes import Tally, open_tally
from sglc.runtime.mask.lexeme.row_kinds import edge_array
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.utf8_states import Characters, Edge

ENCODINGS = {"raw": RAW, "json": JSON, "json-any": JSON_ANY}
_WIDE = 32
"""States with more edges beyond ASCII have blocks."""
TOGETHER = 24
"""So many states with few edges are loaded at once: walks come to many of those that are numbered next, and
to stop a walk and go on takes as long as to load some ten."""
_OF_STATE, _OF_EDGE = 600, 24
"""Bytes of a state and of an edge, roughly."""
_NO_LABELS = np.zeros(0, np.uint64)


class CharacterLexeme:
    """The arrays of an automaton over characters, whose state s is number s + 1 in them.

    Number 0 is the beginning of walks from inside a character.
    """

    _tally: Tally | None = None

    def __init__(self, characters: Characters, size: int, width: int = 0) -> None:
        """`size`: how many states there are, or room for the first; `width`: words of a set of labels."""
        self._characters = characters
        self._tally, self._taken = open_tally(), 0
        """Who keeps account of the bytes of the arrays, and how many these are."""
        edges = np.zeros((256, 3), np.int32)
        # Rows are of memory that is not there before it is written to.
        blocks = np.zeros((0, BLOCKS), np.int32)
        encoding = ENCODINGS[characters.encoding]
        self._arrays = CharacterArrays(
            encoding=encoding, edges=edges, blocks=blocks, **_states(size + 1, width)
        )
        self._loaded = 0
        self._blocks = 0
        """How many states have blocks."""
        self._begun: dict[int, tuple[int, int, int] | None] = {}
        """By place inside a character: (mode, where its edges begin, how many there are)."""

    def _count(self, states: int, edges: int, blocks: int = 0) -> None:
        """Count what so many more states, edges and blocks take."""
        bytes = _OF_STATE * states + _OF_EDGE * edges + 4 * BLOCKS * blocks
        self._taken += bytes
        if self._tally is not None:
            self._tally.take(bytes)

    def __del__(self) -> None:
        if self._tally is not None:
            self._tally.give_back(self._taken)

    def load(self, number: int) -> None:
        """Load the edges of a state, by its number in the arrays."""
        raise TypeError(type(self).__name__)

    def current(self) -> CharacterArrays:
        """The arrays, which are replaced when they grow."""
        return self._arrays

    def place(self, inside: int) -> tuple[int, int] | None:
        """(number, mode) for walks from an inside state of `Characters`, until the next is asked for.

        None where walks over characters do not know it.
        """
        if inside not in self._begun:
            begun = self._characters.begun(inside)
            if begun is not None:
                mode, edges = begun
                self._meet(edges)
                self._begun[inside] = mode, self._append(edges), len(edges)
            else:
                self._begun[inside] = None
        found = self._begun[inside]
        if found is None:
            return None
        mode, first, size = found
        arrays = self._arrays
        arrays.starts[0], arrays.sizes[0], arrays.flags[0] = first, size, LOADED
        arrays.rows[0] = 0
        return 0, mode

    def first(self, state: int, least: int, most: int, open: np.ndarray = _NO_LABELS) -> np.ndarray:
        """bool[256]: the bytes with which the lexeme may go on from a state of the automaton."""
        if not self._arrays.flags[state + 1]:
            self.load(state + 1)
        return first_bytes(self._arrays, state + 1, least, most, open)

    def _meet(self, row: Sequence[Edge]) -> None:
        """Called with the edges of a state before these are taken: what is asked of their targets is said."""

    def _take(self, state: int, row: Sequence[Edge], ends: bool, edges: np.ndarray | None = None) -> None:
        """Take a state into the arrays, in which there is room for it; `edges`: its row as int32[n, 3]."""
        size = len(row)
        self._count(1, size)
        self._meet(row)
        first = self._append(row) if edges is None else self._append_array(edges)
        arrays = self._arrays
        arrays.starts[state + 1], arrays.sizes[state + 1] = first, size
        arrays.flags[state + 1] = LOADED | ENDS if ends else LOADED
        if size > _WIDE and row[-_WIDE][0] >= 0x80:
            self._widen(state + 1)

    def _widen(self, number: int) -> None:
        """Give a state room for its blocks."""
        self._count(0, 0, 1)
        count, blocks = self._blocks, self._arrays.blocks
        if count == len(blocks):
            grown = np.zeros((2 * count or 1, BLOCKS), np.int32)
            grown[:count] = blocks
            self._arrays = self._arrays.changed(blocks=grown)
        self._arrays.wide[number] = count
        self._blocks = count + 1

    def _append(self, row: Sequence[Edge]) -> int:
        """Take the edges of a state into the arrays; where they begin."""
        return self._append_array(edge_array(row))

    def _append_array(self, row: np.ndarray) -> int:
        """The same of edges int32[n, 3]."""
        total, first, edges = len(row), self._loaded, self._arrays.edges
        if first + total > len(edges):
            grown = np.zeros((max(2 * len(edges), first + total), 3), np.int32)
            grown[:first] = edges[:first]
            self._arrays = self._arrays.changed(edges=grown)
        new = self._arrays.edges[first : first + total]
        new[:] = row
        new[:, 2] += 1
        self._loaded = first + total
        return first

    def _reserve(self, count: int) -> None:
        """Make room for so many states."""
        size = len(self._arrays.flags)
        if count + 1 > size:
            grown = _states(max(2 * size, count + 1), self._arrays.labels.shape[1])
            old = self._arrays
            for name, new in grown.items():
                # Rows are made again sooner than all their memory is copied.
                if name != "rows":
                    new[:size] = getattr(old, name)
            grown["flags"] &= ~KNOWN & 0xFF
            self._arrays = old.changed(**grown)


def _states(size: int, width: int) -> dict[str, np.ndarray]:
    """What is kept of so many states."""
    return {
        "starts": np.zeros(size, np.int32),
        "sizes": np.zeros(size, np.int32),
        "rows": np.zeros((size, 128), np.int32),
        "flags": np.zeros(size, np.uint8),
        "loops": np.zeros((size, 2), np.uint64),
        "wide": np.full(size, -1, np.int32),
        "lo": np.zeros(size, np.int32),
        "hi": np.full(size, UNBOUNDED, np.int32),
        "labels": np.zeros((size, width), np.uint64),
    }


class TextCharacters(CharacterLexeme):
    """The automaton of a `TextTable`."""

    def __init__(self, table: TextTable) -> None:
        super().__init__(table.characters, table.boundary)
        self._table = table
        self._measured = False

    def measure(self) -> None:
        """Take the lengths of words into the arrays."""
        if self._measured:
            return
        self._measured = True
        table, arrays = self._table, self._arrays
        states = range(table.boundary)
        arrays.lo[1:] = [table.shortest(state) for state in states]
        longest = [table.longest(state) for state in states]
        arrays.hi[1:] = [UNBOUNDED if most is None else most for most in longest]

    def load(self, number: int) -> None:
        """Load a state, and up to `TOGETHER` in all with those numbered next that have few edges."""
        dfa, state = self._table.dfa, number - 1
        row = dfa.edges[state]
        if len(row) > _WIDE:
            spend(5 + len(row) // 4)
            self._take(state, row, state in dfa.accepting, self._table.rows.array(state))
            return
        flags = self._arrays.flags
        rows = [row]
        for row in dfa.edges[number : state + TOGETHER]:
            if len(row) > _WIDE or flags.item(number + len(rows)):
                break
            rows.append(row)
        count, sizes = len(rows), list(map(len, rows))
        bounds = list(itertools.accumulate(sizes, initial=self._loaded))
        spend(5 * count + sum(sizes) // 4)
        self._count(count, sum(sizes))
        self._append_array(edge_array([*itertools.chain.from_iterable(rows)]))
        arrays, stop = self._arrays, number + count
        arrays.starts[number:stop], arrays.sizes[number:stop] = bounds[:-1], sizes
        flags[number:stop] = [
            LOADED | ENDS if at in dfa.accepting else LOADED for at in range(state, stop - 1)
        ]
