"""Work that types and holes ask of the checker: their automata are made to see what values they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sglc.automata.work import DEFAULT_WORK, OutOfWork, WorkAccount, charged, current
from sglc.check.core.context import ProgramState
from sglc.source import Span

T = TypeVar("T")
U = TypeVar("U")


def within_limit(program: ProgramState, span: Span, action: Callable[[], T], otherwise: U) -> T | U:
    """What an action finds about what stands at `span`; what takes too much work is reported there."""
    if current() is not None:
        return action()
    try:
        with charged(WorkAccount(DEFAULT_WORK)):
            return action()
    except OutOfWork as fault:
        most = f"most of it is for {fault.part}" if fault.part else ""
        program.report(
            "E0344",
            "this type asks for too much work",
            span,
            label=f"takes more than {fault.limit:,} units of work",
            reason=most,
            hint="write smaller counts, fewer alternatives, or patterns that are anchored",
        )
        return otherwise
