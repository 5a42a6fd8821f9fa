"""What the states of an automaton read, found once for all that read the same.

A class of Unicode has hundreds of ranges, and 40 states of `[\\p{L} ]{2,40}` have them all: such states
differ in their targets alone.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from sglc.automata.charset import Ranges, ranges
from sglc.automata.term import CharDfa

_Edge = tuple[int, int, int]
_Part = list[tuple[int, int]] | Ranges
"""Edges, or the characters of these once somebody has asked."""


class RowKinds:
    """The rows of an automaton, those of one kind (see `CharDfa`) looked at once."""

    def __init__(self, dfa: CharDfa) -> None:
        self.dfa = dfa
        self.looked = 0
        """Edges that have been looked at."""
        self._kinds: Sequence[int] = dfa.kinds or range(len(dfa.edges))
        self._covered: dict[int, Ranges] = {}
        self._places: dict[int, tuple[int, ...]] = {}
        self._parts: dict[int, list[tuple[int, _Part]]] = {}
        """By kind: the place of the first edge to each target, and what leads there."""
        self._widest: dict[int, int] = {}
        """By kind: the number of the part with most characters, -1 if there is none."""
        self._arrays: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        kinds = Counter(dfa.kinds) if dfa.kinds else {}
        self._common = {kind for kind, states in kinds.items() if states > 1}
        """The kinds of more states than one."""
        self._same: dict[Ranges, Ranges] = {}
        """Equal sets are one object."""

    def _row(self, state: int) -> tuple[_Edge, ...]:
        row = self.dfa.edges[state]
        self.looked += len(row)
        return row

    def covered(self, state: int) -> Ranges:
        """The characters with which a state goes on."""
        kind = self._kinds[state]
        found = self._covered.get(kind)
        if found is None:
            these = covered(self._row(state))
            found = self._covered[kind] = self._same.setdefault(these, these)
        return found

    def targets(self, state: int) -> list[int]:
        """The states after one character, in the order of their first edges."""
        row, kind = self.dfa.edges[state], self._kinds[state]
        if kind not in self._common:
            return list(dict.fromkeys([target for _, _, target in self._row(state)]))
        places = self._places.get(kind)
        if places is None:
            firsts: dict[int, int] = {}
            for place, (_, _, target) in enumerate(self._row(state)):
                firsts.setdefault(target, place)
            places = self._places[kind] = tuple(firsts.values())
        return [row[place][2] for place in places]

    def _parts_of(self, state: int) -> list[tuple[int, _Part]]:
        kind = self._kinds[state]
        if kind not in self._parts:
            by_target: dict[int, tuple[int, list[tuple[int, int]]]] = {}
            for place, (low, high, target) in enumerate(self._row(state)):
                by_target.setdefault(target, (place, []))[1].append((low, high))
            self._parts[kind] = [*by_target.values()]
        return self._parts[kind]

    def _part(self, state: int, number: int) -> Ranges:
        parts = self._parts_of(state)
        place, found = parts[number]
        if isinstance(found, list):
            these = ranges(found)
            found = self._same.setdefault(these, these)
            parts[number] = place, found
        return found

    def leading(self, state: int, target: int) -> Ranges:
        """The characters that lead from a state to another one, to which some do."""
        row = self.dfa.edges[state]
        targets = [row[place][2] for place, _ in self._parts_of(state)]
        return self._part(state, targets.index(target))

    def widest(self, state: int) -> tuple[int, Ranges]:
        """The state to which most characters lead from a state, and these; -1 if none do."""
        kind = self._kinds[state]
        if kind not in self._widest:
            sizes = [sum([high - low + 1 for low, high in these]) for _, these in self._parts_of(state)]
            self._widest[kind] = sizes.index(max(sizes)) if sizes else -1
        at = self._widest[kind]
        if at < 0:
            return -1, ()
        return self.dfa.edges[state][self._parts_of(state)[at][0]][2], self._part(state, at)

    def array(self, state: int) -> np.ndarray:
        """int32[n, 3]: the edges of a state."""
        kind = self._kinds[state]
        if kind not in self._common:
            return edge_array(self._row(state))
        known = self._arrays.get(kind)
        if known is None:
            row = self._row(state)
            edges = edge_array(row)
            numbers: dict[int, int] = {}
            places = [numbers.setdefault(target, len(numbers)) for _, _, target in row]
            known = self._arrays[kind] = edges, np.array(places, np.int32)
        edges, slots = known
        found = edges.copy()
        found[:, 2] = np.array(self.targets(state), np.int32)[slots]
        return found


def edge_array(row: Sequence[_Edge]) -> np.ndarray:
    """int32[n, 3]: some edges."""
    return np.fromiter(itertools.chain.from_iterable(row), np.int32, 3 * len(row)).reshape(-1, 3)


def covered(row: Sequence[_Edge]) -> Ranges:
    """The characters of the edges of a state, which are sorted."""
    out: list[tuple[int, int]] = []
    first, last = 0, -2
    for low, high, _ in row:
        if low == last + 1:
            last = high
            continue
        if last >= 0:
            out.append((first, last))
        first, last = low, high
    if last >= 0:
        out.append((first, last))
    if any([low < 0xE000 and high >= 0xD800 for low, high in out]):
        return ranges(out)
    return tuple(out)
