"""Classes of characters after which a lexeme stays alive, so that tokens of them need no walk."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from sglc.automata.caches import small_cache
from sglc.automata.charset import LAST, Ranges, invert, meet, ranges
from sglc.automata.term import Encoding
from sglc.kernels.trie.token_groups import SCRIPTS, Group
from sglc.runtime.mask.lexeme.row_kinds import RowKinds
from sglc.runtime.mask.vocabulary import token_classes as classes

_ESCAPED: Ranges = ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
"""Characters that are escaped in JSON strings."""
_ESCAPED_BITS = (1 << 0x20) - 1 | 1 << 0x22 | 1 << 0x5C
_ALWAYS = 1 << Group.BROKEN | 1 << Group.PARTIAL
_PARTS: dict[int, Ranges] = {
    Group.CONTROL_1: ((0x80, 0x9F),),
    Group.SEPARATOR: ((0x2028, 0x2029),),
    **{
        group: tuple([(low, high) for low, high, of in SCRIPTS.tolist() if of == group])
        for group in sorted(set(SCRIPTS[:, 2].tolist()))
    },
}
"""The characters of the groups beyond ASCII."""
_PARTS[Group.REST] = meet(
    ((0xA0, LAST),), invert(ranges([part for parts in _PARTS.values() for part in parts]))
)
_PART_BOUNDS: np.ndarray = np.array(
    [(low, high, group) for group, parts in _PARTS.items() for low, high in parts], np.int32
)
_WIDE = (0x80, 0xD7FF), (0xE000, LAST)
"""What is beyond ASCII."""
_Bytes: TypeAlias = bytes
Places = tuple[int, ...]
"""A state in each of some automata, -1 for none."""

_FEW = 4
"""Classes of fewer characters are walked."""
_MANY = 500
"""Automata of more states are not searched for a class that all of them have."""


@dataclass(frozen=True, slots=True, eq=False)
class SelfLoop:
    """Bytes after which a lexeme stays alive: groups uint64[2] (see `columns`), bytes bool[256].

    home       the state that is come back to after every character, -1 for any
    room       tokens of up to so many characters stay alive, None for any
    uniform    from every state exactly the words over these characters go on, so that tokens which do not end
               the lexeme are the same for all lexemes with these characters
    dead       groups of which no byte is read, neither at `home` nor, where that is any state, at any
    forbidden  bytes of ASCII among them that do not lead to `home` when they are read first
    fewer      makes the same for fewer characters, none of which are forbidden, if some are
    """

    groups: np.ndarray
    bytes: np.ndarray
    home: int
    room: int | None = None
    uniform: Ranges | None = None
    dead: np.ndarray = field(default_factory=lambda: np.zeros(2, np.uint64))
    forbidden: _Bytes = b""
    fewer: Callable[[], SelfLoop | None] | None = None

    def with_none_forbidden(self) -> SelfLoop | None:
        """The same for the characters that may be read from the beginning on."""
        if self.fewer is None:
            return self
        found = self.fewer()
        return found if found is None or self.room is None else replace(found, room=self.room)

    def apart_from(self, first: np.ndarray) -> SelfLoop | None:
        """The same if it is with none of some bytes, bool[256], or for fewer characters without them."""
        found = self.with_none_forbidden() if np.count_nonzero(first & self.bytes) else self
        return None if found is None or np.count_nonzero(first & found.bytes) else found


@dataclass(frozen=True, slots=True)
class ReachableFacts:
    """What holds from a state of an automaton on, whatever is read.

    characters  with which all the states that can be reached can go on
    uniform     no state can go on with any other
    accepting   words may end in all of them
    """

    characters: Ranges = ()
    uniform: bool = False
    accepting: bool = False

    def self_loop(self, encoding: Encoding) -> SelfLoop | None:
        """The same as bytes."""
        found = self_loop_class(self.characters, encoding, -1, self.characters if self.uniform else None)
        if found is not None and self.uniform:
            found = replace(found, uniform=self.characters)
        return found


def reachable_facts(
    some: Sequence[RowKinds], places: Places, known: dict[Places, ReachableFacts]
) -> ReachableFacts:
    """From a state in each of some automata (-1: none) on, where a word is one of any of them.

    What is found of the states on the way is kept in `known`. States that reach each other know the same: by
    strongly connected components (Tarjan 1972), so that all together cost one walk. Where very many states
    can be reached, or no character is common to all, nothing is known.
    """
    if places not in known:
        states = _States(some)
        if _nothing_common(states, places, known):
            known[places] = ReachableFacts()
        else:
            _Walk(states, known).run(places)
    return known[places]


class _States:
    """The states of some automata read side by side, each looked at once."""

    def __init__(self, some: Sequence[RowKinds]) -> None:
        self.some = some
        self._covered: dict[Places, Ranges] = {}
        self._targets: dict[Places, set[Places]] = {}

    def covered(self, places: Places) -> Ranges:
        """The characters with which a text goes on."""
        found = self._covered.get(places)
        if found is None:
            found = self._covered[places] = _covered(self.some, places)
        return found

    def targets(self, places: Places) -> set[Places]:
        """The states after every character."""
        found = self._targets.get(places)
        if found is None:
            found = self._targets[places] = _targets(self.some, places)
        return found


def _nothing_common(states: _States, start: Places, known: dict[Places, ReachableFacts]) -> bool:
    """Whether no character is common to all states that can be reached; mostly the first few say so."""
    characters = states.covered(start)
    seen = {start}
    stack = [start]
    while stack and characters and len(seen) <= _MANY:
        for target in states.targets(stack.pop()):
            if target not in seen:
                seen.add(target)
                behind = known.get(target)
                if behind is None:
                    stack.append(target)
                covered = states.covered(target) if behind is None else behind.characters
                if covered != characters:
                    characters = meet(characters, covered)
    return not characters


class _Walk:
    """One walk over the automata, by an explicit stack."""

    def __init__(self, states: _States, known: dict[Places, ReachableFacts]) -> None:
        self._states = states
        self._known = known
        self._number: dict[Places, int] = {}
        self._low: dict[Places, int] = {}
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
                        known.update(dict.fromkeys(self._open, ReachableFacts()))
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
        self._open.append(at)
        self._path.append((at, iter(self._states.targets(at))))

    def _holds(self, component: list[Places]) -> ReachableFacts:
        """What holds from states that reach each other, of whose other targets it is known."""
        states = self._states
        characters = first = states.covered(component[0])
        uniform = accepting = True
        inside = set(component)
        for places in component:
            accepting = accepting and _accepts(states.some, places)
            covered = states.covered(places)
            if covered != first:
                uniform, characters = False, meet(characters, covered)
            for target in states.targets(places) - inside:
                behind = self._known[target]
                uniform = uniform and behind.uniform and behind.characters == first
                accepting = accepting and behind.accepting
                if behind.characters != characters:
                    characters = meet(characters, behind.characters)
            if not characters:
                return ReachableFacts()
        return ReachableFacts(characters, uniform, accepting)


def _covered(some: Sequence[RowKinds], places: Places) -> Ranges:
    if len(some) == 1 and places[0] >= 0:
        return some[0].covered(places[0])
    found = [rows.covered(at) for rows, at in zip(some, places, strict=True) if at >= 0]
    return ranges(itertools.chain.from_iterable(found))


def _accepts(some: Sequence[RowKinds], places: Places) -> bool:
    return any(at in rows.dfa.accepting for rows, at in zip(some, places, strict=True))


def _targets(some: Sequence[RowKinds], places: Places) -> set[Places]:
    """The states after every character, of all the automata at once."""
    if len(some) == 1 and places[0] >= 0:
        return {(target,) for target in some[0].targets(places[0])}
    # An edge that ends at a character makes way for one that begins there.
    turns: list[tuple[int, int, int]] = []
    for number, (rows, at) in enumerate(zip(some, places, strict=True)):
        for low, high, target in rows.dfa.edges[at] if at >= 0 else ():
            turns += [(high + 1, -1, number), (low, target, number)]
    turns.sort()
    here = [-1] * len(some)
    found: set[Places] = set()
    before = -1
    for point, target, number in turns:
        if point != before:
            found.add(tuple(here))
            before = point
        here[number] = target
    found.discard((-1,) * len(some))
    return found


def size(characters: Iterable[tuple[int, int]]) -> int:
    """How many characters there are."""
    return sum([high - low + 1 for low, high in characters])


def is_small(characters: Iterable[tuple[int, int]]) -> bool:
    """Whether a class has so few characters that it is walked."""
    found = 0
    for low, high in characters:
        found += high - low + 1
        if found >= _FEW:
            return False
    return True


@small_cache(512)
def self_loop_class(
    characters: Ranges, encoding: Encoding, home: int, read: Ranges | None
) -> SelfLoop | None:
    """A class of characters as bytes; None if there are too few to be of use.

    `read`: with which a text goes on at all, None if that is not known.
    """
    if is_small(characters):
        return None
    groups, bytes = _as_bytes(characters, encoding)
    dead = classes.as_words(0 if read is None else classes.ALL_GROUPS & ~read_groups(read, encoding))
    return SelfLoop(groups, bytes, home, dead=dead)


def self_loop_after(
    first: Ranges, characters: Ranges, encoding: Encoding, home: int, read: Ranges
) -> SelfLoop | None:
    """The characters that lead from `home` back to it, where a text begins with one of `first` that lead
    there; `read`: with which it goes on at `home`. None if there are too few to be of use."""
    both = meet(first, characters)
    if is_small(both) or not _plain(characters, encoding) & ~_plain(first, encoding):
        return self_loop_class(both, encoding, home, read)
    groups, flags, forbidden = class_groups(first, characters, encoding)
    dead = classes.as_words(classes.ALL_GROUPS & ~read_groups(read, encoding))
    fewer = partial(self_loop_class, both, encoding, home, read)
    return SelfLoop(groups, flags, home, dead=dead, forbidden=forbidden, fewer=fewer)


def class_groups(
    first: Ranges, characters: Ranges, encoding: Encoding
) -> tuple[np.ndarray, np.ndarray, bytes]:
    """(groups, bytes, forbidden) of `SelfLoop` for texts over a class that begin with one of `first`."""
    if first == characters:
        return *_as_bytes(characters, encoding), b""
    plain = _plain(characters, encoding)
    forbidden = plain & ~_plain(first, encoding)
    groups = classes.group_set(plain, _beyond(meet(first, characters)))
    flags = classes.bytes_in(groups)
    return groups, flags, bytes([byte for byte in range(128) if forbidden >> byte & 1 and flags[byte]])


@small_cache(256)
def _as_bytes(characters: Ranges, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The groups and the bytes of which all characters are in a class."""
    groups = classes.group_set(_plain(characters, encoding), _beyond(characters))
    return groups, classes.bytes_in(groups)


def _beyond(characters: Ranges) -> int:
    """The groups beyond ASCII of which all characters are in a class."""
    return _scripts(characters)[0] if characters and characters[-1][1] >= 0x80 else 0


@small_cache(64)
def _scripts(characters: Ranges) -> tuple[int, int]:
    """The groups beyond ASCII of which a class has all characters, and those of which it has some."""
    if all([_has(characters, *part) for part in _WIDE]):
        return classes.BEYOND, classes.BEYOND
    flat = np.fromiter(itertools.chain.from_iterable(characters), np.int32, 2 * len(characters))
    lows, highs = flat[::2], np.append(flat[1::2], -1)
    first, last, group = _PART_BOUNDS.T
    # The last range that begins before the end of a part, and that which begins before its beginning.
    some = highs[lows.searchsorted(last, "right") - 1] >= first
    whole = highs[lows.searchsorted(first, "right") - 1] >= last
    met = sum([1 << number for number in set(group[some].tolist())])
    return classes.BEYOND & ~sum([1 << number for number in set(group[~whole].tolist())]), met


def _has(characters: Ranges, low: int, high: int) -> bool:
    """Whether a class has all characters from low to high, none of which are surrogates."""
    at = bisect_right(characters, (low, LAST)) - 1
    return at >= 0 and characters[at][1] >= high


def _plain(characters: Ranges, encoding: Encoding) -> int:
    """The characters of ASCII that are written as they are, as bits."""
    found = 0
    for low, high in characters:
        if low > 0x7F:
            break
        found |= (2 << min(high, 0x7F)) - (1 << low)
    return found if encoding == "raw" else found & ~_ESCAPED_BITS


def read_groups(characters: Ranges, encoding: Encoding) -> int:
    """The groups of bytes with which characters are written, or some of them."""
    found = classes.group_bits(_plain(characters, encoding))
    if characters and (encoding == "json-any" or (encoding == "json" and meet(characters, _ESCAPED))):
        found |= 1 << 0x5C
    if characters and characters[-1][1] >= 0x80:
        found |= _ALWAYS | _scripts(characters)[1]
    return found
