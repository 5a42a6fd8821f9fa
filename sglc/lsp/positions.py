"""Positions of the protocol and offsets of a text, both ways.

A position is a line and a column in code units of the encoding that client and server have agreed on
(Language Server Protocol 3.17, section Position). Lines end at a line feed, a carriage return, or the two
together; other characters that Unicode calls line ends end none. A column beyond the line means its end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal

from lsprotocol.types import Position, Range, TextDocumentContentChangeEvent, TextDocumentContentChangePartial

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\n|\r")


class Lines:
    """The lines of one text in one encoding."""

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self._encoding = encoding
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._ascii = encoding == "utf-32" or text.isascii()

    def position(self, offset: int) -> Position:
        """The position of an offset; of one outside of the text that of its nearest end."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        if self._ascii:
            return Position(line, offset - start)
        return Position(line, self._units(self.text[start:offset]))

    def offset(self, position: Position) -> int:
        """The offset of a position. One within a character means its beginning."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        end = self._end(position.line)
        if self._ascii:
            return min(start + position.character, end)
        left = position.character
        for place in range(start, end):
            left -= self._units(self.text[place])
            if left < 0:
                return place
        return end

    def range(self, start: int, end: int) -> Range:
        """The range of two offsets."""
        return Range(self.position(start), self.position(end))

    def changed(self, change: TextDocumentContentChangeEvent) -> str:
        """The text after one change of the client."""
        if not isinstance(change, TextDocumentContentChangePartial):
            return change.text
        start, end = self.offset(change.range.start), self.offset(change.range.end)
        return self.text[:start] + change.text + self.text[max(start, end) :]

    def _end(self, line: int) -> int:
        """Where a line ends, its line end left out."""
        if line + 1 == len(self._starts):
            return len(self.text)
        end = self._starts[line + 1] - 1
        return end - 1 if self.text[end] == "\n" and self.text[end - 1 : end] == "\r" else end

    def _units(self, text: str) -> int:
        """Code units of a text."""
        if self._encoding == "utf-32":
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)
