"""All that can be said of a program: what the checker finds, and what its code shows."""

from __future__ import annotations

from collections.abc import Callable

from sglc.advice.candidates import late_text_candidates, reaches_outside
from sglc.check import program
from sglc.check.core.result import CheckedProgram
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.library import Library
from sglc.source import Source

Check = Callable[[Source, Library], tuple[CheckedProgram | None, list[Diagnostic]]]


def examine(
    source: Source,
    library: Library,
    measure: Callable[[str], int] | None = None,
    check: Check = program.check,
) -> list[Diagnostic]:
    """The findings of the checker; of a program without errors those that its code gives behind them.

    `measure` says how many tokens a text has, for findings about its length. `check` is that of a workspace
    where one process checks more than once.
    """
    checked, diagnostics = check(source, library)
    if checked is None or has_errors(diagnostics):
        return diagnostics
    late, outer = late_text_candidates(checked.main), reaches_outside(checked)
    if not (late or outer or checked.main.unread_holes):
        return diagnostics
    from sglc.lower.program import lower

    # What a program does outside of itself may be in any of its modules; the rest is about the main one.
    module = lower(checked, only_called=not outer)
    if outer:
        from sglc.advice.open_choices import open_choices
        from sglc.advice.outside import outside
        from sglc.analysis.trust import flows

        known = flows(module)
        found = outside(module, known)
        if found:
            return [*diagnostics, *found]
        diagnostics = [*diagnostics, *open_choices(checked, module, known, library)]
    if checked.main.unread_holes:
        from sglc.advice.unread_holes import unread

        diagnostics = [*diagnostics, *unread(module)]
    if late:
        from sglc.advice.late_text import late_text

        diagnostics = [*diagnostics, *late_text(checked, module, late, measure)]
    return diagnostics
