"""Patterns that types and conditions are written with."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.source import Span


def check_regex(module: ModuleContext, pattern: str, span: Span) -> bool:
    """Whether a pattern is one that can be used; reports where not."""
    if module.trusted:
        return True
    known = module.program.memo.get(("regex", pattern))
    if known is None:
        from sglc.automata.regex.compile import RegexError, compile_regex

        try:
            known = (None, compile_regex(pattern))
        except RegexError as error:
            known = (error, None)
        module.program.memo["regex", pattern] = known
    fault, dfa = known
    if fault is not None:
        module.report(
            "E0307",
            "this pattern cannot be used",
            _within(span, pattern, fault.position),
            label=str(fault.reason),
            reason=f"at character {fault.position + 1} of /{pattern}/",
        )
        return False
    assert dfa is not None
    if not dfa.edges:
        module.report("E0304", "no text matches this pattern", span, label="an empty language")
        return False
    return True


def _within(span: Span, pattern: str, position: int) -> Span:
    """The character of a pattern; the whole span where the pattern is not written in it as it is."""
    found = span.text.rfind(f"/{pattern}/")
    if found < 0:
        return span
    start = span.start + found + 1 + position
    return Span(span.source, start, start + 1)
