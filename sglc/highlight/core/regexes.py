"""Regular expressions as trees, for places that have no lookaround: tree-sitter's scanner and Emacs.

The reader knows what the rules of colours and the lexer's tests use of Python's dialect, and refuses the
rest.
"""

from __future__ import annotations

import re

from sglc.immutable import value

Item = tuple[int, int] | str
"""Of a set: the first and last code point of a range, or the letter of a class: w, W, d, s."""


@value
class Char:
    """One character."""

    code: int


@value
class Set:
    """One character of a set, or with `negated` one that is not in it; no items and negated: any of the
    line.
    """

    negated: bool
    items: tuple[Item, ...]


@value
class Place:
    """A place: "^" the start of a line, "$" its end, "b" where a word begins or ends."""

    kind: str


@value
class Sequence:
    """Parts one after the other."""

    parts: tuple[Regex, ...]


@value
class Choice:
    """The first arm that matches."""

    arms: tuple[Regex, ...]


@value
class Repeat:
    """As often as possible; `most` is None where nothing bounds it."""

    least: int
    most: int | None
    inner: Regex


@value
class Group:
    """A group that is counted."""

    number: int
    inner: Regex


@value
class Look:
    """A look ahead or behind; `wanted` tells whether it has to match."""

    behind: bool
    wanted: bool
    inner: Regex


Regex = Char | Set | Place | Sequence | Choice | Repeat | Group | Look

_PIECE = re.compile(r"\(\?:|\(\?<?[=!]|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)
_LOOKS = {"(?=": (False, True), "(?!": (False, False), "(?<=": (True, True), "(?<!": (True, False)}
_CONTROLS = {"n": 10, "t": 9, "r": 13}


def read(regex: str) -> Regex:
    """The tree of a regular expression; raises ValueError for what the reader does not know."""
    reader = _Reader(regex)
    found = reader.choice()
    if reader.pieces[reader.place]:
        raise ValueError(f"an unpaired bracket in {regex!r}")
    return found


def width(regex: Regex) -> int:
    """How many characters it matches at least; inside a look behind always so many."""
    match regex:
        case Char() | Set():
            return 1
        case Sequence(parts):
            return sum(map(width, parts))
        case Choice(arms):
            return min(map(width, arms))
        case Repeat(least, _, inner):
            return least * width(inner)
        case Group(_, inner):
            return width(inner)
    return 0


class _Reader:
    def __init__(self, regex: str) -> None:
        self.pieces = [*_PIECE.findall(regex), ""]
        self.place = 0
        self.groups = 0

    def choice(self) -> Regex:
        arms = [self._sequence()]
        while self.pieces[self.place] == "|":
            self.place += 1
            arms.append(self._sequence())
        return arms[0] if len(arms) == 1 else Choice(tuple(arms))

    def _sequence(self) -> Regex:
        parts = []
        while self.pieces[self.place] not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, atom: Regex) -> Regex:
        piece = self.pieces[self.place]
        bounds: tuple[int, int | None]
        if piece in ("*", "+", "?"):
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[piece]
        elif len(piece) > 1 and piece[0] == "{":
            least, comma, most = piece[1:-1].partition(",")
            bounds = int(least), (int(most) if most else None) if comma else int(least)
        else:
            return atom
        self.place += 1
        return Repeat(*bounds, atom)

    def _atom(self) -> Regex:
        piece = self.pieces[self.place]
        self.place += 1
        if piece[0] == "(":
            return self._bracket(piece)
        if piece[0] == "[" and len(piece) > 1:
            return _set(piece)
        if piece in ("^", "$", r"\b"):
            return Place(piece[-1])
        if piece == ".":
            return Set(True, ((10, 10),))
        if piece[0] == "\\":
            code = _escape(piece[1])
            return Set(False, (code,)) if isinstance(code, str) else Char(code)
        return Char(ord(piece))

    def _bracket(self, piece: str) -> Regex:
        self.groups += piece == "("
        number = self.groups
        inner = self.choice()
        self.place += 1
        if piece in _LOOKS:
            return Look(*_LOOKS[piece], inner)
        return Group(number, inner) if piece == "(" else inner


def _escape(letter: str) -> int | str:
    if letter in "wWds":
        return letter
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter.isalnum():
        raise ValueError(f"the escape \\{letter} is not known")
    return ord(letter)


def _set(piece: str) -> Set:
    negated = piece[1] == "^"
    codes = [
        _escape(each[1]) if len(each) > 1 else ord(each)
        for each in re.findall(r"\\.|.", piece[1 + negated : -1], re.DOTALL)
    ]
    plain = re.findall(r"\\.|.", piece[1 + negated : -1], re.DOTALL)
    items: list[Item] = []
    place = 0
    while place < len(codes):
        code = codes[place]
        if isinstance(code, str):
            items.append(code)
        elif plain[place + 1 : place + 2] == ["-"] and place + 2 < len(codes):
            last = codes[place + 2]
            assert isinstance(last, int)
            items.append((code, last))
            place += 2
        else:
            items.append((code, code))
        place += 1
    return Set(negated, tuple(items))
