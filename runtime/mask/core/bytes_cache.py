"""Byte strings that have been found, kept as long as they are not too many bytes together."""

from __future__ import annotations

_BYTES_OF_ENTRY = 100
"""About what an entry takes beside its bytes."""


class KeptWords:
    """Byte strings by number. When they pass `most` bytes, all are forgotten."""

    __slots__ = ("_most", "_size", "_words")

    def __init__(self, most: int) -> None:
        self._most = most
        self._words: dict[int, bytes] = {}
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes of all that is kept, about."""
        return self._size

    def get(self, number: int) -> bytes | None:
        return self._words.get(number)

    def keep(self, number: int, word: bytes) -> bytes:
        """Keep a byte string that was not kept; returns it."""
        size = len(word) + _BYTES_OF_ENTRY
        if self._size + size > self._most:
            self._words.clear()
            self._size = 0
        self._words[number] = word
        self._size += size
        return word
