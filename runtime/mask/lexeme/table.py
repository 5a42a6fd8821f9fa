"""Lexemes as automata over bytes that know nothing of what follows them.

A lexeme (a text, a set of words) has its own small automaton; rows of its states are shared by all the places
where it occurs in a constraint. Tokens that stay inside a lexeme are found by one native walk over its rows;
where a token goes beyond the lexeme, the walk reports the node, and what follows takes over from there.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.automata.charset import Ranges
from sglc.automata.term import Encoding
from sglc.kernels.trie.api import UNBOUNDED, SubtreeWalk
from sglc.kernels.trie.arrays import LexemeArrays, Quiet
from sglc.kernels.trie.walks import BOUNDARY, KNOWN, NO_MOVE
from sglc.runtime.mask.core.table_bytes import Tally, open_tally
from sglc.runtime.mask.lexeme.self_loops import SelfLoop
from sglc.runtime.mask.vocabulary.token_classes import Columns

if TYPE_CHECKING:
    from sglc.runtime.mask.lexeme.codepoint_lexeme import CharacterLexeme

_QUOTE = 0x22
PLAIN_BYTES = frozenset(range(0x20, 0x80)) - {_QUOTE, 0x5C}
"""Bytes that are characters wherever they stand in a JSON string."""
PLAIN_RUN = re.compile(rb"[ !#-\[\]-~]{2,}")
"""Bytes that are characters, and not quotes, in any encoding."""
PLAIN = sum([1 << 8 * byte for byte in PLAIN_BYTES if byte < 0x7F])
"""The bytes of plain runs as a number: of a bool[256] read as one, so that a look at all of them is cheap."""
NO_LABELS = np.zeros(0, np.uint64)
_OF_LIST = 2_100
"""Bytes of a row as a list."""


class LexemeState(NamedTuple):
    """Where a thread is inside a lexeme: a state, the characters still to come, and the labels that are open.

    `open` is uint64[W] for tables whose states have labels, else empty.
    """

    table: LexemeDfa
    state: int
    least: int = 0
    most: int | None = None
    open: np.ndarray = NO_LABELS

    def key(self) -> tuple[int, int, int, int | None, bytes]:
        """Equal for equal places; valid while the table lives."""
        return id(self.table), self.state, self.least, self.most, self.open.tobytes()


def counted_place(table: LexemeDfa, state: int, least: int, most: int | None) -> LexemeState:
    """The place of a thread that counts characters: `least` to `most` (None: any number) are to come.

    A bound of 2^30 and more is none here: no token has so many characters, and numbers of walks end there.
    """
    return LexemeState(table, state, least, None if most is None or most >= UNBOUNDED else most)


@dataclass(frozen=True, slots=True)
class Names:
    """What the words from a place on are: the labels of some, and how to find those of all others.

    Equal for equal keys. `still` is of the place, and uniform.
    """

    key: tuple[int, int, int]
    labels: dict[str, int]
    others: Callable[[Iterable[str]], list[int]] | int
    self_loop: SelfLoop


class ByteTable(Protocol):
    """Byte moves between the places of a lexeme."""

    def moves(self, local: int, /) -> Iterable[tuple[int, int, int]]:
        """(lowest byte, highest byte, place after it) of a place."""


class LexemeDfa:
    """The rows of a lexeme's states, made when they are first needed.

    States are numbered from 0 in the order they are met. What they are, a subclass says: its `places`, the
    `table` of their moves, and `describe`.
    """

    table: ByteTable
    """Byte moves of the places."""
    encoding: Encoding = "raw"
    single = False
    """Whether its words are all those of a class of characters."""
    _tally: Tally | None = None
    eager = False
    """Whether its own thread goes on behind a word that ends at once; others have a thread for that."""

    def __init__(self, width: int = 0) -> None:
        """`width`: words of a set of labels, 0 where there are none."""
        self._size = 0
        self._width = width
        self._tally, self._taken = open_tally(), 0
        """Who keeps account of the bytes of the rows, and how many these are."""
        self._arrays: LexemeArrays | None = None
        self._lists: LeastUsed[int, tuple[int, ...]] | None = None
        """Rows for steps of one byte, once there are any."""
        self.places: list[Any] = []
        """What the states are, by number."""
        self._numbers: dict[Any, int] = {}
        # The same as Python numbers, for steps: states get into the arrays only when those are needed.
        self.flags = bytearray()
        """Flags of the states but KNOWN."""
        self._lengths: array[int] | None = None
        """The fewest and the most characters to the end of a word, by turns, of each state; None: any."""

    @property
    def arrays(self) -> LexemeArrays:
        """The rows; most lexemes are walked without any."""
        if self._arrays is None:
            rows = np.full((8, 256), NO_MOVE, np.int32)
            self._arrays = LexemeArrays.zeros({"rows": rows}, states=8, labelled=8, width=self._width)
            self._take(self._arrays.rows.nbytes)
        return self._arrays

    def _take(self, bytes: int) -> None:
        self._taken += bytes
        if self._tally is not None:
            self._tally.take(bytes)

    def __del__(self) -> None:
        if self._tally is not None:
            self._tally.give_back(self._taken)

    def number(self, place: Any) -> int:
        """The state at a place of the subclass."""
        found = self._numbers.get(place)
        if found is None:
            found = self._numbers[place] = len(self.places)
            self.places.append(place)
        return found

    def count(self) -> int:
        """The number of states known so far."""
        return len(self.places)

    def moves(self, state: int) -> Iterable[tuple[int, int, int]]:
        """(lowest byte, highest byte, state) of a state; may make new states known."""
        number = self.number
        return [(low, high, number(local)) for low, high, local in self.table.moves(self.places[state])]

    def describe(self, state: int) -> tuple[int, int, int]:
        """(flags but KNOWN, fewest, most characters to the end of a word) of a state."""
        raise TypeError(type(self).__name__)

    def measure(self) -> None:
        """Called before lengths are asked for; until then they may be said to be any."""

    def labels(self, state: int) -> np.ndarray:
        """The kinds of words that lead on from a state, as 64-bit words of a set."""
        return NO_LABELS

    @property
    def any_length(self) -> bool:
        """Whether words of every length lead on from everywhere."""
        return False

    def fewest(self) -> int:
        """So many characters are enough to end a word from any state."""
        return 1

    def labels_of(self, states: np.ndarray) -> np.ndarray | None:
        """int32: which kind of word ends in each of the states; None if there is only one kind."""
        return None

    def self_loop(self, place: LexemeState, longest: int) -> SelfLoop | None:
        """Bytes after which the lexeme surely stays alive; tokens have up to `longest` characters."""
        return None

    def counted(self, place: LexemeState) -> Ranges | None:
        """The characters of which all words go on from a place that are not too short or too long for it;
        None where that is not all."""
        return None

    def shape(self, place: LexemeState, columns: Columns) -> tuple[Hashable, Sequence[int] | None]:
        """What is equal only for places at which all tokens of a vocabulary do the same, and labels by
        canonical number.

        Labels of equal places that have the same number are those of the same words. None instead of the
        labels where they are numbers themselves.
        """
        least, most = place.least, place.most
        if least > 0 or most is not None:
            # No token reads so many characters that it would come to the end of longer counts.
            self.measure()
            if self.any_length:
                least = min(least, columns.longest + 1)
            if most is not None and most >= columns.longest + self.fewest():
                most = None
        return (id(self), place.state, least, most, place.open.tobytes()), None

    def names(self, place: LexemeState) -> Names | None:
        """For a uniform place: the words that end with labels of their own, where they are few."""
        return None

    def current(self) -> LexemeArrays:
        """The arrays, which are replaced when they grow."""
        self.meet()
        if self._size < len(self.flags):
            self._grow()
        return self.arrays

    def meet(self) -> None:
        """Describe the states that are new, in `flags`, `lo` and `hi`."""
        for state in range(len(self.flags), self.count()):
            flags, fewest, most = self.describe(state)
            self.flags.append(flags)
            if self._lengths is None and (fewest or most != UNBOUNDED):
                self._lengths = array("i", (0, UNBOUNDED)) * state
            if self._lengths is not None:
                self._lengths.extend((fewest, most))

    def fill(self, state: int) -> None:
        """Make the row of a state."""
        moves = self.moves(state)
        if state >= self._size:
            self.current()
        row = self.arrays.rows[state, :]
        for low, high, target in moves:
            row[low : high + 1] = target
        self.arrays.flags[state] |= KNOWN

    def row(self, state: int) -> tuple[int, ...]:
        """The row of a state as numbers of Python, for steps of one byte."""
        if self._lists is None:
            self._lists = LeastUsed(size=_OF_LIST)
        found = self._lists.get(state)
        if found is None:
            if state >= self._size or not self.arrays.flags[state] & KNOWN:
                self.fill(state)
            found = self._lists.keep(state, tuple(self.arrays.rows[state, :].tolist()))
        return found

    def step(self, state: int, byte: int) -> int:
        """The state after a byte, or NO_MOVE."""
        if byte == _QUOTE and self.encoding != "raw" and self.describe(state)[0] & BOUNDARY:
            return NO_MOVE
        known = None if self._lists is None else self._lists.get(state)
        if known is None and (byte in PLAIN_BYTES if self.encoding != "raw" else byte < 0x80):
            found = self.plain_step(state, byte)
            if found is not None:
                return found
        return self.row(state)[byte] if known is None else known[byte]

    def plain_step(self, state: int, byte: int) -> int | None:
        """The same for a byte that is a character, where that is cheaper than the row; else None."""
        return None

    def run(self, state: int, text: str) -> int | None:
        """The state after characters of `PLAIN_RUN`, or NO_MOVE; None where that has to be found by steps."""
        return None

    def walk(
        self, whole: SubtreeWalk, entries: np.ndarray, place: LexemeState, first: np.ndarray, row: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None] | None:
        """Set the bits of the legal tokens where that needs no rows: (boundaries, labels if there are any).

        None where rows are needed; bits of legal tokens may have been set then.
        """
        return None

    def walk_states(
        self,
        whole: SubtreeWalk,
        entries: np.ndarray,
        place: LexemeState,
        first: np.ndarray,
        row: np.ndarray,
        quiet: Quiet | None,
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Set the bits of the legal tokens: (boundaries, states before them, most characters of a path).

        The states are those of `by_characters` where there are no labels, as nobody asks for them then.
        """
        state, least, most, eager = self._bounds(place)
        lexeme, local = self.by_characters(), self.places[state]
        where = None
        if lexeme is not None:
            inside = self.inside(local)
            where = (local + 1, 0) if inside < 0 else lexeme.place(inside)
        if lexeme is None or where is None:
            return self.walk_rows(whole, entries, place, first, row, quiet)
        begin, mode = where
        at = (begin, least, most, eager, mode)
        home = -1 if quiet is None or quiet.home < 0 else self.places[quiet.home] + 1
        boundaries, ends, reach = whole.characters(
            entries, at, first, row, lexeme.current, lexeme.load, quiet, place.open, home
        )
        if self._width:
            ends = np.array([self.number(number - 1) for number in ends.tolist()], np.int32)
        return boundaries, ends, reach

    def walk_rows(
        self,
        whole: SubtreeWalk,
        entries: np.ndarray,
        place: LexemeState,
        first: np.ndarray,
        row: np.ndarray,
        quiet: Quiet | None,
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """The same by rows, byte by byte."""
        where = self._bounds(place)
        return whole.lexeme(entries, where, first, row, self.current, self.fill, quiet, place.open)

    def by_characters(self) -> CharacterLexeme | None:
        """The same automaton as one over characters, by which walks go where there is one."""
        return None

    def inside(self, local: Any) -> int:
        """The number of a place that is inside a character, below zero for one between characters."""
        found: int = -1 - local
        return found

    def _bounds(self, place: LexemeState) -> tuple[int, int, int, int]:
        """(state, least, most, eager) of a place, for walks."""
        if place.least > 0 or place.most is not None:
            self.measure()
        most = UNBOUNDED if place.most is None else place.most
        return place.state, place.least, most, int(self.eager)

    def label(self, state: int) -> int:
        """Which kind of word ends in a state; -1 if there is only one kind."""
        return -1

    def alive(self, state: int, least: int, most: int, place: LexemeState) -> bool:
        """Whether a word leads from a state with so many characters to come (most: UNBOUNDED is no limit)."""
        if least <= 0 and most >= UNBOUNDED // 2:
            return True
        lengths = self._lengths
        if lengths is None:
            return most >= 0
        return lengths[2 * state] <= most and lengths[2 * state + 1] >= least

    def first(self, state: int, least: int, most: int, open: np.ndarray = NO_LABELS) -> np.ndarray:
        """bool[256]: the bytes with which the lexeme may go on."""
        if least > 0 or most < UNBOUNDED // 2:
            self.measure()
        row = np.array(self.row(state), np.int64)
        arrays = self.current()
        legal = row >= 0
        target = row[legal]
        taken = (arrays.flags[target] & BOUNDARY).astype(np.int64)
        alive = (arrays.lo[target] <= most - taken) & (arrays.hi[target] >= least - taken)
        if len(open):
            alive &= (arrays.labels[target] & open).any(axis=1)
        legal[legal] = alive
        return legal

    def _grow(self) -> None:
        """Take the states that have been met into the arrays."""
        count, size = len(self.flags), self._size
        arrays = self.arrays
        if count > len(arrays.flags):
            room = max(2 * len(arrays.flags), count)
            rows = np.full((room, 256), NO_MOVE, np.int32)
            rows[:size] = arrays.rows[:size]
            flags, lo, hi = np.zeros(room, np.uint8), np.zeros(room, np.int32), np.zeros(room, np.int32)
            labels = np.zeros((room, arrays.labels.shape[1]), np.uint64)
            flags[:size], labels[:size] = arrays.flags[:size], arrays.labels[:size]
            lo[:size], hi[:size] = arrays.lo[:size], arrays.hi[:size]
            arrays = self._arrays = LexemeArrays(rows=rows, flags=flags, lo=lo, hi=hi, labels=labels)
            self._take(rows.nbytes - self._taken)
        wide = arrays.labels.shape[1]
        arrays.flags[size:count] = self.flags[size:count]
        for state in range(size, count) if wide else ():
            arrays.labels[state] = self.labels(state)
        self._size = count
        self._take_lengths(size)

    def _take_lengths(self, first: int) -> None:
        """Take the lengths of the states in the arrays from the first one on from `_lengths`."""
        lengths = (0, UNBOUNDED) if self._lengths is None else self._lengths[2 * first : 2 * self._size]
        pairs = np.array(lengths, np.int32).reshape(-1, 2)
        self.arrays.lo[first : self._size], self.arrays.hi[first : self._size] = pairs.T
