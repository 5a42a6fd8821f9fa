"""Per-vocabulary bit sets for character loops, so that string interiors are looked up instead of walked.

Inside a string almost every token consists of characters that leave the automaton where it is. A *slice*
belongs to such a class of characters and holds the tokens wholly inside it, as bit sets by their number of
characters, and small tries of all others. A mask is then a bit set and a walk over the others, about one per
cent of the trie. Slices depend on the vocabulary and the class only, so all constraints share them.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property

import numpy as np

from sglc.automata.term import CharDfa
from sglc.kernels.contract import TrieArrays
from sglc.kernels.subtrees import UNBOUNDED, SubtreeWalk
from sglc.runtime.mask.leaf import TextLeaf
from sglc.runtime.mask.text import TextTable
from sglc.runtime.mask.trie import Trie, restrict
from sglc.runtime.mask.utf8 import Class
from sglc.runtime.mask.vocabulary import Vocabulary

_NARROW = 16
"""Classes of fewer characters are walked: their walks are short."""
_SMALL = 2048
"""Vocabularies below this size are walked: the walk costs less than the bookkeeping."""
_REACH = 24
"""Bytes of the tokens whose masks are shared by all counts that are further off (`Machine.blur`)."""
_MOST_SLICES = 48
_MOST_BIT_SETS = 256


class Slice:
    """The tokens of a vocabulary, seen from one class of characters.

    near, far   walks over the tokens not wholly inside the class: of up to `_REACH` bytes, and longer ones
    longest     most characters of a token inside the class
    """

    def __init__(
        self, vocabulary: Vocabulary, inside: np.ndarray, lengths: np.ndarray, sizes: np.ndarray
    ) -> None:
        """`inside` bool[V], `lengths` in characters and `sizes` in bytes int32[V] of all tokens."""
        self.vocabulary = vocabulary
        self.reach = _REACH
        self.lengths = np.where(inside, lengths, 0)
        self.longest = int(self.lengths.max(initial=0))
        self._sizes = sizes
        self._rest = restrict(vocabulary.trie, ~inside)
        self._bits: OrderedDict[int, np.ndarray] = OrderedDict()
        self._beyond: OrderedDict[int, SubtreeWalk] = OrderedDict()

    @cached_property
    def near(self) -> SubtreeWalk:
        return subtree_walk(restrict(self._rest, self._sizes <= _REACH), self.vocabulary)

    @cached_property
    def far(self) -> SubtreeWalk:
        return subtree_walk(restrict(self._rest, self._sizes > _REACH), self.vocabulary)

    def certain(self, characters: int | None) -> np.ndarray:
        """The tokens of at most so many characters, all inside the class (None: any number): int32[words]."""
        limit = self.longest if characters is None else min(characters, self.longest)
        found = self._bits.get(limit)
        if found is None:
            found = self._bits[limit] = self.vocabulary.pack((self.lengths > 0) & (self.lengths <= limit))
            if len(self._bits) > _MOST_BIT_SETS:
                self._bits.popitem(last=False)
        return found

    def beyond(self, characters: int | None) -> SubtreeWalk | None:
        """A walk over the tokens inside the class that are longer; None where there are none."""
        if characters is None or characters >= self.longest:
            return None
        found = self._beyond.get(characters)
        if found is None:
            trie = restrict(self.vocabulary.trie, self.lengths > characters)
            found = self._beyond[characters] = subtree_walk(trie, self.vocabulary)
            if len(self._beyond) > _MOST_SLICES:
                self._beyond.popitem(last=False)
        return found


class SliceStore:
    """The slices of one vocabulary, made when first needed, the least recently used dropped."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.whole = subtree_walk(vocabulary.trie, vocabulary)
        self._slices: OrderedDict[Class, Slice | None] = OrderedDict()
        self._known: tuple[np.ndarray, np.ndarray] | None = None

    def find(self, ranges: Class) -> Slice | None:
        """The slice for a class; None where walking is as good."""
        if ranges in self._slices:
            self._slices.move_to_end(ranges)
            return self._slices[ranges]
        found = None
        if self.vocabulary.size >= _SMALL and sum(high - low + 1 for low, high in ranges) >= _NARROW:
            lengths, sizes = self._measures()
            found = Slice(self.vocabulary, self._tokens_inside(ranges), lengths, sizes)
        self._slices[ranges] = found
        if len(self._slices) > _MOST_SLICES:
            self._slices.popitem(last=False)
        return found

    def _measures(self) -> tuple[np.ndarray, np.ndarray]:
        """(characters, bytes) of each token, int32[V]; no characters for those that are not whole ones."""
        if self._known is None:
            lengths = np.zeros(self.vocabulary.size, np.int32)
            sizes = np.zeros(self.vocabulary.size, np.int32)
            for index, data in enumerate(self.vocabulary.token_bytes):
                if data:
                    sizes[index] = len(data)
                    try:
                        lengths[index] = len(data.decode())
                    except UnicodeDecodeError:
                        continue
            self._known = lengths, sizes
        return self._known

    def _tokens_inside(self, ranges: Class) -> np.ndarray:
        """bool[V]: tokens that are whole characters of the class."""
        loop = TextLeaf(
            TextTable(CharDfa((tuple((low, high, 0) for low, high in ranges),), frozenset([0])), "raw")
        )
        mask = np.zeros(self.vocabulary.words, np.int32)
        nothing = np.zeros(256, bool)
        self.whole.leaf(self.whole.roots, (0, 0, UNBOUNDED), nothing, mask, loop.current, loop.fill)
        inside = np.zeros(self.vocabulary.size, bool)
        inside[self.vocabulary.unpack(mask)] = True
        # Tokens that stop inside a character pass the walk but are not whole characters.
        return inside & (self._measures()[0] > 0)


def subtree_walk(trie: Trie, vocabulary: Vocabulary) -> SubtreeWalk:
    return SubtreeWalk(
        TrieArrays(
            trie.byte, trie.depth, trie.end, trie.token, trie.duplicates, trie.deepest, vocabulary.words
        )
    )  # fmt: skip


def slice_store(vocabulary: Vocabulary) -> SliceStore:
    """The store that belongs to a vocabulary."""
    if vocabulary.slices is None:
        vocabulary.slices = SliceStore(vocabulary)
    return vocabulary.slices
