"""The walk of a sorted list of words in plain Python. This file defines what the compiled one must do."""

from __future__ import annotations

import numpy as np

from sglc.kernels.contract import TrieArrays
from sglc.kernels.reference_walk import set_bits

BACKSLASH = 0x5C


def walk_words(
    trie: TrieArrays, entries: np.ndarray, words: np.ndarray, starts: np.ndarray,
    place: tuple[int, int, int], first: np.ndarray, escapes: int, lows: np.ndarray, highs: np.ndarray,
    nexts: np.ndarray, mask: np.ndarray, exits: np.ndarray, asides: np.ndarray, origins: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Walk inside the words number `low` to `high` - 1, of which `depth` bytes have been read: `place`.

    words uint8[...] are the bytes of all words in sorted order without repeats, starts int64[n + 1] where
    each begins. Both the nodes of the trie and the words are in order, so the search for a node goes on where
    that for the sibling before it came to. Nodes at which a text after a word may begin (its byte being in
    `first` uint8[256]) go to `exits`. If `escapes`, nodes with a backslash go to `asides`, together with the
    place they were met at (origins int64[n, 3]). lows, highs, nexts int64[deepest + 1] are stacks by depth:
    the words that go on like this path, and from which of them on the next child is searched.

    Returns the numbers of exits and asides.
    """
    out = aside = 0

    def byte(word: int, at: int) -> int:
        return int(words[starts[word] + at])

    def search(left: int, right: int, at: int, wanted: int) -> int:
        """The first word of which byte `at` is not below `wanted`."""
        while left < right:
            middle = (left + right) >> 1
            if byte(middle, at) < wanted:
                left = middle + 1
            else:
                right = middle
        return left

    def ends(word: int, at: int) -> bool:
        return bool(starts[word + 1] - starts[word] == at)

    def push(level: int, low: int, high: int, at: int) -> None:
        lows[level], highs[level], nexts[level] = low, high, low + ends(low, at)

    for top in entries.tolist():
        base = int(trie.depth[top]) - 1
        push(base, place[0], place[1], place[2])
        node, stop = top, int(trie.end[top])
        while node < stop:
            above = int(trie.depth[node]) - 1
            at = place[2] + above - base
            low, high, left = int(lows[above]), int(highs[above]), int(nexts[above])
            wanted = int(trie.byte[node])
            if first[wanted] and above > base and ends(low, at):
                exits[out] = node
                out += 1
            if escapes and wanted == BACKSLASH:
                asides[aside], origins[aside] = node, (low, high, at)
                aside += 1
            if left < high and byte(left, at) < wanted:
                left = search(left, high, at, wanted)
                nexts[above] = left
            if left >= high or byte(left, at) != wanted:
                node = int(trie.end[node])
                continue
            right = high if byte(high - 1, at) == wanted else search(left, high, at, wanted + 1)
            push(above + 1, left, right, at + 1)
            set_bits(trie, node, mask)
            node += 1
    return out, aside
