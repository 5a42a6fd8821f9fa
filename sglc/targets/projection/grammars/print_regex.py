"""Prints a grammar over characters as a regular expression that Python, ECMAScript and Rust read alike.

The whole text must match. A grammar that is not regular, or whose pattern would be very long, is a
GrammarError.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglc.automata.charset import ALL, invert, meet
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError

LONGEST = 200_000
"""Characters of a pattern. Rules are copied to where they are used; engines refuse patterns of megabytes."""

_ARMS, _ITEMS, _ONE = 0, 1, 2
_MARKS = {(0, None): "*", (1, None): "+", (0, 1): "?"}
_SPECIAL = frozenset(".^$*+?{}[]\\|()/")


def to_regex(grammar: g.Grammar, longest: int = LONGEST) -> str:
    """The pattern of a grammar over characters. Raises GrammarError, for one that is too long as well."""
    return _Printer(grammar, longest).rule(grammar.start, _ARMS)


class _Printer:
    def __init__(self, grammar: g.Grammar, longest: int) -> None:
        self.grammar = grammar
        self.longest = longest
        self.open: list[str] = []
        """Rules that are being copied, one inside the other."""
        self.written: dict[tuple[str, int], str] = {}
        """Rules that were copied before, by what stands around them."""

    def rule(self, name: str, around: int) -> str:
        if name in self.open:
            raise GrammarError("a language that contains itself, or an automaton with a long pattern")
        known = self.written.get((name, around))
        if known is None:
            self.open.append(name)
            known = self.shown(self.grammar.rules[name].body, around)
            self.open.pop()
            self.written[name, around] = known
        return known

    def shown(self, body: g.Expression, around: int) -> str:
        match body:
            case g.Literal(text, False):
                escaped = "".join(map(_char, text))
                return self.checked(f"(?:{escaped})" if around >= _ONE and len(text) > 1 else escaped)
            case g.Characters(points):
                return self.checked(_class(points))
            case g.Reference(name):
                return self.rule(name, around)
            case g.Sequence(items):
                inner = "".join(self.shown(item, _ITEMS) for item in items)
                return self.checked(f"(?:{inner})" if around >= _ONE or not items else inner)
            case g.Alternatives(arms) if arms:
                inner = "|".join(self.shown(arm, _ARMS + 1) for arm in arms)
                return self.checked(f"(?:{inner})" if around > _ARMS else inner)
            case g.Repeat(item, low, high):
                count = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
                text = self.shown(item, _ONE)
                text = f"(?:{text})" if isinstance(item, g.Repeat) else text
                return self.checked(text + _MARKS.get((low, high), count))
        raise GrammarError("a language without texts")

    def checked(self, text: str) -> str:
        if len(text) > self.longest:
            raise GrammarError(f"a pattern of more than {self.longest:,} characters")
        return text


def _char(char: str) -> str:
    if char in _SPECIAL:
        return "\\" + char
    return _code(ord(char)) if not char.isprintable() else char


def _code(point: int) -> str:
    """An escape of a fixed length: xgrammar reads all hexadecimal digits behind `\\x` as one number."""
    return f"\\u{point:04x}" if point < 0x10000 else chr(point)


def _class(points: g.CodePoints) -> str:
    def shown(point: int) -> str:
        char = chr(point)
        if char in "\\]^-[":
            return "\\" + char
        return char if char.isprintable() and char not in "|&~" else _code(point)

    def listed(ranges: Sequence[tuple[int, int]]) -> str:
        return "".join(shown(low) if low == high else f"{shown(low)}-{shown(high)}" for low, high in ranges)

    others = meet(invert(tuple(sorted(points))), ALL)
    if not others:
        return r"[\s\S]"
    inside, outside = listed(points), listed(others)
    return f"[^{outside}]" if len(outside) + 1 < len(inside) else f"[{inside}]"
