"""Making the edits of diagnostics: which of them go together, and what a text becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sglc.diagnostics.diagnostic import Diagnostic, Edit
from sglc.source import Source


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; they may touch, not overlap, and are all of this text.

    Raises ValueError where they overlap or do not lie in the text.
    """
    parts: list[str] = []
    done = 0
    for edit in in_order(edits):
        start, end = edit.span.start, edit.span.end
        if not done <= start <= end <= len(text):
            raise ValueError("edits overlap, or lie outside the text")
        parts += (text[done:start], edit.text)
        done = end
    return "".join((*parts, text[done:]))


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Edits in the order of the text; what is inserted at a place comes before what replaces it."""
    return sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))


def compatible(
    diagnostics: Iterable[Diagnostic], may_change: Callable[[Source], bool]
) -> list[tuple[Edit, ...]]:
    """The edits that can be made in one go, those of each diagnostic all or not at all, first come first.

    What overlaps an earlier one is left for the next look at the program.
    """
    chosen: list[tuple[Edit, ...]] = []
    taken: list[Edit] = []
    for diagnostic in diagnostics:
        edits = diagnostic.edits
        if not edits or not all(may_change(edit.span.source) for edit in edits):
            continue
        if any(_collide(edit, other) for edit in edits for other in taken):
            continue
        chosen.append(edits)
        taken += edits
    return chosen


def by_source(edits: Sequence[Edit]) -> dict[Source, list[Edit]]:
    """Edits by the text that they change, in their order."""
    found: dict[Source, list[Edit]] = {}
    for edit in edits:
        found.setdefault(edit.span.source, []).append(edit)
    return found


def _collide(one: Edit, other: Edit) -> bool:
    """Whether two edits change the same characters, or insert at the same place."""
    a, b = one.span, other.span
    if a.source is not b.source:
        return False
    return (a.start < b.end and b.start < a.end) or (a.start == b.start and (a.end == b.end))
