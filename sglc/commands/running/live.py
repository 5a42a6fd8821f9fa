"""Text as it is generated, on a terminal: forced text dim, generated text bright, a live line below.

The live line stands on the terminal line below the text. To draw it the cursor goes one line down, writes,
comes one line up again and returns to its column: relative moves only, so that it also works where the
terminal scrolls. For that the column has to be known, so every character's width is counted.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable
from typing import TextIO

DIM, BRIGHT, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[0m"
ERASE_BELOW = "\x1b[J"
INTERVAL = 0.1
"""Least seconds between two drawings of the live line."""


def width_of(char: str) -> int:
    """Terminal columns that a character takes."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def visible(text: str) -> str:
    """Text with control characters shown, so that nothing a model writes can steer the terminal."""
    return "".join(
        char if char == "\n" or unicodedata.category(char) not in ("Cc", "Cf") else f"\\u{ord(char):04x}"
        for char in text
    )


class PlainText:
    """Streamed text where there is no terminal: just the text."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = "\n"

    def write(self, text: str, generated: bool) -> None:
        """Write text as it comes, whether it was generated or not."""
        if text:
            self._out.write(text)
            self._out.flush()
            self._last = text[-1]

    def token(self) -> None:
        """One more piece was generated, which is a token but for characters that take several."""

    def finish(self) -> None:
        """End the last line."""
        if self._last != "\n":
            self._out.write("\n")
            self._out.flush()


class LiveText:
    """Streamed text with colours and a line that counts tokens."""

    def __init__(
        self, out: TextIO, columns: int, *, color: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = out
        self._columns = max(columns, 20)
        self._color = color
        self._clock = clock
        self._column = 0
        self._drawn_at = -INTERVAL
        self._has_line = False
        self._style = ""
        self._started: float | None = None
        self.tokens = 0

    def write(self, text: str, generated: bool) -> None:
        """Append text; `generated` is False for text that no choice of the model went into."""
        text = visible(text)
        if not text:
            return
        self._erase()
        style = (BRIGHT if generated else DIM) if self._color else ""
        if style != self._style:
            self._out.write((PLAIN if self._style else "") + style)
            self._style = style
        self._out.write(text)
        for char in text:
            self._advance(char)
        self._draw()
        self._out.flush()

    def token(self) -> None:
        """One more piece was generated, which is a token but for characters that take several."""
        if self._started is None:
            self._started = self._clock()
        self.tokens += 1

    def finish(self) -> None:
        """Take the live line away and end the text's last line."""
        self._erase()
        if self._style:
            self._out.write(PLAIN)
            self._style = ""
        if self._column:
            self._out.write("\n")
            self._column = 0
        self._out.flush()

    def _advance(self, char: str) -> None:
        if char == "\n":
            self._column = 0
            return
        width = width_of(char)
        if self._column + width > self._columns:
            self._column = 0
        self._column += width

    def _erase(self) -> None:
        if self._has_line:
            self._out.write(ERASE_BELOW)
            self._has_line = False

    def _draw(self) -> None:
        now = self._clock()
        # With the cursor behind the last column a terminal has not wrapped yet: no column to return to.
        if now - self._drawn_at < INTERVAL or self._column >= self._columns or self._started is None:
            return
        self._drawn_at = now
        seconds = now - self._started
        rate = f" · {(self.tokens - 1) / seconds:.1f} tok/s" if seconds > 0.2 and self.tokens > 1 else ""
        noun = "token" if self.tokens == 1 else "tokens"
        line = f"{self.tokens} {noun}{rate}"[: self._columns - 1]
        if self._color:
            line = f"{PLAIN}{DIM}{line}{PLAIN}"
        self._out.write(f"\n{line}\x1b[A\x1b[{self._column + 1}G{self._style}")
        self._has_line = True
