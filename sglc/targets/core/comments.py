"""Texts of the program inside comments and docstrings, which they must never end.

A doc comment may hold any character, and a key of an imported type too. A line ends in Python at a line feed
or carriage return, in ECMAScript also at U+2028 and U+2029.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sglc.targets.projection.core.loss import Loss

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that end a line somewhere, or that a source may not hold; line feed and tab left aside."""
_QUOTES = re.compile(r'"{3,}')
_QUOTES_THAT_END = re.compile(r'"{3,}|"+\Z')


def lost(losses: Iterable[Loss], mark: str, end: str = "") -> str:
    """What a text has in place of what was lost, one comment from `mark` to `end` a line."""
    said = (f"Lost: {each.construct}, at {each.place}; instead: {each.instead}" for each in losses)
    return "".join(f"{mark} {_unended(in_line(each))}{end}\n" for each in dict.fromkeys(said))


def in_line(text: str) -> str:
    """A text in one line: what ends lines is written as an escape."""
    return _escaped(text).replace("\n", "\\n")


def docstring(text: str) -> str:
    """A docstring of Python, with its quotes; Python reads the text itself."""
    return f'"""{_quoted(text, _QUOTES_THAT_END)}"""'


def in_docstring(text: str) -> str:
    """A text inside a docstring that goes on in another line."""
    return _quoted(text, _QUOTES)


def _quoted(text: str, ends: re.Pattern[str]) -> str:
    escaped = _escaped(text.replace("\\", "\\\\"))
    return ends.sub(lambda found: '\\"' * len(found[0]), escaped)


def _escaped(text: str) -> str:
    return _CONTROL.sub(lambda found: _code(ord(found[0])), text)


def _code(point: int) -> str:
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def _unended(text: str) -> str:
    """Without what ends a comment between `/*` and `*/`."""
    return text.replace("*/", "* /")
