"""How models spell values that no mask guides, and how the language does."""

from __future__ import annotations

from sglc.schema.core.options import SchemaOptions

FREE = SchemaOptions(order="any", spacing="flexible", spelling="any")
"""JSON in any order, spacing and spelling: each model writes it in its own way, all of them right. What is
not allowed of them would be a correction."""
BLANKS = " \t\r\n"


class Spacing:
    """JSON in the language's own spacing, piece by piece."""

    def __init__(self) -> None:
        self._quoted = self._escaped = False

    def written(self, text: str) -> str:
        """The next piece as our printer spaces it."""
        parts = []
        for char in text:
            if self._quoted:
                self._quoted = self._escaped or char != '"'
                self._escaped = not self._escaped and char == "\\"
                parts.append(char)
            elif char in ",:":
                parts.append(char + " ")
            elif char not in BLANKS:
                self._quoted = char == '"'
                parts.append(char)
        return "".join(parts)
