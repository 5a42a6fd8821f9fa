"""Ahead-of-time tables of many constraints in one file, beside a compiled program or behind it.

A pack is the end of its file. All numbers are little-endian, and places are counted from the beginning of the
pack:

    0     8   "SGLPACK" and a zero
    8     4   format version
    12    4   number of entries
    16    32  SHA-256 of the bytes 0..16 and of the entries
    48        entries, ascending: digest of the constraint (32), digest of the vocabulary (32), place and size
              of its tables (int64 each)
    …         tables, each as in a file of its own (see `tables`)
    -16   8   size of the pack
    -8    8   "SGLPACK" and a zero

Two constraints may have the same tables. The entries are verified when the pack is opened, tables when they
are found and as they are read. Every place is checked before it is used.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct

from sglc.runtime.mask.artifact.tables import LARGEST, MaskTables, TableError, from_bytes

MAGIC = b"SGLPACK\0"
VERSION = 1
SUFFIX = ".sglm"
_HEAD = Struct("<8sII32s")
_ENTRY = Struct("<32s32sqq")
_FOOT = Struct("<q8s")
_CHECKED = 16
"""Bytes of the header that its checksum is of."""


@dataclass(frozen=True, slots=True, order=True)
class Packed:
    """Tables of a constraint under a vocabulary, as they lie in a pack; digests of 32 bytes."""

    constraint: bytes
    vocabulary: bytes
    data: bytes


def pack(tables: Iterable[Packed]) -> bytes:
    """A pack of tables. Equal ones are stored once."""
    entries = sorted(tables)
    places: dict[bytes, int] = {}
    at = _HEAD.size + _ENTRY.size * len(entries)
    for entry in entries:
        if entry.data not in places:
            places[entry.data] = at
            at += len(entry.data)
    index = b"".join(
        _ENTRY.pack(entry.constraint, entry.vocabulary, places[entry.data], len(entry.data))
        for entry in entries
    )
    head = MAGIC + VERSION.to_bytes(4, "little") + len(entries).to_bytes(4, "little")
    foot = _FOOT.pack(at + _FOOT.size, MAGIC)
    return b"".join([head, hashlib.sha256(head + index).digest(), index, *places, foot])


class MaskPack:
    """An opened pack, mapped into memory."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        """`data` ends with the pack. Raises TableError if it does not, or is damaged."""
        view = memoryview(data)
        if len(view) < _HEAD.size + _FOOT.size:
            raise TableError("the file is no pack of masks")
        size, magic = _FOOT.unpack(view[-_FOOT.size :])
        if magic != MAGIC or not _HEAD.size + _FOOT.size <= size <= min(len(view), LARGEST):
            raise TableError("the file is no pack of masks")
        view = view[len(view) - size :]
        magic, version, count, digest = _HEAD.unpack(view[: _HEAD.size])
        if magic != MAGIC or version != VERSION:
            raise TableError("the pack has another version of the format")
        end = _HEAD.size + _ENTRY.size * count
        if end > len(view):
            raise TableError("the pack is cut short")
        state = hashlib.sha256(view[:_CHECKED])
        state.update(view[_HEAD.size : end])
        if state.digest() != digest:
            raise TableError("the pack is damaged")
        self._view = view
        self._entries = list(_ENTRY.iter_unpack(view[_HEAD.size : end]))
        self._keys = [(constraint, vocabulary) for constraint, vocabulary, _, _ in self._entries]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> MaskPack:
        """The pack at the end of a file. Raises TableError, and OSError where it cannot be read.

        A file is replaced, never changed: who cuts one short while it is mapped breaks its readers.
        """
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _HEAD.size + _FOOT.size:
                raise TableError("the file is no pack of masks")
            return cls(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))

    def find(self, constraint: bytes, vocabulary: bytes) -> MaskTables | None:
        """The tables of a constraint, if there are any. Raises TableError if they are damaged."""
        found = bisect_left(self._keys, (constraint, vocabulary))
        if found == len(self._keys) or self._keys[found] != (constraint, vocabulary):
            return None
        return from_bytes(self._part(found), constraint, vocabulary)

    def contents(self) -> list[Packed]:
        """Everything in it. Raises TableError where it is damaged."""
        return [
            Packed(constraint, vocabulary, bytes(self._part(number)))
            for number, (constraint, vocabulary) in enumerate(self._keys)
        ]

    def _part(self, number: int) -> memoryview:
        _, _, at, size = self._entries[number]
        if not (at >= 0 and size >= 0 and at + size <= len(self._view)):
            raise TableError("an entry of the pack points outside of it")
        return self._view[at : at + size]
