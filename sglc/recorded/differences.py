"""What differs between two values, for people: records field by field, long texts line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import ndiff

LONG = 60
"""Characters from which on a text is shown as the lines that differ: longer ones are hard to compare by eye
where one stands behind the other."""
MOST = 12
"""Most differences that are told: more say that the values have nothing in common."""
_NOTHING = object()


def differences(left: str, right: str) -> list[str]:
    """Lines on how two values differ, by the texts that show them; none where they are short and plain."""
    try:
        one, other = json.loads(left), json.loads(right)
    except (ValueError, RecursionError):
        one, other = left, right
    if not isinstance(one, dict | list) and not (isinstance(one, str) and isinstance(other, str)):
        return []
    found = list(_between(one, other, ""))
    return found[:MOST] + ([f"… and {len(found) - MOST} more"] if len(found) > MOST else [])


def _between(one: object, other: object, path: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            inner = f"{path}.{name}" if path else str(name)
            yield from _between(one.get(name, _NOTHING), other.get(name, _NOTHING), inner)
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            left, right = (items[index] if index < len(items) else _NOTHING for items in (one, other))
            yield from _between(left, right, f"{path}[{index}]")
    elif one != other or type(one) is not type(other):
        yield from _told(one, other, path)


def _told(one: object, other: object, path: str) -> Iterator[str]:
    where = f"{path}: " if path else ""
    if isinstance(one, str) and isinstance(other, str) and max(len(one), len(other)) > LONG:
        if path:
            yield f"{path}:"
        for line in ndiff(one.splitlines(), other.splitlines()):
            if line[:1] != " ":
                yield "  " + line.rstrip("\n")
    elif path or isinstance(one, dict | list) or isinstance(other, dict | list):
        yield f"{where}{_shown(one)}, not {_shown(other)}"


def _shown(value: object) -> str:
    if value is _NOTHING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
