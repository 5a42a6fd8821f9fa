"""Source text and spans: the coordinates that every later stage points back with.

A span is a pair of character offsets into one source. Lines and columns are computed only when
something is drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from itertools import accumulate

from sglc.immutable import node, value


@node
class Source:
    """One file of SGL text. Two sources are equal only if they are the same object."""

    name: str
    """How the file is called in messages: a path as the user gave it, or a module name."""
    text: str
    line_starts: tuple[int, ...] = field(init=False, repr=False)
    margins: tuple[int, ...] = field(init=False, repr=False)
    """Starts of the lines that begin at the left margin: those of declarations, mostly."""

    def __post_init__(self) -> None:
        starts = accumulate((len(line) + 1 for line in self.text.split("\n")[:-1]), initial=0)
        object.__setattr__(self, "line_starts", tuple(starts))
        margins = (start for start in self.line_starts if self.text[start : start + 1].strip())
        object.__setattr__(self, "margins", tuple(margins))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1, in characters."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Text of a line counted from 1, without its line end."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def declaration_start(self, offset: int) -> int:
        """Where the declaration around an offset begins: at the nearest line at the left margin; else 0."""
        place = bisect_right(self.margins, offset)
        return self.margins[place - 1] if place else 0

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} chars)"


@value
class Span:
    """Characters `start` up to, not including, `end` of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the span."""
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(self.source, min(self.start, other.start), max(self.end, other.end))

    def __repr__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"
