"""A pattern as a regular expression that ECMA-262 (with `u`), Python's `re` and Rust's `regex` read alike.

Sets of characters are written out, so that no dialect's idea of `\\d`, `.` or of case matters: `(?i)é` is
`[Éé]`. What dialects have in common is left: classes, groups, alternatives, counts, `^` and `$` at the ends
of the text, look-arounds (not Rust's). Python's `$` also matches before a last line feed.
"""

from __future__ import annotations

import re

from sglc.automata import charset
from sglc.automata.charset import Ranges
from sglc.automata.regex import tree as r
from sglc.automata.regex.parse import parse_regex

_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_IN_CLASS = frozenset("^$\\[]-&~")
"""Python warns of `[[`, `--`, `&&`, `~~` and `||` in a class, and Rust gives them a meaning."""


def portable_regex(pattern: str) -> str:
    """The pattern of a program, to be matched against the whole text. Raises RegexError."""
    return _text(parse_regex(pattern), loose=False)


def literal_regex(text: str) -> str:
    """A regular expression of exactly this text."""
    return "".join(_character(ord(char), _SYNTAX) for char in text)


def for_python(portable: str) -> str:
    """A portable regular expression whose `$` is the end of the text for Python too."""
    return re.sub(r"\\.|\$", lambda part: r"\Z" if part.group() == "$" else part.group(), portable)


def looks(pattern: str) -> bool:
    """Whether its portable form has look-arounds, which linear-time engines refuse."""
    node = parse_regex(pattern)
    return _any(node, lambda part: isinstance(part, r.Look) or _is_inner_place(part))


def looks_back_freely(pattern: str) -> bool:
    """Whether it looks behind over no fixed number of characters, which Python refuses."""
    return _any(
        parse_regex(pattern),
        lambda part: isinstance(part, r.Look) and part.behind and any(_width(a) is None for a in _arms(part)),
    )


def _any(node: r.Node, test: object) -> bool:
    assert callable(test)
    return bool(test(node)) or any(_any(part, test) for part in r.parts(node))


def _is_inner_place(node: r.Node) -> bool:
    return isinstance(node, r.Edge) and node.kind not in ("start", "end")


def _text(node: r.Node, *, loose: bool = True) -> str:
    """`loose`: beside other items, so that alternatives need a group."""
    match node:
        case r.Chars(these):
            return _class(these)
        case r.Join(items):
            return "".join(_text(item) for item in items)
        case r.Either(arms):
            inner = "|".join(_text(arm, loose=False) for arm in arms)
            return f"(?:{inner})" if loose else inner
        case r.Loop(item, low, high):
            inner = _text(item)
            one = inner if isinstance(item, r.Chars | r.Either) else f"(?:{inner})"
            return one + quantifier(low, high)
        case r.Edge():
            return _edge(node)
        case r.Look(item, behind, negated):
            if not behind:
                return f"(?{'!' if negated else '='}{_text(item, loose=False)})"
            parts = [f"(?<{'!' if negated else '='}{_text(arm)})" for arm in _arms(node)]
            return "".join(parts) if negated or len(parts) == 1 else f"(?:{'|'.join(parts)})"
    raise AssertionError("groups and references are gone when a pattern has been read")


def _arms(look: r.Look) -> tuple[r.Node, ...]:
    return look.item.arms if isinstance(look.item, r.Either) else (look.item,)


def quantifier(low: int, high: int | None) -> str:
    """What says behind an item that it comes so many times (None: any number)."""
    if high is None:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    if (low, high) == (0, 1):
        return "?"
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _edge(edge: r.Edge) -> str:
    these = _class(edge.these) if edge.these else ""
    match edge.kind:
        case "start":
            return "^"
        case "end":
            return "$"
        case "line_start":
            return f"(?:^|(?<={these}))"
        case "line_end":
            return f"(?:$|(?={these}))"
        case "word":
            return f"(?:(?<={these})(?!{these})|(?<!{these})(?={these}))"
        case "not_word":
            return f"(?:(?<={these})(?={these})|(?<!{these})(?!{these}))"


def _class(these: Ranges) -> str:
    if not these:
        return r"[^\s\S]"
    if these == charset.ALL:
        return r"[\s\S]"
    if len(these) == 1 and these[0][0] == these[0][1]:
        return _character(these[0][0], _SYNTAX)
    rest = charset.invert(these)
    negated = these[-1][1] == charset.LAST and len(rest) <= len(these)
    parts = []
    for low, high in rest if negated else these:
        first, last = _character(low, _IN_CLASS), _character(high, _IN_CLASS)
        parts.append(first if low == high else f"{first}{'-' if high > low + 1 else ''}{last}")
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def _character(point: int, special: frozenset[str]) -> str:
    char = chr(point)
    if char in special:
        # `\&` and `\~` are no escapes of ECMA-262 with `u`.
        return f"\\{char}" if char in _SYNTAX or char == "-" else f"\\u{point:04x}"
    if point < 0x10000 and not char.isprintable():
        return f"\\u{point:04x}"
    return char


def _width(node: r.Node) -> int | None:
    """The characters of all its words, None where they differ."""
    match node:
        case r.Chars():
            return 1
        case r.Edge() | r.Look():
            return 0
        case r.Loop(item, low, high):
            inner = _width(item)
            return None if inner is None or (high != low and inner) else inner * low
        case r.Join(items):
            widths = [_width(item) for item in items]
            return None if None in widths else sum(width or 0 for width in widths)
        case r.Either(arms):
            found = {_width(arm) for arm in arms}
            return found.pop() if len(found) == 1 else None
    return None
