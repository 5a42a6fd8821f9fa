"""A finite set of byte strings, read as a trie over its sorted list."""

from __future__ import annotations

from collections.abc import Iterable

from sglc.automata.charset import Ranges, ranges
from sglc.automata.dfa import trie as word_trie
from sglc.automata.dfa.trie import Place
from sglc.kernels.trie.word_list import WordList


class WordSet:
    """Nothing is built but the list: places of the trie are found by bisection."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self.words = tuple(sorted(words))
        self.root = (0, len(self.words), 0)
        self.list = WordList(self.words)
        """The same words for the kernels."""
        self._children: dict[Place, dict[int, Place]] = {}

    def ends(self, place: Place) -> bool:
        """Whether the place is a word."""
        return word_trie.ends(self.words, place)

    def goes_on(self, place: Place) -> bool:
        """Whether a word goes on from the place."""
        return place[1] - place[0] > self.ends(place)

    def children(self, place: Place) -> dict[int, Place]:
        """The places below, by byte, in byte order."""
        found = self._children.get(place)
        if found is None:
            found = self._children[place] = word_trie.children(self.words, place)
        return found

    def child(self, place: Place, byte: int) -> Place | None:
        """The place below by one byte."""
        return word_trie.child(self.words, place, byte)

    def least(self, place: Place) -> bytes:
        """The shortest, then smallest ending of a word from a place."""
        first, last, depth = place
        starts = self.list.starts[first : last + 1]
        return self.words[first + int((starts[1:] - starts[:-1]).argmin())][depth:]

    def least_longer(self, place: Place) -> bytes:
        """The same among endings of at least one byte."""
        first, last, depth = place
        if self.ends(place):
            first += 1
        return self.least((first, last, depth))


def first_characters(words: WordSet, place: Place) -> Ranges | None:
    """The characters with which words go on from a place; None where the place may be inside of a
    character."""
    found: list[int] = []
    for byte, below in words.children(place).items():
        first, last, depth = below
        if byte < 0x80:
            found.append(byte)
            continue
        end = depth + 1 + (byte >= 0xE0) + (byte >= 0xF0)
        try:
            some = {word[depth - 1 : end].decode() for word in words.words[first:last]}
        except UnicodeDecodeError:
            return None
        found += map(ord, some)
    return ranges((point, point) for point in found) if found else None
