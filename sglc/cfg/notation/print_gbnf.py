"""Prints a grammar in GBNF, the notation of llama.cpp (`grammars/README.md` there).

Only expressions over characters have a notation there: a terminal that is matched as a pattern, and what a
lexer would skip, is a GrammarError.
"""

from __future__ import annotations

import re

from sglc.automata.regex.portable import quantifier
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.print_ebnf import within
from sglc.cfg.notation.print_lark import fresh_name

_ARMS, _ITEMS, _ONE = 0, 1, 2
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def to_gbnf(grammar: g.Grammar) -> str:
    """One rule a line; the grammar starts with `root`. Names get only letters, digits and dashes."""
    if grammar.terminals or grammar.ignore:
        raise GrammarError("GBNF has no terminals", None, -1)
    names = _names(grammar)
    order = [grammar.start, *(name for name in grammar.rules if name != grammar.start)]
    return "".join(f"{names[name]} ::= {_show(grammar.rules[name].body, _ARMS, names)}\n" for name in order)


def _names(grammar: g.Grammar) -> dict[str, str]:
    found = {grammar.start: "root"}
    taken = {"root"}
    for name in grammar.rules:
        if name == grammar.start:
            continue
        wanted = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "rule"
        found[name] = fresh_name(wanted, "-", taken)
    return found


def _show(body: g.Expression, around: int, names: dict[str, str]) -> str:
    match body:
        case g.Literal(text, False):
            return f'"{"".join(map(_char_of_text, text))}"'
        case g.Characters(points):
            return f"[{''.join(_range(low, high) for low, high in points)}]"
        case g.Words(texts):
            return _show(g.Alternatives(tuple(g.Literal(text) for text in sorted(texts))), around, names)
        case g.Reference(name):
            return names[name]
        case g.Sequence(items):
            if not items:
                return '""'
            return within(" ".join(_show(item, _ITEMS + 1, names) for item in items), _ITEMS, around)
        case g.Alternatives(arms) if arms:
            return within(" | ".join(_show(arm, _ITEMS, names) for arm in arms), _ARMS, around)
        case g.Repeat(item, low, high):
            inner = _show(item, _ONE, names)
            return (f"({inner})" if isinstance(item, g.Repeat) else inner) + quantifier(low, high)
        case g.Named(item):
            return _show(item, around, names)
    raise GrammarError(f"GBNF has no {type(body).__name__.lower()} like this", None, -1)


def _char_of_text(char: str) -> str:
    return '\\"' if char == '"' else _char(char)


def _range(low: int, high: int) -> str:
    return _of_class(low) if low == high else f"{_of_class(low)}-{_of_class(high)}"


def _of_class(point: int) -> str:
    char = chr(point)
    if char in "[]":
        return "\\" + char
    return _code(point) if char in "^-" else _char(char)


def _char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    return _code(ord(char))


def _code(point: int) -> str:
    """An escape of a fixed length: xgrammar reads all hexadecimal digits behind `\\x` as one number."""
    return f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"
