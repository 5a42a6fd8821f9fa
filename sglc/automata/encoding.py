"""How one character is written in each encoding of a `Text` term."""

from __future__ import annotations

_SHORT = {0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}


def spelled(point: int, json: bool) -> str:
    """The characters that stand for a character: itself, or its one escape inside a JSON string."""
    if json:
        if point in _SHORT:
            return _SHORT[point]
        if point < 0x20:
            return f"\\u{point:04x}"
    return chr(point)


def encoded(point: int, json: bool) -> bytes:
    return spelled(point, json).encode()


ESCAPED = frozenset(range(0x20)) | {0x22, 0x5C}
"""Characters that are not written as themselves inside a JSON string."""
