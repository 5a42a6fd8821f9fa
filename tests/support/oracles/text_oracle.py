"""What texts and spans mean, in the plainest code: characters, their spellings, words of an automaton."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

from sglc.automata.term import Listed, Span, Text


def count_fits(term: Text, count: int) -> bool:
    return count >= term.min_chars and (term.max_chars is None or count <= term.max_chars)


def move(term: Text, state: int, point: int) -> int | None:
    for low, high, target in term.dfa.edges[state]:
        if low <= point <= high:
            return target
    return None


@lru_cache(1 << 14)
def spell(char: str, encoding: str) -> bytes:
    return (char if encoding == "raw" else json.dumps(char, ensure_ascii=False)[1:-1]).encode()


@lru_cache(1 << 14)
def spellings(char: str, encoding: str) -> tuple[bytes, ...]:
    """All ways to write a character."""
    found = [spell(char, encoding)]
    if encoding == "json-any":
        others = [short.encode() for short in SHORT if json.loads(f'"{short}"') == char]
        units = json.dumps(char, ensure_ascii=True)[1:-1]
        if len(units) not in (6, 12):
            units = f"\\u{ord(char):04x}"
        choices = [(c, c.upper()) if c in "abcdef" else (c,) for c in units]
        others += ["".join(cased).encode() for cased in product(*choices)]
        found += [other for other in dict.fromkeys(others) if other != found[0]]
    return tuple(found)


SHORT = ('\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t")


def text_spellings(text: str, encoding: str, count: int | None) -> Iterator[bytes]:
    ways = [list(islice(spellings(char, encoding), count)) for char in text]
    yield from map(b"".join, islice(product(*ways), count))


def decode(data: bytes) -> str:
    return json.loads('"' + data.decode("utf-8", "replace") + '"')


def pieces(term: Span | Listed) -> Iterator[str]:
    """All texts of a span or a list, before they are spelled."""
    if isinstance(term, Listed):
        yield from sorted(term.texts)
        return
    text = term.text
    most = len(text) if term.max_chars is None else term.max_chars
    found = {text[a:b] for a in range(len(text) + 1) for b in range(a, len(text) + 1)}
    yield from sorted(piece for piece in found if term.min_chars <= len(piece) <= most)


def read_char(data: bytes, at: int, encoding: str) -> tuple[str | None, int]:
    """The character spelled at a place and how many bytes it takes; (None, 0) if none is complete there."""
    return _first_char(data[at : at + 12], encoding)


@lru_cache(1 << 14)
def _first_char(data: bytes, encoding: str) -> tuple[str | None, int]:
    for size in range(1, len(data) + 1):
        piece = data[:size]
        try:
            text = piece.decode()
            char = text if encoding == "raw" else json.loads('"' + text + '"', strict=True)
        except ValueError:
            continue
        if len(char) == 1 and not "\ud800" <= char <= "\udfff":
            # In `json` only the canonical spelling counts: `\\u0061` is no `a`.
            if encoding == "json-any" or spell(char, encoding) == piece:
                return char, size
    return None, 0


def chars(term: Text, state: int, partial: bytes, count: int) -> Iterator[tuple[bytes, int]]:
    """(spelling, state behind it): up to `count` of each edge that begin with `partial` and are longer."""
    for low, high, target in term.dfa.edges[state]:
        if term.encoding != "raw":
            some = [chr(point) for point in (*range(0x20), 0x22, 0x2F, 0x5C) if low <= point <= high]
            if term.encoding == "json-any" and partial.startswith(b"\\"):
                some += map(chr, _escaped_points(partial, low, high, count))
            for char in dict.fromkeys(some):
                for spelling in spellings(char, term.encoding):
                    if spelling.startswith(partial) and spelling != partial and spelling[:1] == b"\\":
                        yield spelling, target
        if partial[0] < 0xC2:
            continue
        # The code points whose UTF-8 begins like that are one range; find its ends by the bytes.
        for size in (2, 3, 4):
            missing = size - len(partial)
            if missing <= 0:
                continue
            first, last = _decode_points(partial, missing)
            if first is not None and last is not None:
                begin = max(first, low)
                for point in range(begin, min(last, high, begin + count - 1) + 1):
                    yield chr(point).encode(), target


def _escaped_points(partial: bytes, low: int, high: int, count: int) -> Iterator[int]:
    """Points of a range, `count` of each plane's half, whose escape may begin with `partial`."""
    text = partial.decode("ascii", "replace").lower()
    digits = text[2:6]
    if text[1:2] not in ("", "u") or any(c not in "0123456789abcdef" for c in digits):
        return
    first = int(digits.ljust(4, "0"), 16)
    last = int(digits.ljust(4, "f"), 16)
    if len(text) <= 6:
        yield from islice(range(max(first, low), min(last, high, 0xFFFF) + 1), count)
    for lead in range(max(first, 0xD800), min(last, 0xDBFF) + 1):
        begin = 0x10000 + (lead - 0xD800 << 10)
        if begin > high or begin + 0x3FF < low:
            continue
        for point in range(max(begin, low), min(begin + 0x3FF, high) + 1):
            trail = f"\\u{lead:04x}\\u{0xDC00 + (point & 0x3FF):04x}"
            if trail.startswith(text):
                yield point
                count -= 1
                if not count:
                    return


def _decode_points(partial: bytes, missing: int) -> tuple[int | None, int | None]:
    """Lowest and highest code point whose UTF-8 is `partial` and that many bytes more."""
    lead = partial[0]
    size = len(partial) + missing
    if size != (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) or lead > 0xF4:
        return None, None
    if any(not 0x80 <= byte <= 0xBF for byte in partial[1:]):
        return None, None
    bits = lead & (0xFF >> (size + 1))
    for byte in partial[1:]:
        bits = bits << 6 | byte & 0x3F
    first, last = bits << 6 * missing, (bits + 1 << 6 * missing) - 1
    first = max(first, {2: 0x80, 3: 0x800, 4: 0x10000}[size])
    last = min(last, 0x10FFFF)
    if size == 3 and first <= 0xDFFF and last >= 0xD800:
        if first >= 0xD800:
            first = 0xE000
        elif last <= 0xDFFF:
            last = 0xD7FF
    return (first, last) if first <= last else (None, None)


def text_words(term: Text, state: int, read: int, count: int) -> list[bytes]:
    """Up to `count` endings of a word from a state after `read` characters, shortest first."""
    found: dict[bytes, None] = {}
    layer: dict[int, list[bytes]] = {state: [b""]}
    most = max(read, term.min_chars) + len(term.dfa.edges) * (count + 1)
    while layer and read <= most and (term.max_chars is None or read <= term.max_chars):
        if read >= term.min_chars:
            for here, words in layer.items():
                if here in term.dfa.accepting:
                    found.update(dict.fromkeys(words))
            if len(found) >= count:
                break
        following: dict[int, dict[bytes, None]] = {}
        for here, words in layer.items():
            for low, high, target in term.dfa.edges[here]:
                grown = following.setdefault(target, {})
                for point in range(low, min(high, low + count - 1) + 1):
                    if len(grown) >= count:
                        break
                    for spelling in islice(spellings(chr(point), term.encoding), count):
                        grown.update(dict.fromkeys(word + spelling for word in words))
        layer = {here: list(words)[:count] for here, words in following.items()}
        read += 1
    return list(found)[:count]
