"""Completion in cells of programs: what `sglc.repl.completion` offers, as IPython takes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from sglc.repl.completion import complete
from sglc.repl.session import ReplSession

_CELL = re.compile(r"\s*%%sgl(?:\s.*)?$")
_LINE = re.compile(r"\s*(?:[\w, ]+=\s*)?%sgl\s+")


class Place(Protocol):
    """IPython's `CompletionContext`: a cell, and the line and column of the cursor in it."""

    @property
    def full_text(self) -> str:
        """The cell."""

    @property
    def cursor_line(self) -> int:
        """From 0 on."""

    @property
    def cursor_position(self) -> int:
        """Characters of the line before it."""


Matcher = Callable[[Place], Mapping[str, object]]


def typed(place: Place) -> str | None:
    """The text of a program before the cursor; None where the cell is Python there."""
    lines = place.full_text.split("\n")
    line = lines[place.cursor_line][: place.cursor_position]
    first = next((number for number, each in enumerate(lines) if each.strip()), 0)
    if place.cursor_line > first and _CELL.match(lines[first]):
        return "\n".join([*lines[first + 1 : place.cursor_line], line])
    match = _LINE.match(line)
    return None if match is None else line[match.end() :]


def matcher(session: ReplSession) -> Matcher:
    """What IPython's completer asks, of its second version. In programs nothing of Python is offered."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    def sgl_matcher(context: Place) -> Mapping[str, object]:
        text = typed(context)
        if text is None:
            return {"completions": [], "suppress": False}
        found = complete(session, text) if not text.startswith(":") else []
        length = found[0].length if found else 0
        return {
            "completions": [SimpleCompletion(each.text, type=each.kind) for each in found],
            "matched_fragment": text[len(text) - length :],
            "ordered": True,
            "suppress": True,
        }

    made: Matcher = context_matcher(identifier="sglc.notebook")(sgl_matcher)
    return made
