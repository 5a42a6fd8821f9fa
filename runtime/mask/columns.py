"""What the tokens of a vocabulary consist of: bit sets by byte, and by subtree of the trie.

Inside a text almost every token consists of characters that leave the automaton where it is. For such a
class of characters the tokens wholly inside it are found without a walk: all whole-character tokens but those
that contain a byte outside of the class. And a walk need not enter a subtree of the trie whose bytes all lie
in the class, since nothing can happen there. Both depend on the vocabulary only, so there is nothing to
build for a class.

For the groups of bytes see `sglc.kernels.token_groups`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from sglc.kernels.subtrees import Quiet
from sglc.kernels.token_groups import (
    CONTROL,
    CONTROL_1,
    GROUP,
    OTHER,
    REST,
    SCRIPT_BITS,
    SCRIPTS,
    SEPARATOR,
    TILDE,
)

_QUOTE = 0x22
_WORD = (1 << 64) - 1
ALL_GROUPS = (1 << 128) - 1
_GROUPS: list[int] = GROUP.tolist()

_MOST_CLASSES = 256


_ALONE = sum([1 << char for char in range(128) if GROUP[char] == char])
_CONTROLS = sum([1 << char for char in range(128) if GROUP[char] == CONTROL])
BEYOND = SCRIPT_BITS | 1 << REST | 1 << CONTROL_1 | 1 << SEPARATOR
"""The groups of characters beyond ASCII."""


def group_bits(characters: int) -> int:
    """The groups of any of some characters of ASCII, both as bits."""
    found = characters & _ALONE
    if characters & _CONTROLS:
        found |= 1 << CONTROL
    if characters >> 0x7E & 1:
        found |= 1 << TILDE
    return found


def group_set(inside: int, beyond: int) -> np.ndarray:
    """uint64[2]: the groups wholly inside of a class: of ASCII, as bits, and groups beyond."""
    found = group_bits(inside)
    if inside & _CONTROLS != _CONTROLS:
        found &= ~(1 << CONTROL)
    return as_words(found | beyond | (1 << OTHER if beyond else 0))


def as_words(groups: int) -> np.ndarray:
    """A set of groups as uint64[2]."""
    return np.array([groups & _WORD, groups >> 64], np.uint64)


def bytes_in(groups: np.ndarray) -> np.ndarray:
    """bool[256]: the bytes of a group set; those from 0x80 on if it has all that is beyond ASCII."""
    found = np.unpackbits(groups.view(np.uint8), bitorder="little").astype(bool)[GROUP]
    if int(groups[0]) & BEYOND != BEYOND:
        found[128:] = False
    return found


class Columns:
    """The facts about one vocabulary.

    below  uint64[n, 2]  by trie node: the groups in the tokens of its subtree, without the path to the node
    """

    def __init__(self, below: np.ndarray, token_bytes: tuple[bytes | None, ...]) -> None:
        self._token_bytes = token_bytes
        self._words = (len(token_bytes) + 31) // 32
        self._size = len(token_bytes)
        data = [b or b"" for b in token_bytes]
        sizes = np.array([len(b) for b in data], np.int64)
        flat = np.frombuffer(b"".join(data), np.uint8)
        owner = np.repeat(np.arange(self._size), sizes)
        self.characters = np.bincount(owner[(flat & 0xC0) != 0x80], minlength=self._size).astype(np.int32)
        """int32[V]: characters of each token."""
        partial = _partial(flat, sizes)
        self.longest = int(self.characters.max(initial=0))
        """Most characters of a token."""
        narrow = np.uint16 if self.longest <= 0xFFFF else np.int32
        self._sizes: np.ndarray = np.zeros(32 * self._words, narrow)
        """The same, as narrow as comparing likes it."""
        self._sizes[: self._size] = self.characters
        self._whole = self._pack((sizes > 0) & ~partial)
        leads = np.flatnonzero(flat >= 0xC2)
        kinds = np.concatenate([GROUP[flat], _beyond(flat, leads)])
        self._with = self._with_group(kinds, np.concatenate([owner, owner[leads]]))
        self._parts = self._in_parts()
        self._short: dict[int, np.ndarray] = {}
        self._inside: OrderedDict[tuple[bytes, int | None], np.ndarray] = OrderedDict()
        self._quiet: dict[bytes, Quiet] = {}
        self.below = below

    @cached_property
    def quoted(self) -> frozenset[str]:
        """The texts that a token may read before a quote, however spelled; no other key ends in a token."""
        found: set[str] = set()
        column = self.containing(_QUOTE)
        for token in np.flatnonzero(np.unpackbits(column.view(np.uint8), bitorder="little")).tolist():
            data = self._token_bytes[token] or b""
            at = data.find(_QUOTE)
            while at >= 0:
                found.update(_texts_before(data[:at]))
                at = data.find(_QUOTE, at + 1)
        return frozenset(found)

    def containing(self, byte: int) -> np.ndarray:
        """The tokens in which a byte of ASCII is that is a group of its own."""
        found = self._with.get(byte)
        return np.zeros(self._words, np.int32) if found is None else found

    def quiet(
        self, groups: np.ndarray, bytes: np.ndarray, dead: np.ndarray, home: int, first: np.ndarray
    ) -> Quiet:
        """What need not be looked at while only some groups have been read: these, and what dies anyway.

        first: bool[256], the bytes behind the text, which do not die.
        """
        return Quiet(self.below, bytes, (groups | dead) & ~_groups_of(first), home)

    def quiet_but(self, first: np.ndarray) -> Quiet:
        """All groups but those of some bytes, bool[256]."""
        key = first.tobytes()
        found = self._quiet.get(key)
        if found is None:
            groups = ~_groups_of(first)
            if len(self._quiet) > _MOST_CLASSES:
                self._quiet.clear()
            found = self._quiet[key] = Quiet(self.below, ~first, groups)
        return found

    def inside(self, groups: np.ndarray, most: int | None) -> np.ndarray:
        """The tokens of whole characters with no byte outside of the groups and up to `most` characters."""
        if most is not None and most >= self.longest:
            most = None
        key = (groups.tobytes(), most)
        found = self._inside.get(key)
        if found is not None:
            self._inside.move_to_end(key)
            return found
        if most is None:
            outside = np.zeros(self._words, np.int32)
            for inside, (whole, columns) in zip(groups.view(np.uint8).tolist(), self._parts, strict=True):
                if inside:
                    for number, column in columns:
                        if not inside >> number & 1:
                            outside |= column
                elif columns:
                    outside |= whole
            found = self._whole & ~outside
        else:
            short = self._short.get(most)
            if short is None:
                bits = np.packbits(self._sizes <= most, bitorder="little")
                short = self._short[most] = bits.view("<i4").astype(np.int32, copy=False)
            found = self.inside(groups, None) & short
        self._inside[key] = found
        if len(self._inside) > _MOST_CLASSES:
            self._inside.popitem(last=False)
        return found

    def _in_parts(self) -> list[tuple[np.ndarray, list[tuple[int, np.ndarray]]]]:
        """By eight groups: the tokens that contain a byte of any of them, and those of each by its number."""
        found = []
        for first in range(0, 128, 8):
            columns = [
                (number, self._with[first + number]) for number in range(8) if first + number in self._with
            ]
            whole = np.zeros(self._words, np.int32)
            for _, column in columns:
                whole |= column
            found.append((whole, columns))
        return found

    def _with_group(self, groups: np.ndarray, owner: np.ndarray) -> dict[int, np.ndarray]:
        """By group: the tokens that contain one of its bytes."""
        found = {}
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=128))
        for group in np.unique(groups).tolist():
            flags = np.zeros(self._size, bool)
            flags[owner[order[ends[group - 1] if group else 0 : ends[group]]]] = True
            found[group] = self._pack(flags)
        return found

    def _pack(self, flags: np.ndarray) -> np.ndarray:
        padded = np.zeros(self._words * 32, np.uint8)
        padded[: self._size] = flags
        return np.packbits(padded, bitorder="little").view("<i4").astype(np.int32, copy=False)


def _groups_of(bytes: np.ndarray) -> np.ndarray:
    """uint64[2]: the groups of some bytes, bool[256]."""
    found = 0
    for byte in np.flatnonzero(bytes).tolist():
        found |= 1 << _GROUPS[byte]
    return as_words(found)


def _beyond(flat: np.ndarray, leads: np.ndarray) -> np.ndarray:
    """The groups of the characters that begin at some bytes, as far as they are whole."""
    data = np.concatenate([flat, np.zeros(3, np.uint8)]).astype(np.int32)
    lead, second, third, fourth = (data[leads + n] & 0x3F if n else data[leads] for n in range(4))
    points = (lead & 0x1F) << 6 | second
    three, four = lead >= 0xE0, lead >= 0xF0
    points[three] = ((lead & 0xF) << 12 | second << 6 | third)[three]
    points[four] = ((lead & 7) << 18 | second << 12 | third << 6 | fourth)[four]
    at = np.minimum(np.searchsorted(SCRIPTS[:, 1], points), len(SCRIPTS) - 1)
    inside = (SCRIPTS[at, 0] <= points) & (points <= SCRIPTS[at, 1])
    found = np.where(inside, SCRIPTS[at, 2], REST).astype(np.uint8)
    found[points < 0xA0] = CONTROL_1
    found[(points == 0x2028) | (points == 0x2029)] = SEPARATOR
    return found


def _partial(flat: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """bool[V]: tokens that are not a sequence of whole characters."""
    partial = np.zeros(len(sizes), bool)
    if not len(flat):
        return partial
    ends = np.cumsum(sizes)
    high = np.zeros(len(sizes), bool)
    high[np.repeat(np.arange(len(sizes)), sizes)[flat >= 0x80]] = True
    data = flat.tobytes()
    for index in np.flatnonzero(high).tolist():
        try:
            data[ends[index] - sizes[index] : ends[index]].decode()
        except UnicodeDecodeError:
            partial[index] = True
    return partial


def _texts_before(data: bytes) -> Iterator[str]:
    """The texts of a JSON string that end with some bytes, from every place where one may begin."""
    for start in range(len(data), -1, -1):
        part = data[start:]
        try:
            if b"\\" in part:
                yield json.loads(f'"{part.decode()}"', strict=False)
            elif part[:1] == b'"':
                # All that begin further to the left have this quote inside, escaped or not.
                if data[start - 1 : start] != b"\\":
                    return
            else:
                yield part.decode()
        except ValueError:
            # Inside a character, or a quote that is not escaped.
            continue
