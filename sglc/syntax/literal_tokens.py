"""Tokens that are cut in ways of their own: comments, fenced texts, JSON, strings, odd characters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from sglc.syntax.tokens import Fault, StringPart, Tokens

_SPACES = re.compile(r"[ \t]*")


class LiteralTokens:
    """Base of the class that cuts a text; `words` are the words of the grammar, with their tests."""

    def __init__(
        self,
        text: str,
        words: dict[str, tuple[str, Callable[[str, int], object] | None]],
        sink: Tokens | None = None,
    ) -> None:
        self.text = text
        self.words = words
        self.tokens = sink or Tokens()
        self.depth = 0

    def inside(self, position: int, limit: int) -> int | None:
        """Tokens of an inserted expression: see `Layout`."""
        raise AssertionError("expressions are cut by the class below")

    def _add(self, kind: str, start: int, end: int) -> None:
        out = self.tokens
        out.kinds.append(kind)
        out.starts.append(start)
        out.ends.append(end)

    def _comment(self, start: int) -> int:
        """Note a doc comment; returns where the next line begins."""
        end = end_of_line(self.text, start)
        if self.text.startswith("##", start):
            self.tokens.docs.append((start, end))
        return start_of_next_line(self.text, end)

    def _block_comment(self, start: int) -> int:
        """A comment of another language; returns where it ends."""
        end = self.text.find("*/", start + 2)
        end = end + 2 if end >= 0 else end_of_line(self.text, start)
        self.tokens.faults.append(Fault("block comment", start, end))
        return end

    def _fence(self, start: int, position: int) -> int:
        """A `text \"\"\"` block; its lines lose the indentation of the closing fence."""
        text, lines = self.text, []
        closing = -1
        while position < len(text):
            end = end_of_line(text, position)
            if text[position:end].strip() == '"""':
                closing = position
                break
            lines.append((position, end))
            position = start_of_next_line(text, end)
        if closing < 0:
            # What is indented like the block is taken as its text.
            self.tokens.faults.append(Fault("fence", start, start + 4))
            column = start - text.rfind("\n", 0, start) - 1
            end = end_of_line(text, start)
            for line_start, line_end in lines:
                if text[line_start : line_start + column].strip():
                    break
                end = line_end
            self.tokens.fences[start] = ()
            self._add("FENCE", start, end)
            self._add("_NEWLINE", end, end)
            return start_of_next_line(text, end)
        indent = _SPACES.match(text, closing).end() - closing  # type: ignore[union-attr]
        cut: list[tuple[int, int]] = []
        for line_start, end in lines:
            blank = not text[line_start:end].strip()
            if not blank and text[line_start : line_start + indent].strip():
                self.tokens.faults.append(Fault("fence indentation", line_start, end))
            cut.append((min(line_start + indent, end), end))
        end = end_of_line(text, closing)
        self.tokens.fences[start] = tuple(cut)
        self._add("FENCE", start, end)
        self._add("_NEWLINE", end, end)
        return start_of_next_line(text, end)

    def _inline_json(self, start: int) -> int:
        try:
            _, end = json.JSONDecoder().raw_decode(self.text, start)
        except (ValueError, RecursionError) as error:
            place = getattr(error, "pos", start)
            self.tokens.faults.append(
                Fault("json", min(place, len(self.text)), place + 1, getattr(error, "msg", ""))
            )
            end = end_of_line(self.text, start)
        self._add("INLINE_JSON", start, end)
        return end

    def _odd(self, position: int) -> int:
        """A string with inserts, or a character that means nothing here."""
        text = self.text
        start = _SPACES.match(text, position).end()  # type: ignore[union-attr]
        char = text[start]
        if char == '"':
            return self._string(start)
        if text.startswith("${", start):
            end = self._skip_braces(start)
            self.tokens.faults.append(Fault("insert in code", start, end))
            self._add("NAME", start, end)
            return end
        if char == "'":
            end = text.find("'", start + 1, end_of_line(text, start))
            end = end + 1 if end > 0 else start + 1
            self.tokens.faults.append(Fault("single quotes", start, end))
            self._add("STRING", start, end)
            return end
        end = start + 1
        while end < len(text) and text[end] == char:
            end += 1
        self.tokens.faults.append(Fault("character", start, end, char))
        if char in "&!^~":
            self._add("BINARY" if char in "&^" else "not", start, end)
        return end

    def _skip_braces(self, start: int) -> int:
        end = self.text.find("}", start, end_of_line(self.text, start))
        return end + 1 if end > 0 else end_of_line(self.text, start)

    def _string(self, start: int) -> int:
        """A string with `${…}` in it, or one that is not closed on its line."""
        text = self.text
        limit = end_of_line(text, start)
        parts: list[StringPart] = []
        position = literal = start + 1
        while position < limit:
            char = text[position]
            if char == "\\":
                position += 2
            elif char == '"':
                parts.append((literal, position))
                self.tokens.strings[start] = tuple(parts)
                self._add("STRING", start, position + 1)
                return position + 1
            elif char == "$" and text.startswith("${", position):
                parts.append((literal, position))
                inner = type(self)(text, self.words)
                inner.depth = self.depth + 1
                end = inner.inside(position + 2, limit) if inner.depth <= 8 else None
                if end is None:
                    kind = "insert" if inner.depth <= 8 else "deep"
                    self.tokens.faults.append(Fault(kind, position, position + 2))
                    self.tokens.strings[start] = tuple(parts)
                    self._add("STRING", start, limit)
                    return limit
                self.tokens.faults += inner.tokens.faults
                parts.append((position + 2, end, inner.tokens))
                position = literal = end + 1
            else:
                position += 1
        self.tokens.faults.append(Fault("string", start, limit))
        parts.append((min(literal, limit), limit))
        self.tokens.strings[start] = tuple(parts)
        self._add("STRING", start, limit)
        return limit


def end_of_line(text: str, position: int) -> int:
    """Where the line ends, before its `\\n` or `\\r\\n`."""
    end = text.find("\n", position)
    if end < 0:
        end = len(text)
    return end - 1 if end > position and text[end - 1] == "\r" else end


def start_of_next_line(text: str, position: int) -> int:
    """Where the line after this one begins; the end of the text if there is none."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
