"""The subsets of a pattern's automaton that tells few characters apart, made where walks come to them."""

from __future__ import annotations

import numpy as np

from sglc.automata.charset import Ranges
from sglc.automata.dfa import subset_construction as subsets
from sglc.automata.dfa.subset_construction import Loops, is_everything
from sglc.automata.term import CharNfa
from sglc.kernels.trie.subset_api import SubsetTable
from sglc.kernels.trie.walks import ENDS
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.lexeme.codepoint_lexeme import TOGETHER, CharacterLexeme
from sglc.runtime.mask.lexeme.utf8_states import Characters, Edge

_MOST_RANGES = 6
"""Different ranges of characters at edges."""
_MOST_STATES = 512
"""States of an automaton, of which each has a row of steps."""
_ROOM = 4096
"""Subsets that there is room for at first."""
_FEW = 2
"""States with so few edges are loaded together: each, then its targets."""


def few_ranges(nfa: CharNfa) -> frozenset[tuple[int, int]] | None:
    """The ranges of characters at the edges of an automaton, None if these or the states are many."""
    if len(nfa.edges) > _MOST_STATES:
        return None
    found: set[tuple[int, int]] = set()
    for row in nfa.edges:
        for low, high, _ in row:
            found.add((low, high))
        if len(found) > _MOST_RANGES:
            return None
    return frozenset(found)


class SubsetStates(CharacterLexeme):
    """The states of `sglc.automata.dfa.subset_construction.Subsets`, and at the same time what walks read.

    Raises ConstraintError where a text leads to one state too many.
    """

    def __init__(self, nfa: CharNfa, found: frozenset[tuple[int, int]], characters: Characters) -> None:
        """`found`: the ranges of the automaton's edges."""
        super().__init__(characters, _ROOM - 1)
        self.nfa = nfa
        self._loops = Loops(nfa)
        start = nfa.groups[0]
        everything = [state for state in range(len(nfa.edges)) if is_everything(nfa, state)]
        if not set(start).isdisjoint(everything):
            # As behind edges.
            start = (min(set(start) & set(everything)),)
        self._table = SubsetTable(
            *_steps(nfa, found),
            _as_set(nfa, nfa.accepting),
            _as_set(nfa, everything),
            _as_set(nfa, start),
            _ROOM,
        )
        self._last = _as_set(nfa, nfa.accepting)

    def load(self, number: int) -> None:
        """Load the edges of a state, and of some that are reached from it."""
        table = self._table
        if table.count > subsets.MOST_STATES:
            raise ConstraintError(f"the pattern needs more than {subsets.MOST_STATES} states")
        room = table.room(TOGETHER)
        self._reserve(table.count + room)
        self._make_room(room)
        before = self._loaded
        loaded, self._loaded = table.load(number - 1, TOGETHER, _FEW, before, self._arrays)
        self._count(len(loaded), self._loaded - before)

    def edges(self, state: int) -> tuple[Edge, ...]:
        """Sorted, disjoint (low, high, target)."""
        if not self._arrays.flags[state + 1]:
            self.load(state + 1)
        arrays = self._arrays
        start = arrays.starts.item(state + 1)
        rows = arrays.edges[start : start + arrays.sizes.item(state + 1)].tolist()
        return tuple([(low, high, target - 1) for low, high, target in rows])

    def after(self, state: int, point: int) -> int | None:
        """The state after a character."""
        for low, high, target in self.edges(state):
            if point <= high:
                return target if low <= point else None
        return None

    def ends(self, state: int) -> bool:
        """Whether a word may end in a state."""
        flags = self._arrays.flags.item(state + 1)
        return bool(flags & ENDS) if flags else bool((self._table.sets[state] & self._last).any())

    def members(self, state: int) -> tuple[int, ...]:
        """The states of the pattern's automaton that are in a subset."""
        return tuple(
            np.flatnonzero(np.unpackbits(self._table.sets[state].view("u1"), bitorder="little")).tolist()
        )

    def lasting(self, state: int) -> Ranges:
        """See `Subsets.lasting`."""
        return self._loops.lasting(self.members(state))


def _as_set(nfa: CharNfa, states: frozenset[int] | tuple[int, ...] | list[int]) -> np.ndarray:
    """uint64[W]: states as bits."""
    flags = np.zeros(64 * ((len(nfa.edges) + 63) // 64), np.uint8)
    flags[list(states)] = 1
    return np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def _steps(nfa: CharNfa, found: frozenset[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """(cuts, steps) of `load_subsets`."""
    cuts = sorted({low for low, _ in found} | {high + 1 for _, high in found})
    place = {cut: number for number, cut in enumerate(cuts)}
    groups = [_as_set(nfa, members) for members in nfa.groups]
    steps = np.zeros((len(nfa.edges), max(len(cuts) - 1, 0), len(groups[0])), np.uint64)
    for state, row in enumerate(nfa.edges):
        for low, high, group in row:
            steps[state, place[low] : place[high + 1]] |= groups[group]
    return np.array(cuts or [0], np.int32), steps
