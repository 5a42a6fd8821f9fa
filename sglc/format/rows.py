"""Physical lines of the result: text at an indentation, and the comment behind it in its column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

ALIGNED_TO = 60
"""Columns of code behind which a comment stands two blanks away, in no column with others."""


@dataclass(slots=True)
class Row:
    """A line. `text` may have line ends in it (a fenced text, JSON); what is behind them is final."""

    indent: int
    text: str
    comment: str = ""
    blank: bool = False
    """Whether a blank line stands above it."""
    place: int = -1
    """Where the comment is to begin, counted from the indentation, at least two blanks behind the text."""

    def width(self) -> int:
        """Columns of the text with its indentation."""
        return self.indent + len(self.text)


def joined(rows: list[Row]) -> str:
    """The text of rows, each with its line end."""
    _align(rows)
    parts: list[str] = []
    for row in rows:
        if row.blank and parts:
            parts.append("\n")
        parts.append(" " * row.indent + row.text if row.text else "")
        if row.comment:
            parts.append(" " * max(row.place - len(row.text), 2 if row.text else 0) + row.comment)
        parts.append("\r\n" if parts[-1].endswith("\r") else "\n")
    return "".join(parts)


def _align(rows: list[Row]) -> None:
    """Comments behind lines of one block stand in one column.

    `#` comments do where their lines follow each other. `##` comments describe the parts of one declaration,
    so lines without a comment may stand between them.
    """
    for run in (*_runs(rows, documents=True), *_runs(rows, documents=False)):
        if len(run) > 1:
            place = max(len(row.text) for row in run) + 2
            for row in run:
                row.place = place


def _runs(rows: list[Row], documents: bool) -> Iterator[list[Row]]:
    """Rows whose comments stand below each other."""
    run: list[Row] = []
    for row in rows:
        ends = row.blank or bool(run and run[-1].indent != row.indent)
        has = bool(row.comment and row.text) and row.comment.startswith("##") == documents
        if ends or not (has or documents) or (has and len(row.text) > ALIGNED_TO):
            yield run
            run = []
        if has and len(row.text) <= ALIGNED_TO:
            run.append(row)
    yield run
