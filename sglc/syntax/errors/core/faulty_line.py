"""What the messages about a faulty line are made of: the line, and what is wrong in it."""

from __future__ import annotations

from sglc.immutable import value
from sglc.lalr.machine import Tokens
from sglc.syntax.errors.core.reporter import Replacements

BLOCK_WORDS = frozenset(
    "fn pure part aside record enum union grammar test if elif else for while match case try except fuzz "
    "forget par system user assistant tool using".split()
)
STATEMENT_WORDS = frozenset(
    "let var if for while match return break continue raise try ensure check yield adopt include part aside "
    "forget think par using mock fuzz expect golden replay system user assistant tool".split()
)
DECLARATION_WORDS = frozenset(
    "pub fn pure record enum union type error const grammar extern test use import".split()
)
HEADER_WORDS = frozenset("pub fn pure part aside".split())
FOLLOWERS = {"else": "an `if`", "elif": "an `if`", "except": "a `try`", "case": "a `match`"}
_CLOSER = {"(": ")", "[": "]", "{": "}"}


@value
class Mistake:
    """What is wrong at offsets `start` to `end`.

    `repair` is a token to take as if it stood there in the place of the next `skip` tokens, so that the line
    need not be given up. `covers` is a part of the text in which whatever else was found follows from this.
    """

    code: str
    message: str
    start: int
    end: int
    label: str = ""
    reason: str = ""
    hint: str = ""
    repair: str = ""
    skip: int = 0
    edits: Replacements = ()
    covers: tuple[int, int] | None = None


class Line:
    """The logical line that a faulty token stands on."""

    def __init__(self, text: str, tokens: Tokens, first: int, index: int) -> None:
        self.text, self.tokens, self.first, self.index = text, tokens, first, index
        self.kind = tokens.kinds[index]
        self.start, self.end = tokens.starts[index], tokens.ends[index]
        self.word = self.at(first)
        end = index
        while tokens.kinds[end] not in ("_NEWLINE", "$END"):
            end += 1
        self.last = end
        """The token that ends the line."""

    def at(self, index: int) -> str:
        """Text of a token; empty before the line and behind it."""
        if not self.first <= index < len(self.tokens.kinds):
            return ""
        return self.text[self.tokens.starts[index] : self.tokens.ends[index]]

    def kind_at(self, index: int) -> str:
        """Kind of a token; that of the end behind the last one."""
        return self.tokens.kinds[index] if index < len(self.tokens.kinds) else "$END"

    @property
    def token(self) -> str:
        """The text of the token that does not fit."""
        return self.at(self.index)

    def kinds(self) -> list[str]:
        """The kinds of the tokens of the line."""
        return self.tokens.kinds[self.first : self.last]

    def starts(self, index: int) -> int:
        """The character at which a token begins, by its index among all tokens."""
        return self.tokens.starts[index]

    def ends(self, index: int) -> int:
        """The character behind a token, by its index among all tokens."""
        return self.tokens.ends[index]

    def touching(self, left: int, right: int) -> bool:
        """Whether nothing stands between two tokens."""
        return self.tokens.ends[left] == self.tokens.starts[right]

    def closing(self, index: int) -> int | None:
        """The token that closes the bracket at `index`; None if it does not stand on this line."""
        waiting: list[str] = []
        for place in range(index, self.last):
            word = self.at(place)
            if word in _CLOSER and self.tokens.kinds[place] == word:
                waiting.append(_CLOSER[word])
            elif waiting and word == waiting[-1]:
                waiting.pop()
                if not waiting:
                    return place
        return None

    def depth_before(self, index: int) -> int:
        """How many brackets are open before a token of the line."""
        depth = 0
        for place in range(self.first, index):
            kind = self.tokens.kinds[place]
            depth += (kind in _CLOSER) - (kind in _CLOSER.values())
        return depth

    def opener(self, index: int) -> int | None:
        """The bracket that is open before a token; None if there is none."""
        waiting: list[int] = []
        for place in range(self.first, index):
            kind = self.tokens.kinds[place]
            if kind in _CLOSER:
                waiting.append(place)
            elif kind in _CLOSER.values() and waiting:
                waiting.pop()
        return waiting[-1] if waiting else None

    @property
    def written(self) -> tuple[int, int]:
        """Where the line's own text begins and ends, without indentation and line end."""
        return self.tokens.starts[self.first], self.tokens.ends[max(self.first, self.last - 1)]

    @property
    def indentation(self) -> str:
        """The blanks before the first token of the line."""
        start = self.text.rfind("\n", 0, self.tokens.starts[self.first]) + 1
        return self.text[start : self.tokens.starts[self.first]]


def line_extent(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines that a part of the text stands on, with the last one's line end."""
    first = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    return first, len(text) if after < 0 else after + 1


def enclosing_word(text: str, place: int) -> str:
    """The first word of the block around the line at `place`; empty at the left margin."""
    start = text.rfind("\n", 0, place) + 1
    line = text[start : _end(text, start)]
    column = len(line) - len(line.lstrip())
    while start > 0 and column > 0:
        start = text.rfind("\n", 0, start - 1) + 1
        line = text[start : _end(text, start)]
        here = len(line) - len(line.lstrip())
        if line.strip() and here < column:
            return line.split()[0].rstrip(":|")
    return ""


def header_of(text: str, place: int) -> str:
    """The first line of the declaration that the line at `place` belongs to."""
    start = text.rfind("\n", 0, place) + 1
    while start > 0 and (text[start : start + 1].isspace() or not text[start : start + 1]):
        start = text.rfind("\n", 0, start - 1) + 1
    return text[start : _end(text, start)]


def declaring_word(text: str, place: int) -> str:
    """The first word of the declaration that the line at `place` belongs to."""
    return next(iter(header_of(text, place).split()), "")


def _end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
