"""Per-vocabulary bit sets for character loops, so that string interiors are looked up instead of walked.

Inside a string almost every token consists of characters that leave the automaton where it is. For such a
class of characters a *slice* holds the bit set of the tokens wholly inside the class (with at most k
characters, where the length is bounded) and the trie of all other tokens. A mask is then the bit set and a
walk over the rest, some per cent of the trie. Slices depend on the vocabulary and the class only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sglc.automata.term import CharDfa
from sglc.kernels.contract import TrieArrays
from sglc.kernels.select import TrieWalk
from sglc.runtime.mask.text import TextTable
from sglc.runtime.mask.trie import Trie, restrict
from sglc.runtime.mask.vocabulary import Vocabulary

Class = tuple[tuple[int, int], ...]
"""Code point ranges, sorted, both ends included."""

_NARROW = 16
"""Classes of fewer characters are walked: their walks are short."""
_SMALL = 2048
"""Vocabularies below this size are walked: the walk costs less than the bookkeeping."""
_MOST_SLICES = 48


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """`certain` int32[words]: tokens that are legal as they are; `rest`: the walk over all others."""

    certain: np.ndarray
    rest: TrieWalk


class SliceStore:
    """The slices of one vocabulary, made when first needed, the least recently used dropped."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.whole = TrieWalk(arrays(vocabulary.trie, vocabulary.words))
        self._inside: OrderedDict[Class, np.ndarray] = OrderedDict()
        self._slices: OrderedDict[tuple[Class, int], Slice] = OrderedDict()
        self._lengths: np.ndarray | None = None

    def find(self, ranges: Class, certain: int | None) -> Slice | None:
        """The slice for a class and a number of characters that are certain to fit (None: any number)."""
        if self.vocabulary.size < _SMALL or sum(high - low + 1 for low, high in ranges) < _NARROW:
            return None
        lengths = self._characters()
        longest = int(lengths.max(initial=0))
        # Few different lengths keep the slices few; the walk over the rest makes up for the rounding down.
        limit = longest if certain is None or certain >= longest else 1 << (certain.bit_length() - 1)
        key = (ranges, limit)
        found = self._slices.get(key)
        if found is None:
            inside = self._tokens_inside(ranges) & (lengths <= limit)
            trie = restrict(self.vocabulary.trie, ~inside)
            found = Slice(self.vocabulary.pack(inside), TrieWalk(arrays(trie, self.vocabulary.words)))
            self._slices[key] = found
            if len(self._slices) > _MOST_SLICES:
                self._slices.popitem(last=False)
        else:
            self._slices.move_to_end(key)
        return found

    def _characters(self) -> np.ndarray:
        """int32[V]: characters of each token, 0 for those that are not whole characters (or have no bytes)."""
        if self._lengths is None:
            out = np.zeros(self.vocabulary.size, np.int32)
            for index, data in enumerate(self.vocabulary.token_bytes):
                if data:
                    try:
                        out[index] = len(data.decode())
                    except UnicodeDecodeError:
                        continue
            self._lengths = out
        return self._lengths

    def _tokens_inside(self, ranges: Class) -> np.ndarray:
        """bool[V]: tokens that are whole characters of the class."""
        found = self._inside.get(ranges)
        if found is None:
            walk = self.whole
            table = TextTable(
                CharDfa((tuple((low, high, 0) for low, high in ranges),), frozenset([0])), "raw"
            )
            rows, row_of = table_rows(table)
            stack = np.zeros(walk.trie.deepest + 1, np.int32)
            stack[0] = 1
            mask = np.zeros(self.vocabulary.words, np.int32)
            walk.run(rows, row_of, stack, 0, mask)
            found = np.zeros(self.vocabulary.size, bool)
            found[self.vocabulary.unpack(mask)] = True
            found &= self._characters() > 0
            self._inside[ranges] = found
            if len(self._inside) > _MOST_SLICES:
                self._inside.popitem(last=False)
        return found


def arrays(trie: Trie, words: int) -> TrieArrays:
    """A trie as the kernel takes it."""
    return TrieArrays(trie.byte, trie.depth, trie.end, trie.token, trie.duplicates, trie.deepest, words)


def table_rows(table: TextTable) -> tuple[np.ndarray, np.ndarray]:
    """All states of a table as rows: configuration s + 1 stands for local state s."""
    local = 0
    rows = [np.zeros(256, np.int32)]
    pending: Iterable[int] = range(table.boundary)
    known = table.boundary
    while pending:
        for local in pending:
            row = np.zeros(256, np.int32)
            for low, high, target in table.moves(local):
                row[low : high + 1] = target + 1
                known = max(known, target + 1)
            rows.append(row)
        pending = range(len(rows) - 1, known)
    return np.array(rows), np.arange(len(rows), dtype=np.int32)


def slice_store(vocabulary: Vocabulary) -> SliceStore:
    """The store that belongs to a vocabulary."""
    if vocabulary._slices is None:
        vocabulary._slices = SliceStore(vocabulary)
    return vocabulary._slices
