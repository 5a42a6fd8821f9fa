"""The keys of an object as one automaton, made state by state, that knows which property or family a key is.

A state is a place in the trie of the names and one state in each family's automaton. It is determinised as
far as texts go, so that a family of all keys but a thousand names costs what is looked at.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence

from sglc.automata.analysis.emptiness import shortest_words
from sglc.automata.charset import LAST
from sglc.automata.dfa.operations import ends_first
from sglc.automata.dfa.operations import step as dfa_step
from sglc.automata.dfa.operations import walk as dfa_walk
from sglc.automata.encoding import written
from sglc.automata.term import CharDfa, Encoding, Language, Text
from sglc.automata.work import spend
from sglc.runtime.mask.core.byte_sets import length_first
from sglc.runtime.mask.lexeme.escapes import ByteMoves, Move

MANY_WORDS = 1_000_000
"""So many different keys are as good as without end: no object has so many. Exact numbers of long words would
have as many digits as these have characters."""

_Node = tuple[int, int, int]
"""(first, last + 1, depth) in the sorted names; (0, 0, 0) where no name goes on."""
_NO_NODE = (0, 0, 0)
_State = tuple[_Node, tuple[int, ...]]


class KeyTable(ByteMoves):
    """Labels are numbers: `names` gives those of properties, `families` those of families, in any order."""

    def __init__(self, names: dict[str, int], families: dict[int, CharDfa], encoding: Encoding) -> None:
        super().__init__(encoding)
        self.names = tuple(sorted(names))
        self.name_labels = tuple(map(names.__getitem__, self.names))
        self.family_labels = tuple(families)
        self.families = tuple(families.values())
        self._ids: dict[_State, int] = {}
        self._states: dict[int, _State] = {}
        self._known: dict[int, tuple[Move, ...]] = {}
        self._nodes: dict[_Node, int] = {}
        self._below: dict[int, int] = {}
        self._left: dict[int, tuple[int | None, ...]] = {}
        self._words: dict[tuple[int, int], tuple[int, list[bytes]]] = {}
        root = (0, len(self.names), 0) if self.names else _NO_NODE
        self._state((root, tuple([0 if dfa.edges else -1 for dfa in self.families])))

    def _state(self, state: _State) -> int:
        found = self._ids.get(state)
        if found is None:
            spend(1)
            found = self._ids[state] = len(self._states)
            self._states[found] = state
        return found

    @property
    def count(self) -> int:
        """The number of states between characters met so far."""
        return len(self._states)

    def moves(self, local: int) -> tuple[Move, ...]:
        """The byte moves of a local state, sorted and disjoint."""
        if local < 0 or local in self._moves:
            return super().moves(local)
        node, places = self._states[local]
        children = [] if node == _NO_NODE else self._children(node)
        free = all(0x20 <= char < 0x7F and char not in (0x22, 0x5C) for char, _ in children)
        if not free or not children or self.encoding == "raw":
            return super().moves(local)
        found = self._moves[local] = self._with_children(local, children, places)
        return found

    def _with_children(
        self, local: int, children: list[tuple[int, _Node]], places: tuple[int, ...]
    ) -> tuple[Move, ...]:
        """The moves of the families alone, but for the few bytes with which names go on."""
        waiting = list(reversed(children))
        nowhere = (-1,) * len(places)
        out: list[Move] = []
        if places == nowhere:
            out = [(char, char, self._state((child, nowhere))) for char, child in children]
            if self.encoding == "json-any":
                out.append((0x5C, 0x5C, self.characters.escape_of(local)))
            return tuple(sorted(out))
        for low, high, target in self.moves(self._state((_NO_NODE, places))):
            while waiting and waiting[-1][0] < low:
                char, child = waiting.pop()
                out.append((char, char, self._state((child, nowhere))))
            while waiting and waiting[-1][0] <= high:
                char, child = waiting.pop()
                if low < char:
                    out.append((low, char - 1, target))
                out.append((char, char, self._state((child, self._states[target][1]))))
                low = char + 1
            if low == 0x5C == high and self.encoding == "json-any":
                out.append((low, high, self.characters.escape_of(local)))
            elif low <= high:
                out.append((low, high, target))
        out += [(char, char, self._state((child, nowhere))) for char, child in reversed(waiting)]
        return tuple(out)

    def after(self, local: int, point: int) -> int | None:
        """The state between characters after a character, without looking at the others."""
        (first, last, depth), places = self._states[local]
        node = _NO_NODE
        if first < last and len(self.names[first]) == depth:
            first += 1
        if first < last:
            low, high = self._with_next(first, last, depth, point)
            if low < high:
                node = (low, high, depth + 1)
        reached = tuple(
            [
                -1 if place < 0 or (target := dfa_step(dfa, place, point)) is None else target
                for dfa, place in zip(self.families, places, strict=True)
            ]
        )
        if node == _NO_NODE and all(place < 0 for place in reached):
            return None
        return self._state((node, reached))

    def read(self, local: int, text: str) -> int | None:
        """The state between characters after some characters of a state between characters."""
        (first, last, depth), places = self._states[local]
        node = _NO_NODE
        if first < last:
            whole = self.names[first][:depth] + text
            low = bisect.bisect_left(self.names, whole, first, last)
            high = bisect.bisect_right(self.names, whole, low, last, key=lambda name: name[: len(whole)])
            if low < high:
                node = (low, high, len(whole))
        reached = tuple(
            [
                -1 if place < 0 or (target := dfa_walk(dfa, text, place)) is None else target
                for dfa, place in zip(self.families, places, strict=True)
            ]
        )
        if node == _NO_NODE and all(place < 0 for place in reached):
            return None
        return self._state((node, reached))

    def _with_next(self, first: int, last: int, depth: int, point: int) -> tuple[int, int]:
        """The part of some names, which are equal up to `depth` and longer, that go on with a character."""
        names = self.names
        begin = names[first][:depth]
        low = bisect.bisect_left(names, begin + chr(point), first, last)
        if point == LAST:
            return low, last
        return low, bisect.bisect_left(names, begin + chr(point + 1), low, last)

    def _children(self, node: _Node) -> list[tuple[int, _Node]]:
        """(code point, node below) in order."""
        first, last, depth = node
        names = self.names
        if first < last and len(names[first]) == depth:
            first += 1
        out = []
        while first < last:
            char = names[first][depth]
            if names[last - 1][depth] == char:
                until = last
            else:
                until = self._with_next(first, last, depth, ord(char))[1]
            out.append((ord(char), (first, until, depth + 1)))
            first = until
        return out

    def edges(self, state: int) -> tuple[Move, ...]:
        """(lowest character, highest character, state) of a state between characters, sorted and disjoint."""
        found = self._known.get(state)
        if found is None:
            node, places = self._states[state]
            children = self._children(node)
            rows = [
                dfa.edges[place] if place >= 0 else ()
                for dfa, place in zip(self.families, places, strict=True)
            ]
            if any(rows):
                found = self._merged(children, rows)
            else:
                nowhere = (-1,) * len(places)
                found = tuple([(c, c, self._state((child, nowhere))) for c, child in children])
            self._known[state] = found
        return found

    def _merged(
        self, children: list[tuple[int, _Node]], rows: list[tuple[tuple[int, int, int], ...]]
    ) -> tuple[Move, ...]:
        cuts = {bound for row in rows for low, high, _ in row for bound in (low, high + 1)}
        cuts.update(bound for char, _ in children for bound in (char, char + 1))
        order = sorted(cuts)
        below = dict(children)
        at = [0] * len(rows)
        out: list[Move] = []
        for low, following in itertools.pairwise(order):
            places = []
            for number, row in enumerate(rows):
                while at[number] < len(row) and row[at[number]][1] < low:
                    at[number] += 1
                edge = row[at[number]] if at[number] < len(row) else None
                places.append(edge[2] if edge is not None and edge[0] <= low else -1)
            node = below.get(low, _NO_NODE) if following == low + 1 else _NO_NODE
            if node == _NO_NODE and all(place < 0 for place in places):
                continue
            target = self._state((node, tuple(places)))
            if out and out[-1][2] == target and out[-1][1] + 1 == low:
                out[-1] = (out[-1][0], following - 1, target)
            else:
                out.append((low, following - 1, target))
        return tuple(out)

    # Labels

    def below(self, local: int) -> int:
        """Bit set of the labels of all keys that go on from a local state."""
        found = self._below.get(local)
        if found is None:
            found = 0
            source = self.characters.escaped_state(-1 - local) if local < 0 else None
            if source is not None:
                (first, last, depth), places = self._states[source]
                if first < last and len(self.names[first]) == depth:
                    first += 1
                found |= self._labels_of(first, last)
                for label, dfa, place in zip(self.family_labels, self.families, places, strict=True):
                    if place >= 0 and dfa.edges[place]:
                        found |= 1 << label
            elif local < 0:
                for target in self.targets(local):
                    found |= self.below(target)
            else:
                (first, last, _), places = self._states[local]
                found |= self._labels_of(first, last)
                for label, place in zip(self.family_labels, places, strict=True):
                    if place >= 0:
                        found |= 1 << label
            self._below[local] = found
        return found

    def _labels_of(self, first: int, last: int) -> int:
        """Bit set of the labels of some names in order."""
        found = 0
        for label in self.name_labels[first:last]:
            found |= 1 << label
        return found

    def place_of(self, local: int) -> tuple[int, int, int]:
        """(first, last + 1, characters read) of the names that go on from a state between characters."""
        return self._states[local][0]

    def names_below(self, local: int) -> dict[str, int]:
        """The rests of names from a state between characters, with their labels."""
        first, last, depth = self._states[local][0]
        return {name[depth:]: self.name_labels[first + i] for i, name in enumerate(self.names[first:last])}

    def end(self, local: int) -> int:
        """The label of the key that ends in a local state, or -1."""
        if local < 0:
            return -1
        (first, last, depth), places = self._states[local]
        if first < last and len(self.names[first]) == depth:
            return self.name_labels[first]
        for label, dfa, place in zip(self.family_labels, self.families, places, strict=True):
            if place in dfa.accepting:
                return label
        return -1

    def labels_of_keys(self, local: int, rests: Iterable[str]) -> list[int]:
        """The labels of keys that are no names, by their rests from a state between characters, or -1.

        Most rests begin with a character with which no family goes on; each is looked up once.
        """
        families = [
            (label, dfa, place)
            for label, dfa, place in zip(
                self.family_labels, self.families, self._states[local][1], strict=True
            )
            if place >= 0
        ]
        at_once = next((label for label, dfa, place in families if place in dfa.accepting), -1)
        begun: dict[str, list[tuple[int, CharDfa, int]]] = {}
        found = []
        for rest in rests:
            if not rest:
                found.append(at_once)
                continue
            char = rest[0]
            following = begun.get(char)
            if following is None:
                following = begun[char] = [
                    (label, dfa, target)
                    for label, dfa, place in families
                    if (target := dfa_step(dfa, place, ord(char))) is not None
                ]
            for label, dfa, at in following:
                if _accepts(dfa, rest[1:], at):
                    found.append(label)
                    break
            else:
                found.append(-1)
        return found

    # Keys of families

    def in_family(self, local: int, number: int) -> int:
        """The state of a family in a state between characters; -1 if no key of it goes on."""
        return self._states[local][1][number]

    def endless(self, number: int) -> bool:
        """Whether from everywhere in a family there are very many keys to go on with."""
        return all(count is None for count in self._counts(number))

    def left(self, local: int, label: int) -> int | None:
        """How many keys of a family go on from a state between characters; None for many."""
        number = self.family_labels.index(label)
        return self._counts(number)[self._states[local][1][number]]

    def _counts(self, number: int) -> tuple[int | None, ...]:
        """The number of words from each state of a family."""
        found = self._left.get(number)
        if found is None:
            found = self._left[number] = _count_words(self.families[number])
        return found

    def is_key(self, local: int, label: int, rest: str) -> bool:
        """Whether a key of a family goes on with `rest` from a state between characters."""
        number = self.family_labels.index(label)
        place = self._states[local][1][number]
        return place >= 0 and _accepts(self.families[number], rest, place)

    def has_fresh(self, local: int, label: int, residue: frozenset[str]) -> bool:
        """Whether a key of a family goes on from a state between characters with none of these endings."""
        if not self.below(local) >> label & 1:
            return False
        left = self.left(local, label)
        return left is None or left > sum([self.is_key(local, label, word) for word in residue])

    # Shortest endings

    def rest_of_name(self, local: int, label: int, name: str) -> bytes:
        """The shortest end of a property's name from a local state below which it is."""
        if local >= 0:
            return written(name[self._states[local][0][2] :], self.encoding)
        found = [
            ends[0] + self.rest_of_name(target, label, name)
            for target, ends in self.ends_of_character(local).items()
            if self.below(target) >> label & 1
        ]
        return min(found, key=length_first)

    def rests_of_keys(self, local: int, label: int, count: int) -> list[bytes]:
        """The `count` shortest ends of a family's keys from a state between characters."""
        number = self.family_labels.index(label)
        (first, last, depth), places = self._states[local]
        place = places[number]
        names = {written(name[depth:], "json") for name in self.names[first:last]}
        asked, known = self._words.get((number, place), (0, []))
        if asked < count + len(names):
            asked = count + len(names) + 4
            dfa = _starting_at(self.families[number], place)
            known = list(shortest_words(Language(Text(dfa, "json")), asked))
            self._words[number, place] = asked, known
        return [word for word in known if word not in names][:count]


def _accepts(dfa: CharDfa, rest: str, state: int) -> bool:
    end = dfa_walk(dfa, rest, state)
    return end is not None and end in dfa.accepting


def _starting_at(dfa: CharDfa, state: int) -> CharDfa:
    """The automaton with another start (not canonical)."""
    if state == 0:
        return dfa
    swap = {0: state, state: 0}
    order = [swap.get(s, s) for s in range(len(dfa.edges))]
    edges: Sequence[tuple[tuple[int, int, int], ...]] = [
        tuple([(low, high, swap.get(target, target)) for low, high, target in dfa.edges[s]]) for s in order
    ]
    return CharDfa(tuple(edges), frozenset([swap.get(s, s) for s in dfa.accepting]))


def _count_words(dfa: CharDfa) -> tuple[int | None, ...]:
    """The number of words from each state, None if there are `MANY_WORDS` or more."""
    found: list[int | None] = [None] * len(dfa.edges)
    for state in ends_first(dfa):
        total: int | None = 1 if state in dfa.accepting else 0
        for low, high, target in dfa.edges[state]:
            below = found[target]
            total = None if total is None or below is None else total + (high - low + 1) * below
        found[state] = total if total is not None and total < MANY_WORDS else None
    return tuple(found)


def count_words(dfa: CharDfa) -> int | None:
    """The number of words of an automaton, None for very many."""
    return _count_words(dfa)[0] if dfa.edges else 0
