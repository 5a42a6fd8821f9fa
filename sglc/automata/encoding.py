"""How one character is written in each encoding of a `Text` term."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from json.encoder import encode_basestring

from sglc.automata.term import Encoding

SHORT_ESCAPES = {0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}
"""By character: its short escape in JSON's canonical spelling."""
_SHORT_OR_FREE = {**SHORT_ESCAPES, 0x2F: "\\/"}

ESCAPED = frozenset(range(0x20)) | {0x22, 0x5C}
"""Characters that are not written as themselves inside a JSON string."""

Digits = tuple[int, int]
"""A range of hexadecimal digits, by their values; both cases are meant."""


def spelled(point: int, json: bool) -> str:
    """The characters that stand for a character: itself, or its one escape inside a JSON string."""
    if json:
        if point in SHORT_ESCAPES:
            return SHORT_ESCAPES[point]
        if point < 0x20:
            return f"\\u{point:04x}"
    return chr(point)


def encoded(point: int, json: bool) -> bytes:
    """The UTF-8 bytes of a character, within a JSON text or raw."""
    return spelled(point, json).encode()


def written(text: str, encoding: Encoding) -> bytes:
    """A text in its canonical spelling."""
    return (text if encoding == "raw" else encode_basestring(text)[1:-1]).encode()


def spellings(point: int, encoding: Encoding) -> Iterator[str]:
    """Everything that may stand for a character, the shortest first."""
    yield spelled(point, encoding != "raw")
    if encoding != "json-any":
        return
    if point in _SHORT_OR_FREE and point not in SHORT_ESCAPES:
        yield _SHORT_OR_FREE[point]
    for path in unit_escapes(point, point):
        for units in product(*[product(*[_cases(low) for low, _ in unit]) for unit in path]):
            escape = "".join("\\u" + "".join(unit) for unit in units)
            if escape != spelled(point, True):
                yield escape


def _cases(digit: int) -> str:
    small = f"{digit:x}"
    return small if digit < 10 else small + small.upper()


def short_escapes(low: int, high: int) -> Iterator[tuple[int, str]]:
    """The characters of a range that JSON has short escapes for, with these."""
    for point, short in _SHORT_OR_FREE.items():
        if low <= point <= high:
            yield point, short


def unit_escapes(low: int, high: int) -> Iterator[tuple[tuple[Digits, ...], ...]]:
    r"""The characters low..high (no surrogates) as `\uXXXX`, above U+FFFF as two (RFC 8259, section 7).

    Each is the ranges of the four digits of one unit or of two. Behind a range wider than one all digits of
    the rest are free, so that of disjoint sets of characters any two ranges at the same place, behind equal
    ones, are equal or disjoint.
    """
    if low <= 0xFFFF:
        for digits in _digits(low, min(high, 0xFFFF), (12, 8, 4, 0)):
            yield (digits,)
    if high > 0xFFFF:
        # 20 bits: two and two digits of the first unit, behind D8, and the same of the second, behind DC.
        for a, *rest in _digits(max(low, 0x10000) - 0x10000, high - 0x10000, (18, 14, 10, 8, 4, 0)):
            first = ((13, 13), (8 + a[0], 8 + a[1]), *rest[:2])
            yield first, ((13, 13), (12 + rest[2][0], 12 + rest[2][1]), *rest[3:])


def _digits(low: int, high: int, shifts: tuple[int, ...]) -> Iterator[tuple[Digits, ...]]:
    """Sequences of digit ranges for low..high; a digit lies between its shift and the one before."""
    for shift in reversed(shifts[:-1]):
        block = (1 << shift) - 1
        if low >> shift != high >> shift:
            if low & block:
                yield from _digits(low, low | block, shifts)
                yield from _digits((low | block) + 1, high, shifts)
                return
            if high & block != block:
                yield from _digits(low, (high & ~block) - 1, shifts)
                yield from _digits(high & ~block, high, shifts)
                return
    out = []
    above = 1 << 32
    for shift in shifts:
        out.append((low % above >> shift, high % above >> shift))
        above = 1 << shift
    yield tuple(out)
