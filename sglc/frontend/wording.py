"""Findings of the checker in the words of who wrote Python: what to do is said in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Span

HINTS = {
    "E0331": 'give the hole a bound: `max_tokens=60`, `stop="…"`, `max_chars=80`, or a type with bounds',
    "E0332": "allow more: a greater `max_tokens=`",
    "E0405": "move it into `s.assistant(…)`",
    "E0407": "put it into `s.system(…)`, `s.user(…)` or `s.assistant(…)`",
    "E0409": "write `while condition and s.limit(10):`",
    "W0202": "values do not change: write `x = …`, `s += …` where it is text, or leave it out",
    "W0205": "put a literal text between the two",
    "W0212": "write both in one",
    "W0225": 'write an f-string: `f"…{name}…"`',
}
"""What to write instead, by the code of a finding."""
OUTSIDE_OF_BLOCK = "bind it before that block with `var`, and assign it inside"
"""The checker's hint for a variable that is used outside of its block."""


def in_python(found: Sequence[Diagnostic], statements: Sequence[Span]) -> list[Diagnostic]:
    """Findings with hints in Python where they are about Python statements; edits are of SGL and left out."""
    return [_worded(each, statements) for each in found]


def _worded(found: Diagnostic, statements: Sequence[Span]) -> Diagnostic:
    span = found.span
    if span is None:
        return found
    inside = any(
        each.source is span.source and each.start <= span.start and span.end <= each.end
        for each in statements
    )
    hint = HINTS.get(found.code, found.hint) if inside else found.hint
    if inside and hint == OUTSIDE_OF_BLOCK:
        hint = "give it a value before that block"
    return replace(found, hint=hint, edits=(), offered=())
