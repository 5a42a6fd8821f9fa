"""The findings of a program in the order in which they are told, without those that follow from others."""

from __future__ import annotations

import re

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.immutable import value
from sglc.source import Source, Span
from sglc.syntax.errors.core.reporter import MISREAD_BLOCKS

AFTER_ALL = ("W0201", "W0203", "W0208")
"""Findings that errors often cause: said only where there are none."""
UNKNOWN_NAMES = ("E0201", "E0202", "E0207", "E0212")
"""Findings about a name that there is not: told once in a declaration."""
AFTER_MISREAD_BLOCKS = UNKNOWN_NAMES + (
    "E0209",
    "E0338",
    "E0405",
    "E0406",
    "E0407",
    "E0411",
    "E0415",
    "E0417",
    "W0211",
)
"""Findings that depend on what stands in which block."""
_WORD = re.compile(r"\w+")


def ordered(diagnostics: list[Diagnostic], main: Source) -> list[Diagnostic]:
    """By file, the main one first, then by place; what is found twice is said once."""
    seen: set[tuple[str, str, object]] = set()
    kept: list[Diagnostic] = []
    faulty = any(d.severity == "error" for d in diagnostics)
    unread = _unread_lines(diagnostics)
    misread = any(d.code in MISREAD_BLOCKS for d in diagnostics)
    for diagnostic in diagnostics:
        if faulty and diagnostic.code in AFTER_ALL:
            continue
        if unread and _follows_from_syntax(diagnostic, unread, misread):
            continue
        span = diagnostic.span
        place = None if span is None else (id(span.source), span.start, span.end)
        if diagnostic.code in UNKNOWN_NAMES and span is not None:
            place = (id(span.source), span.source.declaration_start(span.start), 0)
        key = (diagnostic.code, diagnostic.message, place)
        if key not in seen:
            seen.add(key)
            kept.append(diagnostic)

    def order(d: Diagnostic) -> tuple[bool, str, int]:
        if d.span is None:
            return (False, "", 0)
        return (d.span.source is not main, d.span.source.name, d.span.start)

    return sorted(kept, key=order)


@value
class _Unread:
    """The lines of one file that could not be read."""

    starts: list[int]
    """Where their faults begin."""
    words: dict[str, int]
    """Words on these lines, each with the first fault on a line that has it."""


def _unread_lines(diagnostics: list[Diagnostic]) -> dict[Source, _Unread]:
    found: dict[Source, _Unread] = {}
    faults = [d.span for d in diagnostics if d.code.startswith("E01") and d.span is not None]
    for fault in sorted(faults, key=lambda span: span.start):
        unread = found.setdefault(fault.source, _Unread([], {}))
        unread.starts.append(fault.start)
        for word in _WORD.findall(_with_block(fault)):
            unread.words.setdefault(word, fault.start)
    return found


def _with_block(fault: Span) -> str:
    """The line of a fault, and the lines below it that are indented more."""
    source, number = fault.source, fault.source.position(fault.start)[0]
    lines = [source.line(number)]
    column = len(lines[0]) - len(lines[0].lstrip())
    for below in range(number + 1, len(source.line_starts) + 1):
        line = source.line(below)
        if column == 0 or (line.strip() and len(line) - len(line.lstrip()) <= column):
            break
        lines.append(line)
    return "\n".join(lines)


def _follows_from_syntax(diagnostic: Diagnostic, unread: dict[Source, _Unread], misread: bool) -> bool:
    """Whether a finding may only be there because a line near it could not be read.

    A name may be bound by such a line, a case or `return` may stand on it; with `misread` blocks it may stand
    in another declaration than it seems.
    """
    span = diagnostic.span
    if span is None:
        return False
    if diagnostic.code in AFTER_MISREAD_BLOCKS and misread:
        return True
    lines = unread.get(span.source)
    if lines is None:
        return False
    if diagnostic.code in UNKNOWN_NAMES:
        first = lines.words.get(span.text)
        return first is not None and (first < span.start or diagnostic.code != "E0201")
    if diagnostic.code == "E0350":
        begins = span.source.declaration_start
        return any(begins(fault) == begins(span.start) for fault in lines.starts)
    if diagnostic.code == "W0211":
        return lines.starts[0] < span.start
    return diagnostic.code in ("E0338", "E0417") and lines.starts[-1] > span.start
