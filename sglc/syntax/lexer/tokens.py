"""The tokens of a text and what else the lexer finds in it: comments, literals with parts, faults."""

from __future__ import annotations

from dataclasses import dataclass, field

from sglc.immutable import value
from sglc.lalr.machine import Tokens

MAX_BRACKETS = 64
MAX_INDENTS = 64
MAX_LINE = 100_000
INDENT_MARK = object()
"""Value of an INDENT on the stack, so that open blocks can be counted."""


@value
class Fault:
    """Text that cannot be cut into tokens. `kind` names the message in `sglc.syntax.errors.core.lexical`."""

    kind: str
    start: int
    end: int
    detail: str = ""
    other: tuple[int, int] | None = None


@dataclass(slots=True)
class LexedText:
    """What the lexer makes of a text or of a part of it."""

    tokens: Tokens = field(default_factory=Tokens)
    docs: list[tuple[int, int]] = field(default_factory=list)
    """Extents of the `##` comments."""
    faults: list[Fault] = field(default_factory=list)
    strings: dict[int, tuple[StringPart, ...]] = field(default_factory=dict)
    """Start of a string with `${…}` in it to its parts."""
    fences: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Start of a fenced block to the extents of its lines."""
    longest: int = 0
    """Tokens of the longest logical line."""


StringPart = tuple[int, int] | tuple[int, int, LexedText]
"""Extent of literal text, or extent and tokens of an inserted expression."""
