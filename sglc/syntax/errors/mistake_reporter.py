"""Reports mistakes so that one slip gives one message."""

from __future__ import annotations

from sglc.syntax.errors.core.faulty_line import Mistake
from sglc.syntax.errors.core.reporter import Reporter

MAX_MISTAKES = 40
"""Diagnostics of one file up to which mistakes are told; beyond it lines are skipped, silently."""
_LATEST = 200
"""Diagnostics, from the last one back, that are searched for one about the same line."""


class MistakeReporter:
    """Gives the mistakes of one source to its reporter, without those that follow from others."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.text = reporter.source.text
        self.covered: list[tuple[int, int]] = []
        """Parts of the text about which everything is said."""
        self.edited: set[tuple[int, int, str]] = set()
        """Edits that were told."""

    @property
    def full(self) -> bool:
        """Whether as many mistakes were told as are told of one file."""
        return len(self.reporter.diagnostics) >= MAX_MISTAKES

    def is_told(self, place: int) -> bool:
        """Whether nothing more can be said about a line: nothing at all, or nothing behind what covers it."""
        return self.full or self._is_covered(place)

    def already_told(self, start: int, end: int, beside_edits: bool = False) -> bool:
        """Whether an error on the same line was told already.

        `beside_edits` leaves out slips that carry edits: they were understood, so another one may be told.
        """
        if self._is_covered(start):
            return True
        start = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", end)
        end = len(self.text) if end < 0 else end
        return any(
            d.severity == "error" and d.span is not None and start <= d.span.start <= end
            for d in self.reporter.diagnostics[-_LATEST:]
            if not (beside_edits and d.edits)
        )

    def tell_line(self, mistake: Mistake, start: int, end: int) -> None:
        """Say what is wrong with a line, unless it was said: by itself, or with edits for several lines."""
        if self._is_covered(start):
            return
        if mistake.covers is None and self.already_told(start, end, beside_edits=bool(mistake.edits)):
            return
        if mistake.edits and self.edited.issuperset(mistake.edits):
            return
        if mistake.covers is not None:
            first, last = mistake.covers
            self.covered.append(mistake.covers)
            diagnostics = self.reporter.diagnostics
            diagnostics[:] = [
                d
                for d in diagnostics
                if d.severity != "error" or d.span is None or not first <= d.span.start < last
            ]
        self.edited.update(mistake.edits)
        self.tell(mistake)

    def tell(self, mistake: Mistake) -> None:
        """Say what is wrong."""
        if not self.full:
            self.reporter.error(
                mistake.code,
                mistake.message,
                mistake.start,
                mistake.end,
                label=mistake.label,
                reason=mistake.reason,
                hint=mistake.hint,
                edits=mistake.edits,
            )

    def _is_covered(self, place: int) -> bool:
        return any(first <= place < last for first, last in self.covered)
