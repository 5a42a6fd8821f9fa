"""Prints a grammar in EBNF as the W3C writes it (XML 1.0, section 6).

    [1-3]{2}  →  [1-3] [1-3]          "say \\"a\\""  →  'say "a"'

The notation has neither counts nor escapes: counts are written out, and a character that neither quotes nor a
class can hold is `#xN`.
"""

from __future__ import annotations

import re

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.targets.core.names import distinct

MOST_WRITTEN = 1_000
"""Copies that all counts of a grammar may take together; more are no longer a text for people."""

MOST_NESTED = 20
"""Most options inside each other. Readers bound how deep a grammar is; beyond, more such groups follow."""

_ARMS, _ITEMS, _ONE = 0, 1, 2
_MARKS = {(0, None): "*", (1, None): "+", (0, 1): "?"}
_TEXT = re.compile(r"""[ -!#-~]+|[ -&(-~]+|[\s\S]""")
_CODE_AT_END = re.compile(r"#x[0-9A-F]+\Z")
_PLAIN = re.compile(r"[A-Za-z0-9 _.,:;!?%&@*+/=<>(){}|~'\"$`]")


def to_w3c(grammar: g.Grammar) -> str:
    """One rule a line, the start first. Raises GrammarError for what the notation cannot say."""
    if grammar.terminals or grammar.ignore:
        raise GrammarError("terminals that are matched as patterns")
    return _Printer(grammar).text()


class _Printer:
    def __init__(self, grammar: g.Grammar) -> None:
        self.grammar = grammar
        self.copies = 0
        self.names: dict[str, str] = {}
        for name in dict.fromkeys((grammar.start, *grammar.rules)):
            wanted = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "rule"
            wanted = f"r{wanted}" if wanted[0].isdigit() else wanted
            self.names[name] = distinct(wanted, lambda each: each in self.names.values())

    def text(self) -> str:
        return "".join(
            f"{new} ::= {self.shown(self.grammar.rules[name].body, _ARMS)}\n"
            for name, new in self.names.items()
        )

    def shown(self, body: g.Expression, around: int) -> str:
        match body:
            case g.Literal(text, False):
                parts = [_quoted(part) for part in _TEXT.findall(text)] or ['""']
                return _within(" ".join(parts), _ITEMS if len(parts) > 1 else _ONE, around)
            case g.Characters(points):
                return f"[{_ranges(points)}]"
            case g.Reference(name):
                return self.names[name]
            case g.Sequence(items):
                parts = [self.shown(item, _ITEMS + 1) for item in items] or ['""']
                return _within(" ".join(parts), _ITEMS if len(parts) > 1 else _ONE, around)
            case g.Alternatives(arms) if arms:
                inner = " | ".join(self.shown(arm, _ITEMS) for arm in arms)
                return _within(inner, _ARMS if len(arms) > 1 else _ITEMS, around)
            case g.Repeat(item, low, high):
                return self.repeated(self.shown(item, _ONE), low, high, around)
        raise GrammarError("a language without texts")

    def repeated(self, item: str, low: int, high: int | None, around: int) -> str:
        """`low` to `high` copies: those that must be there, then options inside each other."""
        if (low, high) in _MARKS:
            return (f"({item})" if item[-1] in "*+?" else item) + _MARKS[low, high]
        self.copies += low if high is None else high
        if self.copies > MOST_WRITTEN:
            raise GrammarError(f"counts of more than {MOST_WRITTEN:,} in all")
        parts = [item] * low
        if high is None:
            parts.append((f"({item})" if item[-1] in "*+?" else item) + "*")
        else:
            whole, rest = divmod(high - low, MOST_NESTED)
            parts += [_options(item, count) for count in (*[MOST_NESTED] * whole, rest) if count]
        return _within(" ".join(parts), _ITEMS if len(parts) > 1 else _ONE, around)


def _options(item: str, count: int) -> str:
    """Up to so many copies, each with those behind it inside."""
    options = f"({item})?"
    for _ in range(count - 1):
        options = f"({item} {options})?"
    return options


def _within(text: str, own: int, around: int) -> str:
    return f"({text})" if own < around else text


def _quoted(text: str) -> str:
    if len(text) == 1 and not 0x20 <= ord(text) < 0x7F:
        return f"#x{ord(text):X}"
    return f"'{text}'" if '"' in text else f'"{text}"'


def _ranges(points: g.CodePoints) -> str:
    text = ""
    for low, high in points:
        first = _char(low)
        if _CODE_AT_END.search(text) and first in "0123456789ABCDEFabcdef":
            first = f"#x{low:X}"  # else it would be one more digit of the code before it
        text += first if low == high else f"{first}-{_char(high)}"
    return text


def _char(point: int) -> str:
    return chr(point) if point < 0x7F and _PLAIN.match(chr(point)) else f"#x{point:X}"
