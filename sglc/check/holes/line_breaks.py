"""Line breaks in what a hole writes as raw text: whether a newline can end the hole."""

from __future__ import annotations

from sglc.check.core.result import ExpressionType
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import as_written
from sglc.check.types.unsatisfiable import conflict_at_junction
from sglc.types.language.scalars import written_dfa
from sglc.types.type import Alternatives, Constant, InForm, Optional, SpanOf, Str, Type

_SAID = ("\\n", "\\s", "(?s", "\\x0a", "\\x0A", "\\u000")
"""What stands in a pattern whose writer thinks of line breaks."""


def has_lines(facts: TypeFacts, type: Type) -> bool:
    """Whether values may have lines of their own, so that a newline cannot end them.

    A span may go over a line of a text that is known only when the hole is reached; entries of a `one of` are
    told apart there.
    """
    match as_written(type, facts.table):
        case InForm():
            return conflict_at_junction(facts, type, "\n") is not None
        case SpanOf():
            return True
        case Str(grammar=grammar, layout=layout):
            several = bool(grammar) or layout in ("lines", "free")
            return several and conflict_at_junction(facts, type, "\n") is not None
        case Optional(item):
            return has_lines(facts, item)
        case Alternatives(arms) if all(isinstance(arm, Constant) for arm in arms):
            several = any(isinstance(arm.value, str) and "\n" in arm.value for arm in arms)  # type: ignore[union-attr]
            return several and conflict_at_junction(facts, type, "\n") is not None
        case Alternatives(arms):
            return any(has_lines(facts, arm) for arm in arms)
    return False


def admits_break_unsaid(plain: ExpressionType) -> bool:
    """Whether a pattern admits a newline that its writer may not have thought of, as `[^,]` does."""
    if not isinstance(plain, Str) or plain.layout != "free":
        return False
    if any(word in pattern for pattern in plain.patterns for word in _SAID):
        return False
    return any(low <= 0x0A <= high for edges in written_dfa(plain).edges for low, high, _ in edges)
