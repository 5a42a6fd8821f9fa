"""Classes of characters after which a leaf stays alive, so that tokens of them need no walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sglc.automata.charset import Ranges, meet, ranges
from sglc.automata.term import CharDfa, Encoding
from sglc.runtime.mask.columns import bytes_in, group_set

Places = tuple[int, ...]
"""A state in each of some automata, -1 for none."""

_FEW = 4
"""Classes of fewer characters are walked."""
_MANY = 500
"""Automata of more states are not searched for a class that all of them have."""


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """Bytes after which a leaf stays alive: groups uint64[2] (see `columns`), bytes bool[256].

    home      the state that is come back to after every character, -1 for any
    room      tokens of up to so many characters stay alive, None for any
    uniform   from every state exactly the words over these characters go on, so that tokens which do not end
              the leaf are the same for all leaves with these characters
    """

    groups: np.ndarray
    bytes: np.ndarray
    home: int
    room: int | None = None
    uniform: Ranges | None = None


@dataclass(frozen=True, slots=True)
class Onward:
    """What holds from a state of an automaton on, whatever is read.

    characters  with which all the states that can be reached can go on
    uniform     no state can go on with any other
    accepting   words may end in all of them
    """

    characters: Ranges = ()
    uniform: bool = False
    accepting: bool = False

    def still(self, encoding: Encoding) -> Still | None:
        """The same as bytes."""
        found = still_on(self.characters, encoding, -1)
        if found is not None and self.uniform:
            found = replace(found, uniform=self.characters)
        return found


def onward(dfas: Sequence[CharDfa], places: Places, known: dict[Places, Onward]) -> Onward:
    """From a state in each of some automata (-1: none) on, where a word is one of any of them.

    What is found of the states on the way is kept in `known`. States that reach each other know the same: by
    strongly connected components (Tarjan 1972), so that all together cost one walk. Where very many states
    can be reached, or no character is common to all, nothing is known.
    """
    if places not in known:
        if _nothing_common(dfas, places, known):
            known[places] = Onward()
        else:
            _Walk(dfas, known).run(places)
    return known[places]


def _nothing_common(dfas: Sequence[CharDfa], start: Places, known: dict[Places, Onward]) -> bool:
    """Whether no character is common to all states that can be reached; mostly the first few say so."""
    characters = _covered(dfas, start)
    seen = {start}
    stack = [start]
    while stack and characters and len(seen) <= _MANY:
        for target in _targets(dfas, stack.pop()):
            if target not in seen:
                seen.add(target)
                behind = known.get(target)
                if behind is None:
                    stack.append(target)
                characters = meet(characters, _covered(dfas, target) if behind is None else behind.characters)
    return not characters


class _Walk:
    """One walk over the automata, by an explicit stack."""

    def __init__(self, dfas: Sequence[CharDfa], known: dict[Places, Onward]) -> None:
        self._dfas = dfas
        self._known = known
        self._number: dict[Places, int] = {}
        self._low: dict[Places, int] = {}
        self._targets: dict[Places, set[Places]] = {}
        self._open: list[Places] = []
        self._path: list[tuple[Places, Iterator[Places]]] = []

    def run(self, start: Places) -> None:
        known, number, low, path = self._known, self._number, self._low, self._path
        self._enter(start)
        while path:
            at, targets = path[-1]
            for target in targets:
                if target in known:
                    continue
                if target not in number:
                    if len(number) == _MANY:
                        known.update(dict.fromkeys(self._open, Onward()))
                        return
                    self._enter(target)
                    break
                low[at] = min(low[at], number[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[at])
                if low[at] == number[at]:
                    component = self._open[self._open.index(at) :]
                    del self._open[-len(component) :]
                    known.update(dict.fromkeys(component, self._holds(component)))

    def _enter(self, at: Places) -> None:
        self._number[at] = self._low[at] = len(self._number)
        self._targets[at] = targets = _targets(self._dfas, at)
        self._open.append(at)
        self._path.append((at, iter(targets)))

    def _holds(self, component: list[Places]) -> Onward:
        """What holds from states that reach each other, of whose other targets it is known."""
        characters = first = _covered(self._dfas, component[0])
        uniform = accepting = True
        inside = set(component)
        for places in component:
            accepting = accepting and _accepts(self._dfas, places)
            covered = _covered(self._dfas, places)
            if covered != first:
                uniform, characters = False, meet(characters, covered)
            for target in self._targets[places] - inside:
                behind = self._known[target]
                uniform = uniform and behind.uniform and behind.characters == first
                accepting = accepting and behind.accepting
                if behind.characters != characters:
                    characters = meet(characters, behind.characters)
            if not characters:
                return Onward()
        return Onward(characters, uniform, accepting)


def _covered(dfas: Sequence[CharDfa], places: Places) -> Ranges:
    return ranges(
        [
            (low, high)
            for dfa, at in zip(dfas, places, strict=True)
            if at >= 0
            for low, high, _ in dfa.edges[at]
        ]
    )


def _accepts(dfas: Sequence[CharDfa], places: Places) -> bool:
    return any(at in dfa.accepting for dfa, at in zip(dfas, places, strict=True))


def _targets(dfas: Sequence[CharDfa], places: Places) -> set[Places]:
    """The states after every character, of all the automata at once."""
    if len(dfas) == 1:
        return {(target,) for _, _, target in dfas[0].edges[places[0]]}
    rows = [dfa.edges[at] if at >= 0 else () for dfa, at in zip(dfas, places, strict=True)]
    cuts = sorted(
        {low for row in rows for low, _, _ in row} | {high + 1 for row in rows for _, high, _ in row}
    )
    at = [0] * len(rows)
    found: set[tuple[int, ...]] = set()
    for point in cuts:
        reached = []
        for number, row in enumerate(rows):
            while at[number] < len(row) and row[at[number]][1] < point:
                at[number] += 1
            edge = row[at[number]] if at[number] < len(row) else None
            reached.append(edge[2] if edge is not None and edge[0] <= point else -1)
        found.add(tuple(reached))
    found.discard((-1,) * len(dfas))
    return found


def leading_to(row: Sequence[tuple[int, int, int]], state: int) -> Ranges:
    """The characters that lead to a state."""
    return ranges([(low, high) for low, high, target in row if target == state])


def size(characters: Ranges) -> int:
    """How many characters there are."""
    return sum([high - low + 1 for low, high in characters])


@lru_cache(maxsize=512)
def still_on(characters: Ranges, encoding: Encoding, home: int) -> Still | None:
    """A class of characters as bytes; None if there are too few to be of use."""
    if size(characters) < _FEW:
        return None
    inside = np.zeros(128, bool)
    for low, high in characters:
        inside[low : high + 1] = True
    if encoding != "raw":
        inside[[*range(32), 0x22, 0x5C]] = False
    # Bytes do not tell characters beyond ASCII apart: all of them, or none.
    others = _covers(characters, 0x80, 0x10FFFF)
    groups = group_set(inside, others, others)
    return Still(groups, bytes_in(groups), home)


def _covers(characters: Ranges, low: int, high: int) -> bool:
    for first, last in characters:
        if first <= low <= last:
            # Surrogates are no characters.
            low = 0xE000 if last == 0xD7FF else last + 1
    return low > high
