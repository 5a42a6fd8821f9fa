"""Findings of the front end: the diagnostics of what cannot be translated."""

from __future__ import annotations

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Span


class Findings:
    """Diagnostics in the order in which they are found."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def error(
        self, code: str, message: str, span: Span, *, label: str = "", reason: str = "", hint: str = ""
    ) -> None:
        """Add an error, once for each place."""
        found = Diagnostic(code, message, span, label=label, reason=reason, hint=hint)
        if all((known.code, known.span) != (code, span) for known in self.diagnostics):
            self.diagnostics.append(found)
