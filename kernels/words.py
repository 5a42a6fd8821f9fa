"""A sorted list of words as the walk `sglc.kernels.walks.walk_words` reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sglc.kernels.library import address

_PLAIN = re.compile(rb"[ !#-.0-\[\]-~]*")


def is_plain(data: bytes) -> bool:
    """Whether all characters are of ASCII and have, in JSON, no escape but that by their number."""
    return _PLAIN.fullmatch(data) is not None


class Found(NamedTuple):
    """Where a walk of words has come to.

    exits    int32[n]    nodes behind words
    ends     int32[n]    the numbers of these words
    asides   int32[m]    nodes with a backslash
    origins  int64[m, 3] the places they were met at
    """

    exits: np.ndarray
    ends: np.ndarray
    asides: np.ndarray
    origins: np.ndarray


class WordList:
    """Words in sorted order without repeats: `bytes` uint8[...] of all, `starts` int64[n + 1] of each."""

    def __init__(self, words: Sequence[bytes]) -> None:
        self._set(b"".join(words), words)

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> WordList:
        """The list of texts in sorted order as UTF-8; lone surrogates are written like other characters."""
        joined = "".join(texts)
        if not joined.isascii():
            return cls([text.encode(errors="surrogatepass") for text in texts])
        found = cls([])
        found._set(joined.encode(), texts)
        return found

    def _set(self, data: bytes, words: Sequence[bytes] | Sequence[str]) -> None:
        """`words` are as long as their parts of the data."""
        self.bytes = np.frombuffer(data, np.uint8)
        self.starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=self.starts[1:])
        self.plain = is_plain(data)
        self.addresses = address(self.bytes), address(self.starts)

    def part(self, ranges: Sequence[tuple[int, int]]) -> WordList:
        """The words of some ranges (first, last + 1) in order; the list of plain words is plain."""
        starts = self.starts
        found = WordList([])
        found.bytes = np.concatenate([self.bytes[starts[low] : starts[high]] for low, high in ranges])
        sizes = np.concatenate([starts[low + 1 : high + 1] - starts[low:high] for low, high in ranges])
        found.starts = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=found.starts[1:])
        found.plain = self.plain
        found.addresses = address(found.bytes), address(found.starts)
        return found

    def goes_on(self, places: np.ndarray) -> list[int]:
        """Which of the places int64[n, 3] have a word that goes on."""
        size = self.starts.item
        return [
            number
            for number, (low, high, read) in enumerate(places.tolist())
            if high - low > (size(low + 1) - size(low) == read)
        ]
