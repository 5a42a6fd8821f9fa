"""Automata as short ASCII text, for tables that are part of the source.

A state is a base-128 number (low bits first) of its edges, doubled, plus one if it accepts; an edge is the
gap from the last character of the edge before, its length, and its target as a zigzag difference from the
state's own number. All of it is compressed and written in base 85.
"""

from __future__ import annotations

import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator

from sglc.automata.term import CharDfa


def pack(dfa: CharDfa) -> str:
    """An automaton as text; what is equal is written alike."""
    out = bytearray()
    for state, edges in enumerate(dfa.edges):
        out += _number(2 * len(edges) + (state in dfa.accepting))
        last = 0
        for low, high, target in edges:
            difference = target - state
            out += _number(low - last) + _number(high - low)
            out += _number(2 * difference if difference >= 0 else -2 * difference - 1)
            last = high
    return b85encode(zlib.compress(bytes(out), 9)).decode("ascii")


def unpack(text: str) -> CharDfa:
    """The automaton that `pack` has written."""
    numbers = read_numbers(zlib.decompress(b85decode(text)))
    edges: list[tuple[tuple[int, int, int], ...]] = []
    accepting = []
    for head in numbers:
        state = len(edges)
        if head & 1:
            accepting.append(state)
        row = []
        last = 0
        for _ in range(head >> 1):
            low = last + next(numbers)
            last = low + next(numbers)
            zigzag = next(numbers)
            row.append((low, last, state + (-(zigzag >> 1) - 1 if zigzag & 1 else zigzag >> 1)))
        edges.append(tuple(row))
    return CharDfa(tuple(edges), frozenset(accepting))


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_numbers(data: bytes) -> Iterator[int]:
    """The base-128 numbers in some bytes, low bits first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        if byte < 128:
            yield value
            value = shift = 0
        else:
            shift += 7
