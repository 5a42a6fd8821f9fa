"""Formatting as edits of lines, for editors: what does not change is not touched, nor are cursors in it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise

from sglc.diagnostics.diagnostic import Diagnostic, Edit
from sglc.format.formatter import before_and_after
from sglc.format.reading import Reading
from sglc.source import Source, Span

MOST = 1_000_000
"""Pairs of lines that are compared; the lines of a longer declaration are replaced as a whole."""


def formatting_edits(source: Source) -> tuple[list[Edit], list[Diagnostic]]:
    """What formatting changes, in the order of the text, and the errors of syntax that keep it from it."""
    return formatted_range(source, 0, len(source.text))


def formatted_range(source: Source, start: int, end: int) -> tuple[list[Edit], list[Diagnostic]]:
    """The edits of the declarations that have a character in `start` to `end`, or a cursor there.

    A declaration is formatted as a whole: half of a block cannot get another indentation. The blank lines and
    comments above it belong to it.
    """
    made, found = before_and_after(source)
    if made is None or made[1].source.text == source.text:
        return [], found
    after = made[1].source.text
    edits: list[Edit] = []
    for (first, last), (begin, stop) in zip(*map(_pieces, made), strict=True):
        if first <= end and (start < last or last == len(source.text)):
            edits += _edits(source, first, last, after[begin:stop])
    return edits, found


def _pieces(made: Reading) -> list[tuple[int, int]]:
    """The declarations of a program: each begins behind the last line of the one before, or behind the last
    comment in its blocks.
    """
    text, pieces, begin = made.source.text, [], 0
    for before, line in pairwise(made.lines):
        if line.depth == 0:
            inside = [comment.start for comment in line.above.own if comment.depth > 0]
            end = text.find("\n", inside[-1] if inside else made.tokens.ends[before.last - 1]) + 1
            pieces.append((begin, end))
            begin = end
    return [*pieces, (begin, len(text))]


def _edits(source: Source, first_place: int, last_place: int, after: str) -> Iterator[Edit]:
    """From a part of a source to the text that it becomes. Lines are compared without their indentation."""
    old, new = _lines(source.text[first_place:last_place]), _lines(after)
    places = [first_place]
    for line in old:
        places.append(places[-1] + len(line))
    first, last = 0, 0
    shorter = min(len(old), len(new))
    while first < shorter and old[first] == new[first]:
        first += 1
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    a, b = old[first : len(old) - last], new[first : len(new) - last]
    opcodes = [("replace", 0, len(a), 0, len(b))]
    if len(a) * len(b) <= MOST:
        keys, becoming = [line.strip() for line in a], [line.strip() for line in b]
        opcodes = list(SequenceMatcher(None, keys, becoming, autojunk=False).get_opcodes())
    for kind, low, high, new_low, new_high in opcodes:
        if kind == "equal" or high - low == new_high - new_low:
            pairs = [(low + n, [a[low + n]], [b[new_low + n]]) for n in range(high - low)]
        else:
            pairs = [(low, a[low:high], b[new_low:new_high])]
        for line_number, was, becomes in pairs:
            edit = _edit(source, places[first + line_number], "".join(was), "".join(becomes))
            if edit is not None:
                yield edit


def _lines(text: str) -> list[str]:
    """Lines with their ends."""
    whole, _, rest = text.rpartition("\n")
    lines = [line + "\n" for line in whole.split("\n")] if "\n" in text else []
    return [*lines, rest] if rest else lines


def _edit(source: Source, place: int, was: str, becomes: str) -> Edit | None:
    """The change of a text at a place, without what both have at their beginnings and ends; None if equal."""
    if was == becomes:
        return None
    shorter = min(len(was), len(becomes))
    begin, end = 0, 0
    while begin < shorter and was[begin] == becomes[begin]:
        begin += 1
    while end < shorter - begin and was[-1 - end] == becomes[-1 - end]:
        end += 1
    span = Span(source, place + begin, place + len(was) - end)
    return Edit(span, becomes[begin : len(becomes) - end])
