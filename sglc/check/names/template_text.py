"""Text that looks like an insert or a hole of another language: `{name}`, `{{name}}`, `$name`, `?name`."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def name_as_text(declaration: Span, name: str) -> Span | None:
    """Where prompt text of a function has a name between signs that other templates insert by: `%name%`."""
    word = re.escape(name)
    pattern = re.compile(
        rf"^[ ]*(?:\w+:[ ]*)?\|.*?(%{word}%|<{word}>|@{word}\b|\[{word}\]|#{word}#|:{word}\b)", re.M
    )
    match = pattern.search(declaration.source.text, declaration.start, declaration.end)
    return None if match is None else Span(declaration.source, match.start(1), match.end(1))


def hole_as_text(source: Source, used: Span, name: str) -> Span | None:
    """Where prompt text above a use has the name as another language writes holes; the last such place."""
    number = source.position(used.start)[0]
    pattern = re.compile(
        rf"\{{\{{[ ]*{re.escape(name)}[ ]*\}}\}}|(?<![$?\w])\{{{re.escape(name)}(?::[^}}]*)?\}}"
        rf"|\?{re.escape(name)}\b|(?<!\w)\[{re.escape(name)}\]|<{re.escape(name)}>"
    )
    while number > 1:
        number -= 1
        line = source.line(number)
        if line.strip() and not line[0].isspace():
            return None
        pipe = line.find("|")
        match = None if pipe < 0 else pattern.search(line, pipe)
        if match is not None:
            start = source.line_starts[number - 1]
            return Span(source, start + match.start(), start + match.end())
    return None
