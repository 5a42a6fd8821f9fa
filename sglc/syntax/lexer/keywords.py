"""Words of the language: which are keywords, and where.

A word that only means something in one place (`check`, `user`, `gen`) is a keyword only where what follows it
says so; the parser takes the others for names where its grammar cannot take the keyword.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sglc.lalr.machine import Run

HARD = frozenset(
    "fn let var if elif else for while return break continue raise try except case".split()
    + "and or not in true false null".split()
)
"""Words that are never names, except after a point and before a colon."""

BINARY = frozenset("+ - * / // % ** == != < <= > >= .. ..= ..< and or in matches contains".split())
"""Infix operators: the grammar knows them as one kind of token."""
ROLES = ("system", "user", "assistant", "tool")

Words = dict[str, tuple[str, Callable[[str, int], object] | None]]
"""Each word of the grammar with its kind and the test that what follows must pass."""

# A word is a keyword only if what follows it in the text matches.
_NO_OPERATOR = r"(?!(?:in|and|or|if|else|matches|contains|is|for)\b|not[ \t]+in\b)"
_PHRASE = rf'[ \t]+{_NO_OPERATOR}(?![-/]=)[\w"\[({{/-]'
_OPERAND = rf'[ \t]+{_NO_OPERATOR}[\w"\[({{]'
_NAMED = rf"[ \t]+{_NO_OPERATOR}[^\W\d]"
_COLON = r"[ \t]*:"
SOFT: dict[str, re.Pattern[str]] = {
    word: re.compile(follow, re.MULTILINE)
    for words, follow in (
        ("system user assistant tool", r"[ \t]*:|[ \t]+with\b"),
        ("check ensure yield adopt fuzz expect golden match", _PHRASE),
        ("include replay", r'[ \t]*"'),
        ("mock part aside stream using", _NAMED),
        ("gen choose select fork", _OPERAND),
        ("forget par", _COLON),
        ("think", r"[ \t]+(?:max|temp|top_p|top_k|min_p|seed|until|using)\b|[ \t]*(?:#.*)?\r?$"),
        ("schema", r"\(|[ \t]*[\"{]"),
        ("each", r"[ \t]+[^\W\d]\w*[ \t]+in\b"),
        ("span one multiple", r"[ \t]+of\b"),
        ("blend", r"[ \t]*\("),
        ("without", _PHRASE),
        ("at", r"[ \t]+least\b"),
        ("skip", r"[ \t]*/"),
        ("json", r"[ \t]+schema\b"),
        ("sql", r"[ \t]+table[ \t]+[\"\w]"),
        ("typescript", r"[ \t]*\"|[ \t]+\w+[ \t]+from[ \t]*\""),
        ("table", r"[ \t]+[\"\w]"),
        ("from", r"[ \t]*\""),
        ("raises", r"[ \t]+[^\W\d]"),
        ("untrusted", r"[ \t]+[^\W\d]|[ \t]*[\[({\"]"),
    )
    for word in words.split()
}


def words_of(literals: frozenset[str]) -> Words:
    """The words of a grammar with these literals."""
    table: Words = {}
    for word in sorted({*literals, *BINARY, *ROLES}):
        if word.isidentifier():
            kind = "BINARY" if word in BINARY else "ROLE" if word in ROLES else word
            table[word] = (kind, SOFT[word].match if word in SOFT else None)
    return table


def instead_of(text: str, run: Run, kind: str, index: int) -> str:
    """The kind that a token is tried as where its own cannot stand: an operator as its own text, a keyword as
    a name; empty if nothing.
    """
    kinds = run.tokens.kinds
    if kind == "BINARY":
        text = text[run.tokens.starts[index] : run.tokens.ends[index]]
        if text in run.machine.rows[run.states[-1]]:
            return text
    elif kind == "ROLE" or kind[0].islower():
        text = kind
    else:
        return ""
    return "NAME" if text[0].isalpha() and (text not in HARD or _names_a_part(kinds, index)) else ""


def _names_a_part(kinds: list[str], index: int) -> bool:
    return (index > 0 and kinds[index - 1] == ".") or kinds[index + 1] in (":", "?")
