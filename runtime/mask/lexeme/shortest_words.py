"""The shortest words of a character automaton, counted in bytes as an encoding spells them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import cached_property

import numpy as np

from sglc.automata import work
from sglc.automata.encoding import SHORT_ESCAPES, encoded
from sglc.automata.term import CharDfa, Encoding
from sglc.runtime.mask.core.byte_sets import length_first

_NICE = tuple(ord(c) for c in "a0A .-_")
"""Characters preferred in shortest words, best first."""
_NO_WORD = 1 << 30
"""More bytes than any word has."""


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
        self._costs_by_length: list[np.ndarray] = []
        """By length: int32 by state, fewest bytes of a word of exactly so many characters. There may be
        millions, at which the garbage collector does not look in arrays."""
        self._period = 0, 0, 0
        """(first level, levels, bytes) of the period in which levels come again; no levels: none is known."""
        self._levels: dict[bytes, tuple[int, int]] = {}
        """Which level it was, and its least cost, by the differences to that."""
        self._steps: dict[tuple[int, int], tuple[bytes, int]] = {}
        """By state and level."""

    def word(self, state: int, least: int, most: int | None) -> bytes:
        """A shortest word of `least` to `most` characters; there must be one.

        Raises ConstraintError where lengths decide, and the automaton is too large to compare all of them.
        """
        _, length = self._free[state]
        # Mostly a shortest word of any length is one that is not too short.
        if least > length or (most is not None and most < length):
            length = self._best_length(state, least, most)
        out = bytearray()
        work.spend(length // 4)
        while length:
            data, state = self._step(state, length)
            out += data
            length -= 1
        return bytes(out)

    @cached_property
    def _moves(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """By state: the states after one character, with the bytes of the shortest such character."""
        found = []
        for edges in self.dfa.edges:
            moves: dict[int, int] = {}
            for low, high, target in edges:
                size = len(self._cheapest(low, high))
                moves[target] = min(size, moves.get(target, size))
            found.append(tuple(moves.items()))
        return tuple(found)

    @cached_property
    def _flat_moves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The same in arrays: states that have moves, where those of each begin; targets and bytes of all."""
        counts = np.array(list(map(len, self._moves)), np.int64)
        sources = np.flatnonzero(counts)
        every = np.array([move for moves in self._moves for move in moves], np.int32).reshape(-1, 2)
        return sources, (np.cumsum(counts) - counts)[sources], every[:, 0], every[:, 1]

    @cached_property
    def _free(self) -> tuple[tuple[int, int], ...]:
        """By state: fewest bytes of a word of any length, and fewest characters of such a word."""
        sources: list[list[tuple[int, int]]] = [[] for _ in self.dfa.edges]
        for state, moves in enumerate(self._moves):
            for target, size in moves:
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
        return tuple([found[state] for state in range(len(self.dfa.edges))])

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
        times, length = self._level(length)
        cost = self._costs_by_length[length].item(state)
        return cost + times * self._period[2] if cost < _NO_WORD else None

    def _level(self, length: int) -> tuple[int, int]:
        """(how many periods later, length): the level that a number of characters has."""
        levels = self._costs_by_length
        while len(levels) <= length and not self._period[1]:
            self._add_level()
        first, period, _ = self._period
        if length < len(levels):
            return 0, length
        times, rest = divmod(length - first, period)
        return times, first + rest

    def _add_level(self) -> None:
        """Costs of one character more.

        Where all of them are those of an earlier level, and so many bytes more, so are all that follow.
        """
        levels = self._costs_by_length
        work.spend(1 + len(self._moves) // 2)
        level = np.full(len(self.dfa.edges), _NO_WORD, np.int32)
        if not levels:
            level[list(self.dfa.accepting)] = 0
        else:
            sources, starts, targets, sizes = self._flat_moves
            if len(sources):
                level[sources] = np.minimum.reduceat(levels[-1][targets] + sizes, starts)
                np.minimum(level, _NO_WORD, out=level)
        ends = level < _NO_WORD
        base = int(level.min()) if ends.any() else 0
        differences = np.where(ends, level - base, _NO_WORD).tobytes()
        known = self._levels.get(differences)
        if known is not None:
            first, before = known
            self._period = first, len(levels) - first, base - before
            return
        self._levels[differences] = len(levels), base
        levels.append(level)

    def _step(self, state: int, remaining: int) -> tuple[bytes, int]:
        """The first character, spelled, of a shortest word of `remaining` characters, and its target."""
        # The shortest words of all are known without levels.
        times, level = (0, remaining) if remaining == self._free[state][1] else self._level(remaining)
        if times and level == self._period[0]:
            level += self._period[1]  # the level before it is one of the period too
        found = self._steps.get((state, level))
        if found is None:
            remaining = level
            total = self._cost(state, remaining)
            assert total is not None
            options = []
            for low, high, target in self.dfa.edges[state]:
                data = self._cheapest(low, high)
                if self._fits(target, remaining - 1, total - len(data)):
                    options.append((_niceness(data), data, target))
            _, data, target = min(options)
            found = self._steps[state, level] = (data, target)
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
                (encoded(c, True) for c in {low, high, *_clip(low, high, (8, 10, 34, 92))}), key=length_first
            )
        return chr(low).encode()


def _clip(low: int, high: int, candidates: tuple[int, ...]) -> list[int]:
    return [c for c in candidates if low <= c <= high]


def _niceness(data: bytes) -> int:
    return _NICE.index(data[0]) if data[0] in _NICE else len(_NICE)
