"""The door to the walk of a sorted list of words: compiled where LLVM can, else the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sglc.kernels.contract import TrieArrays
from sglc.kernels.library import COUNT, POINTER, Library, address
from sglc.kernels.reference_words import walk_words


def _ir() -> str:
    from sglc.kernels.llvm import word_walk

    return word_walk.build()


_P, _N = POINTER, COUNT
_WALK = Library(
    _ir,
    {"sglc_walk_words": (_N, *(_P,) * 6, _N, _P, _P, *(_N,) * 3, _P, _N, *(_P,) * 8)},
)


class Found(NamedTuple):
    """Nodes where a word has ended; nodes with a backslash, and the places they were met at (int64[n, 3])."""

    exits: np.ndarray
    asides: np.ndarray
    origins: np.ndarray


class WordList:
    """Words in sorted order without repeats, as the walk reads them."""

    def __init__(self, words: Sequence[bytes]) -> None:
        self.bytes = np.frombuffer(b"".join(words), np.uint8)
        self.starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=self.starts[1:])

    def walk(
        self, trie: TrieArrays, entries: np.ndarray, place: tuple[int, int, int], first: np.ndarray,
        mask: np.ndarray, escapes: bool,
    ) -> Found:  # fmt: skip
        """See `reference_words.walk_words`; `place` is (low, high, depth), low < high."""
        size = len(trie.byte) + 1
        exits, asides = np.empty(size, np.int32), np.empty(size if escapes else 1, np.int32)
        origins = np.empty((len(asides), 3), np.int64)
        lows, highs, nexts = (np.empty(trie.deepest + 2, np.int64) for _ in range(3))
        kernels = _WALK.functions()
        if kernels is None:
            out, aside = walk_words(
                trie, entries, self.bytes, self.starts, place, first, int(escapes), lows, highs, nexts, mask,
                exits, asides, origins,
            )  # fmt: skip
        else:
            found = np.zeros(2, np.int64)
            arrays = (trie.byte, trie.depth, trie.end, trie.token, trie.duplicates, entries)
            kernels.walk_words(
                *map(address, arrays), len(entries), address(self.bytes), address(self.starts), *place,
                address(first), int(escapes),
                *map(address, (lows, highs, nexts, mask, exits, asides, origins, found)),
            )  # fmt: skip
            out, aside = found.tolist()
        return Found(exits[:out].copy(), asides[:aside].copy(), origins[:aside].copy())
