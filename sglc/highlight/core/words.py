"""Where a word of the language is a keyword: regular expressions for what stands before and behind it.

The parser takes a word for a keyword where its grammar can take the keyword, and for a name elsewhere. An
editor knows no states of a parser. But which tokens can stand right before and right behind a keyword is in
the tables of the grammar, and two neighbours nearly always decide. Where the lexer looks at what follows
(`SOFT`), its own pattern is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sglc.highlight.core.classes import WORDS
from sglc.immutable import value
from sglc.syntax.lexer.keywords import BINARY, HARD, ROLES, SOFT
from sglc.syntax.tables import Tables

LINE_STARTS = frozenset(("_NEWLINE", "_INDENT", "_DEDENT"))
_CHARACTERS = {
    "STRING": '"',
    "REGEX": "/",
    "INLINE_JSON": "}",
    "AUGMENTED": "=",
    "BINARY": "-+*/%=<>",
    "=>": ">",
    "->": ">",
    "..=": "=",
    "..<": "<",
}
"""The last characters of tokens that are neither words nor one character."""
_BEHIND_OPERANDS_ALONE = frozenset(
    "in and or if else matches contains for tok chars calls times always max min matching until multiple "
    "where distinct by as at using raises within without limit".split()
)
"""Words that go on behind an operand: a word before one of them is more likely a name than a keyword."""
_LIKE_NAMES = frozenset("n key limit seed weight times table schema temp text error test".split())
"""Words that are more often names, where one of them stands before another word."""


@value
class WordRule:
    """Words of one class that are keywords in the same places.

    `before` and `behind` are regular expressions of nothing but places, in the dialect of Python; `before`
    holds at the end of the token before the words. `starts_line` tells whether they may begin a line, and
    `in_brackets` whether they may stand inside brackets, holes and inserts.
    """

    words: tuple[str, ...]
    kind: str
    before: str
    behind: str
    starts_line: bool
    in_brackets: bool


@value
class Neighbours:
    """Which terminals can stand right before and right behind each terminal."""

    before: dict[str, frozenset[str]]
    behind: dict[str, frozenset[str]]


def neighbours(tables: Tables) -> Neighbours:
    """The neighbours of terminals, from the rows of the parser."""
    before: dict[str, set[str]] = {}
    behind: dict[str, set[str]] = {}
    for row in tables.rows:
        for terminal, action in row.items():
            if action > 0 and not _is_symbol(terminal):
                following = {each for each in tables.rows[action - 1] if not _is_symbol(each)}
                behind.setdefault(terminal, set()).update(following)
                for each in following:
                    before.setdefault(each, set()).add(terminal)
    return Neighbours(
        {key: frozenset(found) for key, found in before.items()},
        {key: frozenset(found) for key, found in behind.items()},
    )


def word_rules(tables: Tables) -> tuple[WordRule, ...]:
    """The rules of all words, those that share everything together."""
    known = neighbours(tables)
    grouped: dict[tuple[str, str, str, bool, bool], list[str]] = {}
    statements = sorted(
        word
        for word, before in known.before.items()
        if word.isidentifier()
        and word.islower()
        and ":" in before
        and before & LINE_STARTS
        and "(" not in before
    )
    behind_words = {
        word: re.compile(_behind(word, known, statements), re.MULTILINE)
        for word in WORDS
        if _kind(word) in known.before
    }

    def leads(head: str, word: str) -> bool:
        """Whether a keyword can be `head` where `word` follows as a name."""
        pattern = behind_words.get(head)
        return pattern is not None and any(
            pattern.match(f"{head} {word}{rest}", len(head))
            for rest in ("", " 3", " x", "(x)", ' "x"', " /x/", " = 3")
        )

    for word in sorted(WORDS):
        kind = _kind(word)
        if kind not in known.before:
            continue
        before = known.before[kind]
        starts_line = bool(before & LINE_STARTS)
        in_brackets = (
            word in HARD or not starts_line or bool(before - LINE_STARTS - {":", "BROKEN", "else", "pub"})
        )
        key = (
            WORDS[word],
            _before(word, before, known, leads),
            behind_words[word].pattern,
            starts_line,
            in_brackets,
        )
        grouped.setdefault(key, []).append(word)
    return tuple(
        WordRule(tuple(words), kind, before, behind, starts_line, in_brackets)
        for (kind, before, behind, starts_line, in_brackets), words in grouped.items()
    )


def _kind(word: str) -> str:
    """The terminal that a word is."""
    return "ROLE" if word in ROLES else "BINARY" if word in BINARY else word


def _is_symbol(name: str) -> bool:
    return len(name) > 2 and name[0] == "<"


def _before(word: str, before: frozenset[str], known: Neighbours, leads: Callable[[str, str], bool]) -> str:
    if word in HARD:
        return r"(?<!\.)"
    characters: set[str] = set()
    words: set[str] = set()
    for terminal in before - LINE_STARTS:
        if terminal == "ROLE":
            words.update(ROLES)
        elif terminal == "BINARY":
            characters.update(_CHARACTERS[terminal])
            words.update(each for each in BINARY if each.isidentifier())
        elif terminal in _CHARACTERS:
            characters.update(_CHARACTERS[terminal])
        elif terminal.isidentifier() and terminal.islower():
            words.add(terminal)
        elif len(terminal) == 1:
            characters.add(terminal)
    ranges = [r"(?<=\.\.)"] if ".." in before else []
    found = [f"(?<=[{''.join(map(re.escape, sorted(characters)))}])"] if characters else []
    found += ranges
    if "NAME" in before or "NUMBER" in before:
        heads = HARD if word in BINARY else WORDS
        refused = sorted(
            each
            for each in heads
            if each not in before and _takes_operands(each, known) and leads(each, word)
        )
        found.append(r"(?<=\w)" + "".join(_no_head(each, known) for each in refused))
    else:
        found += [rf"(?<=\b{each})" for each in sorted(words)]
    return f"(?:{'|'.join(found)})" if found else ""


def _no_head(word: str, known: Neighbours) -> str:
    """That what stands before is not this word as a keyword: behind a mark that it cannot follow it is a
    name.
    """
    if word in HARD:
        return rf"(?<!\b{word})"
    before = known.before[_kind(word)]
    marks = "".join(re.escape(each) for each in ":=([|,{" if each not in before) + (
        "" if "->" in before else ">"
    )
    return rf"(?<![^{marks}] {word})(?<!^{word})" if marks else rf"(?<!\b{word})"


def _takes_operands(word: str, known: Neighbours) -> bool:
    """Whether what stands behind a word is an operand of it, so that it is no operand itself."""
    if word in ("limit", "true", "false", "null"):
        return False
    kind = _kind(word)
    takes = bool(known.behind.get(kind, frozenset()) & {"NAME", "STRING"})
    return word in HARD or word in SOFT or (takes and word not in _LIKE_NAMES)


def _behind(word: str, known: Neighbours, statements: list[str]) -> str:
    before, behind = known.before[_kind(word)], known.behind[_kind(word)]
    loose = bool(before & {"NAME", ":", *LINE_STARTS})
    if word in HARD:
        return r"\b" if ":" in behind else r"\b(?![ \t]*\??:)"
    if word in SOFT and SOFT[word].pattern.startswith(r"[ \t]*:"):
        body = r"[ \t]*(?:\||#|\r?$|text[ \t]*\"|(?:" + "|".join(statements) + r")\b)"
        return rf"\b(?={SOFT[word].pattern.replace(':', ':' + body, 1)})"
    if word in SOFT:
        return rf"\b(?={SOFT[word].pattern})"
    if ")" in behind:
        return r"\b(?![ \t]*[(=.])"
    tight = "".join(sorted(re.escape(each) for each in behind if len(each) == 1 and each not in "-="))
    tight += ('"' if "STRING" in behind else "") + ("/" if "REGEX" in behind else "")
    found = [rf"[ \t]*[{tight}]"] if tight else []
    if "-" in behind:
        found.append(r"[ \t]*-(?![=>])")
    if "=" in behind:
        found.append(r"[ \t]*=(?![=>])")
    if ".." in behind:
        found.append(r"[ \t]*\.\.")
    if "$END" in behind:
        found.append(r"[ \t]*\}")
    if behind & {"_NEWLINE", "$END"}:
        found.append(r"[ \t]*(?:#.*)?\r?$")
    words = sorted(each for each in behind if each.isidentifier() and each.islower())
    if "NAME" in behind or "PATH" in behind:
        refused = "|".join(
            sorted((_BEHIND_OPERANDS_ALONE if loose and behind & {"(", "STRING"} else HARD) - behind)
        )
        digits = r"\w" if "NUMBER" in behind else r"[^\W\d]"
        found.append(rf"[ \t]+(?!(?:{refused})\b){digits}")
    elif words:
        found.append(rf"[ \t]+(?:{'|'.join(words)})\b")
    elif "NUMBER" in behind:
        found.append(r"[ \t]+\d")
    return rf"\b(?={'|'.join(found)})"
