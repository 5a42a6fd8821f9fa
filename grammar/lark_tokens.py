"""The tokens of grammars in Lark's notation."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple

from sglc.grammar.errors import GrammarError
from sglc.source import Source

_TOKENS = re.compile(
    r"""(?P<comment>\s*(?://|\#)[^\n]*)
    |(?P<regexp>/(?!/)(?:\\/|\\\\|[^/])*?/[imslux]*)
    |(?P<string>"(?:\\"|\\\\|[^"\n])*?"i?)
    |(?P<or>(?:\r?\n)+\s*\||\|)
    |(?P<line>(?:\r?\n)+\s*)
    |(?P<blank>[ \t]+|\\[ ]*\n)
    |(?P<name>[_A-Za-z][_A-Za-z0-9]*)
    |(?P<number>[+-]?\d+)
    |(?P<directive>%[a-z]+)
    |(?P<mark>\.\.|->|[()\[\]{}:,.~+*?!])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])")
_SKIPPED = ("comment", "blank")


class LarkTokens(NamedTuple):
    """Kind, text and offset of each token; at the end a line end, and a token of the kind `end`."""

    kinds: list[str]
    texts: list[str]
    places: list[int]


class _Kinds(dict[str, str]):
    """The kind of a token by its text, which decides it."""

    def __missing__(self, text: str) -> str:
        match = _TOKENS.match(text)
        assert match is not None and match.lastgroup is not None
        found = self[text] = match.lastgroup
        return found


def lark_tokens(source: Source) -> LarkTokens:
    """The tokens of a text but blanks and comments. Raises GrammarError."""
    text = source.text
    # Most tokens come up again and again, so that little is done for each.
    pieces = [match.group() for match in _TOKENS.finditer(text)]
    ends = list(accumulate(map(len, pieces)))
    if (ends[-1] if ends else 0) < len(text):
        raise GrammarError(*_unreadable(text, _readable(text), source))
    kind_of = _Kinds()
    every = [kind_of[piece] for piece in pieces]
    kept = [number for number, kind in enumerate(every) if kind not in _SKIPPED]
    return LarkTokens(
        [*[every[number] for number in kept], "line", "end"],
        [*[pieces[number] for number in kept], "\n", ""],
        [*[ends[number] - len(pieces[number]) for number in kept], len(text), len(text)],
    )


def _readable(text: str) -> int:
    """Where the first thing is that is no token."""
    end = 0
    for match in _TOKENS.finditer(text):
        if match.start() != end:
            break
        end = match.end()
    return end


def _unreadable(text: str, at: int, source: Source) -> tuple[str, Source, int, str]:
    char = text[at]
    if char == '"':
        return "this text is never closed", source, at, "a text ends on its line"
    if char == "/":
        return "this pattern is never closed", source, at, ""
    if char == "'":
        return "a text is written in double quotes", source, at, ""
    return f"{char!r} has no place in a grammar", source, at, ""


def unescaped(text: str, source: Source, at: int) -> str:
    """What Lark makes of the inside of a text or pattern: it keeps backslashes that it does not know."""
    if "\\" not in text:
        return text
    quoted: list[str] = []
    chars = iter(text)
    for char in chars:
        quoted.append(char)
        if char == "\\":
            following = next(chars, "")
            if following == "\\":
                quoted.append("\\\\")
            elif following not in "Uuxnftr" or not following:
                quoted.append("\\")
            quoted.append(following)
    joined = "".join(quoted).replace('\\"', '"')

    def character(match: re.Match[str]) -> str:
        written = match.group()
        if written[1] in "xuU" and len(written) > 2:
            code = int(written[2:], 16)
            if code > 0x10FFFF:
                raise GrammarError(f"{written} is no character", source, at)
            return chr(code)
        plain = {"n": "\n", "t": "\t", "f": "\f", "r": "\r", "\\": "\\", '"': '"'}.get(written[1])
        if plain is None:
            raise GrammarError(f"the escape {written} is not complete", source, at)
        return plain

    return _ESCAPE.sub(character, joined)
