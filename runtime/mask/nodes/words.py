"""Choices among a finite set of words, of which there may be a hundred thousand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sglc.automata.charset import Ranges
from sglc.automata.dfa.trie import Place
from sglc.automata.encoding import SHORT_ESCAPES
from sglc.kernels.trie.api import UNBOUNDED, SubtreeWalk
from sglc.kernels.trie.walks import ENDS, NO_MOVE
from sglc.kernels.trie.word_list import Found, WordList
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, Node, Worklist
from sglc.runtime.mask.lexeme.table import LexemeDfa, LexemeState
from sglc.runtime.mask.lexeme.utf8_states import Characters, Edge, Move
from sglc.runtime.mask.lexeme.word_list import WordSet, first_characters

_BACKSLASH = 0x5C
_DIGITS = b"\\u00"
"""How the escapes by number begin of all characters of ASCII."""
_SHORT = {ord(short[1]): character for character, short in SHORT_ESCAPES.items()}


class WordTable:
    """The places of a set of words, numbered as they are met.

    `free`: the words are texts in JSON's canonical spelling, and each of their characters may be escaped in
    another way as well. Local states from 0 on are places of the trie, negative ones lie inside an escape.
    """

    def __init__(self, words: Iterable[bytes], free: bool) -> None:
        self.set = WordSet(words)
        self.free = free
        self.places: list[Place] = []
        self._numbers: dict[Place, int] = {}
        self._moves: dict[int, tuple[Move, ...]] = {}
        self._characters = Characters("json-any", self)
        self.number(self.set.root)

    def number(self, place: Place) -> int:
        """The local state of a place."""
        found = self._numbers.get(place)
        if found is None:
            found = self._numbers[place] = len(self.places)
            self.places.append(place)
        return found

    def moves(self, local: int) -> tuple[Move, ...]:
        """The byte moves of a local state, sorted and disjoint."""
        if local < 0:
            return self._characters.moves(-1 - local)
        found = self._moves.get(local)
        if found is None:
            place = self.places[local]
            out = [(byte, byte, self.number(child)) for byte, child in self.set.children(place).items()]
            if self.free and self.may_escape(place):
                out = [move for move in out if move[0] != _BACKSLASH]
                out.append((_BACKSLASH, _BACKSLASH, self.escape(local)))
            found = self._moves[local] = tuple(sorted(out))
        return found

    def escape(self, local: int) -> int:
        """The state behind a backslash."""
        return self._characters.escape_of(local)

    def may_escape(self, place: Place) -> bool:
        """Whether a word goes on from a place, and that lies between two characters."""
        first, last, depth = place
        word = self.set.words[last - 1]
        if len(word) == depth or first == last:
            return False
        if _BACKSLASH not in word[:depth]:
            return word[depth] & 0xC0 != 0x80
        try:
            json.loads(b'"' + word[:depth] + b'"')
        except ValueError:
            return False
        return True

    def edges(self, local: int) -> tuple[Edge, ...]:
        """The characters with which words go on, and the states behind them."""
        found: list[Edge] = []
        waiting = [self.places[local]]
        start = waiting[0][2]
        while waiting:
            for _, child in self.set.children(waiting.pop()).items():
                piece = self.set.words[child[0]][start : child[2]]
                point = _character(piece)
                if point is None:
                    waiting.append(child)
                else:
                    found.append((point, point, self.number(child)))
        return tuple(sorted(found))

    def rest(self, local: int) -> bytes:
        """A shortest ending of at least one byte."""
        if local >= 0:
            return self.set.least_longer(self.places[local])
        best: bytes | None = None
        level = [(local, b"")]
        # A short escape may lead to a long rest only, and a long one to an end.
        while level and (best is None or len(level[0][1]) < len(best)):
            following = []
            for here, data in level:
                for low, _, target in self.moves(here):
                    word = data + bytes([low])
                    if target < 0:
                        following.append((target, word))
                        continue
                    word += self.set.least(self.places[target])
                    if best is None or (len(word), word) < (len(best), best):
                        best = word
            level = following
        assert best is not None, "an escape can be finished"
        return best


def _character(piece: bytes) -> int | None:
    """The character spelled canonically, None where it is not complete."""
    if piece[0] != _BACKSLASH:
        size = 1 if piece[0] < 0x80 else 2 if piece[0] < 0xE0 else 3 if piece[0] < 0xF0 else 4
        return ord(piece.decode()) if len(piece) == size else None
    if len(piece) == 1:
        return None
    if piece[1] != 0x75:
        return _SHORT[piece[1]]
    return int(piece[2:], 16) if len(piece) == 6 else None


class WordLexeme(LexemeDfa):
    """The lexeme of a `WordTable`. Masks come from the walk of the sorted words; rows serve single steps."""

    table: WordTable

    def __init__(self, table: WordTable) -> None:
        super().__init__()
        self.table = table
        self.encoding = "json-any" if table.free else "raw"

    def describe(self, state: int) -> tuple[int, int, int]:
        """ENDS where a word ends; lengths are any."""
        local = self.places[state]
        ends = local >= 0 and self.table.set.ends(self.table.places[local])
        return ENDS if ends else 0, 0, UNBOUNDED

    def plain_step(self, state: int, byte: int) -> int | None:
        """By a search in the sorted words; None inside an escape."""
        local = self.places[state]
        if local < 0:
            return None
        found = self.table.set.child(self.table.places[local], byte)
        return NO_MOVE if found is None else self.number(self.table.number(found))

    def walk(
        self, whole: SubtreeWalk, entries: np.ndarray, place: LexemeState, first: np.ndarray, row: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None] | None:
        """By the sorted words; nodes with a backslash are walked by rows where other escapes matter. None
        inside an escape."""
        table = self.table
        local = self.places[place.state]
        if local < 0:
            return None
        found = whole.words(entries, table.set.list, table.places[local], first, row, table.free)
        if not len(found.asides) or not len(left := asides_left(whole, found, table.set.list, row)):
            return found.boundaries, None
        boundaries = [found.boundaries]
        for number in left:
            node, origin = found.asides[number], found.origins[number].tolist()
            if table.may_escape(tuple(origin)):
                # The walk has followed the canonical escape only.
                below = whole.literal(np.array([node], np.int32), b"\\", row)
                if len(below):
                    inside = self.number(table.escape(table.number(tuple(origin))))
                    state = (inside, 0, UNBOUNDED, 0)
                    boundaries.append(whole.lexeme(below, state, first, row, self.current, self.fill)[0])
        return np.unique(np.concatenate(boundaries)), None


def asides_left(whole: SubtreeWalk, found: Found, words: WordList, row: np.ndarray) -> Sequence[int]:
    """The numbers of the asides where it matters which character is escaped; others are put into `row`.

    What no token reads beyond are the first digits, which are the same for all plain characters.
    """
    if not words.plain:
        return range(len(found.asides))
    open = words.goes_on(found.origins)
    # With one escape or more after it a token is walked; few vocabularies have such tokens.
    return open if open and len(whole.literal(found.asides[open], _DIGITS, row)) else ()


class WordNode(Node):
    """One of a finite set of words. Lexeme state: a local state of its table from which something follows."""

    def __init__(self, words: Iterable[bytes], free: bool = False) -> None:
        self.table = WordTable(words, free)
        self.set = self.table.set
        self.rows = WordLexeme(self.table)

    def analyse(self) -> tuple[bool, bool]:
        """Productive if there is a word, nullable if the empty one is among them."""
        return bool(self.set.words), bool(self.set.words) and not self.set.words[0]

    def lexeme(self, machine: Machine, state: int) -> LexemeState:
        """The local state's number in `rows`."""
        return LexemeState(self.rows, self.rows.number(state))

    def land(self, machine: Machine, state: int, cont: int, local: int, taken: int, data: bytes) -> int:
        """By the state alone, as words have no counts."""
        return self._at(machine, self.rows.places[local], cont)

    def first_characters(self, state: int) -> Ranges | None:
        """The characters with which the words go on; None where they are not whole or may be escaped."""
        return None if state < 0 or self.table.free else first_characters(self.set, self.table.places[state])

    def measure(self) -> int | None:
        """Bytes of a shortest word, None without words."""
        return len(self.set.least(self.set.root)) if self.set.words else None

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if the empty word is one of them, and read on if there are others."""
        root = self.set.root
        if self.set.ends(root):
            work.append((None, cont))
        if self.set.goes_on(root):
            out.add(machine.thread(self, 0, cont))

    def moves(self, machine: Machine, state: int, cont: int) -> Iterator[tuple[int, int, int]]:
        """Those of the table, each with whether a word ends behind it."""
        for low, high, target in self.table.moves(state):
            yield low, high, self._at(machine, target, cont)

    def _at(self, machine: Machine, local: int, cont: int) -> int:
        if local < 0:
            return machine.alone(machine.thread(self, local, cont))
        place = self.table.places[local]
        config = machine.after(cont) if self.set.ends(place) else DEAD
        if self.set.goes_on(place):
            config = machine.union(config, machine.alone(machine.thread(self, local, cont)))
        return config

    def forced_run(self, state: int) -> bytes:
        """The rest of the only word that goes on; empty where there are several, or other spellings."""
        if state < 0 or self.table.free:
            return b""
        first, last, depth = self.table.places[state]
        return self.set.words[first][depth:] if last - first == 1 else b""

    def skip(self, state: int, size: int) -> int:
        """So many bytes further in the same word."""
        first, last, depth = self.table.places[state]
        return self.table.number((first, last, depth + size))

    def shortest(self, machine: Machine) -> bytes:
        """The shortest word, of equals the first."""
        return self.set.least(self.set.root)

    def shortest_from(self, machine: Machine, state: int) -> bytes:
        """A shortest rest of at least one byte."""
        return self.table.rest(state)
