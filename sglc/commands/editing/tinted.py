"""Text as it is generated at a prompt: forced text grey, drawn text in the colour of its probability."""

from __future__ import annotations

import math
from typing import TextIO

from sglc.commands.running.live import visible

GREY, PLAIN = "\x1b[90m", "\x1b[0m"
TINTS = ((0.9, "\x1b[1m"), (0.5, "\x1b[1;36m"), (0.1, "\x1b[1;33m"), (0.0, "\x1b[1;31m"))
"""From which probability on drawn text has which colour: bold, cyan, yellow, red."""


class TintedText:
    """Where a narrator writes. Without `color` it is the text alone."""

    def __init__(self, out: TextIO, *, color: bool) -> None:
        self._out = out
        self._color = color
        self._tint = TINTS[0][1]
        self._style = ""
        self._last = "\n"
        self._held: str | None = ""

    def begin(self) -> None:
        """A hole begins: what the program wrote before it is shown too. Text without a hole was typed."""
        if self._held is not None:
            held, self._held = self._held.lstrip("\n"), None
            self.write(held, False)

    def write(self, text: str, generated: bool) -> None:
        """Write text; `generated` is False for text that no choice of the model went into."""
        if self._held is not None:
            self._held += text
            return
        text = visible(text)
        if not text:
            return
        style = (self._tint if generated else GREY) if self._color else ""
        if style != self._style:
            self._out.write((PLAIN if self._style else "") + style)
            self._style = style
        self._out.write(text)
        self._out.flush()
        self._last = text[-1]

    def token(self) -> None:
        """Tokens are not counted."""

    def probability(self, logprob: object) -> None:
        """How probable the token was that the next text is of, as a natural logarithm."""
        if isinstance(logprob, int | float) and logprob == logprob:
            probability = math.exp(min(0.0, logprob))
            self._tint = next(tint for least, tint in TINTS if probability >= least)

    def finish(self) -> None:
        """End the last line."""
        if self._style:
            self._out.write(PLAIN)
            self._style = ""
        if self._last != "\n":
            self._out.write("\n")
            self._last = "\n"
        self._out.flush()
