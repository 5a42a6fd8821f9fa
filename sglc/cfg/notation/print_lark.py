"""Prints a grammar in Lark's notation, so that what has been generated can be parsed with it.

Names that Lark would not take (`array-item`, `_sep{x,","}`, terminals in small letters) get new ones; sets of
words and classes of characters become patterns.
"""

from __future__ import annotations

import re

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError

_ARMS, _ITEMS, _ONE = 0, 1, 2
_ESCAPE = re.compile(r"\\\\\"|\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])|[\x00-\x1f/]")


def to_lark(grammar: g.Grammar) -> tuple[str, str]:
    """(text in Lark's notation, name of the rule to start with). A difference is a GrammarError."""
    printer = _Printer(grammar)
    lines = [
        f"{printer.names[name]}: {printer.shown(rule.body, _ARMS)}" for name, rule in grammar.rules.items()
    ]
    for name, terminal in grammar.terminals.items():
        priority = f".{terminal.priority}" if terminal.priority else ""
        lines.append(f"{printer.names[name]}{priority}: {printer.shown(terminal.body, _ARMS)}")
    lines += [f"%ignore {printer.names[name]}" for name in grammar.ignore]
    return "\n".join(lines) + "\n", printer.names[grammar.start]


def fresh_name(wanted: str, mark: str, taken: set[str]) -> str:
    """A name that is not taken, with a number behind a mark if it must be; it is taken then."""
    new, count = wanted, 1
    while new in taken:
        count += 1
        new = f"{wanted}{mark}{count}"
    taken.add(new)
    return new


class _Printer:
    def __init__(self, grammar: g.Grammar) -> None:
        self.names: dict[str, str] = {}
        taken: set[str] = set()
        for names, upper in ((grammar.rules, False), (grammar.terminals, True)):
            for name in names:
                cleaned = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "x"
                if cleaned[0].isdigit():
                    cleaned = "x" + cleaned
                wanted = cleaned.upper() if upper else cleaned.lower()
                self.names[name] = fresh_name(wanted, "_", taken)

    def shown(self, item: g.Expression, place: int) -> str:
        match item:
            case g.Reference(name):
                return self.names[name]
            case g.Literal(text, ignore_case):
                if not text:
                    return "()"
                return f'"{_text(text)}"' + ("i" if ignore_case else "")
            case g.Pattern(regex, flags):
                return f"/{_pattern(regex)}/{''.join(sorted(flags))}"
            case g.Characters(points):
                return f"/{_class(points)}/" if points != ((10, 10),) else '"\\n"'
            case g.Words(texts):
                arms = " | ".join(f'"{_text(text)}"' if text else "" for text in sorted(texts))
                return f"({arms})"
            case g.Sequence(items):
                inner = " ".join(self.shown(part, _ONE) for part in items)
                return f"({inner})" if place >= _ONE or (not inner and place) else inner
            case g.Alternatives(arms):
                inner = " | ".join(self.shown(arm, _ITEMS) for arm in arms)
                return f"({inner})" if place else inner
            case g.Repeat(inner, minimum, maximum):
                if isinstance(inner, g.Repeat):
                    repeated = f"({self.shown(inner, _ARMS)})"
                else:
                    repeated = self.shown(inner, _ONE)
                return repeated + _mark(minimum, maximum, repeated)
            case g.Named(inner, name):
                return self.shown(inner, place)
            case g.Given():
                raise GrammarError(f"the value of {item.shown} is not known yet")
            case g.Difference():
                raise GrammarError("Lark has no notation for a difference")


def _mark(minimum: int, maximum: int | None, inner: str) -> str:
    if maximum is None:
        return {0: "*", 1: "+"}.get(minimum) or f"~{minimum} {inner}*"
    if (minimum, maximum) == (0, 1):
        return "?"
    return f"~{minimum}" if minimum == maximum else f"~{minimum}..{maximum}"


def _control(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or f"\\x{ord(char):02x}"


def _text(text: str) -> str:
    found = []
    for char in text:
        code = ord(char)
        if char in '"\\':
            found.append("\\" + char)
        elif code < 0x20 or 0x7F <= code < 0xA0:
            found.append(_control(char))
        else:
            found.append(char)
    return "".join(found)


def _pattern(regex: str) -> str:
    """Lark replaces escapes by their characters before the pattern is read: only harmless ones are kept.

    It takes a backslash before `"` away, also the second one of an escaped backslash.
    """

    def safe(match: re.Match[str]) -> str:
        written = match.group()
        if written == "/":
            return "\\/"
        if len(written) == 1:
            return _control(written)
        if written.endswith('"'):
            return (r"\\" if len(written) == 3 else "") + r"\x22"
        if len(written) == 2:
            return {"\\\n": "\\n"}.get(written, written)
        char = chr(int(written[2:], 16))
        return written if char.isalnum() or ord(char) < 0x20 or ord(char) > 0x7E else "\\" + char

    return _ESCAPE.sub(safe, regex)


def _class(points: g.CodePoints) -> str:
    def shown(code: int) -> str:
        char = chr(code)
        if char in '\\]^-[/&~|"':
            return "\\" + char if char != '"' else char
        if 0x20 <= code < 0x7F:
            return char
        return _control(char) if code < 0xA0 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    parts = (shown(low) if low == high else f"{shown(low)}-{shown(high)}" for low, high in points)
    return f"[{''.join(parts)}]"
