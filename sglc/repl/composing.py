"""One text made of stretches of others, and the way back: what is found in it is told where it was typed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.source import Source, Span


class Composition:
    """A text that grows by stretches of other texts, and by words that stand for places in them."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._homes: list[tuple[Span, bool]] = []
        """Where each stretch is from, and whether it is that text, character by character."""
        self.length = 0

    def add(self, span: Span) -> tuple[int, int]:
        """Append the text of a span; where it stands now."""
        return self._append(span.text, span, True)

    def word(self, text: str, span: Span) -> tuple[int, int]:
        """Append a word that was not typed here: what is said of it is said of the span."""
        return self._append(text, span, False)

    def _append(self, text: str, home: Span, exact: bool) -> tuple[int, int]:
        start = self.length
        if text:
            self._starts.append(start)
            self._homes.append((home, exact))
        self._texts += [text, "\n" if exact and not text.endswith("\n") else " " if not exact else ""]
        self.length += len(text) + len(self._texts[-1])
        return start, start + len(text)

    def gap(self, text: str) -> None:
        """Append text that is nobody's, such as an empty line."""
        self._texts.append(text)
        self.length += len(text)

    def source(self, name: str) -> Source:
        """All of it as a source."""
        return Source(name, "".join(self._texts))

    def home(self, span: Span) -> Span:
        """Where what stands in a span was typed."""
        at = bisect_right(self._starts, span.start) - 1
        if at < 0:
            return span
        home, exact = self._homes[at]
        if not exact:
            return home
        start = min(home.start + span.start - self._starts[at], home.end)
        return Span(home.source, start, min(start + span.end - span.start, home.end))

    def told(self, found: Diagnostic, source: Source) -> Diagnostic:
        """A finding about the text of `source`, which this made, where it was typed."""

        def moved(span: Span) -> Span:
            same = span.source is source or (
                span.source.name == source.name and span.source.text == source.text
            )
            return self.home(span) if same else span

        def edits(given: Iterable[Edit]) -> tuple[Edit, ...]:
            return tuple(Edit(moved(each.span), each.text) for each in given)

        return replace(
            found,
            span=None if found.span is None else moved(found.span),
            secondary=tuple(Label(moved(each.span), each.text) for each in found.secondary),
            edits=edits(found.edits),
            offered=edits(found.offered),
        )
