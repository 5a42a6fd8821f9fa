"""What building the nodes of one source needs: its text, its `##` comments, and a reporter of faults."""

from __future__ import annotations

from bisect import bisect_right

from sglc.immutable import value
from sglc.source import Span
from sglc.syntax.errors.core.reporter import Reporter
from sglc.syntax.tree import ast


@value
class _Comment:
    """`alone` tells whether it has its line to itself."""

    start: int
    end: int
    text: str
    alone: bool


class DocComments:
    """Gives each `##` comment to one declaration."""

    def __init__(self, reporter: Reporter) -> None:
        self.source = reporter.source
        self.reporter = reporter
        self._comments: dict[int, _Comment] = {}
        """By line number."""
        self._used: set[int] = set()

    def note(self, extents: list[tuple[int, int]]) -> None:
        """Add the comments at some extents of the text."""
        starts, text = self.source.line_starts, self.source.text
        for start, end in extents:
            line = bisect_right(starts, start)
            alone = not text[starts[line - 1] : start].strip().strip("\ufeff")
            self._comments[line] = _Comment(start, end, text[start:end].lstrip("#").strip(), alone)

    def take(self, start: int, end: int, block: bool = False) -> str:
        """Text of the comments right above the line of `start` and at the end of the line of `end`.

        A declaration with a `block` below it takes the comment at the end of its first line instead.
        """
        if not self._comments:
            return ""
        starts = self.source.line_starts
        first = bisect_right(starts, start)
        lines: list[str] = []
        line = first - 1
        while (above := self._comments.get(line)) is not None and above.alone and line not in self._used:
            lines.append(above.text)
            self._used.add(line)
            line -= 1
        lines.reverse()
        last = first if block else bisect_right(starts, end)
        beside = self._comments.get(last)
        if beside is not None and not beside.alone and last not in self._used:
            lines.append(beside.text)
            self._used.add(last)
        return "\n".join(lines)

    def of_module(self, declarations: tuple[ast.Declaration, ...]) -> str:
        """The lines at the top of the file that belong to no declaration."""
        lines = []
        first = min(self._comments, default=0)
        while first in self._comments and first not in self._used and self._comments[first].alone:
            if declarations and self._comments[first].start > declarations[0].span.start:
                break
            lines.append(self._comments[first].text)
            self._used.add(first)
            first += 1
        return "\n".join(lines)

    def report_strays(self) -> None:
        """Warn about comments that belong to nothing, where there are no errors."""
        if any(diagnostic.severity == "error" for diagnostic in self.reporter.diagnostics):
            return
        for line, comment in self._comments.items():
            if line not in self._used:
                self.reporter.warning(
                    "W0104",
                    "this `##` comment belongs to nothing",
                    comment.start,
                    comment.end,
                    reason="`##` is part of the schema text; it stands above or beside what it describes",
                    hint="write `#` for a comment that is for people",
                )


class Context:
    """The source, its doc comments, and the reporter of what is wrong in it."""

    def __init__(self, reporter: Reporter, docs: DocComments) -> None:
        self.source = reporter.source
        self.reporter = reporter
        self.docs = docs

    def span(self, start: int, end: int) -> Span:
        """The place of characters `start` to `end`, exclusive, in the text that is parsed."""
        return Span(self.source, start, end)
