"""The shortest words of a character automaton, counted in bytes as an encoding spells them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import cached_property

from sglc.automata.term import CharDfa, Encoding
from sglc.runtime.mask.errors import ConstraintError
from sglc.runtime.mask.utf8 import SHORT_ESCAPES, escape

_NICE = tuple(ord(c) for c in "a0A .-_")
"""Characters preferred in shortest words, best first."""
_MAX_PATH_WORK = 5_000_000


class TextWords:
    """What a shortest word from a state of the automaton is; of equally short ones, one with few characters.

    `next_length(state, least)` is the smallest number of characters, at least `least`, of a word from a
    state, None where there is none.
    """

    def __init__(
        self, dfa: CharDfa, encoding: Encoding, next_length: Callable[[int, int], int | None]
    ) -> None:
        self.dfa = dfa
        self.encoding = encoding
        self._next_length = next_length
        self._costs_by_length: list[list[int | None]] = []
        """By length and state: fewest bytes of a word of exactly so many characters."""
        self._steps: dict[tuple[int, int], tuple[bytes, int]] = {}

    def word(self, state: int, least: int, most: int | None) -> bytes:
        """A shortest word of `least` to `most` characters; there must be one.

        Raises ConstraintError where lengths decide, and the automaton is too large to compare all of them.
        """
        _, length = self._free[state]
        # Mostly a shortest word of any length is one that is not too short.
        if least > length or (most is not None and most < length):
            length = self._best_length(state, least, most)
        out = bytearray()
        while length:
            data, state = self._step(state, length)
            out += data
            length -= 1
        return bytes(out)

    @cached_property
    def _moves(self) -> list[dict[int, int]]:
        """By state: the states after one character, with the bytes of the shortest such character."""
        found = []
        for edges in self.dfa.edges:
            moves: dict[int, int] = {}
            for low, high, target in edges:
                size = len(self._cheapest(low, high))
                moves[target] = min(size, moves.get(target, size))
            found.append(moves)
        return found

    @cached_property
    def _free(self) -> list[tuple[int, int]]:
        """By state: fewest bytes of a word of any length, and fewest characters of such a word."""
        sources: list[list[tuple[int, int]]] = [[] for _ in self.dfa.edges]
        for state, moves in enumerate(self._moves):
            for target, size in moves.items():
                sources[target].append((state, size))
        found: dict[int, tuple[int, int]] = {}
        heap = [(0, 0, state) for state in self.dfa.accepting]
        heapq.heapify(heap)
        while heap:
            cost, length, here = heapq.heappop(heap)
            if here in found:
                continue
            found[here] = (cost, length)
            for state, size in sources[here]:
                if state not in found:
                    heapq.heappush(heap, (cost + size, length + 1, state))
        # (The automaton is trimmed: some word leads on from every state.)
        return [found[state] for state in range(len(self.dfa.edges))]

    def _best_length(self, state: int, least: int, most: int | None) -> int:
        """How many characters the shortest of the words of `least` to `most` characters has."""
        length = self._next_length(state, least)
        assert length is not None
        best: tuple[int, int] | None = None
        while (most is None or length <= most) and (best is None or length < best[0]):
            cost = self._cost(state, length)
            if cost is not None and (best is None or cost < best[0]):
                best = (cost, length)
            if most is None and cost == length:
                break
            following = self._next_length(state, length + 1)
            if following is None:
                break
            length = following
        assert best is not None
        return best[1]

    def _cost(self, state: int, length: int) -> int | None:
        """Fewest bytes of a word of exactly `length` characters from `state`."""
        free, fewest = self._free[state]
        if length == fewest:
            return free
        levels = self._costs_by_length
        while len(levels) <= length:
            if len(levels) * max(len(self.dfa.edges), 1) > _MAX_PATH_WORK:
                raise ConstraintError("the length bounds of a text are too large for its pattern")
            if not levels:
                levels.append([0 if s in self.dfa.accepting else None for s in range(len(self.dfa.edges))])
                continue
            last = levels[-1]
            level: list[int | None] = []
            for moves in self._moves:
                least: int | None = None
                for target, size in moves.items():
                    rest = last[target]
                    if rest is not None and (least is None or rest + size < least):
                        least = rest + size
                level.append(least)
            levels.append(level)
        return levels[length][state]

    def _step(self, state: int, remaining: int) -> tuple[bytes, int]:
        """The first character, spelled, of a shortest word of `remaining` characters, and its target."""
        found = self._steps.get((state, remaining))
        if found is None:
            total = self._cost(state, remaining)
            assert total is not None
            options = []
            for low, high, target in self.dfa.edges[state]:
                data = self._cheapest(low, high)
                if self._fits(target, remaining - 1, total - len(data)):
                    options.append((_niceness(data), data, target))
            _, data, target = min(options)
            found = self._steps[state, remaining] = (data, target)
        return found

    def _fits(self, state: int, length: int, cost: int) -> bool:
        """Whether a shortest word of `length` characters from a state has so many bytes."""
        free, fewest = self._free[state]
        if cost < free or (cost == free and length < fewest):
            return False
        return self._cost(state, length) == cost

    def _cheapest(self, low: int, high: int) -> bytes:
        """The shortest, then nicest spelling of a character in low..high."""
        for character in _NICE:
            if low <= character <= high:
                return bytes([character])
        if self.encoding != "raw":
            for character in range(max(low, 0x20), min(high, 0x7F) + 1):
                if character not in SHORT_ESCAPES:
                    return bytes([character])
            return min(
                (escape(c) for c in {low, high, *_clip(low, high, (8, 10, 34, 92))}), key=_length_first
            )
        return chr(low).encode()


def _clip(low: int, high: int, candidates: tuple[int, ...]) -> list[int]:
    return [c for c in candidates if low <= c <= high]


def _length_first(data: bytes) -> tuple[int, bytes]:
    return len(data), data


def _niceness(data: bytes) -> int:
    return _NICE.index(data[0]) if data[0] in _NICE else len(_NICE)
