"""How characters become bytes: ranges of UTF-8, and the one spelling of escapes inside JSON strings."""

from __future__ import annotations

from collections.abc import Iterator

ByteRange = tuple[int, int]

SHORT_ESCAPES = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}
ESCAPED = tuple([*range(0x20), 34, 92])
"""The code points that a JSON string spells with an escape."""


def escape(character: int) -> bytes:
    """The canonical spelling of one code point inside a JSON string."""
    if character in SHORT_ESCAPES:
        return SHORT_ESCAPES[character]
    return b"\\u%04x" % character if character < 0x20 else chr(character).encode()


def utf8_sequences(low: int, high: int) -> Iterator[tuple[ByteRange, ...]]:
    """Sequences of byte ranges that together spell exactly the code points low..high (no surrogates inside).

    Whenever a range of lead bytes is wider than one, all its continuations are full; ranges of disjoint code
    points are therefore equal or disjoint in their lead bytes. (The known splitting of UTF-8 ranges, as in
    Cox, "Regular Expression Matching in the Wild", 2010.)
    """
    for top in (0x7F, 0x7FF, 0xFFFF):
        if low <= top < high:
            yield from utf8_sequences(low, top)
            yield from utf8_sequences(top + 1, high)
            return
    for shift in (6, 12, 18):
        if high < 0x80:
            break
        block = (1 << shift) - 1
        if low >> shift != high >> shift:
            if low & block:
                yield from utf8_sequences(low, low | block)
                yield from utf8_sequences((low | block) + 1, high)
                return
            if high & block != block:
                yield from utf8_sequences(low, (high & ~block) - 1)
                yield from utf8_sequences(high & ~block, high)
                return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))
