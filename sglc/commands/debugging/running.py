"""A call with a debugger: its models are loaded, it is run once, and its value or its failure is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click

from sglc.commands.debugging.wanted import Debuggee
from sglc.commands.running.execution import Outcome, Runner, value_text
from sglc.commands.running.narration import Narrator
from sglc.commands.shared.invocation import Invocation, show
from sglc.debug.expressions import Expressions
from sglc.debug.statements import statements_of
from sglc.runtime.debug.debugger import Debugger, Face


@dataclass(slots=True)
class Running:
    """A call that is about to be debugged. `failed` says how it came out."""

    invocation: Invocation
    debuggee: Debuggee
    runner: Runner
    debugger: Debugger
    expressions: Expressions
    failed: bool = False

    async def outcome(self, heard: Narrator) -> Outcome:
        """Run to the end, in the event loop of the caller; `heard` hears what is said."""
        try:
            return await self.runner.outcome(self.debuggee.bound, heard=heard, debugger=self.debugger)
        finally:
            await self.runner.close_remote()

    def finish(self) -> None:
        """Run to the end, and show what came of it."""
        outcome = self.runner.run(self.debuggee.bound, debugger=self.debugger)
        self.show(outcome)

    def told(self, outcome: Outcome) -> str:
        """The value, or why there is none, in a line or more."""
        if outcome.failed is None:
            return value_text(self.debuggee.program, self.debuggee.code, outcome.value)
        return str(outcome.failed.error)

    def show(self, outcome: Outcome) -> None:
        """Print the value; a failure goes to stderr. Ending the run in the debugger is none."""
        if outcome.failed is None:
            click.echo(self.told(outcome))
        elif not self.debugger.ended:
            self.failed = True
            show(self.invocation, [outcome.failed.diagnostic])


@contextmanager
def opened(
    invocation: Invocation, debuggee: Debuggee, face: Face, *, entry: bool = True
) -> Iterator[Running]:
    """Load the models of a call, and give it a debugger. Raises CommandFailed where a model cannot be had."""
    expressions = Expressions(debuggee.program, invocation.options, debuggee.path)
    debugger = Debugger(
        debuggee.program,
        face,
        statements=statements_of(debuggee.program),
        evaluate=expressions,
        entry=entry,
    )
    with Runner.open(invocation, debuggee.call) as runner:
        invocation.stage = f"debugging {debuggee.code.name}"
        yield Running(invocation, debuggee, runner, debugger, expressions)
