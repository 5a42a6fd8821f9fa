"""Programs in other layouts: odd indentation, blank lines, comments in all places, lines cut within brackets.

What comes out may have errors of syntax where the layout means something; whoever takes it asks the parser.
"""

from __future__ import annotations

import re
from random import Random

from sglc.source import Source
from sglc.syntax.parse import tokens

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_COMMENTS = (
    "# a note",
    "#tight",
    "#",
    "## of the schema",
    "##",
    "# fmt: off",
    "# fmt: on",
    "# trailing blanks  ",
    "# é | ?{x}",
)
_WIDTHS = (4, 4, 4, 2, 2, 1, 3, 8)


def restyled(text: str, dice: Random) -> str:
    """The program with its tokens in another layout."""
    return _Restyler(text, dice).text()


class _Restyler:
    def __init__(self, text: str, dice: Random) -> None:
        self.source = text
        self.dice = dice
        self.parts: list[str] = []
        self.indents = [0]
        self.noise = dice.choice((0.02, 0.1, 0.4))
        """How often something odd stands at a place."""
        self.grammar = -1

    def text(self) -> str:
        line: list[tuple[str, str, int, int]] = []
        previous = 0
        for kind, text, span in tokens(Source("restyled.sgl", self.source)):
            if kind == "INDENT":
                self.indents.append(self.indents[-1] + self.dice.choice(_WIDTHS))
            elif kind == "DEDENT":
                self.indents.pop()
            elif kind == "NEWLINE":
                self._line(line)
                previous, line = line[-1][3], []
            else:
                if not line:
                    self._between(self.source[previous : span.start])
                line.append((kind, text, span.start, span.end))
        made = "".join(self.parts).removeprefix("\n")
        if self.dice.random() < 0.1:
            made = re.sub(r"(?<!\r)\n", "\r\n", made)
        if self.dice.random() < 0.05:
            made = "\ufeff" + made
        return made if self.dice.random() < 0.9 else made.rstrip("\n")

    def _odd(self) -> bool:
        return self.dice.random() < self.noise

    def _between(self, gap: str) -> None:
        """The end of a line, and what stands above the next one."""
        kept = [line.strip() for line in gap.split("\n")]
        behind = kept[0] if self.parts else ""
        if self.parts:
            if self._odd() and self.parts[-1][:1] != "|" and not self.parts[-1].endswith('"""'):
                behind = behind or self.dice.choice(_COMMENTS)
            self.parts.append((" " * self.dice.randrange(4) + behind if behind else "") + "\n")
        lines = kept[1:-1] if self.parts else kept[:-1]
        if self._odd():
            lines = [line for line in lines if line]
        for line in lines:
            self.parts.append((self._somewhere() + line if line else "") + "\n")
        while self._odd():
            self.parts.append(
                self.dice.choice(
                    ("\n", "\n", "   \n", self._somewhere() + self.dice.choice(_COMMENTS) + "\n")
                )
            )

    def _somewhere(self) -> str:
        """An indentation for a comment."""
        return " " * (self.dice.choice(self.indents) if self.dice.random() < 0.7 else self.dice.randrange(12))

    def _line(self, line: list[tuple[str, str, int, int]]) -> None:
        indent = self.indents[-1]
        self.parts.append(" " * indent)
        if self.grammar >= 0 and len(self.indents) <= self.grammar:
            self.grammar = -1
        depth = 0
        for index, (kind, text, start, _) in enumerate(line):
            if index:
                before = line[index - 1]
                depth -= kind in _CLOSE
                self._gap(self.source[before[3] : start], before[1], text, depth, indent)
            self.parts.append(text)
            depth += kind in _OPEN
        if line[0][0] == "grammar" or (line[0][0] == "pub" and line[1][0] == "grammar"):
            self.grammar = len(self.indents) + 1

    def _gap(self, gap: str, before: str, text: str, depth: int, indent: int) -> None:
        """What stands between two tokens of a line."""
        rule = self.grammar >= 0 and not depth and text == "|"
        if (depth > 0 or before in _OPEN or rule) and self._odd():
            comment = f"  {self.dice.choice(_COMMENTS)}" if self._odd() else ""
            self.parts.append(f"{comment}\n")
            while self._odd():
                self.parts.append(
                    f"{self._somewhere()}{self.dice.choice(_COMMENTS)}\n" if self._odd() else "\n"
                )
            self.parts.append(" " * (indent + 1 + self.dice.randrange(6)))
        elif "\n" in gap:
            self.parts.append(gap if "#" in gap or self._odd() else " ")
        elif not self._odd():
            self.parts.append(gap)
        elif gap or not (before[-1].isalnum() or before[-1] == "_"):
            loose = not (before[-1].isalnum() and text[0].isalnum())
            self.parts.append(self.dice.choice((" ", "  ", "\t", "" if loose else " ")))
