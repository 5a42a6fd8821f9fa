"""A sorted list of words as the walk `sglc.kernels.trie.walks.walk_words` reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from sglc.kernels.trie.arrays import Words

_NONE, _ALL = np.zeros(0, np.int32), np.zeros(0, np.uint64)
_PLAIN = re.compile(rb"[ !#-.0-\[\]-~]*")


def is_plain(data: bytes) -> bool:
    """Whether all characters are of ASCII and have, in JSON, no escape but that by their number."""
    return _PLAIN.fullmatch(data) is not None


class Found(NamedTuple):
    """Where a walk of words has come to.

    boundaries int32[n]    nodes behind words
    ends       int32[n]    the numbers of these words
    asides     int32[m]    nodes with a backslash
    origins    int64[m, 3] the places they were met at
    """

    boundaries: np.ndarray
    ends: np.ndarray
    asides: np.ndarray
    origins: np.ndarray


class WordList:
    """Words in sorted order without repeats: `bytes` uint8[...] of all, `starts` int64[n + 1] of each."""

    __slots__ = ("_arrays", "bytes", "labels", "limited", "open", "plain", "starts")

    def __init__(self, words: Sequence[bytes]) -> None:
        self._set(b"".join(words), words)

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> WordList:
        """The list of texts in sorted order as UTF-8; lone surrogates are written like other characters."""
        joined = "".join(texts)
        if not joined.isascii():
            return cls([text.encode(errors="surrogatepass") for text in texts])
        found = cls.__new__(cls)
        found._set(joined.encode(), texts)
        return found

    def _set(self, data: bytes, words: Sequence[bytes] | Sequence[str]) -> None:
        """`words` are as long as their parts of the data."""
        self.bytes = np.frombuffer(data, np.uint8)
        self.starts = np.fromiter(accumulate(map(len, words), initial=0), np.int64, len(words) + 1)
        self.plain = is_plain(data)
        self._limit(_NONE, _ALL)

    def only(self, labels: np.ndarray, open: np.ndarray) -> WordList:
        """The same words, of which those are walked whose labels int32[n] are in the set `open`, uint64[...].

        Nothing is copied, so that the same list serves many sets.
        """
        found = WordList.__new__(WordList)
        found.bytes, found.starts, found.plain = self.bytes, self.starts, self.plain
        found._limit(labels, open)
        return found

    def _limit(self, labels: np.ndarray, open: np.ndarray) -> None:
        self.labels, self.open, self.limited = labels, open, len(open) > 0
        self._arrays: Words | None = None

    @property
    def arrays(self) -> Words:
        """The words as the walk reads them; most lists are walked never or often."""
        if self._arrays is None:
            self._arrays = Words(
                bytes=self.bytes,
                starts=self.starts,
                labels=self.labels,
                open=self.open,
                limited=int(self.limited),
            )
        return self._arrays

    def is_open(self, number: int) -> bool:
        """Whether a word is walked."""
        if not self.limited:
            return True
        label = self.labels.item(number)
        return bool(self.open.item(label >> 6) >> (label & 63) & 1)

    def goes_on(self, places: np.ndarray) -> list[int]:
        """Which of the places int64[n, 3] have a word that goes on."""
        size = self.starts.item
        return [
            number
            for number, (low, high, read) in enumerate(places.tolist())
            if any(map(self.is_open, range(low + (size(low + 1) - size(low) == read), high)))
        ]
