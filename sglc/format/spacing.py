"""Blanks between the tokens of one line.

A word that is a keyword only where something follows it keeps what that is decided by: whether there is a
blank behind it.
"""

from __future__ import annotations

from sglc.format.tokens import TakenTokens
from sglc.syntax.lexer.keywords import SOFT

_NONE_BEFORE = frozenset(", ; ) ] } ? . : * +".split())
"""`*` and `+` are those that repeat a part of a grammar; as operators they are of the kind BINARY."""
_NONE_AFTER = frozenset("( [ { . -".split())
"""`-` is a sign; as an operator it is of the kind BINARY."""
_OPERAND_ENDS = frozenset("NAME NUMBER STRING REGEX INLINE_JSON ) ] } true false null".split())
_OPERAND_STARTS = frozenset("NAME NUMBER STRING REGEX ( [ { true false null -".split())
CALLED = _OPERAND_ENDS | {"schema", "blend"}
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def gaps(tokens: TakenTokens, first: int, last: int, grammar: bool = False) -> list[str]:
    """What stands before each token from `first` up to `last`, a blank or nothing; in a rule of a `grammar`
    repetitions are tight."""
    kinds, starts, ends, written = tokens.kinds, tokens.starts, tokens.ends, tokens.written
    found = [""]
    opened: list[str] = []
    tagged = kinds[first] == "test"
    before = kinds[first]
    if before in _OPENING:
        opened.append(before)
    for index in range(first + 1, last):
        kind = kinds[index]
        if kind in _NONE_BEFORE or before in _NONE_AFTER:
            gap = ""
        elif before == "..":
            gap = "" if kind in _OPERAND_STARTS else " "
        elif kind == "..":
            gap = "" if before in _OPERAND_ENDS else " "
        elif kind == "(":
            gap = "" if before in CALLED and not grammar else " "
        elif kind == "[":
            gap = "" if before in _OPERAND_ENDS and not (tagged and not opened) else " "
        elif kind == "{":
            gap = "" if grammar else " "
        elif opened and (
            (before == ":" and opened[-1] == "[") or (grammar and before == "," and opened[-1] == "{")
        ):
            gap = ""
        else:
            gap = " "
        if before == "NAME" and written[index - 1] in SOFT:
            if ends[index - 1] == starts[index]:
                gap = ""
            elif kind == "(" and written[index - 1] == "schema":
                gap = " "
        if kind in _OPENING:
            opened.append(kind)
        elif kind in _CLOSING:
            opened.pop()
        found.append(gap)
        before = kind
    return found
