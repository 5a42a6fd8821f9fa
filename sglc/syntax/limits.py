"""Limits on what is read at all, so that hostile input costs little and later stages may recurse."""

from __future__ import annotations

from typing import TypeVar

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Source, Span
from sglc.syntax.tree import ast

MAX_CHARACTERS = 4 * 1024 * 1024
MAX_DEPTH = 220
"""Levels of nodes below a declaration."""
LONG_LINE = 200
"""Characters of a line that has, in text or strings, no expression that nests so deeply."""

Part = TypeVar("Part", bound=ast.Declaration | ast.Statement)

_BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def unreadable(source: Source) -> Diagnostic | None:
    """What keeps a text from being read as a program."""
    text = source.text
    if len(text) > MAX_CHARACTERS:
        return Diagnostic(
            "E0130",
            f"{source.name} is too large",
            None,
            reason=f"it has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}",
            hint="keep long prose in its own file and `include` it",
        )
    if text.isascii() and "\0" not in text:
        return None
    for place, char in enumerate(text):
        if char == "\0" or "\ud800" <= char <= "\udfff" or char in _BIDIRECTIONAL:
            return Diagnostic(
                "E0133",
                f"the text has a character that cannot stand in a program: U+{ord(char):04X}",
                Span(source, place, place + 1),
                reason="it would make the program read differently from how it looks"
                if char in _BIDIRECTIONAL
                else "this does not look like a text file in UTF-8",
                hint=f'in a string, write it as "\\u{{{ord(char):x}}}"' if char in _BIDIRECTIONAL else "",
            )
    return None


def too_deep(declarations: tuple[Part, ...], diagnostics: list[Diagnostic]) -> tuple[Part, ...]:
    """The declarations, or statements, without those whose nodes nest too deeply, which are reported."""
    kept = []
    for declaration in declarations:
        if _depth(declaration) > MAX_DEPTH:
            diagnostics.append(
                Diagnostic(
                    "E0131",
                    "this is nested too deeply",
                    declaration.span,
                    reason=f"the limit is {MAX_DEPTH} levels",
                    hint="give inner parts names with `let`",
                )
            )
        else:
            kept.append(declaration)
    return tuple(kept)


def _depth(root: object) -> int:
    """Levels of nodes, counted without recursion."""
    deepest = 0
    waiting = [(root, 1)]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, tuple):
            waiting += [(item, level) for item in node if not isinstance(item, str)]
        elif hasattr(node, "__slots__") and not isinstance(node, Span | Source):
            deepest = max(deepest, level)
            if level > MAX_DEPTH:
                return level
            waiting += [
                (value, level + 1)
                for name in node.__slots__
                if not isinstance(value := getattr(node, name), str | int | Span | None)
            ]
    return deepest
