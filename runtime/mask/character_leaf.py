"""The automaton of a text as walks read it: character by character, states loaded as walks come to them."""

from __future__ import annotations

from itertools import chain

import numpy as np

from sglc.kernels.character_walk import JSON, JSON_ANY, LOADED, RAW
from sglc.kernels.subtrees import UNBOUNDED, CharacterArrays, first_bytes
from sglc.kernels.walks import ENDS
from sglc.runtime.mask.text import TextTable

ENCODINGS = {"raw": RAW, "json": JSON, "json-any": JSON_ANY}
_AT_ONCE = 256
"""Edges that are loaded together: those of the states that come next in walks."""


class CharacterLeaf:
    """The arrays of a `TextTable`, by its states between characters."""

    def __init__(self, table: TextTable) -> None:
        self._table = table
        size = table.boundary
        edges = np.zeros((64, 3), np.int32)
        # Rows are of memory that is not there before it is written to.
        rows = np.zeros((size, 128), np.int32)
        self._arrays = CharacterArrays(
            ENCODINGS[table.encoding], edges, np.zeros(size, np.int32), np.zeros(size, np.int32), rows,
            np.zeros(size, np.uint8), np.zeros((size, 2), np.uint64), np.zeros(size, np.int32),
            np.full(size, UNBOUNDED, np.int32),
        )  # fmt: skip
        self._loaded = 0
        self._measured = False

    def current(self) -> CharacterArrays:
        """The arrays, which are replaced when they grow."""
        return self._arrays

    def measure(self) -> None:
        """Take the lengths of words into the arrays."""
        if self._measured:
            return
        self._measured = True
        table, arrays = self._table, self._arrays
        states = range(table.boundary)
        arrays.lo[:] = [table.shortest(state) for state in states]
        longest = [table.longest(state) for state in states]
        arrays.hi[:] = [UNBOUNDED if most is None else most for most in longest]

    def load(self, state: int) -> None:
        """Load the edges of a state, and of some that are reached from it."""
        dfa, flags = self._table.dfa, self._arrays.flags
        states = [state]
        seen = {state}
        total = len(dfa.edges[state])
        for here in states:
            if total >= _AT_ONCE:
                break
            for _, _, target in dfa.edges[here]:
                if target not in seen:
                    seen.add(target)
                    if not flags[target]:
                        states.append(target)
                        total += len(dfa.edges[target])
        rows = [dfa.edges[each] for each in states]
        sizes = list(map(len, rows))
        total = sum(sizes)
        first = self._loaded
        self._grow(first + total)
        arrays = self._arrays
        flat = chain.from_iterable(chain.from_iterable(rows))
        arrays.edges[first : first + total] = np.fromiter(flat, np.int32, 3 * total).reshape(-1, 3)
        accepting = dfa.accepting
        for each, size in zip(states, sizes, strict=True):
            arrays.starts[each], arrays.sizes[each] = first, size
            arrays.flags[each] = LOADED | (ENDS if each in accepting else 0)
            first += size
        self._loaded = first

    def first(self, state: int, least: int, most: int) -> np.ndarray:
        """bool[256]: the bytes with which the leaf may go on."""
        if not self._arrays.flags[state]:
            self.load(state)
        return first_bytes(self._arrays, state, least, most)

    def _grow(self, count: int) -> None:
        edges = self._arrays.edges
        if count > len(edges):
            grown = np.zeros((max(2 * len(edges), count), 3), np.int32)
            grown[: self._loaded] = edges[: self._loaded]
            _, *others = self._arrays.arrays
            self._arrays = CharacterArrays(self._arrays.encoding, grown, *others)
