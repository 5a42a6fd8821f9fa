"""The golden calls and replays of a test, held against what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sglc.bytecode.code import Place
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.recorded.goldens import Goldens, kept_of
from sglc.recorded.pressures import PressureBound
from sglc.recorded.replays import RecordedRun, ReplayFault, read_run, replay
from sglc.runtime.errors import span_of
from sglc.runtime.results import TestResult
from sglc.runtime.session import Session
from sglc.source import Span

DIFFERENT, UNREADABLE, PRESSED = "E0821", "E0822", "E0824"
"""Codes of a run that goes another way, of recorded runs that cannot be read, and of masks that fight the
model too much."""
_UPDATE = "`sglc test --update-golden` keeps it; read what it keeps before you commit it"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is kept of the runs of one program: beside its file `place`, and in its golden file. Without
    them its golden calls and replays fail."""

    session: Session
    place: Path | None
    goldens: Goldens | None
    pressure: PressureBound | None = None
    """What the masks of replayed runs may have at most; None where nothing is asked."""

    async def failures(self, result: TestResult, *, first: bool) -> list[Diagnostic]:
        """What differs. Of several rounds of a test only the first is kept and replayed."""
        if not first:
            return []
        found = [self._golden(result, number) for number in range(len(result.goldens))]
        failures = [failure for failure in found if failure is not None]
        for path, place in result.replays:
            failures += await self._replay(path, place)
        return failures

    def _golden(self, result: TestResult, number: int) -> Diagnostic | None:
        program = self.session.program
        call = result.goldens[number]
        span = span_of(program, call.place)
        if self.goldens is None:
            told = "nothing is kept of this call"
            return Diagnostic(
                DIFFERENT, told, span, reason="the program was not read from a file", hint=_UPDATE
            )
        lines = self.goldens.difference(result.name, number, kept_of(call, program))
        if lines is None:
            return None
        if not lines:
            return Diagnostic(DIFFERENT, "nothing is kept of this call", span, label="new", hint=_UPDATE)
        return Diagnostic(
            DIFFERENT,
            "this call is not what it was",
            span,
            label=f"differs from {self.goldens.path.name}",
            reason=lines,
            hint=f"if it is meant, {_UPDATE}",
        )

    async def _replay(self, name: str, place: Place | None) -> list[Diagnostic]:
        span = span_of(self.session.program, place)
        try:
            path = self._trace(name)
            run = read_run(path)
            found = await replay(self.session, run)
        except ReplayFault as fault:
            hint = "record it again: `sglc run … --trace FILE.jsonl`"
            return [Diagnostic(UNREADABLE, f"this run cannot be replayed: {fault}", span, hint=hint)]
        failures = self._pressed(run, span)
        if found is not None:
            failures.insert(
                0,
                Diagnostic(
                    DIFFERENT,
                    "the program does not run as it ran",
                    span,
                    label=f"goes another way at {found.span}" if found.span else "goes another way",
                    reason=found.lines,
                    hint="if it is meant, record the run again",
                ),
            )
        return failures

    def _pressed(self, run: RecordedRun, span: Span | None) -> list[Diagnostic]:
        """Holes of a recorded run whose masks fought the model more than is allowed."""
        bound = self.pressure
        if bound is None:
            return []
        return [
            Diagnostic(
                PRESSED,
                bound.told(name, hole),
                span,
                label="in this run",
                reason=f"it fought most at\n{hole.shown()}",
                hint="tell the model the form, by `schema(T)` or an example, and record the run again",
            )
            for name, hole in bound.above(run.pressures.holes)
        ]

    def _trace(self, name: str) -> Path:
        """The file of a trace. One that leads out of the program's folder, by a link too, is refused."""
        if self.place is None:
            raise ReplayFault("the program was not read from a file, so nothing lies beside it")
        home = self.place.resolve().parent
        path = self.place.parent / name
        if not path.resolve().is_relative_to(home):
            raise ReplayFault(f"{name} does not lie in the folder of {self.place.name}")
        return path
