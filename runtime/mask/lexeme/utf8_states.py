"""Characters as bytes, state by state: the places inside a character's encoding, made when they are reached.

An automaton over characters becomes one over bytes by states *inside* a character: after the first bytes of
UTF-8, after a backslash, after some hexadecimal digits. Such a state is what can still be read, relative to
what has been read: how many bytes or digits are left, and to which target each of their values leads. So all
beginnings after which the same rests lead to the same states are one state, and none is made before a byte
leads to it.

Targets from 0 on are states of the automaton, between characters; -1 - i is inside state i.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Protocol

from sglc.automata.encoding import SHORT_ESCAPES
from sglc.automata.term import Encoding
from sglc.kernels.trie.utf8_walk import ESCAPE, HEX

Edge = tuple[int, int, int]
"""(lowest, highest, target) of code points or of values relative to a beginning."""
Move = tuple[int, int, int]
"""(lowest byte, highest byte, target)."""
Key = tuple[int, int, tuple[Edge, ...]]
"""(kind, bytes or digits left, edges of their values)."""

_UTF8, _HEX, _LOWER_HEX, _ESCAPE, _CONTROL_ESCAPE, _PAIR, _PAIR_U, _LATER = range(8)
_SHORT = {ord(short[1]): character for character, short in SHORT_ESCAPES.items()}
_SHORT_FREE = {**_SHORT, 0x2F: 0x2F}
_LEADS = (
    (0xC2, 0xDF, 0x80, 0x7FF, 1),
    (0xE0, 0xE0, 0x800, 0xFFF, 2),
    (0xE1, 0xEC, 0x1000, 0xCFFF, 2),
    (0xED, 0xED, 0xD000, 0xD7FF, 2),
    (0xEE, 0xEF, 0xE000, 0xFFFF, 2),
    (0xF0, 0xF0, 0x10000, 0x3FFFF, 3),
    (0xF1, 0xF3, 0x40000, 0xFFFFF, 3),
    (0xF4, 0xF4, 0x100000, 0x10FFFF, 3),
)
"""(first and last lead byte, their code points, continuation bytes): within a row, each byte has as many."""


class EdgeSource(Protocol):
    """An automaton over characters."""

    def edges(self, state: int) -> Sequence[Edge]:
        """The edges of a state, sorted and disjoint."""


class Characters:
    """The states inside characters of one automaton in one encoding."""

    def __init__(self, encoding: Encoding, source: EdgeSource | None = None) -> None:
        """`source`: the automaton, for `escape_of`."""
        self.encoding = encoding
        self._source = source
        self._keys: dict[int, Key] = {}
        self._ids: dict[Key, int] = {}
        self._moves: dict[int, tuple[Move, ...]] = {}
        self._targets: dict[int, tuple[int, ...]] = {}

    @property
    def known(self) -> int:
        """The number of inside states met so far."""
        return len(self._keys)

    def begin(self, edges: tuple[Edge, ...]) -> tuple[Move, ...]:
        """The moves of a state between characters, whose edges are sorted and disjoint."""
        if self.encoding == "raw" and edges and edges[-1][1] < 0x80:
            return edges
        moves: list[Move] = []
        for low, high, target in edges:
            if low > 0x7F:
                break
            high = min(high, 0x7F)
            if self.encoding == "raw":
                moves.append((low, high, target))
                continue
            low = max(low, 0x20)
            for escaped in (0x22, 0x5C):
                if low <= escaped <= high:
                    if low < escaped:
                        moves.append((low, escaped - 1, target))
                    low = escaped + 1
            if low <= high:
                moves.append((low, high, target))
        moves += self._leads(edges)
        if self.encoding == "json-any" and edges:
            moves.append((0x5C, 0x5C, self._inside((_ESCAPE, 0, edges))))
        elif self.encoding == "json":
            ranges = ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
            rest = tuple([edge for low, high in ranges for edge in _clip(edges, low, high)])
            if rest:
                moves.append((0x5C, 0x5C, self._inside((_CONTROL_ESCAPE, 0, rest))))
        return _merged(moves)

    def begin_with(self, edges: tuple[Edge, ...], byte: int) -> int | None:
        """The target of one byte in a state between characters; the other bytes are not looked at."""
        if byte >= 0x80:
            for first, last, low, high, more in _LEADS:
                if byte <= last:
                    if byte < first:
                        return None
                    size = 64**more
                    base = (low // size + byte - first) * size
                    rest = _cut(edges, max(low, base), min(high, base + size - 1), base)
                    return self._inside((_UTF8, more, rest)) if rest else None
            return None
        if self.encoding != "raw":
            if byte == 0x5C:
                return next((target for low, _, target in self.begin(edges) if low == byte), None)
            if byte < 0x20 or byte == 0x22:
                return None
        found = _cut(edges, byte, byte, 0)
        return found[0][2] if found else None

    def move(self, state: int, byte: int) -> int | None:
        """The target of one byte in an inside state."""
        kind, left, edges = self._keys[state]
        if kind != _UTF8 or state in self._moves:
            return next((target for low, high, target in self.moves(state) if low <= byte <= high), None)
        if not 0x80 <= byte < 0xC0:
            return None
        size = 64 ** (left - 1)
        base = (byte - 0x80) * size
        rest = _cut(edges, base, base + size - 1, base)
        if left == 1 or not rest:
            return rest[0][2] if rest else None
        return self._inside((kind, left - 1, rest))

    def escape_of(self, state: int) -> int:
        """The target behind the backslash of any escape in a state, whose edges are not looked at before."""
        return self._inside((_LATER, state, ()))

    def escaped_state(self, state: int) -> int | None:
        """The state between characters that an inside state of `escape_of` belongs to."""
        kind, source, _ = self._keys[state]
        return source if kind == _LATER else None

    def begun(self, state: int) -> tuple[int, tuple[Edge, ...]] | None:
        """An inside state as walks over characters know it, (mode, edges); None where they do not: inside of
        the second escape of a pair, and where some digits of an escape that may be the first are read.

        The values of edges are what is still to be read of the character's number.
        """
        kind, left, edges = self._keys[state]
        if kind == _HEX:
            points = edges if min(edges, key=itemgetter(2))[2] >= 0 else self._with_pairs(left, edges)
            return None if points is None else (HEX + left, points)
        if kind == _UTF8:
            return left, edges
        if kind == _LATER:
            return ESCAPE, self._edges_of(left)
        return (ESCAPE, edges) if kind in (_ESCAPE, _CONTROL_ESCAPE) else None

    def _with_pairs(self, left: int, units: tuple[Edge, ...]) -> tuple[Edge, ...] | None:
        """The edges of characters whose first units of UTF-16 are known; None where digits have been read."""
        if left < 4:
            return None
        edges = []
        for low, high, target in units:
            if target >= 0:
                edges.append((low, high, target))
                continue
            _, _, rest = self._keys[-1 - target]
            for first in range(low, high + 1):
                base = 0x10000 + ((first - 0xD800) << 10)
                edges += [(base + start, base + end, behind) for start, end, behind in rest]
        return _merged(edges)

    def moves(self, state: int) -> tuple[Move, ...]:
        """The moves of an inside state, sorted and disjoint."""
        found = self._moves.get(state)
        if found is None:
            kind, left, edges = self._keys[state]
            found = self._moves[state] = _merged(self._make(kind, left, edges))
        return found

    def targets(self, state: int) -> tuple[int, ...]:
        """The states between characters that can be reached by the end of the character."""
        found = self._targets.get(state)
        if found is None:
            reached: set[int] = set()
            kind, source, edges = self._keys[state]
            if kind == _LATER:
                edges = self._edges_of(source)
            for _, _, target in edges:
                reached.update((target,) if target >= 0 else self.targets(-1 - target))
            found = self._targets[state] = tuple(sorted(reached))
        return found

    def _inside(self, key: Key) -> int:
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._keys)
            self._keys[number] = key
        return -1 - number

    def _edges_of(self, state: int) -> tuple[Edge, ...]:
        """The edges of a state between characters."""
        assert self._source is not None
        return tuple(self._source.edges(state))

    def _leads(self, edges: tuple[Edge, ...]) -> Iterator[Move]:
        """The moves by lead bytes of UTF-8."""
        at = 0
        for first, last, low, high, more in _LEADS:
            while at < len(edges) and edges[at][1] < low:
                at += 1
            if at == len(edges):
                return
            start, end, target = edges[at]
            if start > high:
                continue
            size = 64**more
            base = (low // size) * size
            if start <= low and end >= high:
                # One target for all: the rests of these bytes are the same.
                rest = (low - base, size - 1 - _gap(high, size), target)
                yield first, last, self._inside((_UTF8, more, (rest,)))
                continue
            for byte_low, byte_high, some in _blocks(_clip(edges[at:], low, high), size, low // size):
                yield first + byte_low, first + byte_high, self._inside((_UTF8, more, some))

    def _make(self, kind: int, left: int, edges: tuple[Edge, ...]) -> Iterator[Move]:
        if kind == _UTF8:
            for low, high, target in self._digits(kind, left, 64, edges):
                yield 0x80 + low, 0x80 + high, target
        elif kind in (_HEX, _LOWER_HEX):
            for low, high, target in self._digits(kind, left, 16, edges):
                if low <= 9:
                    yield 0x30 + low, 0x30 + min(high, 9), target
                if high >= 10:
                    yield 0x57 + max(low, 10), 0x57 + high, target
                    if kind == _HEX:
                        yield 0x37 + max(low, 10), 0x37 + high, target
        elif kind == _LATER:
            yield from self._escapes(_ESCAPE, self._edges_of(left))
        elif kind == _PAIR:
            yield 0x5C, 0x5C, self._inside((_PAIR_U, 0, edges))
        elif kind == _PAIR_U:
            # `edges` are of the 10 bits that the second unit holds behind 0xDC00.
            units = tuple((low + 0xDC00, high + 0xDC00, target) for low, high, target in edges)
            yield 0x75, 0x75, self._inside((_HEX, 4, units))
        else:
            yield from self._escapes(kind, edges)

    def _digits(self, kind: int, left: int, base: int, edges: tuple[Edge, ...]) -> Iterator[Move]:
        if left == 1:
            yield from edges
            return
        for low, high, rest in _blocks(edges, base ** (left - 1), 0):
            yield low, high, self._inside((kind, left - 1, rest))

    def _escapes(self, kind: int, edges: tuple[Edge, ...]) -> Iterator[Move]:
        """After a backslash: short escapes, and `u` with four digits, twice above U+FFFF."""
        for byte, character in (_SHORT_FREE if kind == _ESCAPE else _SHORT).items():
            for _, _, target in _clip(edges, character, character):
                yield byte, byte, target
        if kind == _CONTROL_ESCAPE:
            long = [edge for low, high, target in edges for edge in _without_short(low, high, target)]
            if long:
                yield 0x75, 0x75, self._inside((_LOWER_HEX, 4, tuple(long)))
            return
        units = [*_clip(edges, 0, 0xD7FF)]
        high_part = [(low - 0x10000, high - 0x10000, t) for low, high, t in _clip(edges, 0x10000, 0x10FFFF)]
        for low, high, rest in _blocks(high_part, 0x400, 0):
            units.append((low + 0xD800, high + 0xD800, self._inside((_PAIR, 0, rest))))
        units += _clip(edges, 0xE000, 0xFFFF)
        yield 0x75, 0x75, self._inside((_HEX, 4, tuple(units)))


def _gap(high: int, size: int) -> int:
    """How many values are missing behind the highest code point of a lead byte."""
    return (-(high + 1)) % size


def _clip(edges: Iterable[Edge], low: int, high: int) -> list[Edge]:
    """The part of sorted edges that lies in low..high."""
    out = []
    for start, end, target in edges:
        if start > high:
            break
        if end >= low:
            out.append((max(start, low), min(end, high), target))
    return out


def _cut(edges: tuple[Edge, ...], low: int, high: int, base: int) -> tuple[Edge, ...]:
    """The part of sorted edges that lies in low..high, counted from `base`."""
    at = bisect_left(edges, (low,))
    if at and edges[at - 1][1] >= low:
        at -= 1
    until = bisect_left(edges, (high + 1,), at)
    return _merged(
        [(max(start, low) - base, min(end, high) - base, target) for start, end, target in edges[at:until]]
    )


def _blocks(edges: Iterable[Edge], size: int, first: int) -> Iterator[tuple[int, int, tuple[Edge, ...]]]:
    """Cut edges into blocks of `size` values: (lowest block, highest block, edges relative to each of them).

    Blocks are numbered from `first`, which is subtracted; neighbours with the same edges come together.
    """
    runs: list[tuple[int, int, list[Edge]]] = []

    def add(low: int, high: int, edge: Edge) -> None:
        if runs and runs[-1][0] == low and runs[-1][1] == high:
            runs[-1][2].append(edge)
        else:
            runs.append((low, high, [edge]))

    for low, high, target in edges:
        start, end = low // size, high // size
        if start == end:
            add(start, end, (low - start * size, high - start * size, target))
            continue
        if low % size:
            add(start, start, (low - start * size, size - 1, target))
            start += 1
        last = end if (high + 1) % size == 0 else end - 1
        if start <= last:
            add(start, last, (0, size - 1, target))
        if last < end:
            add(end, end, (0, high - end * size, target))
    waiting: tuple[int, int, tuple[Edge, ...]] | None = None
    for low, high, rest in runs:
        found = _merged(rest)
        if waiting is not None and waiting[1] + 1 == low and waiting[2] == found:
            waiting = (waiting[0], high, found)
            continue
        if waiting is not None:
            yield waiting[0] - first, waiting[1] - first, waiting[2]
        waiting = (low, high, found)
    if waiting is not None:
        yield waiting[0] - first, waiting[1] - first, waiting[2]


def _merged(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Sorted, and neighbours with one target joined."""
    out: list[Move] = []
    for low, high, target in sorted(moves):
        if out and out[-1][2] == target and out[-1][1] + 1 == low:
            out[-1] = (out[-1][0], high, target)
        else:
            out.append((low, high, target))
    return tuple(out)


def _without_short(low: int, high: int, target: int) -> Iterator[Edge]:
    """The part of an edge of control characters that has no short escape."""
    for character in range(low, high + 1):
        if character not in SHORT_ESCAPES:
            yield character, character, target
