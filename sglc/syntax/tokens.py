"""Tokens of a text, as lists side by side, and what could not be cut into tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_BRACKETS = 64
MAX_INDENTS = 64
MAX_LINE = 100_000


@dataclass(frozen=True, slots=True)
class Fault:
    """What the cutter could not make sense of. `kind` names the message in `sglc.syntax.recover`."""

    kind: str
    start: int
    end: int
    detail: str = ""
    other: tuple[int, int] | None = None


@dataclass(slots=True)
class Tokens:
    """Parallel lists: the kind of each token and where it begins and ends.

    A kind is a terminal of the grammar: a declared name (`NAME`, `PIPE`) or the text of a keyword or mark.
    """

    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    docs: list[tuple[int, int]] = field(default_factory=list)
    """Extents of the `##` comments."""
    faults: list[Fault] = field(default_factory=list)
    strings: dict[int, tuple[StringPart, ...]] = field(default_factory=dict)
    """Start of a string with `${…}` in it to its parts."""
    fences: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Start of a fenced block to the extents of its lines."""
    longest: int = 0
    """Tokens of the longest logical line."""


StringPart = tuple[int, int] | tuple[int, int, "Tokens"]
"""Extent of literal text, or extent and tokens of an inserted expression."""

Replacements = tuple[tuple[int, int, str], ...]
"""Edits of the source that is being read: the characters from, up to, and what stands there instead."""
