"""What can be seen of a run of a program, in a form in which two runs can be compared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fakes.hashed_engine import HashedEngine
from sglc.bytecode.code import Place, Program
from sglc.bytecode.verify import verified
from sglc.check.program import check
from sglc.diagnostics.diagnostic import has_errors
from sglc.driver import compile_source
from sglc.emit.program import emit
from sglc.ir.module import Module
from sglc.ir.verify import verify
from sglc.library import Library
from sglc.lower.program import lower
from sglc.options import LEVELS, CompileOptions
from sglc.passes import pipeline
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

TIMES = frozenset({"seconds"})
"""What events say of time, which no two runs have in common."""


@dataclass(frozen=True)
class Outcome:
    """The result or error of a run, its text, its checks, and its events by branch of forks.

    Branches of one fork run side by side, so their events have no order among each other. Neighbouring
    pieces of text are joined and have no places, and calls of parts are left out: a compiler may merge texts
    and put a part where it is called.
    """

    value: object
    error: tuple[object, ...] | None
    text: str
    checks: tuple[object, ...]
    counts: tuple[int, ...]
    """Holes, output tokens, forced tokens and sampled tokens."""
    events: Mapping[str, list[tuple[object, ...]]]


def compiled(text: str, level: int) -> Program:
    """The program of a source without errors, every pass verified."""
    result = compile_source(Source("random.sgl", text), CompileOptions(level=level, verify=True))
    assert result.program is not None, [found.message for found in result.diagnostics]
    return result.program


def compiled_at_levels(text: str) -> list[Program]:
    """The program of a source at each level. It is checked and lowered once; every pass is verified."""
    checked, found = check(Source("random.sgl", text), Library())
    assert checked is not None and not has_errors(found), [one.message for one in found]
    module = lower(checked)
    assert verify(module) == []
    return [_finished(module, level) for level in LEVELS]


def _finished(module: Module, level: int) -> Program:
    def verifying(step: pipeline.Step) -> None:
        assert step.after is step.before or verify(step.after) == [], step.name

    program, faults = verified(emit(pipeline.run(module, level, verifying)))
    assert not faults
    return program


def outcome(
    program: Program,
    arguments: Mapping[str, object],
    engine: HashedEngine,
    *,
    seed: int = 0,
    max_tokens: int | None = None,
    partial: bool = True,
    **more: Any,
) -> Outcome:
    """Run `main` and see all that can be seen; the message that an error interrupted, if `partial`. `more`
    goes to the session."""
    events: list[Event] = []
    session = Session(program, engine, **more)
    value, text, error = None, "", None
    checks: tuple[Any, ...] = ()
    try:
        result = asyncio.run(
            session.run("main", arguments, seed=seed, max_tokens=max_tokens, trace=events.append)
        )
        value, text, checks = result.value, result.text, result.checks
        spent = result.statistics
        counts = (spent.holes, spent.output_tokens, spent.forced_tokens, spent.sampled_tokens)
    except SglError as raised:
        error = (
            raised.name,
            raised.message,
            dict(raised.fields),
            raised.place,
            raised.partial if partial else "",
        )
        counts = ()
    return Outcome(value, error, text, checks, counts, streams(events, program))


def streams(events: list[Event], program: Program) -> dict[str, list[tuple[object, ...]]]:
    """Events by branch, texts joined and without places, no calls of parts and no times."""
    parts = {code.copy_of or code.name for code in program.codes if code.kind == "part"}
    found: dict[str, list[tuple[object, ...]]] = {}
    for event in events:
        if event.kind in ("call", "return") and event.data["function"] in parts:
            continue
        stream = found.setdefault(event.branch, [])
        data = {name: value for name, value in event.data.items() if name not in TIMES}
        if event.kind == "text":
            if not event.text:
                continue
            before = str(stream.pop()[1]) if stream and stream[-1][0] == "text" else ""
            stream.append(("text", before + event.text, ""))
        else:
            stream.append((event.kind, data, event.span))
    return found


def without_places(program: Program) -> Program:
    """The program as if it had been written nowhere."""
    nowhere = Place(0, 0, 0, 1, 1)
    codes = tuple(replace(code, places=(nowhere,) * len(code.places)) for code in program.codes)
    return replace(program, name="", codes=codes, files=(), sources=())
