"""Building pipe lines: literal text, inserts and holes, with escapes resolved."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sglc.source import Span
from sglc.syntax.builders.literals import InnerParser
from sglc.syntax.errors.core.reporter import Replacements, Reporter
from sglc.syntax.lexer.keywords import HARD, Words
from sglc.syntax.lexer.layout import Layout
from sglc.syntax.tree import ast

_SIGIL = re.compile(r"\\(?=[$?]\{)|[$?]\{")
_ESCAPED = re.compile(r"\\(?=[$?]\{)")
_SIMPLE = re.compile(r"\$\{[ ]*([^\W\d]\w*)[ ]*\}")
_PATH = re.compile(r"[ ]*[^\W\d]\w*(?:\.\w+)*")
_ODD_BLANK = re.compile("[\t\u00a0\u2007\u202f]")


class PromptLines:
    """Makes pipe lines. `fences` maps the start of a fenced block to the extents of its lines."""

    def __init__(
        self,
        reporter: Reporter,
        inner: InnerParser,
        words: Words,
        fences: Mapping[int, tuple[tuple[int, int], ...]],
    ) -> None:
        self.source = reporter.source
        self.text = reporter.source.text
        self.reporter = reporter
        self.inner = inner
        self.words = words
        self.fences = fences

    def pipe(self, start: int, end: int) -> ast.PipeLine:
        """`| text`: the one space after the pipe is not text."""
        begin = start + 1
        if begin < end and self.text[begin] == " ":
            begin += 1
        return self._line(start, begin, end)

    def fence(self, start: int, end: int) -> list[ast.PipeLine]:
        """A `text \"\"\"` block: each of its lines is a pipe line."""
        return [self._line(begin, begin, stop) for begin, stop in self.fences[start]]

    def _line(self, start: int, begin: int, end: int) -> ast.PipeLine:
        """The line whose text is `begin` to `end`; its span begins at `start`."""
        source, text = self.source, self.text
        span = Span(source, start, end)
        glued = end > begin and text[end - 1] == "\\"
        stop = end - 1 if glued else end
        line = text[begin:stop]
        if line and not glued and line[-1] in " \t\u00a0":
            self._trailing_blanks(begin, end, line)
        if not line.isascii() or "\t" in line:
            self._odd_blanks(begin, line)
        if "{" not in line:
            return ast.PipeLine((ast.Text(line, Span(source, begin, stop)),) if line else (), glued, span)

        parts: list[ast.TextPart] = []
        position = literal = begin
        while (match := _SIGIL.search(text, position, stop)) is not None:
            place = match.start()
            if text[place] == "\\":
                position = place + 3
                continue
            self._literal(parts, literal, place)
            simple = _SIMPLE.match(text, place, stop)
            if simple is not None and simple[1] not in HARD:
                name_span = Span(source, simple.start(1), simple.end(1))
                position = literal = simple.end()
                parts.append(ast.Insert(ast.Reference(simple[1], name_span), Span(source, place, position)))
            else:
                position = literal = self._inside(parts, place, stop)
        self._literal(parts, literal, stop)
        return ast.PipeLine(tuple(parts), glued, span)

    def _literal(self, parts: list[ast.TextPart], start: int, end: int) -> None:
        if start < end:
            value = _ESCAPED.sub("", self.text[start:end])
            parts.append(ast.Text(value, Span(self.source, start, end)))

    def _inside(self, parts: list[ast.TextPart], place: int, stop: int) -> int:
        """Parse the insert or hole at `place`; returns where the text goes on."""
        layout = Layout(self.text, self.words)
        end = layout.inside(place + 2, stop)
        faults = layout.lexed.faults
        if end is None:
            mark = self.text[place : place + 2]
            what = "hole" if mark == "?{" else "insert"
            if not any(fault.kind in ("string", "deep") for fault in faults):
                self.reporter.error(
                    "E0104",
                    f"this {what} is not closed on its line",
                    place,
                    place + 2,
                    label=f"`{mark}` opens it",
                    hint=f"add `}}`, or write `\\{mark}` for the text itself",
                    edits=self._closing_brace(place, stop),
                )
            else:
                self.reporter.lexical_faults(faults)
            return stop
        self.reporter.lexical_faults(faults)
        span = Span(self.source, place, end + 1)
        if self.text[place] == "?":
            hole = self.inner.hole(layout.lexed, span)
            if hole is not None:
                parts.append(ast.Hole(*hole, span))
        else:
            value = self.inner.expression(layout.lexed, span)
            if value is not None:
                parts.append(ast.Insert(value, span))
        return end + 1

    def _closing_brace(self, place: int, stop: int) -> Replacements:
        """A brace at the end of the line, where all of its rest can stand inside."""
        rest = self.text[place + 2 : stop].rstrip()
        end = place + 2 + len(rest)
        closed = ((end, end, "}"),)
        if self.text[place] == "$":
            return closed if _PATH.fullmatch(rest) else ()
        return closed

    def _trailing_blanks(self, begin: int, end: int, line: str) -> None:
        start = begin + len(line.rstrip(" \t\u00a0"))
        self.reporter.warning(
            "W0101",
            "blanks at the end of a pipe line",
            start,
            end,
            label="the model sees them",
            reason="a blank before a generated word often spoils its first token",
            hint='remove them, or write `${" "}` if they are meant',
        )

    def _odd_blanks(self, begin: int, line: str) -> None:
        match = _ODD_BLANK.search(line.rstrip(" \t\u00a0"))
        if match is None:
            return
        tab = match[0] == "\t"
        self.reporter.warning(
            "W0102" if tab else "W0103",
            "a tab in prompt text" if tab else "a no-break space in prompt text",
            begin + match.start(),
            begin + match.end(),
            label="looks like blanks, is another character to the model",
            hint='write blanks, or `${"\\t"}` if a tab is meant'
            if tab
            else 'write a blank, or `${"\\u{a0}"}` if it is meant',
        )
