"""Collects the diagnostics about the syntax of one source."""

from __future__ import annotations

from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.source import Source, Span
from sglc.syntax.lexer.tokens import Fault

MAX_DIAGNOSTICS = 100
"""Diagnostics that are kept of one file."""

Replacements = tuple[tuple[int, int, str], ...]
"""Edits of the source that is being read: the characters from, up to, and what stands there instead."""

MISREAD_BLOCKS = ("E0108", "E0114", "E0117", "E0122")
"""Codes of faults after which blocks may be read as parts of others."""

_MISREAD_BEHIND = ("string", "bracket", "mismatch", "regex")
"""Faults behind which the rest of the line is read wrongly."""


class Reporter:
    """Makes diagnostics about extents of one source and keeps them in the order they are found."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []

    def error(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        label: str = "",
        reason: str = "",
        hint: str = "",
        secondary: tuple[Label, ...] = (),
        edits: Replacements = (),
    ) -> None:
        """Add an error about the characters `start` to `end`."""
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            return
        made = tuple(Edit(Span(self.source, first, last), text) for first, last, text in edits)
        span = Span(self.source, start, end)
        self.diagnostics.append(
            Diagnostic(
                code, message, span, label=label, reason=reason, hint=hint, secondary=secondary, edits=made
            )
        )

    def warning(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        label: str = "",
        reason: str = "",
        hint: str = "",
    ) -> None:
        """Add a warning about the characters `start` to `end`."""
        span = Span(self.source, start, end)
        self.diagnostics.append(
            Diagnostic(code, message, span, label=label, reason=reason, hint=hint, severity="warning")
        )

    def lexical_faults(self, faults: list[Fault]) -> None:
        """Add what could not be cut into tokens; what stands behind an open quote or bracket is misread."""
        misread = dedented = -1
        for fault in faults:
            if len(self.diagnostics) >= MAX_DIAGNOSTICS:
                return
            line = self.source.position(fault.start)[0]
            if line == misread:
                continue
            column = fault.end - fault.start if fault.kind == "dedent" else -1
            if column >= 0 and column == dedented:
                continue
            dedented = column
            if fault.kind in _MISREAD_BEHIND:
                misread = line
            from sglc.syntax.errors.core.lexical import describe_fault

            self.diagnostics.append(describe_fault(fault, self.source))
