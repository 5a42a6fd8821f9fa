"""The subset construction (Rabin and Scott, 1959), one state at a time, and questions about a `CharNfa`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from sglc.automata.charset import ALL, Ranges, invert, meet, ranges
from sglc.automata.dfa.minimize import joined_edges
from sglc.automata.dfa.numbering import Numbering, TooLarge
from sglc.automata.graphs import successors_first
from sglc.automata.term import CharNfa

_FEW = 6
"""So many different ranges of characters are compared with each other."""
MOST_STATES = 100_000
"""Subsets of one automaton; a text comes to one with each character."""
_BITS = tuple([tuple([bit for bit in range(8) if byte >> bit & 1]) for byte in range(256)])


def numbers_of(bits: int) -> tuple[int, ...]:
    """The numbers of the bits that are set, in order."""
    size = (bits.bit_length() + 7) // 8
    return tuple(
        [8 * at + bit for at, byte in enumerate(bits.to_bytes(size, "little")) if byte for bit in _BITS[byte]]
    )


def bits_of(numbers: Iterable[int]) -> int:
    """A set of numbers as bits."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


class Subsets:
    """The deterministic automaton of a `CharNfa`; states are numbered as they are met, 0 is the start.

    Sets of states and of groups are bits of one number each: the garbage collector would look at every member
    of other sets. Raises TooLarge where a text leads to one state too many.
    """

    def __init__(self, nfa: CharNfa) -> None:
        self.nfa = nfa
        beyond = TooLarge(f"the pattern needs more than {MOST_STATES} states")
        self._numbers = Numbering[int](limit=MOST_STATES, beyond=beyond)
        """By members: the state."""
        self._sets = self._numbers.order
        """By state: its members."""
        self._targets: dict[int, int] = {}
        """By groups: the state of their members."""
        self._groups: list[int] = [-1] * len(nfa.groups)
        """Members of groups, -1 where nobody has asked."""
        self._edges: dict[int, tuple[tuple[int, int, int], ...]] = {}
        self._accepting = bits_of(nfa.accepting)
        self._everything = bits_of(state for state in range(len(nfa.edges)) if is_everything(nfa, state))
        self._loops: list[tuple[int, Ranges] | None] = [None] * len(nfa.edges)
        """By state of the automaton, where somebody has asked: the characters that lead back to it, and how
        many they are."""
        self._to(1)

    @property
    def count(self) -> int:
        """How many states have been met."""
        return len(self._sets)

    def edges(self, state: int) -> tuple[tuple[int, int, int], ...]:
        """Sorted, disjoint (low, high, target)."""
        found = self._edges.get(state)
        if found is None:
            found = self._edges[state] = tuple(self._merged(state))
        return found

    def after(self, state: int, point: int) -> int | None:
        """The state after a character, without looking at the others."""
        edges, groups = self.nfa.edges, 0
        for member in self.members(state):
            for low, high, group in edges[member]:
                if low <= point <= high:
                    groups |= 1 << group
        return self._to(groups) if groups else None

    def members(self, state: int) -> tuple[int, ...]:
        """The states of the automaton that are in a subset."""
        return numbers_of(self._sets[state])

    def ends(self, state: int) -> bool:
        """Whether a word may end in a state."""
        return self._sets[state] & self._accepting != 0

    def lasting(self, state: int) -> Ranges:
        """Characters of which any number may come from a state, in any order."""
        return max([self._loops[member] or self._loop(member) for member in self.members(state)])[1]

    def _loop(self, member: int) -> tuple[int, Ranges]:
        nfa = self.nfa
        loop = ranges((a, b) for a, b, group in nfa.edges[member] if member in nfa.groups[group])
        found = self._loops[member] = sum(high - low + 1 for low, high in loop), loop
        return found

    def _merged(self, state: int) -> list[tuple[int, int, int]]:
        nfa = self.nfa
        parts = {edge for member in self.members(state) for edge in nfa.edges[member]}
        alike: dict[tuple[int, int], list[int]] = {}
        for low, high, group in parts:
            alike.setdefault((low, high), []).append(group)
        if len(alike) <= _FEW:
            return joined_edges(self._cut(alike))
        events: dict[int, list[int]] = {}
        for low, high, group in parts:
            events.setdefault(low, []).append(group)
            events.setdefault(high + 1, []).append(-1 - group)
        out: list[tuple[int, int, int]] = []
        active: dict[int, int] = {}
        groups = start = 0
        for point in sorted(events):
            if groups:
                out.append((start, point - 1, self._to(groups)))
            start = point
            for group in events[point]:
                if group >= 0:
                    active[group] = active.get(group, 0) + 1
                    groups |= 1 << group
                else:
                    group = -1 - group
                    active[group] -= 1
                    if not active[group]:
                        groups ^= 1 << group
        return joined_edges(out)

    def _cut(self, alike: dict[tuple[int, int], list[int]]) -> list[tuple[int, int, int]]:
        """The edges for a few ranges with the groups that they lead to: each piece between two bounds is
        looked for in all of them."""
        cuts = sorted({low for low, _ in alike} | {high + 1 for _, high in alike})
        out = []
        for start, stop in itertools.pairwise(cuts):
            groups = [
                group
                for (low, high), some in alike.items()
                if low <= start and stop <= high + 1
                for group in some
            ]
            if groups:
                out.append((start, stop - 1, self._to(bits_of(groups))))
        return out

    def _to(self, groups: int) -> int:
        """The state of the members of some groups."""
        found = self._targets.get(groups)
        if found is None:
            members = 0
            for group in numbers_of(groups):
                if self._groups[group] < 0:
                    self._groups[group] = bits_of(self.nfa.groups[group])
                members |= self._groups[group]
            if every := members & self._everything:
                # All texts are good from here on; the others add nothing.
                members = every & -every
            found = self._targets[groups] = self._numbers[members]
        return found


def characters(nfa: CharNfa) -> Ranges:
    """All the characters of its words."""
    return ranges((low, high) for row in nfa.edges for low, high, _ in row)


def has_cycle(nfa: CharNfa) -> bool:
    """Whether there are infinitely many words."""
    groups = [[group for *_, group in row] for row in nfa.edges]
    following = {s: {target for group in row for target in nfa.groups[group]} for s, row in enumerate(groups)}
    return len(successors_first(following)) < len(following)


def accepts(nfa: CharNfa, text: str) -> bool:
    """Whether a text is a word; only the subsets that it leads to are made."""
    subsets = Subsets(nfa)
    state: int | None = 0
    for char in text:
        state = subsets.after(state, ord(char)) if state is not None else None
    return state is not None and subsets.ends(state)


def is_everything(nfa: CharNfa, state: int) -> bool:
    """Whether all texts are words from a state on that stays."""
    if state not in nfa.accepting:
        return False
    loop = ranges((low, high) for low, high, group in nfa.edges[state] if state in nfa.groups[group])
    return not meet(invert(loop), ALL)
