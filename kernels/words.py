"""The door to the walk of a sorted list of words: compiled where LLVM can, else the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sglc.kernels.contract import TrieArrays
from sglc.kernels.library import address, typed_library
from sglc.kernels.typed import run
from sglc.kernels.walks import walk_words

_WALK = typed_library(walk_words)


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
        # Loading the kernel takes longer than a walk, so it is done before the first one.
        _WALK.functions()

    def walk(
        self, trie: TrieArrays, entries: np.ndarray, place: tuple[int, int, int], first: np.ndarray,
        mask: np.ndarray, escapes: bool,
    ) -> Found:  # fmt: skip
        """See `walks.walk_words`; `place` is (low, high, depth), low < high."""
        size = len(trie.byte) + 1
        exits, asides = np.empty(size, np.int32), np.empty(size if escapes else 1, np.int32)
        origins = np.empty((len(asides), 3), np.int64)
        lows, highs, nexts = (np.empty(trie.deepest + 2, np.int64) for _ in range(3))
        found = np.zeros(2, np.int64)
        parts = (trie.byte, trie.depth, trie.end, trie.token, trie.duplicates, entries)
        results = (lows, highs, nexts, mask, exits, asides, origins, found)
        kernels = _WALK.functions()
        if kernels is None:
            run(
                walk_words,
                *parts,
                len(entries),
                self.bytes,
                self.starts,
                *place,
                first,
                int(escapes),
                *results,
            )
        else:
            kernels.walk_words(
                *map(address, parts), len(entries), address(self.bytes), address(self.starts), *place,
                address(first), int(escapes), *map(address, results),
            )  # fmt: skip
        out, aside = found.tolist()
        return Found(exits[:out].copy(), asides[:aside].copy(), origins[:aside].copy())
