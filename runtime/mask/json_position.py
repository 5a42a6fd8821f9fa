"""Where the beginning of a JSON text ends: the keys and indices that lead to the value being read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Keys of objects and indices of arrays, the outermost first."""

_PIECES = re.compile(r'[{}\[\],:]|"(?:[^"\\]|\\.)*+("?)|[^\s{}\[\],:"]+', re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(slots=True)
class _Open:
    """An array or object that is open: the index or key of the entry, None before a key has been read."""

    close: str
    step: str | int | None
    ended: bool = False
    """Whether a value has been read to its end, so that what follows belongs to the array or object."""


def json_position(data: bytes) -> Path | None:
    """The path to what the next byte belongs to: a value, or between values the array or object around them.

    None where the bytes do not begin a JSON text of an array or object.
    """
    text = data.decode("utf-8", "replace")
    open: list[_Open] = []
    begun = False
    for piece in _PIECES.finditer(text):
        found = piece.group()
        here = open[-1] if open else None
        if found in "{[":
            open.append(_Open("}", None) if found == "{" else _Open("]", 0))
            begun = True
        elif here is None:
            return None
        elif found in "}]":
            if found != here.close:
                return None
            open.pop()
            if open:
                open[-1].ended = True
        elif found == ",":
            here.ended = False
            here.step = here.step + 1 if isinstance(here.step, int) else None
        elif found[0] == '"' and piece.group(1):
            if here.step is None:
                here.step = _key(found)
            else:
                here.ended = True
    if not begun and text.strip():
        return None
    path: list[str | int] = []
    for each in open:
        if each.step is None or each.ended:
            break
        path.append(each.step)
    return tuple(path)


def _key(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        return quoted[1:-1]


def show_path(path: Path) -> str:
    """`$.items[2].date`; keys that are no plain names stand in brackets and quotes."""
    shown = "$"
    for step in path:
        if isinstance(step, str):
            shown += f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
        else:
            shown += f"[{step}]"
    return shown
