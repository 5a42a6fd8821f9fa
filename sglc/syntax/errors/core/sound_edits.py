"""Edits that hold: each is made once, and dropped where the text is no better for it.

What a slip means is told by its looks, and looks can deceive. So the declaration around an edit is read again
with the edit made: the finding must be gone, and no new fault of syntax may stand on a changed line. Only
declarations with a fault that carries an edit are read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from sglc.diagnostics.diagnostic import Diagnostic, Edit
from sglc.diagnostics.edits import edited, in_order
from sglc.source import Source, Span

LONGEST = 20_000
"""Characters of a declaration that is read again; edits in longer ones are dropped. It takes some 20 ms."""
MOST = 40
"""Edits of one file that are tried: as many as there are messages about one file."""

Faults = Callable[[str], list[Diagnostic]]


def with_sound_edits(diagnostics: list[Diagnostic], source: Source, faults: Faults) -> list[Diagnostic]:
    """The diagnostics, without edits that do not hold; `faults` reads a text."""
    before: dict[tuple[int, int], Counter[tuple[str, str]]] = {}
    kept: list[Diagnostic] = []
    tried = 0
    for diagnostic in diagnostics:
        if diagnostic.edits:
            tried += 1
            if tried > MOST or not _holds(diagnostic, source, faults, before):
                diagnostic = replace(diagnostic, edits=())
        kept.append(diagnostic)
    return kept


def _holds(
    diagnostic: Diagnostic,
    source: Source,
    faults: Faults,
    known: dict[tuple[int, int], Counter[tuple[str, str]]],
) -> bool:
    start = min(edit.span.start for edit in diagnostic.edits)
    end = max(edit.span.end for edit in diagnostic.edits)
    first, last = _declaration(source.text, start, end)
    if last - first > LONGEST:
        return False
    text = source.text[first:last]
    moved = [
        Edit(Span(source, edit.span.start - first, edit.span.end - first), edit.text)
        for edit in diagnostic.edits
    ]
    before = known.get((first, last))
    if before is None:
        before = known[first, last] = Counter(map(_key, faults(text)))
    made = edited(text, moved)
    found = faults(made)
    lines = edited_lines(moved, made)
    same = _key(diagnostic)
    assert diagnostic.span is not None
    own = text.count("\n", 0, diagnostic.span.start - first) + 1
    if sum(_key(fault) == same for fault in found) >= before[same]:
        # Another line with the same slip may have come to light; this one must be right.
        if any(_key(fault) == same and _line(fault) in {own, *lines} for fault in found):
            return False
    return not any(_key(fault) not in before and _line(fault) in lines for fault in found)


def _key(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.message


def _line(diagnostic: Diagnostic) -> int:
    return 0 if diagnostic.span is None else diagnostic.span.source.position(diagnostic.span.start)[0]


def edited_lines(edits: list[Edit], made: str) -> set[int]:
    """Numbers of the lines, from 1, that edits have changed in the text that they made.

    Faults on other lines were there before: a line that cannot be read hides those that belong to it.
    """
    lines: set[int] = set()
    shift = 0
    for edit in in_order(edits):
        start = edit.span.start + shift
        shift += len(edit.text) - (edit.span.end - edit.span.start)
        first = made.count("\n", 0, start) + 1
        lines.update(range(first, first + edit.text.count("\n") + 1))
    return lines


def _declaration(text: str, start: int, end: int) -> tuple[int, int]:
    """From the line at the left margin at or above `start` to the next one below `end`."""
    first = text.rfind("\n", 0, start) + 1
    while first > 0 and not _is_margin(text, first):
        first = text.rfind("\n", 0, first - 1) + 1
    last = text.find("\n", end) + 1
    while last > 0 and not _is_margin(text, last):
        last = text.find("\n", last) + 1
    return first, last if last > 0 else len(text)


def _is_margin(text: str, place: int) -> bool:
    """Whether a declaration may begin at the beginning of a line."""
    return text[place : place + 1].isidentifier()
