"""The error of grammars."""

from __future__ import annotations

from sglc.source import Source


class GrammarError(ValueError):
    """A grammar that is malformed, or that cannot be taken over exactly.

    `line` and `column` count from 1 (0: no place in a text); `hint` may say what would help.
    """

    def __init__(self, reason: str, source: Source | None = None, at: int = -1, hint: str = "") -> None:
        self.reason = reason
        self.source = source
        self.at = at
        self.hint = hint
        self.line, self.column = source.position(at) if source is not None and at >= 0 else (0, 0)
        super().__init__(f"{self.place}{reason}" + (f" ({hint})" if hint else ""))

    @property
    def place(self) -> str:
        """`name:line:column: `, or nothing where there is no place."""
        if self.source is None or not self.line:
            return ""
        return f"{self.source.name}:{self.line}:{self.column}: "
