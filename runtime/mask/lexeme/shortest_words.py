"""The shortest words of a character automaton, counted in bytes as an encoding spells them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import cached_property

from sglc.automata import work
from sglc.automata.term import CharDfa, Encoding
from sglc.runtime.mask.lexeme.utf8 import SHORT_ESCAPES, escape

_NICE = tuple(ord(c) for c in "a0A .-_")
"""Characters preferred in shortest words, best first."""


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
        self._costs_by_length: list[tuple[int | None, ...]] = []
        """By length and state: fewest bytes of a word of exactly so many characters. There may be millions:
        in lists, full collections would look at each."""
        self._period = 0, 0, 0
        """(first level, levels, bytes) of the period in which levels come again; no levels: none is known."""
        self._shapes: dict[tuple[int | None, ...], tuple[int, int]] = {}
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
        cost = self._costs_by_length[length][state]
        return cost if cost is None or not times else cost + times * self._period[2]

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
        if not levels:
            level: list[int | None] = [
                0 if state in self.dfa.accepting else None for state in range(len(self.dfa.edges))
            ]
        else:
            last = levels[-1]
            level = []
            for moves in self._moves:
                least: int | None = None
                for target, size in moves:
                    rest = last[target]
                    if rest is not None and (least is None or rest + size < least):
                        least = rest + size
                level.append(least)
        base = min([cost for cost in level if cost is not None], default=0)
        shape = tuple([None if cost is None else cost - base for cost in level])
        known = self._shapes.get(shape)
        if known is not None:
            first, before = known
            self._period = first, len(levels) - first, base - before
            return
        self._shapes[shape] = len(levels), base
        levels.append(tuple(level))

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
                (escape(c) for c in {low, high, *_clip(low, high, (8, 10, 34, 92))}), key=_length_first
            )
        return chr(low).encode()


def _clip(low: int, high: int, candidates: tuple[int, ...]) -> list[int]:
    return [c for c in candidates if low <= c <= high]


def _length_first(data: bytes) -> tuple[int, bytes]:
    return len(data), data


def _niceness(data: bytes) -> int:
    return _NICE.index(data[0]) if data[0] in _NICE else len(_NICE)
