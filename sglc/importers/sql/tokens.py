"""SQL as statements of tokens."""

from __future__ import annotations

import re

from sglc.importers.core.comments import Comment, Comments
from sglc.importers.core.fault import SourceFault
from sglc.lalr.parse import Token

MAX_TOKENS = 200_000

_TOKEN = re.compile(
    r"""\s+
    |(--[^\n]*)                                                    # 1 comment to the end of the line
    |(/\*.*?\*/)                                                   # 2 comment
    |([^\W\d][\w$]*)                                               # 3 word
    |("(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]\n]+\])                  # 4 quoted name
    |('(?:[^']|'')*')                                              # 5 string
    |((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?!\w)              # 6 number
    |(\[\])                                                        # 7 behind the type of an array
    |(<=|>=|<>|!=|==|\|\||[-+*/%=<>(),.;])                         # 8 mark
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT, _BLOCK, _WORD, _QUOTED, _STRING, _NUMBER, _BRACKETS, _MARK = range(1, 9)


def statements(text: str, words: frozenset[str]) -> tuple[list[list[Token]], Comments]:
    """The statements, each ending with `$END`, and the comments. `words` are those of the grammar."""
    found: list[list[Token]] = []
    tokens: list[Token] = []
    comments: list[Comment] = []
    at, count = 0, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _odd(text, at)
        group, start, at = match.lastindex, match.start(), match.end()
        part = match.group()
        count += 1
        if count > MAX_TOKENS:
            raise SourceFault(start, at, f"it has more than {MAX_TOKENS} words and marks")
        match group:
            case 1:
                comments.append(Comment(start, at, part[2:].strip()))
            case 2:
                comments.append(Comment(start, at, " ".join(part[2:-2].replace("*", " ").split())))
            case 3:
                word = part.upper()
                tokens.append(Token(word if word in words else "NAME", part, start, at))
            case 4:
                tokens.append(Token("QUOTED", part, start, at))
            case 5:
                tokens.append(Token("STRING", part, start, at))
            case 6:
                tokens.append(Token("NUMBER", part, start, at))
            case 7:
                tokens.append(Token("EMPTY_BRACKETS", part, start, at))
            case 8 if part == ";":
                tokens.append(Token("$END", "", start, start))
                found.append(tokens)
                tokens = []
            case 8:
                tokens.append(Token(part, part, start, at))
    tokens.append(Token("$END", "", len(text), len(text)))
    found.append(tokens)
    return [statement for statement in found if len(statement) > 1], Comments(text, comments)


def _odd(text: str, at: int) -> SourceFault:
    char = text[at]
    if char in "\"'`":
        return SourceFault(at, at + 1, f"this {char} is never closed")
    if text.startswith("/*", at):
        return SourceFault(at, at + 2, "this comment is never closed")
    end = at + 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return SourceFault(at, end, f"`{text[at:end]}` means nothing in SQL that is read here")


def name_of(token: Token) -> str:
    """A name as it is stored: without its quotes."""
    text = token.text
    if token.kind != "QUOTED":
        return text
    if text[0] == "[":
        return text[1:-1]
    return text[1:-1].replace(text[0] * 2, text[0])


def string_of(token: Token) -> str:
    """The characters of a text in single quotes, doubled ones taken for one."""
    return token.text[1:-1].replace("''", "'")
