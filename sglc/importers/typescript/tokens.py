"""TypeScript as tokens, as far as declarations of types need it."""

from __future__ import annotations

import re

from sglc.importers.core.comments import Comment, Comments
from sglc.importers.core.fault import SourceFault
from sglc.lalr.parse import Token

MAX_TOKENS = 200_000

_TOKEN = re.compile(
    r"""\s+
    |(//[^\n]*)                                                             # 1 comment to the end of the line
    |(/\*.*?\*/)                                                            # 2 comment
    |((?:[^\W\d]|\$)[\w$]*)                                                 # 3 word
    |("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*`)  # 4 string
    |((?:0|[1-9](?:_?\d)*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])             # 5 number
    |(\[\s*\])                                                              # 6 brackets of an array
    |(\.\.\.|=>|[{}()\[\]<>;,:?|&=.\-+@])                                   # 7 mark
    """,
    re.VERBOSE | re.DOTALL,
)
_LABEL = re.compile(r"\s*\??\s*:")
_ENDS_A_TYPE = frozenset({"NAME", "STRING", "NUMBER", "BRACKETS", ")", "]", "}", ">"})
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}


def tokens_of(text: str, words: frozenset[str]) -> tuple[list[Token], Comments]:
    """The tokens, ending with `$END`, and the comments. `words` are those of the grammar."""
    tokens: list[Token] = []
    comments: list[Comment] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _odd(text, at)
        start, at, part = at, match.end(), match.group()
        match match.lastindex:
            case 1:
                comments.append(Comment(start, at, part[2:].strip()))
            case 2:
                comments.append(Comment(start, at, _said(part[2:-2])))
            case 3:
                kind = part if part in words else "NAME"
                tokens.append(Token("LABEL" if _LABEL.match(text, at) else kind, part, start, at))
            case 4:
                tokens.append(Token("STRING", part, start, at))
            case 5:
                tokens.append(Token("NUMBER", part, start, at))
            case 6:
                tokens.append(Token("BRACKETS", part, start, at))
            case 7:
                glued = tokens and tokens[-1].end == start and tokens[-1].kind in _ENDS_A_TYPE
                tokens.append(Token("INDEX" if part == "[" and glued else part, part, start, at))
        if len(tokens) > MAX_TOKENS:
            raise SourceFault(start, at, f"it has more than {MAX_TOKENS} words and marks")
    tokens.append(Token("$END", "", len(text), len(text)))
    return tokens, Comments(text, comments)


def _said(inside: str) -> str:
    """What a comment of several lines says, without the stars at their fronts."""
    lines = [line.strip().lstrip("*").strip() for line in inside.split("\n")]
    return " ".join(line for line in lines if line)


def _odd(text: str, at: int) -> SourceFault:
    char = text[at]
    if char == "`":
        return SourceFault(at, at + 1, "a template with `${…}` in it is no literal type")
    if char in "\"'":
        return SourceFault(at, at + 1, f"this {char} is never closed on its line")
    if text.startswith("/*", at):
        return SourceFault(at, at + 2, "this comment is never closed")
    end = at + 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return SourceFault(at, end, f"`{text[at:end]}` means nothing in a type")


def string_of(token: Token) -> str:
    """The characters that a string stands for. Raises SourceFault where they are none."""

    def stands_for(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code is None:
            return _SHORT.get(match[4], match[4])
        point = int(code, 16)
        if point > 0x10FFFF:
            raise SourceFault(token.start, token.end, f"`{match[0]}` is no character")
        return chr(point)

    text = _ESCAPE.sub(stands_for, token.text[1:-1])
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise SourceFault(token.start, token.end, "it has half of a character (a lone surrogate)") from None
