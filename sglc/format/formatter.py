"""A program in its one layout.

A law that each call keeps: the result has the tokens and the comments of the program, in their order.
"""

from __future__ import annotations

import re

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.format.breaking import STEP
from sglc.format.lines import line_rows
from sglc.format.reading import Comment, Gap, Reading, reading
from sglc.format.rows import Row, joined
from sglc.format.same import require_same
from sglc.source import Source

_LINE_END = re.compile(r"(?<!\r)\r\n")
"""A line end that becomes `\\n`. What a `\\r` ends, keeps it: it would be read as a part of the line end."""
OFF, ON = "# fmt: off", "# fmt: on"
"""Comments at the left margin between which declarations stay as they are."""


def formatted(source: Source) -> tuple[str, list[Diagnostic]]:
    """The text of a program in its one layout, and the errors of syntax that keep it as it is."""
    made, found = before_and_after(source)
    return (source.text, found) if made is None else (made[1].source.text, [])


def before_and_after(source: Source) -> tuple[tuple[Reading, Reading] | None, list[Diagnostic]]:
    """The tokens of a program and of its one layout; None, with what is wrong, if it has errors of syntax.

    Raises Unfaithful where the layout would be another program, which is a fault of the formatter.
    """
    made, found = reading(source)
    if made is None:
        return None, found
    return (made, require_same(made, joined(_Layout(made).rows()))), []


class _Layout:
    """Puts lines, comments and blank lines below each other."""

    def __init__(self, made: Reading) -> None:
        self.made = made
        self.out: list[Row] = []
        self.off = -1
        """Where the part begins that stays as it is; -1 outside of one."""

    def rows(self) -> list[Row]:
        """All rows of the result."""
        depth, block = 0, False
        for index, line in enumerate(self.made.lines):
            rows = line_rows(self.made, line)
            opens = line.opens or rows[-1].indent > line.depth * STEP
            apart = index > 0 and line.depth == 0 and (block or opens)
            rows[0].blank = self._above(line.above, line.depth, depth < line.depth, apart)
            if self.off < 0:
                self.out += rows
            depth, block = line.depth, line.depth > 0 or opens
        self._above(self.made.tail, 0, False, block)
        if self.off >= 0:
            self._keep(len(self.made.source.text))
        return self.out

    def _above(self, gap: Gap, depth: int, first: bool, apart: bool) -> bool:
        """Add the comments above a line; whether a blank line stands right above the line.

        `first`: it is the first of its block. `apart`: a blank line is due before what belongs to the line.
        """
        due = apart
        for comment in gap.own:
            blank = comment.blanks > 0 and not first
            if due and comment.depth == depth:
                blank, due = True, False
            first = False
            self._comment(comment, blank)
        return due or (gap.blanks > 0 and not first)

    def _comment(self, comment: Comment, blank: bool) -> None:
        if self.off < 0:
            if comment.text == OFF and comment.column == 0 and comment.depth == 0:
                self.off = comment.start
                self.out.append(Row(0, "", blank=blank))
            else:
                self.out.append(Row(comment.depth * STEP, comment.text, blank=blank))
        elif comment.text == ON and comment.column == 0 and comment.depth == 0:
            self._keep(comment.start)
            self.out.append(Row(0, comment.text, blank=blank))

    def _keep(self, end: int) -> None:
        """Add the text of a part that stays as it is, up to `end`, to the row that waits for it."""
        text = self.made.source.text[self.off : end]
        self.out[-1].text = _LINE_END.sub("\n", text).rstrip("\n").removesuffix("\r")
        self.off = -1
