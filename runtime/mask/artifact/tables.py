"""Frozen constraints as tables: states with masks and transitions, as they lie in a file.

A tabled constraint is a finite part of a constraint's machine under one vocabulary. State 0 is dead, state 1
accepts and cannot go on; every other state has its whole mask, and where the tokens of the mask lead to as
far as that was followed. Which states there are decides what is quick, never what is legal.

The file, all numbers little-endian:

    0     8   "SGLMASKS"
    8     4   format version
    12    4   zero
    16    32  digest of the constraint
    48    32  digest of the constraint of the value alone, zero if that is not in it
    80    32  digest of the vocabulary
    112   32  SHA-256 of the bytes 0..112 and 144..body
    144   72  sizes: V, states, columns, start, masks, bases, steps, ids, text bytes (int64 each)
    216       checksums of the body: 16 bytes of SHA-256 for each 4 KiB
    body      states: int32[n, 9 or 14], the columns below
              masks:  int32[m, 5]: base, place in ids, number of ids, wide, tokens
              byte tokens: int32[256], a token for each single byte, -1 for none
              bases: int32[bases, ceil(V/32)], whole mask rows
              steps: int32[steps]
              ids:   uint16[ids]
              text:  uint8[text bytes]

A mask is a base (the empty row if -1) with some bits the other way round: a list of tokens, everything but a
list, or a row of its own are all that. The ids are differences of ascending ids; `wide`: two numbers each.
The steps of a state are its groups (mask, state), then its other tokens with the state that each leads to,
`token << b | state`, ascending; b bits hold any state.

A hole is filled with its value, a stop and anything, and the value alone is asked for too. Both go through
the same states: five more columns say what is different for the value alone.

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
VERSION = 9
LARGEST = 256 << 20
"""Bytes; larger files are refused before they are mapped: what `build` writes by default has one MiB."""

FLAGS, MASK, FORCED, FORCED_SIZE, ENDING, ENDING_SIZE, STEPS, GROUPS, PAIRS = range(9)
"""Columns of a state. An ENDING_SIZE of -1: the shortest completion is not stored."""
COLUMNS = 9
ALONE_COLUMNS = 5
"""Columns behind these: MASK to ENDING_SIZE of the value alone."""
ACCEPTING, ALONE_ACCEPTING, ALONE_FINAL = 1, 2, 4
"""Flags. ALONE_FINAL: the value alone ends there and cannot go on."""

UNKNOWN, DEAD, FINAL = -1, 0, 1
NO_CONSTRAINT = bytes(32)
_KEYS = Struct("<8s8x32s32s32s32s")
"""The header up to the sizes: magic number, version, digests of both constraints, vocabulary and header."""
_SIZES = Struct("<9q")
_HEADER = _KEYS.size + _SIZES.size
_CHUNK = 1 << 12
_CHECK = 16
_OF_STATE = 400
"""Bytes of the columns of a state, about."""
_NO_TOKEN = "a mask has a token that is not in the vocabulary"


class TableError(ValueError):
    """A file that is no tabled constraint, is damaged, or is one of something else."""


@dataclass(slots=True, eq=False)
class MaskTables:
    """The arrays of a tabled constraint; see the file for their meaning."""

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
    alone: bool = False
    """Whether these are the tables of the value alone."""

    def __post_init__(self) -> None:
        sizes = (
            4 * self.states.size,
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
    def has_alone(self) -> bool:
        """Whether the states are those of the value alone, too."""
        return bool(self.states.shape[1] == COLUMNS + ALONE_COLUMNS)

    @property
    def file_size(self) -> int:
        """Bytes of the file of these tables."""
        chunks = (self._places[-1] + len(self.text) + _CHUNK - 1) // _CHUNK
        return _HEADER + _CHECK * chunks + self._places[-1] + len(self.text)

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
            raise TableError("a byte has no such token")
        return found

    def mask_of(self, state: int) -> int:
        """The number of a state's mask."""
        return self._state(state)[MASK]

    def mask(self, number: int) -> tuple[np.ndarray, int]:
        """A mask as a new row, int32[words], and the number of its tokens. Raises TableError if damaged."""
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
            raise TableError("a mask points outside of the file")
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
            raise TableError("a step leads nowhere")
        return [(mask, self._seen(to)) for mask, to in found] if self.alone else found

    def step(self, state: int, token: int) -> int:
        """The state after one of the tokens that are in no group; UNKNOWN if it was not followed."""
        at, groups, pairs = self._steps_of(state)
        at += 2 * groups
        bits = state_bits(self.n)
        found = bisect_left(self.steps, token << bits, at, at + pairs)
        if found == at + pairs or self.steps[found] >> bits != token:
            return UNKNOWN
        to = int(self.steps[found]) & (1 << bits) - 1
        if not 0 < to < self.n:
            raise TableError("a step leads nowhere")
        return self._seen(to) if self.alone else to

    @property
    def first(self) -> int:
        """The state at the beginning of a text."""
        return self._seen(self.start) if self.alone else self.start

    def _seen(self, state: int) -> int:
        """A state as the value alone sees it."""
        return FINAL if self._state(state)[FLAGS] & ALONE_FINAL else state

    def _state(self, state: int) -> list[int]:
        """The columns of a state, those of the value alone where it is asked; what they point to is there."""
        found = self._read.get(state)
        if found is None:
            width = self.states.shape[1]
            self._verify(4 * width * state, 4 * width)
            found = self.states[state].tolist()
            if self.alone:
                flags = found[FLAGS]
                accepting = ACCEPTING if flags & ALONE_ACCEPTING else 0
                found[:STEPS] = [accepting | flags & ALONE_FINAL, *found[COLUMNS:]]
            _, mask, forced, forced_size, ending, ending_size, steps, groups, pairs = found[:COLUMNS]
            if (
                not 0 <= mask < len(self.masks)
                or min(forced, forced_size, ending, steps, groups, pairs) < 0
                or ending_size < -1
                or max(forced + forced_size, ending + ending_size) > len(self.text)
                or steps + 2 * groups + pairs > len(self.steps)
            ):
                raise TableError("a state points outside of the file")
            self._read.keep(state, found)
        return found

    def _steps_of(self, state: int) -> tuple[int, int, int]:
        row = self._state(state)
        at, groups, pairs = row[STEPS], row[GROUPS], row[PAIRS]
        self._verify(self._places[3] + 4 * at, 4 * (2 * groups + pairs))
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
                    raise TableError("the file is damaged")
                self._checked[chunk] = 1

    def verify_all(self) -> None:
        """Check the whole body. Raises TableError."""
        self._verify(0, len(self.body))


def state_bits(states: int) -> int:
    """Bits that hold the number of any of some states."""
    return (states - 1).bit_length()


def most_states(size: int) -> int:
    """States that tables for a vocabulary of some size may have: token and state together are an int32."""
    return 1 << 31 - size.bit_length()


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
    """Ascending ids from their differences; a list if they are few. Raises TableError if one is no token."""
    if len(packed) <= 16 and not wide:
        found = list(accumulate(packed.tolist()))
        if found[-1] >= size or not all(packed[1:].tolist()):
            raise TableError(_NO_TOKEN)
        return found
    if wide:
        gaps = packed[::2].astype(np.int64) | packed[1::2].astype(np.int64) << 16
    else:
        gaps = packed.astype(np.int64)
    ids = np.cumsum(gaps)
    if ids[-1] >= size or not gaps[1:].all():
        raise TableError(_NO_TOKEN)
    return ids


def pack_ids(ids: np.ndarray) -> tuple[np.ndarray, int]:
    """(uint16 numbers, wide) of ascending ids; see the file."""
    gaps: np.ndarray = np.diff(ids.astype(np.int64), prepend=0)
    if (gaps < 1 << 16).all():
        return gaps.astype(np.uint16), 0
    return np.stack([gaps & 0xFFFF, gaps >> 16], axis=1).astype(np.uint16).ravel(), 1


# -- files -----------------------------------------------------------------------------------------------


def to_bytes(tables: MaskTables, constraint: bytes, vocabulary: bytes, alone: bytes = NO_CONSTRAINT) -> bytes:
    """The file of a tabled constraint, and of that of the value alone; the digests are 32 bytes each."""
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
        tables.states.shape[1],
        tables.start,
        len(tables.masks),
        len(tables.bases),
        len(tables.steps),
        len(tables.ids),
        len(tables.text),
    ]
    checks = [_check(body[at : at + _CHUNK]) for at in range(0, len(body), _CHUNK)]
    head = np.array(sizes, "<i8").tobytes() + b"".join(checks)
    keys = MAGIC + VERSION.to_bytes(4, "little") + bytes(4) + constraint + alone + vocabulary
    return keys + hashlib.sha256(keys + head).digest() + head + body


def open_file(
    path: str | os.PathLike[str], constraint: bytes, vocabulary: bytes, *, own: bool = False
) -> MaskTables:
    """The tables in a file, by memory map. Raises TableError, and OSError where it cannot be read.

    A file is replaced, never changed: who cuts one short while it is mapped breaks its readers. `own` refuses
    files that somebody else could have written, as those of a cache.
    """
    with open_own(Path(path)) if own else open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not _HEADER <= size <= LARGEST:
            raise TableError("the file has not the size of a tabled constraint")
        data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    return from_bytes(data, constraint, vocabulary)


def from_bytes(data: bytes | mmap.mmap | memoryview, constraint: bytes, vocabulary: bytes) -> MaskTables:
    """The tables of a constraint in the contents of a file. Raises TableError."""
    view = memoryview(data)
    if len(view) < _HEADER or view[:8] != MAGIC:
        raise TableError("the file is no tabled constraint")
    if int.from_bytes(view[8:12], "little") != VERSION or any(view[12:16]):
        raise TableError("the file has another version of the format")
    alone = view[16:48] != constraint
    if alone and (view[48:80] != constraint or constraint == NO_CONSTRAINT):
        raise TableError("the file is of another constraint")
    if view[80:112] != vocabulary:
        raise TableError("the file is of another vocabulary")
    size, n, columns, start, masks, bases, steps, ids, text = _SIZES.unpack(view[_KEYS.size : _HEADER])
    if min(size, n, start, masks, bases, steps, ids, text) < 0 or len(view) > LARGEST:
        raise TableError("the file has impossible sizes")
    if max(size, n, masks, bases, steps, ids, text) > LARGEST or size == 0:
        raise TableError("the file has impossible sizes")
    if columns not in (COLUMNS, COLUMNS + ALONE_COLUMNS)[alone:]:
        raise TableError("the file has impossible sizes")
    words = (size + 31) // 32
    body = 4 * (columns * n + 5 * masks + 256 + bases * words + steps) + 2 * ids + text
    chunks = (body + _CHUNK - 1) // _CHUNK
    edge = _HEADER + _CHECK * chunks
    if edge + body != len(view):
        raise TableError("the file is cut short, or longer than it says")
    state = hashlib.sha256(view[:112])
    state.update(view[_KEYS.size : edge])
    if state.digest() != view[112 : _KEYS.size]:
        raise TableError("the file is damaged")
    if n < 2 or start >= n:
        raise TableError("the file has no start")

    at = edge

    def take(count: int, kind: str) -> np.ndarray:
        nonlocal at
        found = np.frombuffer(view, kind, count, at)
        at += found.nbytes
        return found

    return MaskTables(
        size,
        start,
        take(columns * n, "<i4").reshape(n, columns),
        take(5 * masks, "<i4").reshape(masks, 5),
        take(256, "<i4"),
        take(bases * words, "<i4").reshape(bases, words),
        take(steps, "<i4"),
        take(ids, "<u2"),
        take(text, "u1"),
        checks=bytes(view[_HEADER:edge]),
        body=view[edge:],
        alone=alone,
        _checked=bytearray(chunks),
    )
