"""Conditions and texts of breakpoints: which of those that were met are to stop the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from sglc.runtime.debug.breakpoints import Breakpoint
from sglc.runtime.debug.stops import Stop
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.values import failure

Evaluate = Callable[[Stop, str], Awaitable[object]]
"""The value of an expression of the language at a stop. Raises SglError with the reason where it has none."""


async def no_expressions(stop: Stop, text: str) -> object:
    """Of a debugger that evaluates nothing."""
    raise failure("expressions cannot be evaluated here")


async def wanted(
    stop: Stop, met: Iterable[Breakpoint], evaluate: Evaluate, say: Callable[[Breakpoint, str], None]
) -> tuple[list[Breakpoint], tuple[str, ...]]:
    """Breakpoints that stop the run here, and what is wrong with their conditions: such a one stops it, too.
    Others are counted, or say their text."""
    found, problems = [], []
    for each in met:
        try:
            if each.condition and await evaluate(stop, each.condition) is not True:
                continue
        except SglError as problem:
            problems.append(f"the condition `{each.condition}` has no value: {problem.message}")
            found.append(each)
            continue
        each.met += 1
        if not each.hits.holds(each.met):
            continue
        if each.log:
            say(each, await _logged(stop, each.log, evaluate))
            continue
        found.append(each)
    return found, tuple(problems)


async def _logged(stop: Stop, text: str, evaluate: Evaluate) -> str:
    """The text of a logpoint; each `{expression}` becomes its value."""
    parts: list[str] = []
    rest = text
    while True:
        before, opened, behind = rest.partition("{")
        inner, closed, after = behind.partition("}")
        if not opened or not closed:
            return "".join([*parts, rest])
        parts.append(before)
        try:
            parts.append(stop.strand.machine.show(await evaluate(stop, inner)))
        except SglError as problem:
            parts.append(f"{{{inner}: {problem.message}}}")
        rest = after
