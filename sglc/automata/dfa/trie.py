"""A sorted list of words read as a trie: nothing is built, nodes are found by bisection."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeVar

Char = TypeVar("Char", str, int)
"""A character, or a byte."""

Place = tuple[int, int, int]
"""(first, last + 1, depth): the words that begin alike, and how many characters of them have been read."""


def ends(words: Sequence[Sequence[Char]], place: Place) -> bool:
    """Whether a place is a word."""
    first, last, depth = place
    return first < last and len(words[first]) == depth


def children(words: Sequence[Sequence[Char]], place: Place) -> dict[Char, Place]:
    """The places below, by character (or byte), in order."""
    first, last, depth = place
    if ends(words, place):
        first += 1
    found = {}
    while first < last:
        char = words[first][depth]
        until = _until(words, char, first, last, depth)
        found[char] = (first, until, depth + 1)
        first = until
    return found


def child(words: Sequence[Sequence[Char]], place: Place, char: Char) -> Place | None:
    """The place below by one character (or byte)."""
    first, last, depth = place
    if ends(words, place):
        first += 1
    first = bisect_left(words, char, first, last, key=lambda word: word[depth])
    if first >= last or words[first][depth] != char:
        return None
    return first, _until(words, char, first, last, depth), depth + 1


def _until(words: Sequence[Sequence[Char]], char: Char, first: int, last: int, depth: int) -> int:
    if words[last - 1][depth] == char:
        return last
    return bisect_right(words, char, first, last, key=lambda word: word[depth])
