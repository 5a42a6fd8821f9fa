"""Leaves of the tree: names, numbers, texts in quotes, regular expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Protocol

from sglc.source import Span
from sglc.syntax.builders.parts import HoleContent
from sglc.syntax.errors.core.reporter import Reporter
from sglc.syntax.lexer.tokens import LexedText, StringPart
from sglc.syntax.tree import ast

_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$", "?": "?", "/": "/", "0": "\0"}
_MAX_DIGITS = 60
_MAX_EXPONENT_DIGITS = 4

Operator = tuple[str, int, int]
"""An infix operator and where it stands."""


class InnerParser(Protocol):
    """Parses what stands inside a text; None after a fault, which is reported."""

    def expression(self, lexed: LexedText, place: Span) -> ast.Expression | None:
        """The expression of an insert at `place`; None after a fault, which is reported."""
        ...

    def hole(self, lexed: LexedText, place: Span) -> tuple[ast.Name, HoleContent] | None:
        """Name and content of the hole at `place`; None after a fault, which is reported."""
        ...


class Literals:
    """Makes the values of tokens. `strings` maps the start of a string with inserts to its parts."""

    def __init__(
        self, reporter: Reporter, inner: InnerParser, strings: Mapping[int, tuple[StringPart, ...]]
    ) -> None:
        self.source = reporter.source
        self.text = reporter.source.text
        self.reporter = reporter
        self.inner = inner
        self.strings = strings

    def name(self, start: int, end: int) -> ast.Name:
        """A name, as it is written."""
        return ast.Name(self.text[start:end], Span(self.source, start, end))

    def characters(self, start: int, end: int) -> str:
        """The text of a token as it is written."""
        return self.text[start:end]

    def number(self, start: int, end: int) -> ast.Number:
        """A number without its underscores, exact; one that is too long is reported and taken for 0."""
        digits = self.text[start:end].replace("_", "")
        span = Span(self.source, start, end)
        if len(digits) > _MAX_DIGITS:
            label = f"{len(digits)} characters"
            self.reporter.error("E0120", "this number is too long", start, end, label=label)
            return ast.Number(0, span)
        if digits.isdecimal():
            return ast.Number(int(digits), span)
        if len(digits.lower().partition("e")[2]) > _MAX_EXPONENT_DIGITS:
            label = "its exponent is out of range"
            self.reporter.error("E0120", "this number is too large", start, end, label=label)
            return ast.Number(0, span)
        return ast.Number(Decimal(digits), span)

    def string(self, start: int, end: int) -> ast.String:
        """A text, its escapes resolved and its inserts parsed."""
        text, span = self.text, Span(self.source, start, end)
        pieces = self.strings.get(start)
        if pieces is None:
            raw = text[start + 1 : end - 1]
            if text[start] != "'":
                raw = self._unescaped(raw, start + 1)
            return ast.String((raw,) if raw else (), span)
        parts: list[str | ast.Expression] = []
        for piece in pieces:
            if len(piece) == 2:
                literal = self._unescaped(text[piece[0] : piece[1]], piece[0])
                if literal:
                    parts.append(literal)
            else:
                value = self.inner.expression(piece[2], Span(self.source, piece[0] - 2, piece[1] + 1))
                if value is not None:
                    parts.append(value)
        return ast.String(tuple(parts), span)

    def regex(self, start: int, end: int) -> ast.Regex:
        """`/PATTERN/`; `\\/` stands for a slash in it."""
        pattern = self.text[start + 1 : end - 1]
        if "\\/" in pattern:
            pattern = re.sub(r"\\(.)", lambda m: "/" if m[1] == "/" else m[0], pattern)
        return ast.Regex(pattern, Span(self.source, start, end))

    def operator(self, start: int, end: int) -> Operator:
        """An infix operator with its place, words in it one blank apart (`not in`)."""
        text = self.text[start:end]
        return " ".join(text.split()) if text.startswith("not") else text, start, end

    def _unescaped(self, raw: str, start: int) -> str:
        """The characters that a string's text stands for; a bad escape is reported and dropped."""
        if "\\" not in raw:
            return raw

        def replace(match: re.Match[str]) -> str:
            code = match[1] or match[2]
            if code is None:
                char = _ESCAPES.get(match[3])
                if char is not None:
                    return char
            elif (point := int(code, 16)) < 0x110000 and not 0xD800 <= point < 0xE000:
                return chr(point)
            what = "is no character" if code else "is not an escape"
            self.reporter.error(
                "E0116",
                f"`{match[0]}` {what}",
                start + match.start(),
                start + match.end(),
                label="in this string",
                hint=r"escapes are \n \t \r \" \\ \$ \u{1F600}; write \\ for a backslash",
            )
            return ""

        return _ESCAPE.sub(replace, raw)
