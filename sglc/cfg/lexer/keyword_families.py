"""Keyword families: plain texts with the same conflicts with patterns.

The conflicts of a text depend only on the states to which its characters lead in the automata of the
patterns. Most characters lead to the same states: a name continues with any letter. So each text is mapped to
the classes of its characters. Texts with the same classes are a family, and one of them is analysed for all.
"""

from __future__ import annotations

from collections.abc import Iterable

from sglc.automata import charset
from sglc.automata.charset import Ranges
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.terminals import Token

_ASCII = 0x80


class Family:
    """Texts of equal length, priority and classes of characters; `tokens` holds at least one."""

    __slots__ = ("forbidden_next", "known", "patterns", "tokens", "uniform")

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.known = False
        """Whether the following has been found."""
        self.patterns: list[Token] | None = None
        """The patterns that are tried before these texts; None where that depends on names."""
        self.uniform = False
        """Whether these patterns conflict with all of them in the same way."""
        self.forbidden_next: Ranges | None = None
        """If so, what may not follow them on account of patterns; None if they are not read back."""


class Families:
    """Of plain texts in ASCII (`of`, by their index) among `patterns`, all that are no such text."""

    def __init__(self, texts: Iterable[Token], patterns: Iterable[Token]) -> None:
        cuts = cuts_of_ranges([charset.WORD])
        for pattern in patterns:
            if pattern.words:
                chars = {char for text in pattern.words for char in set(text)}
                cuts |= cuts_of_ranges([((ord(char), ord(char)),) for char in chars])
            else:
                cuts |= cuts_of([dfa for dfa, _ in pattern.automaton])
            cuts |= cuts_of_ranges([charset.ignoring_case(pattern.first)])
        self.cuts = cuts
        self.of: dict[int, Family] = {}
        found: dict[tuple[str, int], Family] = {}
        classes = _classes(cuts)
        for token in texts:
            key = token.value.translate(classes), token.priority
            family = found.get(key)
            if family is None:
                family = found[key] = Family()
            family.tokens.append(token)
            self.of[token.index] = family
        self.all = list(found.values())

    def beginning(self, pattern: Token) -> list[Family]:
        """Those whose texts begin as texts of a pattern do, in any case of letters."""
        points = charset.ignoring_case(pattern.first)
        return [family for family in self.all if charset.contains(points, ord(family.tokens[0].value[0]))]

    def tells_all(self, automata: Iterable[CharDfa]) -> bool:
        """Whether characters of one class lead to the same places in these automata."""
        return cuts_of(automata) <= self.cuts


def cuts_of(automata: Iterable[CharDfa]) -> set[int]:
    """The characters of ASCII at which something else may begin than before them."""
    edges = {(low, high) for dfa in automata for row in dfa.edges for low, high, _ in row}
    return cuts_of_ranges([tuple(edges)])


def cuts_of_ranges(sets: Iterable[Ranges]) -> set[int]:
    """The ASCII characters at which some of the sets begin, or have just ended."""
    return {point for these in sets for part in these for point in (part[0], part[1] + 1) if point < _ASCII}


def _classes(cuts: set[int]) -> str:
    """By character the first one of its class."""
    found: list[str] = []
    for point in range(_ASCII):
        found.append(chr(point) if not point or point in cuts else found[-1])
    return "".join(found)
