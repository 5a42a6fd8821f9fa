"""Walks of tokens over the lexemes of constraints, remembered by place."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from operator import attrgetter, is_

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.automata.charset import Ranges
from sglc.automata.term import Encoding
from sglc.automata.work import spend
from sglc.kernels.trie.api import UNBOUNDED, SubtreeWalk
from sglc.kernels.trie.arrays import Quiet
from sglc.runtime.mask.lexeme.escapes import read
from sglc.runtime.mask.lexeme.self_loops import SelfLoop, self_loop_class
from sglc.runtime.mask.lexeme.table import LexemeDfa, LexemeState, Names
from sglc.runtime.mask.lexeme.text_lexeme import class_lexeme
from sglc.runtime.mask.search.boundaries import labels_of, named
from sglc.runtime.mask.search.walk_result import WalkResult, once
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_OF_WALK = 50
"""Units of work of one native walk: about what two groups of tokens take."""
_OF_SELF_LOOP = 1_000
"""Bytes of a class as bytes."""
_OF_LEXEME = 10_000
"""Bytes of the lexeme of a class, about."""
_UNKNOWN = object()
_NOWHERE = np.zeros(0, np.int32)
_Bits = tuple[np.ndarray, np.ndarray]
"""Words of a row, and what they get."""
_Walk = tuple[_Bits, WalkResult]


@dataclass(slots=True, eq=False)
class _Counts:
    """How many characters are read before the boundaries of a walk, int[n], and by its tokens that are not
    looked up (None until a bound asks for them)."""

    walk: WalkResult
    boundaries: np.ndarray
    tokens: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of its own arrays, with those of the tokens that may be asked for."""
        return 4 * self.boundaries.nbytes


_nbytes = attrgetter("nbytes")


def _of_walk(walk: _Walk) -> int:
    bits, found = walk
    return found.nbytes + sum([part.nbytes for part in bits])


def _of_labels(known: tuple[np.ndarray, WalkResult, LexemeDfa]) -> int:
    return known[0].nbytes


class LexemeWalks:
    """What tokens do in lexemes, from the beginning of a token or from nodes inside tokens.

    For one thread at a time.
    """

    def __init__(self, vocabulary: Vocabulary, most: int) -> None:
        """`most`: walks are kept that take together as many bytes as so many rows."""
        self.vocabulary = vocabulary
        self.whole = SubtreeWalk(vocabulary.arrays, vocabulary.subtrees)
        # A mask has a row or is a part of one that has.
        most_bytes = 4 * vocabulary.words * most
        self._lexemes: LeastUsed[tuple[Hashable, ...], WalkResult] = LeastUsed(most_bytes, _nbytes)
        """Masks of lexemes by place, the bytes with which the text after may begin, and what was left out."""
        self._walks: LeastUsed[tuple[Hashable, ...], tuple[_Bits, WalkResult]] = LeastUsed(
            most_bytes // 4, _of_walk
        )
        """What has been found from nodes inside tokens: words of the row, their bits, boundaries."""
        self._begins: LeastUsed[tuple[Hashable, ...], tuple[np.ndarray, LexemeDfa]] = LeastUsed(size=256)
        """The bytes with which a lexeme may go on, by place."""
        self._blank = np.zeros(vocabulary.words, np.int32)
        self._counts: LeastUsed[tuple[Hashable, ...], _Counts] = LeastUsed(size=_nbytes)
        self._short_rows: LeastUsed[tuple[Hashable, ...], np.ndarray] = LeastUsed(size=_nbytes)
        """Of `_counts`, by the most that may be read."""
        self._class_lexemes: LeastUsed[tuple[int, Encoding], LexemeDfa] = LeastUsed(size=_OF_LEXEME)
        self._numbers: LeastUsed[int, tuple[Ranges, int]] = LeastUsed()
        """By identity: classes of characters, which are kept, and their numbers."""
        self._self_loops: LeastUsed[tuple[int, Encoding], SelfLoop | None] = LeastUsed(size=_OF_SELF_LOOP)
        self._labels: LeastUsed[tuple[Hashable, int], tuple[np.ndarray, WalkResult, LexemeDfa]] = LeastUsed(
            most_bytes // 4, _of_labels
        )
        """See `_named`; what its keys are identities of is kept."""
        self._apart: LeastUsed[tuple[Hashable, int], WalkResult] = LeastUsed(most_bytes // 4, _nbytes)
        """See `_by_names`."""
        self._asked: tuple[object, ...] = (None,) * 5
        """What `_words_of` has been asked for last, and has answered."""
        self._answer: WalkResult | None = None

    def lexeme(self, place: LexemeState, first: np.ndarray) -> tuple[WalkResult, np.ndarray | None]:
        """(what a walk finds from the place on, further tokens that are looked up).

        No token is long enough to reach counts beyond the reach of the walk without bounds, so all of them
        share one walk.
        """
        table, least, most = place.table, place.least, place.most
        columns = self.vocabulary.columns
        if least > 0 or most is not None:
            characters = table.counted(place)
            if characters is not None:
                self_loop = self._self_loop(characters, table.encoding)
                if self_loop is not None and not np.count_nonzero(first & self_loop.bytes):
                    return self._bounded(place, characters, self_loop, first)
            table.measure()
        inside, quiet = None, None
        self_loop = table.self_loop(place, columns.longest)
        if self_loop is not None:
            self_loop = self_loop.apart_from(first)
        if self_loop is not None:
            if self_loop.uniform is not None:
                self._share(table, self_loop.uniform)
                if table.single and least == 0 and most is None and not table.eager:
                    return self._single(table, self_loop, first)
                inside = self._class(self_loop.uniform, table.encoding, None).row
                names = table.names(place)
                if names is not None:
                    return self._named(names, self_loop.uniform, table, first), inside
                if least == 0 and most is None and not first.any():
                    # Nothing comes behind the lexeme, so that it does not matter where it may be left.
                    return WalkResult(table, None, _NOWHERE, _NOWHERE, columns.longest), inside
                quiet = columns.quiet_but(first)
            else:
                inside = columns.inside(self_loop.groups, self_loop.room, self_loop.forbidden)
                quiet = columns.quiet(
                    self_loop.groups, self_loop.bytes, self_loop.dead, self_loop.home, first
                )
        if least > 0 or most is not None:
            reach = self._known_walk(place._replace(least=0, most=None), first, quiet).reach
            if table.any_length:
                # A lexeme that is not eager is left behind a character at the earliest.
                least = 0 if least == 1 and not table.eager else min(least, reach + 1)
            if most is not None and most >= reach + table.fewest():
                most = None
            place = place._replace(least=least, most=most)
        return self._known_walk(place, first, quiet), inside

    def _single(
        self, table: LexemeDfa, self_loop: SelfLoop, first: np.ndarray
    ) -> tuple[WalkResult, np.ndarray]:
        """The walk over all words of a class is that of a lexeme that has no others."""
        assert self_loop.uniform is not None
        inside = self.vocabulary.columns.inside(self_loop.groups, None)
        whole = self._class(self_loop.uniform, table.encoding, first)
        key = ("single", id(whole), id(table))
        found = self._lexemes.get(key)
        if found is None:
            boundaries, row = whole.later, whole.row if whole.rest is None else whole.rest
            assert boundaries is not None
            ends = np.zeros(len(boundaries), np.int32)
            found = WalkResult(table, row, boundaries, ends, whole.reach, of=whole)
            self._lexemes.keep(key, found)
        return found, inside

    def _number(self, characters: Ranges) -> int:
        """The number of a class; to look at all its characters takes long where there are many."""
        known = self._numbers.get(id(characters))
        if known is None:
            number = self.vocabulary.class_number(characters)
            known = self._numbers.keep(id(characters), (characters, number))
        return known[1]

    def _share(self, table: LexemeDfa, characters: Ranges) -> None:
        """Where a lexeme has all words of a class, it is the lexeme of the class."""
        key = self._number(characters), table.encoding
        if table.single and self._class_lexemes.get(key) is None:
            self._class_lexemes.keep(key, table)

    def _self_loop(self, characters: Ranges, encoding: Encoding) -> SelfLoop | None:
        """A class as bytes, for a text of one state."""
        key = self._number(characters), encoding
        found: SelfLoop | None = self._self_loops.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._self_loops.keep(key, self_loop_class(characters, encoding, 0, characters))
        return found

    def literal(self, entries: np.ndarray, data: bytes, row: np.ndarray, nested: bool = False) -> np.ndarray:
        """A walk of fixed bytes from some nodes, into `row`; the boundaries."""
        boundaries = self.whole.literal(entries, data, row)
        return np.unique(boundaries) if nested and len(boundaries) > 1 else boundaries

    def _set_words(self) -> _Bits:
        """The words of the blank row that a walk has set, and their bits; it is blank again."""
        # To look for what is not zero among flags is a quarter of the time.
        words = (self._blank != 0).nonzero()[0]
        bits = self._blank[words]
        self._blank[words] = 0
        return words, bits

    def beginning(self, entries: np.ndarray, place: LexemeState) -> np.ndarray:
        """The entries that a walk through a lexeme has to begin at: it ends at once at the others."""
        table = place.table
        if table.eager:
            return entries
        key = place.key()
        known = self._begins.get(key)
        if known is None:
            most = UNBOUNDED if place.most is None else place.most
            legal = table.first(place.state, place.least, most, place.open)
            known = self._begins.keep(key, (legal, table))
        some: np.ndarray = entries[known[0][self.vocabulary.trie.byte[entries]]]
        return some

    def entered(
        self, entries: np.ndarray, place: LexemeState, first: np.ndarray, row: np.ndarray, nested: bool
    ) -> WalkResult:
        """A walk from some nodes, into `row`, remembered; `nested`: some may lie below others."""
        table = place.table
        names = table.names(place)
        if names is not None:
            whole = self._words_of(names.self_loop, table.encoding, first, entries, row)
            if whole is not None:
                return self._by_names(names, whole, table, entries)
        key = (*place.key(), first.tobytes(), entries.tobytes())
        walked = self._walks.get(key)
        if walked is None:
            found = self._walk(entries, place, first, self._blank, None)
            if nested:
                found = once(found)
            walked = (self._set_words(), found)
            self._walks.keep(key, walked)
        bits, found = walked
        _add(row, bits)
        return found

    def _words_of(
        self, self_loop: SelfLoop, encoding: Encoding, first: np.ndarray, entries: np.ndarray, row: np.ndarray
    ) -> WalkResult | None:
        """The walk from some nodes over all words of a uniform class, into `row`; None where texts may go on
        inside of words. Places in objects that differ in their keys ask for the same, one after the other."""
        asked = self_loop, encoding, first, entries, row
        if not all(map(is_, asked, self._asked)):
            found = None
            if not np.count_nonzero(first & self_loop.bytes):
                assert self_loop.uniform is not None
                found = self._class(self_loop.uniform, encoding, first, entries)
                assert found.row is not None
                row |= found.row
            self._asked, self._answer = asked, found
        return self._answer

    def _by_names(self, names: Names, whole: WalkResult, table: LexemeDfa, entries: np.ndarray) -> WalkResult:
        """The same with the boundaries apart by the labels of what is read before them."""
        if whole.index is None:
            whole.index = self._index(whole, table.encoding, entries)
        key = (names.key, id(whole))
        found = self._apart.get(key)
        if found is None:
            parts = named(names, whole.index, len(whole.boundaries))
            found = WalkResult(table, None, whole.boundaries, whole.ends, whole.reach, parts=parts, of=whole)
            self._apart.keep(key, found)
        return found

    def _index(
        self, found: WalkResult, encoding: Encoding, entries: np.ndarray | None
    ) -> dict[str, list[int]]:
        """The boundaries of a walk by the text before them."""
        index: dict[str, list[int]] = {}
        for number, path in enumerate(self.paths(found, entries)):
            index.setdefault(read(path, encoding), []).append(number)
        return index

    def _class(
        self,
        characters: Ranges,
        encoding: Encoding,
        first: np.ndarray | None,
        entries: np.ndarray | None = None,
    ) -> WalkResult:
        """A walk over all words of some characters; without `first` only for its row."""
        begins = b"" if first is None else first.tobytes()
        number = self._number(characters)
        key = (number, encoding, begins, None if entries is None else entries.tobytes())
        found = self.vocabulary.classes.get(key)
        if found is None:
            words = self._class_lexemes.get((number, encoding))
            if words is None:
                words = self._class_lexemes.keep((number, encoding), class_lexeme(characters, encoding))
            follow = np.zeros(256, bool) if first is None else first
            row = np.zeros(self.vocabulary.words, np.int32)
            tops, quiet = self.whole.roots if entries is None else entries, None
            self_loop = None if entries is not None else self._self_loop(characters, encoding)
            if self_loop is not None and not np.count_nonzero(follow & self_loop.bytes):
                # Tokens of such characters alone are looked up, and nothing ends between them.
                columns = self.vocabulary.columns
                home = words.number(0)
                quiet = columns.quiet(self_loop.groups, self_loop.bytes, self_loop.dead, home, follow)
            found = self._walk(tops, LexemeState(words, words.number(0)), follow, row, quiet)
            if self_loop is not None and quiet is not None:
                found.row, found.rest = row | columns.inside(self_loop.groups, None), row
            if first is not None:
                # Where a word of no characters ends is a boundary as well.
                begun = self.whole.root_bytes if entries is None else self.vocabulary.trie.byte[tops]
                found.later = found.boundaries
                found.boundaries = np.concatenate([tops[first[begun]], found.boundaries])
                found.boundaries.sort()
                found.ends = np.zeros(len(found.boundaries), np.int32)
            self.vocabulary.classes.keep(key, found)
        return found

    def _named(self, names: Names, characters: Ranges, table: LexemeDfa, first: np.ndarray) -> WalkResult:
        """The boundaries of a lexeme over all words of a class, some of which have labels of their own, from
        all beginnings of tokens; without the row, which `_class` has."""
        found = self._class(characters, table.encoding, first)
        key = (names.key, id(found))
        known = self._labels.get(key)
        if known is not None:
            labels = known[0]
        else:
            if found.index is None:
                found.index = self._index(found, table.encoding, None)
            labels = labels_of(names, found.index, len(found.boundaries))
            self._labels.keep(key, (labels, found, table))
        return WalkResult(table, None, found.boundaries, found.ends, found.reach, found.paths, labels=labels)

    def _bounded(
        self, place: LexemeState, characters: Ranges, self_loop: SelfLoop, first: np.ndarray
    ) -> tuple[WalkResult, np.ndarray]:
        """What a walk over the words of some characters finds that are neither too short nor too long: the
        same walk for all lengths, of which some tokens and boundaries are left out."""
        table, least = place.table, place.least
        columns = self.vocabulary.columns
        most = columns.longest if place.most is None else min(place.most, columns.longest)
        least = min(least, columns.longest + 1)
        inside = columns.inside(self_loop.groups, most)
        key = ("bounded", self._number(characters), table.encoding, first.tobytes())
        found = self._lexemes.get((*key, least, most, id(table)))
        if found is not None:
            return found, inside
        self._share(table, characters)
        whole = self._class(characters, table.encoding, first)
        counts = self._counts.get(key)
        if counts is None or counts.walk is not whole:
            before = self.whole.read_before(whole.boundaries, table.encoding != "raw")
            counts = self._counts.keep(key, _Counts(whole, before))
        # Where a word of no characters ends, another thread goes on.
        open = (counts.boundaries >= max(least, 0 if table.eager else 1)) & (counts.boundaries <= most)
        boundaries, ends = whole.boundaries[open], whole.ends[open]
        row = self._short_rows.get((*key, most))
        if row is None:
            row = self._short_rows.keep((*key, most), self._short(counts, self_loop, most, table.encoding))
        found = WalkResult(table, row, boundaries, ends, 0)
        self._lexemes.keep((*key, least, most, id(table)), found)
        return found, inside

    def _short(self, counts: _Counts, self_loop: SelfLoop, most: int, encoding: Encoding) -> np.ndarray:
        """The row of the tokens of a walk that read no more than `most` characters; those that are looked up
        may be in it if there is room for all of them."""
        walk, columns = counts.walk, self.vocabulary.columns
        assert walk.row is not None
        if most >= columns.longest:
            return walk.row
        rest = walk.row & ~columns.inside(self_loop.groups, None) if walk.rest is None else walk.rest
        if walk.reach < most:
            # A character may have been begun behind those that are counted.
            return rest
        if counts.tokens is None:
            tokens = self.vocabulary.unpack(rest)
            read_by = columns.characters if encoding == "raw" else self.whole.subtrees.tokens
            counts.tokens = tokens, read_by[tokens].astype(np.int64)
        tokens, read = counts.tokens
        return self._row_of(tokens[read <= most])

    def _row_of(self, tokens: np.ndarray) -> np.ndarray:
        flags = np.zeros(self.vocabulary.size, bool)
        flags[tokens] = True
        return self.vocabulary.pack(flags)

    def _known_walk(self, place: LexemeState, first: np.ndarray, quiet: Quiet | None) -> WalkResult:
        """A walk from the roots, remembered."""
        seen = b""
        if quiet is not None:
            seen = quiet.groups.tobytes() + quiet.bytes.tobytes() + bytes([quiet.home >= 0])
        key = (*place.key(), first.tobytes(), seen)
        found = self._lexemes.get(key)
        if found is None:
            row = np.zeros(self.vocabulary.words, np.int32)
            found = self._walk(self.whole.roots, place, first, row, quiet)
            row.flags.writeable = False
            self._lexemes.keep(key, found)
        return found

    def _walk(
        self, entries: np.ndarray, place: LexemeState, first: np.ndarray, row: np.ndarray, quiet: Quiet | None
    ) -> WalkResult:
        table = place.table
        spend(_OF_WALK)
        walked = table.walk(self.whole, entries, place, first, row)
        if walked is not None:
            boundaries, labels = walked
            ends = np.zeros(len(boundaries), np.int32)
            return WalkResult(table, row, boundaries, ends, 0, labels=labels)
        return WalkResult(table, row, *table.walk_states(self.whole, entries, place, first, row, quiet))

    def paths(self, found: WalkResult, entries: np.ndarray | None) -> list[bytes]:
        """What has been read in a lexeme before each boundary."""
        if entries is None:
            if found.paths is None:
                found.paths = [path[:-1] for path in self.whole.paths(found.boundaries)]
            return found.paths
        above = entries[entries.searchsorted(found.boundaries, side="right") - 1]
        starts = self.vocabulary.trie.depth[above] - 1
        paths = self.whole.paths(found.boundaries)
        return [path[start:-1] for path, start in zip(paths, starts.tolist(), strict=True)]


def _add(row: np.ndarray, bits: _Bits) -> None:
    """Set remembered bits in a row, of which there are often few or none."""
    words, values = bits
    if len(words):
        row[words] |= values
