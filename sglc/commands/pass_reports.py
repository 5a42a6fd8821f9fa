"""What `sglc build` tells about passes: the IR after each (`--print-passes`), and times (`--time-passes`).

Both go to stderr, so that stdout holds what the command makes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import click

from sglc.ir.module import Function, Module
from sglc.ir.print import print_function
from sglc.passes.pipeline import Step

ALL = "all"
"""The value of `--print-passes` without a name."""


@dataclass(slots=True)
class PassReports:
    """An observer of the pipeline. `printed` is the name of the pass to print, `ALL`, or empty for none."""

    printed: str = ""
    timed: bool = False
    steps: list[Step] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        self.steps.append(step)
        if self.printed == ALL:
            self._print_after(step)
        elif self.printed == step.name:
            self._print_both(step)

    def _print_after(self, step: Step) -> None:
        changed = changed_functions(step.before, step.after)
        click.echo(f"; pass {len(self.steps)}, {step.name}: {_summary(step, changed)}", err=True)
        for _, after in changed:
            if after is not None:
                click.echo(f"\n{print_function(after)}", err=True)
        click.echo(err=True)

    def _print_both(self, step: Step) -> None:
        changed = changed_functions(step.before, step.after)
        click.echo(f"; pass {len(self.steps)}, {step.name}: {_summary(step, changed)}", err=True)
        for before, after in changed:
            for when, function in (("before", before), ("after", after)):
                if function is not None:
                    click.echo(f"\n; {when}\n{print_function(function)}", err=True)
        click.echo(err=True)

    def times(self) -> str:
        """A table of the passes that ran: milliseconds, and operations before and after."""
        total = sum(step.seconds for step in self.steps)
        rows = [
            f"{step.name:20} {step.seconds * 1e3:9.2f} {size(step.before):8,} {size(step.after):8,}"
            for step in self.steps
        ]
        head = f"{'pass':20} {'ms':>9} {'before':>8} {'after':>8}"
        return "\n".join([head, *rows, f"{'all':20} {total * 1e3:9.2f}"])

    def finish(self) -> None:
        """What is told once all passes have run."""
        if self.timed:
            click.echo(self.times(), err=True)


def size(module: Module) -> int:
    """Operations of all functions, those that end blocks included."""
    return sum(len(block.ops) + 1 for function in module.functions for block in function.blocks)


def changed_functions(before: Module, after: Module) -> list[tuple[Function | None, Function | None]]:
    """The functions that differ, as they were and as they are; None where there was or is none."""
    if before is after:
        return []
    old = {function.name: function for function in before.functions}
    new = {function.name: function for function in after.functions}
    names = dict.fromkeys([*old, *new])
    pairs = [(old.get(name), new.get(name)) for name in names]
    return [(a, b) for a, b in pairs if a is not b and a != b]


def _summary(step: Step, changed: list[tuple[Function | None, Function | None]]) -> str:
    if not changed:
        return "changes nothing"
    gone = [before.name for before, after in changed if before is not None and after is None]
    kept = [after.name for _, after in changed if after is not None]
    parts = []
    if kept:
        parts.append("changes " + ", ".join(f"@{name}" for name in kept))
    if gone:
        parts.append("removes " + ", ".join(f"@{name}" for name in gone))
    return f"{'; '.join(parts)} ({size(step.before):,} operations before, {size(step.after):,} after)"
