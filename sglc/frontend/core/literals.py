"""Where each character of a Python string literal stands, so that findings inside it have a place."""

from __future__ import annotations

import ast
import re

_OPENING = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_ESCAPE = re.compile(
    r"\\(?:\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.DOTALL
)


def offsets(text: str, start: int, end: int, value: str) -> list[int] | None:
    """For each character of a string's value, and for its end, the offset in the text.

    `start` and `end` enclose the literal, which may be several that stand side by side. None where that is
    not found out, as for f-strings.
    """
    found: list[int] = []
    made: list[str] = []
    position = start
    while position < end:
        opening = _OPENING.match(text, position, end)
        if opening is None:
            if text[position] == "#":
                position = text.find("\n", position, end) + 1 or end
            elif text[position].isspace() or text[position] in "\\()":
                position += 1
            else:
                return None
            continue
        prefix, quotes = opening[1].lower(), opening[2]
        if "f" in prefix or "b" in prefix:
            return None
        position = _piece(text, opening.end(), end, quotes, "r" in prefix, found, made)
    if "".join(made) != value:
        return None
    last = found[-1] + 1 if found else start
    return [*found, last]


def _piece(text: str, start: int, end: int, quotes: str, raw: bool, found: list[int], made: list[str]) -> int:
    """The characters of one literal; returns the offset behind it."""
    position = start
    while position < end and not text.startswith(quotes, position):
        escape = _ESCAPE.match(text, position, end) if text[position] == "\\" else None
        if escape is None:
            made.append(text[position])
            found.append(position)
            position += 1
            continue
        written = escape[0]
        characters = written if raw else _unescaped(written)
        made.append(characters)
        found.extend(position + (index if raw else 0) for index in range(len(characters)))
        position = escape.end()
    return position + len(quotes)


def _unescaped(written: str) -> str:
    """What one escape stands for."""
    if written == "\\\n":
        return ""
    if written in ("\\'", '\\"'):
        return written[1]
    try:
        value = ast.literal_eval(f'"{written}"')
    except (SyntaxError, ValueError):
        return written
    return value if isinstance(value, str) else written
