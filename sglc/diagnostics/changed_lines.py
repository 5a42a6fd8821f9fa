"""Which lines edits change, and how those read afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sglc.diagnostics.diagnostic import Edit
from sglc.diagnostics.edits import edited, in_order
from sglc.source import Source, Span


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Lines of one source that touch one another, before and after.

    `first` is the number of the first of them, from 1. `inserted` are the columns of what is new, if
    nothing was taken away and one line became one line; else it is empty.
    """

    source: Source
    first: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    inserted: tuple[tuple[int, int], ...]


def changed_lines(edits: Iterable[Edit]) -> list[ChangedLines]:
    """The changes in the order of their places; edits whose lines touch are one change."""
    groups: list[list[Edit]] = []
    for edit in in_order(edits):
        if groups:
            known = groups[-1][-1].span
            if known.source is edit.span.source and _last(known) >= _first(edit.span):
                groups[-1].append(edit)
                continue
        groups.append([edit])
    changes = [_change(group) for group in groups]
    return [change for change in changes if change.before or change.after]


def _change(edits: list[Edit]) -> ChangedLines:
    source = edits[0].span.source
    first, last = _first(edits[0].span), max(_last(edit.span) for edit in edits)
    start = source.line_starts[first - 1]
    end = source.line_starts[last] - 1 if last < len(source.line_starts) else len(source.text)
    moved = [Edit(Span(source, edit.span.start - start, edit.span.end - start), edit.text) for edit in edits]
    text = source.text[start:end]
    before, after = text.split("\n"), edited(text, moved).split("\n")
    inserted = _inserted(moved, before, after)
    while before and after and before[-1] == after[-1]:
        before.pop(), after.pop()
    while before and after and before[0] == after[0]:
        del before[0], after[0]
        first += 1
    return ChangedLines(source, first, tuple(before), tuple(after), inserted)


def _inserted(edits: list[Edit], before: list[str], after: list[str]) -> tuple[tuple[int, int], ...]:
    if len(before) != 1 or len(after) != 1:
        return ()
    places, shift = [], 0
    for edit in edits:
        old, new = before[0][edit.span.start : edit.span.end], edit.text
        start = edit.span.start + shift
        if new.startswith(old):
            places.append((start + len(old), start + len(new)))
        elif new.endswith(old):
            places.append((start, start + len(new) - len(old)))
        else:
            return ()
        shift += len(new) - len(old)
    return tuple(places)


def _first(span: Span) -> int:
    return span.source.position(span.start)[0]


def _last(span: Span) -> int:
    return span.source.position(span.end)[0]
