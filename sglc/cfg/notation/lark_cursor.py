"""A cursor over the tokens of a grammar in Lark's notation."""

from __future__ import annotations

import re
from itertools import islice

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation import lark_lexer as lexer
from sglc.source import Source

_TERMINAL_NAME = re.compile(r"_?[A-Z][_A-Z0-9]*")
_RULE_NAME = re.compile(r"_?[a-z][_a-z0-9]*")
_ADJOINED = re.compile(r"\?[A-Za-z](?<![\n!]\?[A-Za-z])")
NEAR = 500
"""Tokens behind a known place up to which places are counted from there."""


class _Known(dict[str, g.Expression | int]):
    """What a token stands for by its text: an expression, or else its kind."""

    def __missing__(self, text: str) -> int:
        kind = lexer.kind_of(text)
        if kind > lexer.REGEXP:
            self[text] = kind
        return kind


class Cursor:
    """The tokens of a text, and how far they have been read.

    Names, texts and patterns are one expression wherever they stand, at the place where they stand first;
    with `placed` each is one of its own.
    """

    def __init__(self, source: Source, placed: bool) -> None:
        self.source = source
        self.texts = lexer.lark_tokens(source)
        self.known = _Known()
        self.templates = "{" in self.texts
        self.placed = placed or self.templates
        self.index = 0
        self.head = 0, 0
        """A token, and where it begins."""
        self.places: list[int] = []
        self.broken = False
        """Whether some pattern has several lines, so that what looks like a definition may stand in it."""
        self.adjoined = _ADJOINED.search(source.text) is not None
        """Whether some name may follow a question mark at once."""

    def fault(self, reason: str, index: int | None = None, hint: str = "") -> GrammarError:
        """An error at a token; None: at the next one."""
        return GrammarError(reason, self.source, self.place(self.index if index is None else index), hint)

    def place(self, index: int) -> int:
        """Where a token begins."""
        first, start = self.head
        if first <= index < first + NEAR and not self.placed:
            found = next(islice(lexer.token_places(self.source, start), index - first, None))
            self.head = index, found
            return found
        if not self.places:
            self.places = list(lexer.token_places(self.source))
        return self.places[index]

    def kind(self) -> int:
        """The kind of the next token, as the lexer numbers them."""
        return lexer.kind_of(self.texts[self.index])

    def comma(self, end: str) -> bool:
        """After an item of a list: whether another follows."""
        mark = self.texts[self.index]
        if mark not in (",", end):
            raise self.fault(f"a comma or {end} is expected here")
        self.index += 1
        return mark == ","

    def name(self) -> str:
        """Reads the name of a rule or terminal. Raises GrammarError if none comes next."""
        if self.kind() != lexer.NAME:
            raise self.fault("a name is expected here")
        name = self.texts[self.index]
        if not (name.islower() or name.isupper()) or name.startswith("__"):
            self.check_name(name, self.place(self.index))
        self.index += 1
        return name

    def check_name(self, name: str, at: int) -> None:
        """Raises GrammarError if a name is neither that of a rule nor that of a terminal."""
        if not (name.islower() or name.isupper()) or name.startswith("__"):
            good = (_RULE_NAME if name.islower() else _TERMINAL_NAME).fullmatch(name)
            if not good:
                raise GrammarError(
                    f"{name} is no name",
                    self.source,
                    at,
                    "rules are written in lower case, terminals in upper case",
                )

    def number(self, what: str) -> int:
        """Reads a number; `what` it is, for messages. Raises GrammarError above nine digits."""
        if self.kind() != lexer.NUMBER:
            raise self.fault(f"{what} is expected here")
        written = self.texts[self.index]
        if len(written) > 9:
            raise self.fault(f"{written[:9]}… is too large")
        self.index += 1
        return int(written)

    def unexpected(self) -> GrammarError:
        """The error for a next token that nothing can take."""
        text = self.texts[self.index]
        if self.kind() in (lexer.LINE, lexer.HEAD, lexer.END):
            return self.fault("the line ends too early")
        if text in (")", "]", "}"):
            return self.fault(f"this {text} closes nothing")
        if text == ":":
            return self.fault("a colon has no place here", hint="a new rule begins on a line of its own")
        if text in "*+?~":
            return self.fault(f"{text} needs something before it")
        return self.fault(f"{text!r} has no place here")
