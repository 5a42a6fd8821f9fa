"""Text that looks like an insert or a hole of another language: `{name}`, `{{name}}`, `$name`, `?name`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from sglc.source import Source, Span

_INSERT = re.compile(
    r"\{\{[ ]*([^\W\d]\w*)[ ]*\}\}"
    r"|(?<![\w$?\\{}^])\{[ ]*([^\W\d]\w*)[ ]*\}(?!\})"
    r"|(?<![\w$\\])\$([^\W\d]\w*)\b(?!\$)"
)
"""Not behind a letter, a brace or a backslash, which is how LaTeX and code write braces."""


def inserts(span: Span) -> Iterator[tuple[Span, str]]:
    """Places in a part of the source that look like inserts, with the name in them."""
    source = span.source
    for match in _INSERT.finditer(source.text, span.start, span.end):
        yield Span(source, match.start(), match.end()), match[1] or match[2] or match[3]


_PROMPT = re.compile(r"^[ ]*(?:\w+:[ ]*)?\|(.*)$", re.MULTILINE)
_NAME = re.compile(r"(?=(%(\w+)%|<(\w+)>|@(\w+)|\[(\w+)\]|#(\w+)#|:(\w+)))")
"""A name between signs; looked for at every place, since one may begin inside another: `%a%b%`."""
_HOLE = re.compile(
    r"(?=(\{\{[ ]*(\w+)[ ]*\}\}|(?<![$?\w])\{(\w+)(?::[^}]*)?\}|\?(\w+)|(?<!\w)\[(\w+)\]|<(\w+)>))"
)


class TemplateText:
    """Names in the text of one source between signs that other languages put around inserts and holes.

    The text is gone over once, when the first name is asked for.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def insert(self, declaration: Span, name: str) -> Span | None:
        """Where prompt text of a function has a name as other templates insert one: `%name%`."""
        places = self._inserts.get(name, [])
        at = bisect_left(places, (declaration.start, 0))
        if at == len(places) or places[at][1] > declaration.end:
            return None
        return Span(self.source, *places[at])

    def hole(self, used: Span, name: str) -> Span | None:
        """Where prompt text above a use, in its declaration, has the name as other languages write holes."""
        source = self.source
        places = self._holes.get(name, [])
        at = bisect_left(places, (source.line_starts[source.position(used.start)[0] - 1], 0))
        if at == 0 or places[at - 1][0] < source.declaration_start(used.start):
            return None
        return Span(source, *places[at - 1])

    @cached_property
    def _inserts(self) -> dict[str, list[tuple[int, int]]]:
        """By name, where each stands, in the order of the text."""
        found: dict[str, list[tuple[int, int]]] = {}
        for line in _PROMPT.finditer(self.source.text):
            for match in _NAME.finditer(self.source.text, *line.span(1)):
                found.setdefault(_named(match), []).append(match.span(1))
        return found

    @cached_property
    def _holes(self) -> dict[str, list[tuple[int, int]]]:
        """By name, the first place on each line, in the order of the text."""
        found: dict[str, list[tuple[int, int]]] = {}
        for start, line in zip(self.source.line_starts, self.source.text.split("\n"), strict=True):
            pipe = line.find("|")
            if pipe < 0 or not line[0].isspace():
                continue
            for match in _HOLE.finditer(line, pipe):
                places = found.setdefault(_named(match), [])
                if not places or places[-1][0] < start:
                    places.append((start + match.start(1), start + match.end(1)))
        return found


def _named(match: re.Match[str]) -> str:
    """The name inside what matched."""
    return next(name for name in match.groups()[1:] if name)
