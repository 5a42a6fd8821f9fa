"""The ways to write a character: sequences of byte ranges, for UTF-8 and for the escapes of JSON strings.

Each sequence is a path of ranges. Of all the paths for disjoint sets of characters, any two are equal or
disjoint in their first range, and so on behind equal ranges, so that grouping by first range makes a
deterministic automaton. A range of hexadecimal digits is one range here, though it is up to three of bytes:
it stands at `HEX` plus the digits' values until `byte_ranges` resolves it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sglc.automata.caches import small_cache
from sglc.automata.encoding import short_escapes, unit_escapes
from sglc.automata.term import Encoding
from sglc.runtime.mask.lexeme.utf8 import ESCAPED, ByteRange, escape, utf8_sequences
from sglc.runtime.mask.lexeme.utf8_states import Characters

Path = tuple[ByteRange, ...]
Move = tuple[int, int, int]
"""(lowest byte, highest byte, local state reached)."""

HEX = 1 << 30
"""Ranges from here on are ranges of hexadecimal digits, in either case."""

_BACKSLASH = (0x5C, 0x5C)
_U = (0x75, 0x75)


def spellings(low: int, high: int, encoding: Encoding) -> Iterator[Path]:
    """All ways to write the characters low..high, none of them a surrogate."""
    first, last = low, high
    if encoding != "raw":
        for escaped in ESCAPED:
            if low <= escaped <= high:
                if low < escaped:
                    yield from utf8_sequences(low, escaped - 1)
                if encoding == "json":
                    yield tuple((byte, byte) for byte in escape(escaped))
                low = escaped + 1
    if low <= high:
        yield from utf8_sequences(low, high)
    if encoding == "json-any":
        for _, short in short_escapes(first, last):
            yield tuple((byte, byte) for byte in short.encode())
        for units in unit_escapes(first, last):
            path: list[ByteRange] = []
            for unit in units:
                path += [_BACKSLASH, _U, *[(HEX + a, HEX + b) for a, b in unit]]
            yield tuple(path)


@small_cache(512)
def byte_ranges(low: int, high: int) -> tuple[ByteRange, ...]:
    """A range of a path as ranges of bytes."""
    if low < HEX:
        return ((low, high),)
    low, high = low - HEX, high - HEX
    out = []
    if low <= 9:
        out.append((0x30 + low, 0x30 + min(high, 9)))
    if high >= 10:
        first = max(low, 10) - 10
        out += [(0x41 + first, 0x41 + high - 10), (0x61 + first, 0x61 + high - 10)]
    return tuple(out)


class ByteMoves:
    """An automaton over characters as one over bytes, made state by state.

    Local states from 0 on are the automaton's own; negative ones lie inside a character, and those with the
    same moves are one.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._moves: dict[int, tuple[Move, ...]] = {}
        self.characters = Characters(encoding, self)

    def edges(self, state: int) -> Sequence[Move]:
        """The edges of one of the automaton's states: (low, high, target), sorted and disjoint."""
        raise TypeError(f"{type(self).__name__} has no edges")

    def moves(self, local: int) -> tuple[Move, ...]:
        """The byte moves of a local state, sorted and disjoint."""
        if local < 0:
            return self.characters.moves(-1 - local)
        found = self._moves.get(local)
        if found is None:
            found = self._moves[local] = self.characters.begin(tuple(self.edges(local)))
        return found

    def move(self, local: int, byte: int) -> int | None:
        """The local state after a byte."""
        for low, high, target in self.moves(local):
            if byte <= high:
                return target if low <= byte else None
        return None

    def targets(self, local: int) -> tuple[int, ...]:
        """The automaton's states that may be reached by the end of a character that has been begun."""
        return self.characters.targets(-1 - local)

    def ends_of_character(self, local: int, each: int = 1) -> dict[int, list[bytes]]:
        """By state that may be reached: ends of the character begun, the shortest first.

        Up to `each` for every state; they end different characters.
        """
        found: dict[int, list[bytes]] = {}
        level = [(local, b"")]
        while level:
            counts: dict[int, int] = {}
            following = []
            for here, data in level:
                for low, high, target in self.moves(here):
                    # Upper-case digits spell the same characters as lower-case ones.
                    if low == 0x41:
                        continue
                    for byte in range(low, high + 1):
                        ends = found.setdefault(target, []) if target >= 0 else None
                        if ends is not None and len(ends) < each:
                            ends.append(data + bytes([byte]))
                        elif ends is None and counts.get(target, 0) < each:
                            counts[target] = counts.get(target, 0) + 1
                            following.append((target, data + bytes([byte])))
                        else:
                            break
            level = following
        return found


def read(data: bytes, encoding: Encoding) -> str:
    """The text that is spelled by whole characters."""
    if encoding == "raw" or b"\\" not in data:
        return data.decode()
    text: str = json.loads(b'"' + data + b'"')
    return text


def begins(char: str, data: bytes, encoding: Encoding) -> bool:
    """Whether some spelling of a character begins with the data."""
    for path in spellings(ord(char), ord(char), encoding):
        if len(data) <= len(path) and all(
            any(low <= byte <= high for low, high in byte_ranges(*step))
            for byte, step in zip(data, path, strict=False)
        ):
            return True
    return False


@small_cache(4096)
def spelled(text: str, encoding: Encoding) -> bytes:
    """A shortest spelling of a text."""
    if encoding == "raw":
        return text.encode()
    return b"".join([escape(ord(char)) for char in text])
