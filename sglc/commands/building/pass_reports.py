"""What `sglc build` tells about passes: the IR after each (`--print-passes`), and times (`--time-passes`).

Both go to stderr, so that stdout holds what the command makes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import click

from sglc.ir.literal import print_literal
from sglc.ir.module import Module
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
        changes = changed(step.before, step.after)
        click.echo(f"; pass {len(self.steps)}, {step.name}: {_summary(step, changes)}", err=True)
        for change in changes:
            if change.after:
                click.echo(f"\n{change.after}", err=True)
        click.echo(err=True)

    def _print_both(self, step: Step) -> None:
        changes = changed(step.before, step.after)
        click.echo(f"; pass {len(self.steps)}, {step.name}: {_summary(step, changes)}", err=True)
        for change in changes:
            for when, text in (("before", change.before), ("after", change.after)):
                if text:
                    click.echo(f"\n; {when}\n{text}", err=True)
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


@dataclass(frozen=True, slots=True)
class Change:
    """A function or a hole as text, before and after a pass; empty where there was or is none."""

    name: str
    before: str
    after: str


def changed(before: Module, after: Module) -> list[Change]:
    """The holes and functions that differ. Passes keep the numbers of holes."""
    if before is after:
        return []
    holes = [
        Change(
            f"h{number}", f"hole h{number} = {print_literal(old)}", f"hole h{number} = {print_literal(new)}"
        )
        for number, (old, new) in enumerate(zip(before.holes, after.holes, strict=True))
        if old != new
    ]
    first = {function.name: function for function in before.functions}
    second = {function.name: function for function in after.functions}
    pairs = [(name, first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second])]
    return holes + [
        Change(f"@{name}", print_function(old) if old else "", print_function(new) if new else "")
        for name, old, new in pairs
        if old is not new and old != new
    ]


def _summary(step: Step, changes: list[Change]) -> str:
    if not changes:
        return "changes nothing"
    gone = [change.name for change in changes if not change.after]
    kept = [change.name for change in changes if change.after]
    parts = []
    if kept:
        parts.append("changes " + ", ".join(kept))
    if gone:
        parts.append("removes " + ", ".join(gone))
    return f"{'; '.join(parts)} ({size(step.before):,} operations before, {size(step.after):,} after)"
