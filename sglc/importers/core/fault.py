"""What can be wrong with a type source."""

from __future__ import annotations


class SourceFault(ValueError):
    """A text that is malformed, or that says what a type cannot say exactly.

    Characters `start` up to `end` of the text are at fault; `hint` may say what would help.
    """

    def __init__(self, start: int, end: int, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason} ({hint})" if hint else reason)
        self.start = start
        self.end = max(end, start)
        self.reason = reason
        self.hint = hint
