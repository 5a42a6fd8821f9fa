"""Which tests are meant: `-k EXPRESSION`, `--tag`, `--not-tag`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from sglc.bytecode.code import Code

_TOKEN = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([()])|([^\s()"']+))""")
_WORDS = ("and", "or", "not")
DEEPEST = 50
"""Parentheses inside each other: nobody writes more, and each takes some frames of the reader."""

Meant = Callable[[str], bool]


class SelectionFault(Exception):
    """An expression that cannot be read; the message says why."""


def read_words(expression: str) -> Meant:
    """The titles that an expression means: those that contain its words, in any case of letters.

    Words that stand side by side are one text. `and`, `or`, `not` and parentheses mean what they mean in
    pytest; a text in quotes may contain them. Raises SelectionFault.
    """
    reader = _Reader(_tokens(expression))
    meant = reader.either(0)
    if reader.at < len(reader.tokens):
        raise SelectionFault(f"`{reader.tokens[reader.at][1]}` stands behind the end")
    return meant


def _tokens(expression: str) -> list[tuple[str, str]]:
    """Each token with its kind: `text`, `word` (and, or, not), `(`, `)`."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(expression.rstrip()):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise SelectionFault("a quote is not closed")
        at = match.end()
        double, single, bracket, word = match.groups()
        if bracket:
            found.append((bracket, bracket))
        elif word in _WORDS:
            found.append(("word", word))
        elif found and found[-1][0] == "text" and word is not None:
            found[-1] = ("text", f"{found[-1][1]} {word}")
        else:
            found.append(("text", word if word is not None else double if double is not None else single))
    return found


@dataclass(slots=True)
class _Reader:
    tokens: list[tuple[str, str]]
    at: int = 0

    def _takes(self, *token: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def either(self, depth: int) -> Meant:
        arms = [self.both(depth)]
        while self._takes("word", "or"):
            arms.append(self.both(depth))
        return arms[0] if len(arms) == 1 else lambda title: any(arm(title) for arm in arms)

    def both(self, depth: int) -> Meant:
        arms = [self.one(depth)]
        while self._takes("word", "and"):
            arms.append(self.one(depth))
        return arms[0] if len(arms) == 1 else lambda title: all(arm(title) for arm in arms)

    def one(self, depth: int) -> Meant:
        if depth > DEEPEST:
            raise SelectionFault("it is nested too deeply")
        if self._takes("word", "not"):
            inner = self.one(depth + 1)
            return lambda title: not inner(title)
        if self._takes("(", "("):
            inner = self.either(depth + 1)
            if not self._takes(")", ")"):
                raise SelectionFault("a parenthesis is not closed")
            return inner
        if self.at == len(self.tokens) or self.tokens[self.at][0] != "text":
            here = f"before `{self.tokens[self.at][1]}`" if self.at < len(self.tokens) else "at its end"
            raise SelectionFault(f"words of a title are due {here}")
        words = self.tokens[self.at][1].casefold()
        self.at += 1
        return lambda title: words in title.casefold()


def chooser(words: str, tags: tuple[str, ...], without: tuple[str, ...]) -> Callable[[Code], bool]:
    """Whether a test is meant: by its title, by any of the tags, and by none of those it must not have.

    Raises SelectionFault.
    """
    titled = read_words(words) if words.strip() else lambda title: True

    def chosen(code: Code) -> bool:
        own = set(code.tags)
        return titled(code.name) and (not tags or bool(own & set(tags))) and not own & set(without)

    return chosen


def as_words(title: str) -> str:
    """`-k` for one title, as a shell takes it."""
    plain = not re.search(r"""[()"']""", title) and not set(title.split()) & set(_WORDS) and "  " not in title
    if plain:
        return f'"{title}"' if re.fullmatch(r"[\w .,:;?!=<>/-]*", title) else shlex.quote(title)
    return shlex.quote(f"'{title}'" if '"' in title else f'"{title}"')
