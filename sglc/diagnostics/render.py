"""Drawing a diagnostic as text: the message, the lines it speaks of with carets, and why and what to do.

    error[E0102]: a colon is missing
     --> program.sgl:3:13
      |
    3 |     if x > 3
      |             ^ the block begins here
      = hint: write `if x > 3:`
      |
    3 |     if x > 3:
      |             +

Characters that a terminal would act on or not show are drawn as visible ones, so that text of a program can
neither move the cursor nor hide.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sglc.diagnostics.changed_lines import ChangedLines, changed_lines
from sglc.diagnostics.diagnostic import Diagnostic, Edit
from sglc.source import Source, Span

WIDTH = 110
"""Columns of source text that are shown of one line."""

SHOWN_LINES = 12
"""Lines that are shown of what an edit takes away, and of what it puts there."""

_TAB = 4
_SHOWN = {"\u00a0": "⍽", "\u202f": "⍽", "\u2007": "⍽", "\ufeff": "⍽", "\u200b": "⍽"}
_RESET, _BOLD, _BLUE = "\x1b[0m", "\x1b[1m", "\x1b[1;34m"
_GREEN, _RED = "\x1b[1;32m", "\x1b[1;31m"
_COLORS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}
_TAIL_WORDS = (("reason", "reason"), ("witness", "example"), ("hint", "hint"))


Paint = Callable[[str, str], str]
"""Puts a text into a style of the terminal."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Columns of one line to underline; `label` is drawn after the last mark of a span."""

    line: int
    start: int
    end: int
    label: str
    primary: bool


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """One diagnostic as lines of text without a line end after the last."""
    paint = _painter(color)
    tone = _COLORS[diagnostic.severity]
    head = f"{diagnostic.severity}[{diagnostic.code}]"
    lines = [paint(head, tone) + paint(f": {plain(diagnostic.message)}", _BOLD)]
    spans = [(label.span, label.text, False) for label in diagnostic.secondary]
    if diagnostic.span is not None:
        spans.insert(0, (diagnostic.span, diagnostic.label, True))
    groups: list[tuple[Source, list[_Mark]]] = []
    for span, label, primary in spans:
        marks = next((marks for source, marks in groups if source is span.source), None)
        if marks is None:
            marks = []
            groups.append((span.source, marks))
        marks += _marks(span, plain(label), primary)
    changes = changed_lines(diagnostic.edits or diagnostic.offered)
    numbers = [mark.line for _, marks in groups for mark in marks]
    numbers += [change.first + max(len(change.before), len(change.after)) - 1 for change in changes]
    margin = " " * len(str(max(numbers))) if numbers else ""
    for number, (source, marks) in enumerate(groups):
        first = next((m for m in marks if m.primary), marks[0])
        arrow = "-->" if number == 0 else ":::"
        lines.append(f"{margin}{paint(arrow, _BLUE)} {plain(source.name)}:{first.line}:{first.start + 1}")
        lines.append(f"{margin} {paint('|', _BLUE)}")
        lines += _snippet(source, marks, margin, paint, tone)
    for attribute, word in _TAIL_WORDS:
        text = getattr(diagnostic, attribute)
        if text:
            first_line, *rest = plain(text).split("\n")
            lines.append(f"{margin} {paint('=', _BLUE)} {paint(word + ':', _BOLD)} {first_line}")
            indent = margin + " " * (len(word) + 5)
            lines += [indent + line for line in rest]
    here = None if diagnostic.span is None else diagnostic.span.source
    for change in changes:
        if change.source is not here:
            lines.append(f"{margin}{paint(':::', _BLUE)} {plain(change.source.name)}:{change.first}")
        lines.append(f"{margin} {paint('|', _BLUE)}")
        lines += _change(change, margin, paint)
    return "\n".join(lines)


def render_edits(edits: Iterable[Edit], *, color: bool = False) -> str:
    """The lines that edits of one source change, as below a diagnostic."""
    paint = _painter(color)
    changes = changed_lines(edits)
    last = max(
        (change.first + max(len(change.before), len(change.after)) - 1 for change in changes), default=0
    )
    margin = " " * len(str(last))
    return "\n".join(line for change in changes for line in _change(change, margin, paint))


def to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """A diagnostic as plain data: lines and columns count from 1, offsets from 0, all in characters."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "span": None if diagnostic.span is None else _place(diagnostic.span),
        "label": diagnostic.label,
        "reason": diagnostic.reason,
        "witness": diagnostic.witness,
        "hint": diagnostic.hint,
        "secondary": [{"span": _place(label.span), "text": label.text} for label in diagnostic.secondary],
        "edits": [edit_to_json(edit) for edit in diagnostic.edits],
        "offered": [edit_to_json(edit) for edit in diagnostic.offered],
    }


def edit_to_json(edit: Edit) -> dict[str, object]:
    """An edit as JSON data: the place that it replaces, and the new text."""
    return {"span": _place(edit.span), "text": edit.text}


def plain(text: str) -> str:
    """Text with every control and direction character drawn as a visible one; line ends stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char == "\n" else visible(char) for char in text)


def visible(char: str) -> str:
    """How one character is drawn: itself, or a picture of it."""
    if char in _SHOWN:
        return _SHOWN[char]
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"⟨U+{code:04X}⟩"
    return char


def _place(span: Span) -> dict[str, object]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "start": {"offset": span.start, "line": line, "column": column},
        "end": {"offset": span.end, "line": end_line, "column": end_column},
    }


def _marks(span: Span, label: str, primary: bool) -> list[_Mark]:
    """A span's marks: one, or for a span over several lines one on its first and one on its last."""
    source = span.source
    line, column = source.position(span.start)
    last_line, last_column = source.position(max(span.start, span.end))
    if last_line == line:
        return [_Mark(line, column - 1, last_column - 1, label, primary)]
    first = _Mark(line, column - 1, len(source.line(line).rstrip()), "", primary)
    text = source.line(last_line)
    blank = len(text) - len(text.lstrip())
    if last_column - 1 <= blank:
        return [_Mark(line, first.start, first.end, label, primary)]
    return [first, _Mark(last_line, blank, last_column - 1, label, primary)]


def _snippet(source: Source, marks: list[_Mark], margin: str, paint: Paint, tone: str) -> list[str]:
    """The marked lines in order, with `...` where lines between them are left out."""
    lines: list[str] = []
    before = None
    bar = paint("|", _BLUE)
    for number in sorted({mark.line for mark in marks}):
        if before is not None and number > before + 1:
            if number == before + 2:
                text, _ = _drawn(source.line(before + 1), 0)
                lines.append(_numbered(before + 1, text, margin, paint))
            else:
                lines.append(f"{margin} {paint('...', _BLUE)}")
        before = number
        here = sorted((mark for mark in marks if mark.line == number), key=lambda m: (not m.primary, m.start))
        text, column = _drawn(source.line(number), here[0].start)
        lines.append(_numbered(number, text, margin, paint))
        for mark in here:
            start, end = column(mark.start), column(mark.end)
            sign = "^" if mark.primary else "-"
            drawn = sign * max(1, end - start) + (f" {mark.label}" if mark.label else "")
            lines.append(f"{margin} {bar} {' ' * start}{paint(drawn, tone if mark.primary else _BLUE)}")
    return lines


def _change(change: ChangedLines, margin: str, paint: Paint) -> list[str]:
    """The lines as they would read: with `+` under what is new, or after those that they replace."""
    if change.inserted:
        text, column = _drawn(change.after[0], change.inserted[0][0])
        marks = ""
        for start, end in change.inserted:
            marks = marks.ljust(column(start)) + "+" * (column(end) - column(start))
        bar = paint("|", _BLUE)
        return [_numbered(change.first, text, margin, paint), f"{margin} {bar} {paint(marks, _GREEN)}"]
    lines: list[str] = []
    for sign, tone, texts in (("-", _RED, change.before), ("+", _GREEN, change.after)):
        for number, line in enumerate(texts[:SHOWN_LINES], change.first):
            text, _ = _drawn(line, _common(change))
            lines.append(_numbered(number, paint(text, tone), margin, paint, paint(sign, tone)))
        if len(texts) > SHOWN_LINES:
            lines.append(f"{margin} {paint('...', _BLUE)}")
    return lines


def _common(change: ChangedLines) -> int:
    """The character at which the first changed line begins to differ, so that a long line is cut there."""
    before, after = change.before[:1], change.after[:1]
    pairs = zip(*before, *after, strict=False) if before and after else ()
    return next((place for place, (a, b) in enumerate(pairs) if a != b), 0)


def _numbered(number: int, text: str, margin: str, paint: Paint, sign: str = "") -> str:
    sign = sign or paint("|", _BLUE)
    return f"{paint(str(number).rjust(len(margin)), _BLUE)} {sign} {text}".rstrip()


def _drawn(line: str, focus: int) -> tuple[str, Callable[[int], int]]:
    """A line as it is drawn, and the function from its characters to the columns they begin at.

    A long line is cut to a window around the character `focus`, with `…` where something is left out.
    """
    line = line.rstrip("\r")
    base = max(0, focus - 2 * WIDTH) if len(line) > 4 * WIDTH else 0
    cells: list[str] = []
    columns = [0]
    for char in line[base : base + 4 * WIDTH]:
        if char == "\t":
            cell = "→".ljust(_TAB - columns[-1] % _TAB)
        else:
            cell = visible(char)
        cells.append(cell)
        columns.append(columns[-1] + _width(cell))
    first, last = 0, len(cells)
    if columns[-1] > WIDTH:
        target = columns[max(0, min(focus - base, len(cells)))]
        if target > WIDTH * 2 // 3:
            while columns[first] < target - WIDTH // 2:
                first += 1
        last = first
        while last < len(cells) and columns[last + 1] - columns[first] <= WIDTH:
            last += 1
    lead = "…" if base + first else ""
    tail = "…" if base + last < len(line) else ""
    shift = columns[first] - len(lead)
    right = columns[last] - shift

    def column(character: int) -> int:
        return min(max(columns[max(0, min(character - base, len(cells)))] - shift, 0), right)

    return lead + "".join(cells[first:last]) + tail, column


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in cell
    )


def _painter(color: bool) -> Paint:
    if not color:
        return lambda text, _: text
    return lambda text, style: f"{style}{text}{_RESET}"
