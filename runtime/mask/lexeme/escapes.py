"""Automata over characters as automata over bytes, in UTF-8 and inside JSON strings."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sglc.automata.caches import small_cache
from sglc.automata.encoding import spellings
from sglc.automata.term import Encoding
from sglc.runtime.mask.lexeme.utf8_states import Characters

Move = tuple[int, int, int]
"""(lowest byte, highest byte, local state reached)."""


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


@small_cache(4096)
def ways(char: str, encoding: Encoding) -> tuple[bytes, ...]:
    """All spellings of a character."""
    return tuple([way.encode() for way in spellings(ord(char), encoding)])
