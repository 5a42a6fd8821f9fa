"""A call or a test with a debugger: its models are loaded, it is run once, and what came of it is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from sglc.commands.debugging.wanted import Debuggee
from sglc.commands.running.execution import Runner, Unseen, value_text
from sglc.commands.running.narration import Narrator
from sglc.commands.shared.invocation import Invocation, show
from sglc.debug.expressions import Expressions
from sglc.debug.statements import statements_of
from sglc.runtime.debug.debugger import Debugger, Face
from sglc.runtime.errors import SglError, diagnostic_of

if TYPE_CHECKING:
    from sglc.diagnostics.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a run: in words its value, that a test passed, or why it failed; and what is wrong."""

    told: str
    failures: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


Whole = Callable[[Narrator], Awaitable[Came]]
"""Runs to the end; what is said is heard."""


@dataclass(slots=True)
class Running:
    """A run that is about to be debugged. `failed` says how it came out."""

    invocation: Invocation
    debuggee: Debuggee
    debugger: Debugger
    expressions: Expressions
    whole: Whole
    failed: bool = False

    def unseen(self) -> Narrator:
        """Hears what is said, and shows nothing of it."""
        return Narrator(self.debuggee.program, Unseen(), self.debuggee.code.name)

    def finish(self) -> None:
        """Run to the end, and show what came of it. Ctrl-C is a failure."""

        async def finished() -> Came:
            return await self.whole(self.unseen())

        try:
            came = asyncio.run(finished())
        except KeyboardInterrupt:
            stopped = SglError("Cancelled", "interrupted")
            came = Came(str(stopped), (diagnostic_of(stopped, self.debuggee.program),))
        self.show(came)

    def show(self, came: Came) -> None:
        """Print what came of it; failures go to stderr. Ending the run in the debugger is none."""
        if not came.failures:
            click.echo(came.told)
        elif not self.debugger.ended:
            self.failed = True
            show(self.invocation, came.failures)
        if came.warnings:
            show(self.invocation, came.warnings)


@contextmanager
def opened(
    invocation: Invocation, debuggee: Debuggee, face: Face, *, entry: bool = True
) -> Iterator[Running]:
    """Load the models of a run, and give it a debugger. Raises CommandFailed where a model cannot be had."""
    expressions = Expressions(debuggee.program, invocation.options, debuggee.path)
    debugger = Debugger(
        debuggee.program,
        face,
        statements=statements_of(debuggee.program),
        evaluate=expressions,
        entry=entry,
    )
    worked = _tested if debuggee.code.kind == "test" else _called
    with worked(invocation, debuggee, debugger) as whole:
        invocation.stage = f"debugging {debuggee.code.name}"
        yield Running(invocation, debuggee, debugger, expressions, whole)


@contextmanager
def _called(invocation: Invocation, debuggee: Debuggee, debugger: Debugger) -> Iterator[Whole]:
    """A call of a function."""
    with Runner.open(invocation, debuggee.call) as runner:

        async def whole(heard: Narrator) -> Came:
            try:
                outcome = await runner.outcome(debuggee.bound, heard=heard, debugger=debugger)
            finally:
                await runner.close_remote()
            if outcome.failed is not None:
                return Came(str(outcome.failed.error), (outcome.failed.diagnostic,))
            return Came(value_text(debuggee.program, debuggee.code, outcome.value))

        yield whole


@contextmanager
def _tested(invocation: Invocation, debuggee: Debuggee, debugger: Debugger) -> Iterator[Whole]:
    """A `test` block, as `sglc test` runs it once: without a model, unless what it said is recorded."""
    from sglc.commands.shared.invocation import counted, fail, fault
    from sglc.commands.testing.asked_models import asked_models
    from sglc.recorded.goldens import GoldenFault, Goldens, golden_path
    from sglc.recorded.judging import Recorded
    from sglc.runtime.backends.filling.loaded import LoadedModels
    from sglc.runtime.session import Session
    from sglc.testing import debug_test

    program, code, path, wanted = debuggee.program, debuggee.code, debuggee.path, debuggee.models
    try:
        goldens = Goldens.open(golden_path(path), update=False)
    except GoldenFault as problem:
        raise fail(invocation, fault("E0822", str(problem))) from None
    with asked_models(invocation, path, program, wanted, debuggee.call.answers) as asked:
        models = asked or LoadedModels()
        session = Session(program, models.own, models=models.named, fallbacks=models.fallbacks)

        async def whole(heard: Narrator) -> Came:
            recorded = Recorded(session, path, goldens)
            try:
                report = await debug_test(code, recorded, debugger, seed=debuggee.call.seed, heard=heard)
            finally:
                for each in models.remote:
                    await each.close()
            head = "ok" if report.passed else "FAILED"
            told = f"{head} {report.title} ({counted(report.expectations, 'expectation')})"
            return Came(told, report.failures, report.warnings)

        yield whole
