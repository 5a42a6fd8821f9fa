"""A grammar in the notation of grammar blocks, a form of EBNF, for people and models to read."""

from __future__ import annotations

import json
import re

from sglc.automata.regex.portable import quantifier
from sglc.cfg.model import grammar as g

MANY_WORDS = 40
"""Words of one set that are shown; of larger sets the first ones and how many there are."""

_ARMS, _ITEMS, _ONE = 0, 1, 2


def show_grammar(grammar: g.Grammar) -> str:
    """One rule a line, the start first: `start: term (("+" | "-") term)*`. Aliases of trees are left out."""
    names = [grammar.start, *(name for name in grammar.rules if name != grammar.start)]
    lines = [f"{name}: {_show(grammar.rules[name].body, _ARMS)}" for name in names]
    hidden = set()
    for name in grammar.ignore:
        body = grammar.terminals[name].body
        hidden.add(name)
        lines.append(f"skip {_show(body, _ITEMS)}")
    lines += [f"{n}: {_show(t.body, _ARMS)}" for n, t in grammar.terminals.items() if n not in hidden]
    return "\n".join(lines)


def _show(body: g.Expression, around: int) -> str:
    match body:
        case g.Literal(text, ignore_case):
            return json.dumps(text, ensure_ascii=False) + ("i" if ignore_case else "")
        case g.Pattern(regex, flags):
            escaped = re.sub(r"(\\.)|/", lambda found: found[1] or r"\/", regex, flags=re.DOTALL)
            shown = escaped.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")
            return f"/{shown}/" + "".join(sorted(flags))
        case g.Characters(points):
            return _class(points)
        case g.Words(texts):
            words = [json.dumps(text, ensure_ascii=False) for text in sorted(texts)]
            if len(words) > MANY_WORDS:
                words = [*words[:MANY_WORDS], f"… ({len(words)} in all)"]
            return within(" | ".join(words), _ARMS if len(words) > 1 else _ONE, around)
        case g.Given(listed=listed):
            return within(f"one of {body.shown}", _ARMS, around) if listed else body.shown
        case g.Reference(name):
            return name
        case g.Sequence(items):
            if not items:
                return '""'
            if len(items) == 1:
                return _show(items[0], around)
            return within(" ".join(_show(item, _ITEMS + 1) for item in items), _ITEMS, around)
        case g.Alternatives(arms):
            return within(" | ".join(_show(arm, _ITEMS) for arm in arms), _ARMS, around)
        case g.Repeat(item, low, high):
            if (low, high) == (1, 1):
                return _show(item, around)
            inner = _show(item, _ONE)
            return (f"({inner})" if isinstance(item, g.Repeat) else inner) + quantifier(low, high)
        case g.Difference(item, without):
            return f"({_show(item, _ONE)} - {_show(without, _ONE)})"
        case g.Named(item):
            return _show(item, around)


def within(text: str, own: int, around: int) -> str:
    """An expression in brackets if what stands around it binds more tightly."""
    return f"({text})" if own < around else text


def _class(points: g.CodePoints) -> str:
    if len(points) == 1 and points[0][0] == points[0][1]:
        return json.dumps(chr(points[0][0]), ensure_ascii=False)
    parts = [_char(low) if low == high else f"{_char(low)}-{_char(high)}" for low, high in points]
    return f"/[{''.join(parts)}]/"


def _char(code: int) -> str:
    char = chr(code)
    if char in "]\\^-/[":
        return "\\" + char
    if char.isprintable():
        return char
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
