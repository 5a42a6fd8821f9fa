"""The `test` blocks of a program, run without a model: who runs, with which seeds, and what came of it.

A test is run once a round; round n has the seed `seed + n`, so that any failure can be repeated alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sglc.bytecode.code import Code, Place, Program
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.format.quoted import quoted
from sglc.recorded.differences import differences
from sglc.recorded.goldens import Goldens
from sglc.recorded.judging import Recorded
from sglc.recorded.pressures import PressureBound
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.errors import diagnostic_of, span_of
from sglc.runtime.results import TestResult
from sglc.runtime.session import Session
from sglc.runtime.shrinking import Failing, failures_of, shrink
from sglc.runtime.vm.coverage import BranchCoverage
from sglc.runtime.vm.state.debugging import RunDebugger
from sglc.runtime.vm.state.run import Missed
from sglc.runtime.vm.state.trace import Listener
from sglc.source import Source, Span
from sglc.types.json_text import json_text

MISSED = "E0808"
"""Code of an expectation that does not hold."""
UNUSED, UNTESTED = "W0222", "W0223"
"""Codes of a mock that no hole asked for, and of a test that expects nothing."""
SHOWN_VALUES = 8
SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class Report:
    """How one test came out over all its rounds; `seed` is that of the first round that failed."""

    title: str
    passed: bool
    seed: int
    rounds: int
    expectations: int
    seconds: float
    failures: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    """What a test that passed may not have tested."""
    tags: tuple[str, ...] = ()


def tests_of(program: Program, words: str = "") -> list[Code]:
    """The tests of the main module whose title contains the words, in order."""
    return [
        code for code in program.codes if code.kind == "test" and words.casefold() in code.name.casefold()
    ]


def run_tests(
    program: Program,
    words: str = "",
    *,
    seed: int = 0,
    rounds: int = 1,
    chosen: Callable[[Code], bool] | None = None,
    place: Path | None = None,
    goldens: Goldens | None = None,
    coverage: BranchCoverage | None = None,
    pressure: PressureBound | None = None,
    models: LoadedModels | None = None,
) -> Iterator[Report]:
    """Run the tests that are meant, one after the other; each report comes as soon as its test is done.

    `words` stand in their titles, `chosen` judges them. `place` is the program's file: traces that are
    replayed lie beside it. `goldens` are what is kept of earlier runs; `coverage` notes what was taken;
    `pressure` is what the masks of replayed runs may have. `models` fill the holes that no mock answers;
    whoever gives them closes them, but for connections of models elsewhere.
    """
    models = models or LoadedModels()
    session = Session(program, models.own, models=models.named, fallbacks=models.fallbacks)
    recorded = Recorded(session, place, goldens, pressure)
    with asyncio.Runner() as loop:
        try:
            for code in tests_of(program, words):
                if chosen is None or chosen(code):
                    yield loop.run(_run(code, seed, rounds, recorded, coverage))
        finally:
            for each in models.remote:
                loop.run(each.close())


def run_test(
    code: Code,
    recorded: Recorded,
    coverage: BranchCoverage | None = None,
    *,
    seed: int = 0,
    rounds: int = 1,
) -> Report:
    """Run one test of a program, without a model, in the session of what earlier runs have left of it.

    `coverage` notes the branches that it takes.
    """
    return asyncio.run(_run(code, seed, rounds, recorded, coverage))


async def debug_test(
    code: Code, recorded: Recorded, debugger: RunDebugger, *, seed: int = 0, heard: Listener | None = None
) -> Report:
    """Run one test once, with a debugger that may stop it; `heard` hears what is said.

    What fails is told as it failed: no smaller values are looked for, as holes may have been given others.
    """
    return await _run(code, seed, 1, recorded, None, debugger, heard)


async def _run(
    code: Code,
    seed: int,
    rounds: int,
    recorded: Recorded,
    coverage: BranchCoverage | None,
    debugger: RunDebugger | None = None,
    heard: Listener | None = None,
) -> Report:
    session = recorded.session
    asks = session.engine is not None
    expectations, seconds = 0, 0.0
    unused: tuple[tuple[str, Place | None], ...] | None = None
    """Mocks that no round has used."""
    for number in range(rounds):
        result = await session.run_test(
            code.name,
            seed=seed + number,
            on_event=heard,
            coverage=coverage,
            asks=asks,
            debugger=debugger,
        )
        expectations += result.expectations
        seconds += result.seconds
        failures = await _failures(session, result, least=debugger is None)
        failures += await recorded.failures(result, first=number == 0)
        if failures:
            return Report(
                code.name,
                False,
                seed + number,
                number + 1,
                expectations,
                seconds,
                tuple(failures),
                tags=code.tags,
            )
        unused = result.unused if unused is None else tuple(mock for mock in unused if mock in result.unused)
    found = [_unused(session.program, hole, place) for hole, place in unused or ()]
    if not expectations:
        found.append(_untested(session.program, code))
    return Report(code.name, True, seed, rounds, expectations, seconds, warnings=tuple(found), tags=code.tags)


async def _failures(session: Session, result: TestResult, *, least: bool) -> list[Diagnostic]:
    """What failed; of each expectation in a `fuzz` once, with the `least` values that it fails with where
    they are to be looked for."""
    program, fuzzed = session.program, {id(each.missed or each.error): each for each in failures_of(result)}
    if not least:
        seen = [each.missed for each in fuzzed.values() if each.missed is not None]
        told = [each for each in result.missed if each.round is None or each in seen]
        found = [_missed(program, each) for each in told]
        return found if result.error is None else [*found, diagnostic_of(result.error, program)]
    failures: list[Diagnostic] = []
    for missed in result.missed:
        failing = fuzzed.get(id(missed))
        if failing is not None:
            rounds = len({each.round for each in result.missed if each.place == missed.place})
            failures.append(await _least(session, result, failing, rounds))
        elif missed.round is None:
            failures.append(_missed(program, missed))
    if result.error is not None:
        failing = fuzzed.get(id(result.error))
        if failing is not None:
            failures.append(await _least(session, result, failing, 1))
        else:
            failures.append(diagnostic_of(result.error, program))
    return failures


async def _least(session: Session, result: TestResult, failing: Failing, rounds: int) -> Diagnostic:
    """A failure in a round of `fuzz`, with the least values of its holes."""
    least = await shrink(session, result.name, result.seed, failing)
    missed, error = least.failing.missed, least.failing.error
    if missed is not None:
        found = _missed(session.program, missed)
    else:
        assert error is not None
        found = diagnostic_of(error, session.program)
    texts = [f"?{hole} = {_short(_plain(text))}" for hole, text in least.texts()]
    shown = ", ".join(texts[:SHOWN_VALUES]) + (", …" if len(texts) > SHOWN_VALUES else "")
    how = f"missed in {rounds} rounds; " if rounds > 1 else ""
    kind = "the least values found" if least.cut else "the least values"
    lines = [found.reason] if found.reason else []
    if texts:
        lines.append(f"{how}{kind} that fail: {shown}")
    return replace(found, reason="\n".join(lines))


def _plain(text: str) -> str:
    """The text of a hole; in quotes where it would not be seen as it is."""
    return text if text and text.isprintable() and text == text.strip() else json_text(text)


def _unused(program: Program, hole: str, place: Place | None) -> Diagnostic:
    return Diagnostic(
        UNUSED,
        f"no hole asked for this mock of `{hole}`",
        span_of(program, place),
        label="was not needed",
        reason="the test passes with and without it",
        hint="remove it, or see why the hole is not reached",
        severity="warning",
    )


def _untested(program: Program, code: Code) -> Diagnostic:
    return Diagnostic(
        UNTESTED,
        f'the test "{code.name}" expects nothing',
        span_of(program, code.places[0] if code.places else None),
        label="a test that ran and asked nothing",
        hint="say what must hold: `expect …` or `expect raises E: …`",
        severity="warning",
    )


def _missed(program: Program, missed: Missed) -> Diagnostic:
    """An expectation that does not hold, with the values that stood in its variables."""
    values = [f"{name} = {_short(text)}" for name, text in list(missed.values.items())[:SHOWN_VALUES]]
    span = span_of(program, missed.place)
    label = "this does not hold" if missed.values else ""
    reason = "; ".join(values)
    sides = _sides("" if span is None else span.text, missed.values)
    if sides is not None and (lines := differences(*sides)):
        reason = "\n".join((reason, "they differ:", *(f"  {line}" for line in lines)))
    return Diagnostic(MISSED, missed.message, span, label=label, reason=reason)


def _sides(expectation: str, values: Mapping[str, str]) -> tuple[str, str] | None:
    """The values of both sides of `expect left == right`; None where it is something else."""
    written = expectation.removeprefix("expect")
    condition = quoted(Span(Source("", written), 0, len(written)))
    texts = [name.removesuffix("…") for name in values]
    for left, one in zip(texts, values.values(), strict=True):
        for right, other in zip(texts, values.values(), strict=True):
            if condition.startswith(left) and f" == {right}" in condition[len(left) :]:
                whole = f"{left} == {right}"
                if condition == whole or "…" in "".join(values):
                    return one, other
    return None


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
