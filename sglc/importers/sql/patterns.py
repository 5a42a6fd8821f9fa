"""LIKE and GLOB as regular expressions."""

from __future__ import annotations

import re

from sglc.importers.core.fault import SourceFault
from sglc.lalr.parse import ParseNode

_ANY = r"[\s\S]"


def like_regex(pattern: str, escape: object, node: ParseNode) -> str:
    """`%` is any text, `_` any character. Letters are told apart by case, as in standard SQL."""
    if escape is not None and (not isinstance(escape, str) or len(escape) != 1):
        raise SourceFault(node.start, node.end, "ESCAPE takes one character")
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == escape:
            if at == len(pattern):
                raise SourceFault(node.start, node.end, "the pattern ends in its escape character")
            out.append(re.escape(pattern[at]))
            at += 1
        else:
            out.append(_ANY + "*" if char == "%" else _ANY if char == "_" else re.escape(char))
    return "".join(out)


def glob_regex(pattern: str, node: ParseNode) -> str:
    """`*` is any text, `?` any character, `[a-z]` and `[^a-z]` one of a class."""
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "[":
            end = pattern.find("]", at + 2 if pattern[at : at + 1] == "^" else at + 1)
            if end < 0:
                raise SourceFault(node.start, node.end, "a class of the pattern is never closed")
            inside = pattern[at:end]
            negated = inside.startswith("^")
            body = inside[1:] if negated else inside
            quoted = "".join(
                c if c == "-" and 0 < i < len(body) - 1 else re.escape(c) for i, c in enumerate(body)
            )
            out.append(f"[{'^' if negated else ''}{quoted}]")
            at = end + 1
        else:
            out.append(_ANY + "*" if char == "*" else _ANY if char == "?" else re.escape(char))
    return "".join(out)
