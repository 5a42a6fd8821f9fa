"""Frozen constraints as tables: states with masks and transitions, as they lie in a file.

A frozen constraint is a finite part of a constraint's machine under one vocabulary. State 0 is dead, state 1
accepts and cannot go on; every other state has its whole mask, and where the tokens of the mask lead to as
far as that was followed. Which states there are decides what is quick, never what is legal.

The file, all numbers little-endian:

    0     8   "SGLMASKS"
    8     4   format version
    12    4   zero
    16    32  digest of the constraint
    48    32  digest of the vocabulary
    80    32  SHA-256 of the bytes 0..80 and 112..body
    112   64  sizes: V, states, start, masks, bases, steps, ids, text bytes (int64 each)
    176       checksums of the body: 16 bytes of SHA-256 for each 4 KiB
    body      states: int32[n, 9], the columns below
              masks:  int32[m, 5]: base, place in ids, number of ids, wide, tokens
              byte tokens: int32[256], a token for each single byte, -1 for none
              bases: int32[bases, ceil(V/32)], whole mask rows
              steps: int32[steps]
              ids:   uint16[ids]
              text:  uint8[text bytes]

A mask is a base (the empty row if -1) with some bits the other way round: a list of tokens, everything but a
list, or a row of its own are all that. The ids are differences of ascending ids; `wide`: two numbers each.
The steps of a state are its groups (mask, state), then its tokens, ascending, then a state for each.

What is before the body is verified when a file is opened, the body piece by piece when it is first read: so a
large file is opened as fast as a small one. Checksums tell damage; against one who makes them right, every
number is checked before it is used, so that at worst a mask is wrong, as a program from the same hand can be.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from struct import Struct

import numpy as np

from sglc.automata.caches import BoundedCache
from sglc.cache_files import open_own

MAGIC = b"SGLMASKS"
VERSION = 7
LARGEST = 256 << 20
"""Bytes; larger files are refused before they are mapped: what `build` writes by default has one MiB."""

FLAGS, MASK, FORCED, FORCED_SIZE, ENDING, ENDING_SIZE, STEPS, GROUPS, PAIRS = range(9)
"""Columns of a state. An ENDING_SIZE of -1: the shortest completion is not stored."""
COLUMNS = 9
ACCEPTING = 1

UNKNOWN, DEAD = -1, 0
_KEYS = Struct("<8s8x32s32s32s")
"""The header up to the sizes: magic number, version, digests of constraint, vocabulary and header."""
_SIZES = Struct("<8q")
_HEADER = _KEYS.size + _SIZES.size
_CHUNK = 1 << 12
_CHECK = 16
_OF_STATE = 400
"""Bytes of the columns of a state, about."""
_NO_TOKEN = "a mask has a token that is not in the vocabulary"


class FrozenError(ValueError):
    """A file that is no frozen constraint, is damaged, or is one of something else."""


@dataclass(slots=True, eq=False)
class FrozenTables:
    """The arrays of a frozen constraint; see the file for their meaning."""

    size: int
    start: int
    states: np.ndarray
    masks: np.ndarray
    byte_tokens: np.ndarray
    bases: np.ndarray
    steps: np.ndarray
    ids: np.ndarray
    text: np.ndarray
    checks: bytes = b""
    """Checksums of the body; empty for tables that were made, not read."""
    body: memoryview = field(default_factory=lambda: memoryview(b""))
    _checked: bytearray = field(default_factory=bytearray)
    _read: BoundedCache[int, list[int]] = field(default_factory=lambda: BoundedCache(size=_OF_STATE))
    """Columns of states that were looked at."""
    _places: tuple[int, ...] = ()
    """Where in the body the arrays begin that lie after the states."""

    def __post_init__(self) -> None:
        sizes = (
            4 * COLUMNS * self.n,
            20 * len(self.masks),
            1024,
            4 * self.bases.size,
            4 * len(self.steps),
            2 * len(self.ids),
        )
        self._places = tuple(accumulate(sizes))

    @property
    def n(self) -> int:
        """The number of states."""
        return len(self.states)

    @property
    def words(self) -> int:
        """Words of 32 bits in a mask row."""
        return (self.size + 31) // 32

    def accepts(self, state: int) -> bool:
        """Whether the text that led to a state is a legal value."""
        return bool(self._state(state)[FLAGS] & ACCEPTING)

    def byte_token(self, byte: int) -> int:
        """A token that writes just this byte; -1 if there is none."""
        self._verify(self._places[1] + 4 * byte, 4)
        found = int(self.byte_tokens[byte])
        if not -1 <= found < self.size:
            raise FrozenError("a byte has no such token")
        return found

    def mask_of(self, state: int) -> int:
        """The number of a state's mask."""
        return self._state(state)[MASK]

    def mask(self, number: int) -> tuple[np.ndarray, int]:
        """A mask as a new row, int32[words], and the number of its tokens. Raises FrozenError if damaged."""
        self._verify(self._places[0] + 20 * number, 20)
        base, place, count, wide, tokens = self.masks[number].tolist()
        width = 2 * count if wide else count
        if not (
            -1 <= base < len(self.bases)
            and place >= 0
            and 0 <= count
            and 0 <= wide <= 1
            and place + width <= len(self.ids)
            and 0 <= tokens <= self.size
        ):
            raise FrozenError("a mask points outside of the file")
        words = self.words
        if base < 0:
            row = np.zeros(words, np.int32)
        else:
            self._verify(self._places[2] + 4 * base * words, 4 * words)
            row = self.bases[base].astype(np.int32)
        if count:
            self._verify(self._places[4] + 2 * place, 2 * width)
            _flip(row, _ids(self.ids[place : place + width], wide, self.size))
        return row, tokens

    def forced(self, state: int) -> bytes:
        """The bytes that must come next."""
        row = self._state(state)
        return self._text(row[FORCED], row[FORCED_SIZE])

    def ending(self, state: int) -> bytes | None:
        """The shortest completion, if it is stored."""
        row = self._state(state)
        return None if row[ENDING_SIZE] < 0 else self._text(row[ENDING], row[ENDING_SIZE])

    def groups(self, state: int) -> list[tuple[int, int]]:
        """(mask, state): tokens by the state they lead to, the largest first."""
        at, count, _ = self._steps_of(state)
        flat = self.steps[at : at + 2 * count].tolist()
        found = list(zip(flat[::2], flat[1::2], strict=True))
        if not all(0 <= mask < len(self.masks) and 0 < to < self.n for mask, to in found):
            raise FrozenError("a step leads nowhere")
        return found

    def step(self, state: int, token: int) -> int:
        """The state after one of the tokens that are in no group; UNKNOWN if it was not followed."""
        at, groups, pairs = self._steps_of(state)
        at += 2 * groups
        found = bisect_left(self.steps, token, at, at + pairs)
        if found == at + pairs or self.steps[found] != token:
            return UNKNOWN
        to = int(self.steps[found + pairs])
        if not 0 < to < self.n:
            raise FrozenError("a step leads nowhere")
        return to

    def _state(self, state: int) -> list[int]:
        """The columns of a state; what they point to is there."""
        found = self._read.get(state)
        if found is None:
            self._verify(4 * COLUMNS * state, 4 * COLUMNS)
            found = self.states[state].tolist()
            _, mask, forced, forced_size, ending, ending_size, steps, groups, pairs = found
            if (
                not 0 <= mask < len(self.masks)
                or min(forced, forced_size, ending, steps, groups, pairs) < 0
                or ending_size < -1
                or max(forced + forced_size, ending + ending_size) > len(self.text)
                or steps + 2 * (groups + pairs) > len(self.steps)
            ):
                raise FrozenError("a state points outside of the file")
            self._read.keep(state, found)
        return found

    def _steps_of(self, state: int) -> tuple[int, int, int]:
        row = self._state(state)
        at, groups, pairs = row[STEPS], row[GROUPS], row[PAIRS]
        self._verify(self._places[3] + 4 * at, 8 * (groups + pairs))
        return at, groups, pairs

    def _text(self, at: int, size: int) -> bytes:
        if size:
            self._verify(self._places[5] + at, size)
        return self.text[at : at + size].tobytes()

    def _verify(self, at: int, size: int) -> None:
        """Check the pieces of the body that hold some bytes, once."""
        if not self.checks or not size:
            return
        for chunk in range(at // _CHUNK, (at + size - 1) // _CHUNK + 1):
            if not self._checked[chunk]:
                wanted = self.checks[_CHECK * chunk : _CHECK * (chunk + 1)]
                if _check(self.body[_CHUNK * chunk : _CHUNK * (chunk + 1)]) != wanted:
                    raise FrozenError("the file is damaged")
                self._checked[chunk] = 1

    def verify_all(self) -> None:
        """Check the whole body. Raises FrozenError."""
        self._verify(0, len(self.body))


def _check(data: bytes | memoryview) -> bytes:
    return hashlib.sha256(data).digest()[:_CHECK]


def _flip(row: np.ndarray, ids: list[int] | np.ndarray) -> None:
    """Turn some bits of a row round; the ids differ."""
    if isinstance(ids, list):
        words = row.view(np.uint32)
        for token in ids:
            words[token >> 5] ^= np.uint32(1 << (token & 31))
        return
    flags = np.zeros(32 * len(row), np.uint8)
    flags[ids] = 1
    row ^= np.packbits(flags, bitorder="little").view("<i4").astype(np.int32, copy=False)


def _ids(packed: np.ndarray, wide: int, size: int) -> list[int] | np.ndarray:
    """Ascending ids from their differences; a list if they are few. Raises FrozenError if one is no token."""
    if len(packed) <= 16 and not wide:
        found = list(accumulate(packed.tolist()))
        if found[-1] >= size or not all(packed[1:].tolist()):
            raise FrozenError(_NO_TOKEN)
        return found
    if wide:
        gaps = packed[::2].astype(np.int64) | packed[1::2].astype(np.int64) << 16
    else:
        gaps = packed.astype(np.int64)
    ids = np.cumsum(gaps)
    if ids[-1] >= size or not gaps[1:].all():
        raise FrozenError(_NO_TOKEN)
    return ids


def pack_ids(ids: np.ndarray) -> tuple[np.ndarray, int]:
    """(uint16 numbers, wide) of ascending ids; see the file."""
    gaps: np.ndarray = np.diff(ids.astype(np.int64), prepend=0)
    if (gaps < 1 << 16).all():
        return gaps.astype(np.uint16), 0
    return np.stack([gaps & 0xFFFF, gaps >> 16], axis=1).astype(np.uint16).ravel(), 1


# -- files -----------------------------------------------------------------------------------------------


def to_bytes(tables: FrozenTables, constraint: bytes, vocabulary: bytes) -> bytes:
    """The file of a frozen constraint; the digests are 32 bytes each."""
    body = b"".join(
        [
            tables.states.astype("<i4").tobytes(),
            tables.masks.astype("<i4").tobytes(),
            tables.byte_tokens.astype("<i4").tobytes(),
            tables.bases.astype("<i4").tobytes(),
            tables.steps.astype("<i4").tobytes(),
            tables.ids.astype("<u2").tobytes(),
            tables.text.tobytes(),
        ]
    )
    sizes = [
        tables.size,
        tables.n,
        tables.start,
        len(tables.masks),
        len(tables.bases),
        len(tables.steps),
        len(tables.ids),
        len(tables.text),
    ]
    checks = [_check(body[at : at + _CHUNK]) for at in range(0, len(body), _CHUNK)]
    head = np.array(sizes, "<i8").tobytes() + b"".join(checks)
    keys = MAGIC + VERSION.to_bytes(4, "little") + bytes(4) + constraint + vocabulary
    return keys + hashlib.sha256(keys + head).digest() + head + body


def open_file(
    path: str | os.PathLike[str], constraint: bytes, vocabulary: bytes, *, own: bool = False
) -> FrozenTables:
    """The tables in a file, by memory map. Raises FrozenError, and OSError where it cannot be read.

    A file is replaced, never changed: who cuts one short while it is mapped breaks its readers. `own` refuses
    files that somebody else could have written, as those of a cache.
    """
    with open_own(Path(path)) if own else open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not _HEADER <= size <= LARGEST:
            raise FrozenError("the file has not the size of a frozen constraint")
        data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    return from_bytes(data, constraint, vocabulary)


def from_bytes(data: bytes | mmap.mmap, constraint: bytes, vocabulary: bytes) -> FrozenTables:
    """The tables in the contents of a file. Raises FrozenError."""
    view = memoryview(data)
    if len(view) < _HEADER or view[:8] != MAGIC:
        raise FrozenError("the file is no frozen constraint")
    if int.from_bytes(view[8:12], "little") != VERSION or any(view[12:16]):
        raise FrozenError("the file has another version of the format")
    if view[16:48] != constraint:
        raise FrozenError("the file is of another constraint")
    if view[48:80] != vocabulary:
        raise FrozenError("the file is of another vocabulary")
    size, n, start, masks, bases, steps, ids, text = _SIZES.unpack(view[_KEYS.size : _HEADER])
    if min(size, n, start, masks, bases, steps, ids, text) < 0 or len(view) > LARGEST:
        raise FrozenError("the file has impossible sizes")
    if max(size, n, masks, bases, steps, ids, text) > LARGEST or size == 0:
        raise FrozenError("the file has impossible sizes")
    words = (size + 31) // 32
    body = 4 * (COLUMNS * n + 5 * masks + 256 + bases * words + steps) + 2 * ids + text
    chunks = (body + _CHUNK - 1) // _CHUNK
    edge = _HEADER + _CHECK * chunks
    if edge + body != len(view):
        raise FrozenError("the file is cut short, or longer than it says")
    state = hashlib.sha256(view[:80])
    state.update(view[_KEYS.size : edge])
    if state.digest() != view[80 : _KEYS.size]:
        raise FrozenError("the file is damaged")
    if n < 2 or start >= n:
        raise FrozenError("the file has no start")

    at = edge

    def take(count: int, kind: str) -> np.ndarray:
        nonlocal at
        found = np.frombuffer(view, kind, count, at)
        at += found.nbytes
        return found

    return FrozenTables(
        size,
        start,
        take(COLUMNS * n, "<i4").reshape(n, COLUMNS),
        take(5 * masks, "<i4").reshape(masks, 5),
        take(256, "<i4"),
        take(bases * words, "<i4").reshape(bases, words),
        take(steps, "<i4"),
        take(ids, "<u2"),
        take(text, "u1"),
        checks=bytes(view[_HEADER:edge]),
        body=view[edge:],
        _checked=bytearray(chunks),
    )
