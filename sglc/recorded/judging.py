"""The golden calls and replays of a test, held against what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sglc.bytecode.code import Place
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.recorded.goldens import Goldens, kept_of
from sglc.recorded.replays import ReplayFault, read_run, replay
from sglc.runtime.errors import span_of
from sglc.runtime.results import TestResult
from sglc.runtime.session import Session

DIFFERENT, UNREADABLE = "E0821", "E0822"
"""Codes of a run that goes another way, and of recorded runs that cannot be read."""
_UPDATE = "`sglc test --update-golden` keeps it; read what it keeps before you commit it"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is kept of the runs of one program: beside its file `place`, and in its golden file. Without
    them its golden calls and replays fail."""

    session: Session
    place: Path | None
    goldens: Goldens | None

    async def failures(self, result: TestResult, *, first: bool) -> list[Diagnostic]:
        """What differs. Of several rounds of a test only the first is kept and replayed."""
        if not first:
            return []
        found = [self._golden(result, number) for number in range(len(result.goldens))]
        found += [await self._replay(path, place) for path, place in result.replays]
        return [failure for failure in found if failure is not None]

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

    async def _replay(self, name: str, place: Place | None) -> Diagnostic | None:
        span = span_of(self.session.program, place)
        try:
            path = self._trace(name)
            run = read_run(path)
            found = await replay(self.session, run)
        except ReplayFault as fault:
            hint = "record it again: `sglc run … --trace FILE.jsonl`"
            return Diagnostic(UNREADABLE, f"this run cannot be replayed: {fault}", span, hint=hint)
        if found is None:
            return None
        return Diagnostic(
            DIFFERENT,
            "the program does not run as it ran",
            span,
            label=f"goes another way at {found.span}" if found.span else "goes another way",
            reason=found.lines,
            hint="if it is meant, record the run again",
        )

    def _trace(self, name: str) -> Path:
        """The file of a trace. One that leads out of the program's folder, by a link too, is refused."""
        if self.place is None:
            raise ReplayFault("the program was not read from a file, so nothing lies beside it")
        home = self.place.resolve().parent
        path = self.place.parent / name
        if not path.resolve().is_relative_to(home):
            raise ReplayFault(f"{name} does not lie in the folder of {self.place.name}")
        return path
