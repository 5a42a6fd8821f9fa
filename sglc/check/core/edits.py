"""Edits that several checks make, and what they look at in the text."""

from __future__ import annotations

import re

from sglc.diagnostics.diagnostic import Edit
from sglc.source import Span

_LET = re.compile(r"[ \t]*(?:let[ \t]+\w+[ \t]*=[ \t]*)?")


def insertion(text: str, before: Span) -> tuple[Edit, ...]:
    """Put a text right before a place."""
    return (Edit(Span(before.source, before.start, before.start), text),)


def begins_value(span: Span) -> bool:
    """Whether nothing but blanks, or `let NAME =`, stands before a place on its line."""
    line, column = span.source.position(span.start)
    return _LET.fullmatch(span.source.line(line)[: column - 1]) is not None


def preceded_by(word: str, span: Span) -> Span | None:
    """Where a word stands right before a place, with blanks between them; None if it does not."""
    text = span.source.text[: span.start].rstrip(" \t")
    if not text.endswith(word):
        return None
    return Span(span.source, len(text) - len(word), len(text))
