"""The tokens of grammars in Lark's notation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sglc.cfg.model.errors import GrammarError
from sglc.source import Source

_TOKENS = re.compile(
    r"""[ \t]*+(?:
    ([_A-Za-z][_A-Za-z0-9]*
    |"[^"\\\n]*"i?
    |[()\[\]{}:,~*?!]
    |\s*(?://|\#)[^\n]*
    |(?:\r?\n)+\s*(?:\||[?!]{0,2}[_A-Za-z][_A-Za-z0-9]*(?:\.[0-9]{1,9})?[ \t]*:)?
    |\|
    |/(?!/)(?:\\/|\\\\|[^/])*?/[imslux]*
    |"(?:\\"|\\\\|[^"\n])*?"i?
    |[+-]?\d+
    |%[a-z]+
    |\.\.|->|[.+]
    |\\[ ]*\n)
    |[^ \t])""",
    re.VERBOSE,
)
"""A token behind blanks. The beginning of a definition on a new line is one token, as far as its colon."""
NAME, STRING, REGEXP, OPEN, CLOSE, TIMES, OR, LINE, HEAD, END, NUMBER, DIRECTIVE, MARK, SKIPPED = range(14)
"""Kinds of tokens. LINE: line ends and what is blank after them; HEAD: the same before the beginning of a
definition; TIMES: what repeats the item before it; MARK: all other marks."""
_LETTERS = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KINDS = {
    **dict.fromkeys(_LETTERS, NAME),
    **dict.fromkeys("0123456789", NUMBER),
    **dict.fromkeys("([", OPEN),
    **dict.fromkeys(")]", CLOSE),
    **dict.fromkeys("*?~", TIMES),
    **dict.fromkeys("{}:,.!", MARK),
    '"': STRING,
    "|": OR,
    "%": DIRECTIVE,
    "#": SKIPPED,
    "\\": SKIPPED,
}
"""By first character; others need a closer look."""
_CONTINUED = re.compile(r"\\[ ]*\n")
_KEPT = frozenset(first for first, kind in _KINDS.items() if kind != SKIPPED)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])")


def lark_tokens(source: Source) -> list[str]:
    """The tokens of a text but blanks and comments; at the end a line end and the empty text.

    Raises GrammarError.
    """
    text = source.text
    found = _TOKENS.findall(text)
    if "" in found:
        at = next(match.end() - 1 for match in _TOKENS.finditer(text) if match.group(1) is None)
        raise GrammarError(*_unreadable(text, at, source))
    if "//" in text or "#" in text or _CONTINUED.search(text):
        found = [token for token in found if token[0] in _KEPT or kind_of(token) != SKIPPED]
    return [*found, "\n", ""]


def token_places(source: Source, start: int = 0) -> Iterator[int]:
    """Where the tokens from a place on begin; that of the last two is the end of the text."""
    text = source.text
    for match in _TOKENS.finditer(text, start):
        if kind_of(match.group(1)) != SKIPPED:
            yield match.start(1)
    yield len(text)
    yield len(text)


def kind_of(token: str) -> int:
    """The kind of a token by its text, which decides it."""
    first = token[:1]
    kind = _KINDS.get(first)
    if kind is not None:
        return kind
    if first == "\n" and token[-1] == ":" and token[1:-1].isidentifier():
        return HEAD
    if first == "":
        return END
    if first == "/":
        return SKIPPED if token.startswith("//") else REGEXP
    if first.isspace():
        rest = token.lstrip()
        if rest[:1] in ("#", "/"):
            return SKIPPED
        return LINE if not rest else OR if rest == "|" else HEAD
    return TIMES if token == "+" else MARK if token == "->" else NUMBER


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
