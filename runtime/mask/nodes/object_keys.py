"""The lexeme of an object's keys: one automaton over all names and families, which labels each key."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sglc.automata.caches import LeastUsed, small_cache
from sglc.automata.charset import ALL
from sglc.automata.term import CharDfa, Encoding
from sglc.kernels.trie.api import UNBOUNDED, SubtreeWalk
from sglc.kernels.trie.walks import BOUNDARY, ENDS, NO_MOVE
from sglc.kernels.trie.word_list import WordList
from sglc.runtime.mask.lexeme.codepoint_lexeme import CharacterLexeme
from sglc.runtime.mask.lexeme.key_dfa import KeyTable
from sglc.runtime.mask.lexeme.row_kinds import RowKinds
from sglc.runtime.mask.lexeme.self_loops import ReachableFacts, SelfLoop, reachable_facts
from sglc.runtime.mask.lexeme.table import LexemeDfa, LexemeState, Names
from sglc.runtime.mask.lexeme.utf8_states import Edge
from sglc.runtime.mask.nodes.words import asides_left
from sglc.runtime.mask.vocabulary.token_classes import Columns

_OF_KEYS = 4_000
"""Bytes of what is known of the keys at a place, about."""
_UNKNOWN = object()
_MOST_SHAPED = 64
"""Places before more names are not compared with those of other objects: their rests are a key that is made
at each of them."""


@small_cache(4096)
def label_words(labels: int, width: int) -> np.ndarray:
    """A bit set of labels as uint64[width], not to be written to."""
    return np.frombuffer(labels.to_bytes(8 * width, "little"), "<u8").astype(np.uint64, copy=False)


class _OpenNames(NamedTuple):
    """Names in order, and those of them, `first` to `last` - 1, that begin with the same `read` characters.
    Some of all names are open."""

    names: WordList
    labels: np.ndarray
    first: int
    last: int
    read: int


class KeyCharacters(CharacterLexeme):
    """The automaton of a `KeyTable`, whose states are made when they are loaded."""

    def __init__(self, table: KeyTable, width: int) -> None:
        super().__init__(table.characters, 16, width)
        self._table = table
        self._labelled = 0

    def load(self, number: int) -> None:
        """Take the edges of a state, and whether a key ends there, from the table."""
        state = number - 1
        self._take(state, self._table.edges(state), self._table.end(state) >= 0)

    def _meet(self, row: Sequence[Edge]) -> None:
        table, count = self._table, self._table.count
        self._reserve(count)
        labels = self._arrays.labels
        for target in range(self._labelled, count):
            labels[target + 1] = label_words(table.below(target), labels.shape[1])
        self._labelled = count


class KeyLexeme(LexemeDfa):
    """The rows of a `KeyTable`, whose local states are numbered as they are met."""

    table: KeyTable
    eager = True

    def __init__(self, table: KeyTable, labels: int) -> None:
        self.width = max(1, (labels + 63) // 64)
        super().__init__(self.width)
        self.table = table
        self.encoding = table.encoding
        self._self_loop: dict[tuple[int, ...], tuple[SelfLoop | None, bool]] = {}
        self._rows = [RowKinds(dfa) for dfa in table.families]
        self._reachable_facts: dict[tuple[int, ...], ReachableFacts] = {}
        self._ends: dict[int, int] = {}
        self._labels = np.zeros(0, np.int32)
        self._names: dict[tuple[int, int], Names] = {}
        self._names_at: LeastUsed[tuple[int, bytes], Names | None] | None = None
        """By place and open labels."""
        self._all_names: tuple[WordList, np.ndarray] | None = None
        self._shapes: LeastUsed[tuple[int, bytes], tuple[Hashable, Sequence[int] | None]] | None = None
        self._shaped_for: Columns | None = None
        self._by_characters: KeyCharacters | None = None
        self._bits: dict[bytes, int] = {}
        """The bit sets that `words` has given, back again."""

    def words(self, labels: int) -> np.ndarray:
        """A bit set of labels as uint64[W]."""
        found = label_words(labels, self.width)
        self._bits[found.tobytes()] = labels
        return found

    def plain_step(self, state: int, byte: int) -> int | None:
        """By the table, without a row; None inside a character."""
        local = self.places[state]
        if local < 0:
            return None
        found = self.table.after(local, byte)
        return NO_MOVE if found is None else self.number(found)

    def run(self, state: int, text: str) -> int | None:
        """The state after some characters, NO_MOVE if no key goes on; None inside a character."""
        local = self.places[state]
        if local < 0:
            return None
        found = self.table.read(local, text)
        return NO_MOVE if found is None else self.number(found)

    def describe(self, state: int) -> tuple[int, int, int]:
        """BOUNDARY between characters, ENDS where a key ends; lengths are any."""
        local = self.places[state]
        if local < 0:
            return 0, 0, UNBOUNDED
        return BOUNDARY | (ENDS if self.label(state) >= 0 else 0), 0, UNBOUNDED

    def alive(self, state: int, least: int, most: int, place: LexemeState) -> bool:
        """Whether a key of a label that is open at the place goes on from the state; lengths do not count."""
        return bool(self.table.below(self.places[state]) & self._bits[place.open.tobytes()])

    def labels(self, state: int) -> np.ndarray:
        """uint64[W]: the labels of all keys that go on from the state."""
        return label_words(self.table.below(self.places[state]), self.width)

    def label(self, state: int) -> int:
        """The label of the key that ends in a state, -1 if none does."""
        ends = self._ends
        while len(ends) <= state:
            ends[len(ends)] = self.table.end(self.places[len(ends)])
        return ends[state]

    def labels_of(self, states: np.ndarray) -> np.ndarray | None:
        """int32: the labels of states, kept for all that are known."""
        known = len(self._labels)
        if known < len(self.places):
            self.label(len(self.places) - 1)
            new = [self._ends[state] for state in range(known, len(self._ends))]
            self._labels = np.concatenate([self._labels, np.array(new, np.int32)])
        found: np.ndarray = self._labels[states]
        return found

    def self_loop(self, place: LexemeState, longest: int) -> SelfLoop | None:
        """Characters after which keys of the open families surely go on; None inside a character."""
        local = self.places[place.state]
        if local < 0 or not self.table.families:
            return None
        return self._of_families(self._open_families(place, local))[0]

    def names(self, place: LexemeState) -> Names | None:
        """Where any key may come: the names that go on with their labels, and how others find theirs."""
        if not self.table.families:
            return None
        if self._names_at is None:
            self._names_at = LeastUsed(size=_OF_KEYS)
        key = self.places[place.state], place.open.tobytes()
        found: Names | None = self._names_at.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._names_at.keep(key, self._find_names(place, key[0]))
        return found

    def _find_names(self, place: LexemeState, local: int) -> Names | None:
        if local < 0:
            return None
        states = self._open_families(place, local)
        self_loop, accepting = self._of_families(states)
        if self_loop is None or self_loop.uniform is None or not accepting:
            return None
        open = self._labels_of(states)
        alone = open[0] if len(open) == 1 else -1
        # Uniform are only places at which any key may come: the class is the same at all of them.
        found = self._names.get((local, alone))
        if found is None:
            known = self.table.names_below(local)
            others = partial(self.table.labels_of_keys, local) if alone < 0 else alone
            found = self._names[local, alone] = Names((id(self), local, alone), known, others, self_loop)
        return found

    def by_characters(self) -> KeyCharacters:
        """The automaton over characters, with the labels of its states."""
        if self._by_characters is None:
            self._by_characters = KeyCharacters(self.table, self.width)
        return self._by_characters

    def walk(
        self, whole: SubtreeWalk, entries: np.ndarray, place: LexemeState, first: np.ndarray, row: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None] | None:
        """By the sorted names, where no family is open; None where rows are needed."""
        open = self._open_names(place)
        if open is None:
            return None
        names, low = open.names, open.first
        at = (low, open.last, open.read)
        found = whole.words(entries, names, at, first, row, self.encoding == "json-any")
        if len(found.asides) and len(asides_left(whole, found, names, row)):
            return None
        size = names.starts.item(low + 1) - names.starts.item(low)
        if size > open.read or not names.is_open(low):
            return found.boundaries, open.labels[found.ends]
        at_once = entries[first[whole.trie.byte[entries]]]
        nodes = np.concatenate([found.boundaries, at_once])
        order = np.argsort(nodes, kind="stable")
        numbers = np.concatenate([found.ends, np.full(len(at_once), low, np.int32)])
        return nodes[order], open.labels[numbers[order]]

    def shape(self, place: LexemeState, columns: Columns) -> tuple[Hashable, Sequence[int] | None]:
        """The rests of names in order, and the class of all other keys; the place itself where names are many
        or others have no common label."""
        local = self.places[place.state]
        if local < 0:
            return place.key(), None
        key = (local, place.open.tobytes())
        if self._shapes is None or columns is not self._shaped_for:
            self._shapes = LeastUsed(size=_OF_KEYS)
            self._shaped_for = columns
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes.keep(key, self._find_shape(place, local, columns.quoted))
        return found

    def _find_shape(
        self, place: LexemeState, local: int, quoted: frozenset[str]
    ) -> tuple[Hashable, Sequence[int] | None]:
        """The rests of names, and the characters of all other keys, if these have one label."""
        first, last, read = self.table.place_of(local)
        if last - first > _MOST_SHAPED:
            return place.key(), None
        names: Sequence[int] = range(first, last)
        kind: Hashable = None
        labels = self.table.name_labels
        states = self._open_families(place, local)
        others: tuple[int, ...] = ()
        if any([at >= 0 for at in states]):
            self_loop, accepting = self._of_families(states)
            open_families = self._labels_of(states)
            if self_loop is None or self_loop.uniform is None or not accepting or len(open_families) > 1:
                return place.key(), None
            kind, others = self_loop.uniform, tuple(open_families)
            # Names that no token reads to their end are keys like all others.
            names = [number for number in names if self.table.names[number][read:] in quoted]
        else:
            open = self._bits[place.open.tobytes()]
            names = [number for number in names if open >> labels[number] & 1]
        rests = tuple([self.table.names[number][read:] for number in names])
        return (self.encoding, kind, rests), (*[labels[number] for number in names], *others)

    def _open_names(self, place: LexemeState) -> _OpenNames | None:
        """The open names that go on from a place, where they are plain and no other keys are open."""
        local = self.places[place.state]
        if local < 0 or self.encoding == "raw":
            return None
        if any([at >= 0 for at in self._open_families(place, local)]):
            return None
        names, labels = self.list_names()
        first, last, read = self.table.place_of(local)
        if not names.plain or first == last:
            return None
        return _OpenNames(names.only(labels, place.open), labels, first, last, read)

    def list_names(self) -> tuple[WordList, np.ndarray]:
        """The names as walks read them, and their labels, int32."""
        if self._all_names is None:
            self._all_names = WordList.of_texts(self.table.names), np.array(self.table.name_labels, np.int32)
        return self._all_names

    def _open_families(self, place: LexemeState, local: int) -> tuple[int, ...]:
        """The states of the families that a key may still be of, -1 for the others."""
        return tuple(
            [
                self.table.in_family(local, number) if self._is_open(place, label) else -1
                for number, label in enumerate(self.table.family_labels)
            ]
        )

    def _labels_of(self, states: tuple[int, ...]) -> list[int]:
        return [label for label, at in zip(self.table.family_labels, states, strict=True) if at >= 0]

    def _is_open(self, place: LexemeState, label: int) -> bool:
        return bool(int(place.open[label >> 6]) >> (label & 63) & 1)

    def _of_families(self, states: tuple[int, ...]) -> tuple[SelfLoop | None, bool]:
        """(characters with which keys of families go on from some states, whether they may end anywhere)."""
        found = self._self_loop.get(states)
        if found is None:
            families = self.table.families
            if all([at < 0 or _is_any(dfa, at) for dfa, at in zip(families, states, strict=True)]):
                found = _any_key(self.encoding) if max(states) >= 0 else (None, False)
            else:
                known = reachable_facts(self._rows, states, self._reachable_facts)
                if known.characters != ALL:
                    # Names may go on with other characters.
                    known = replace(known, uniform=False)
                found = known.self_loop(self.encoding), known.accepting
            self._self_loop[states] = found
        return found


def _is_any(dfa: CharDfa, state: int) -> bool:
    """Whether all words lead on from a state of an automaton to itself."""
    if state not in dfa.accepting or not all([target == state for _, _, target in dfa.edges[state]]):
        return False
    return tuple([(low, high) for low, high, _ in dfa.edges[state]]) == ALL


@small_cache(8)
def _any_key(encoding: Encoding) -> tuple[SelfLoop | None, bool]:
    """What is known where any key may come, which is what most objects are open to."""
    return ReachableFacts(ALL, uniform=True, accepting=True).self_loop(encoding), True
