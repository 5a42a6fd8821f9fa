"""`sglc diff`: whether a program can take the place of an earlier build of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import CommandFailed, Invocation, counted, outside_option, print_json

if TYPE_CHECKING:
    from sglc.compatibility.programs import Change

_MARKS = {"breaks": "breaks", "unknown": "unknown", "compatible": "ok"}


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON on stdout.")
@click.option(
    "--allow-unknown", is_flag=True, help="Do not fail where it is not known whether a change breaks."
)
@outside_option
@click.pass_obj
def command(invocation: Invocation, old: Path, new: Path, as_json: bool, allow_unknown: bool) -> None:
    """Compare two builds of a program as their callers see them.

    Compares the `pub` functions (all functions where none is `pub`): a parameter may only take more, a result
    may only be less, no error may be new and no function may go. A change that breaks is shown with a short
    value: an argument that is no longer taken, or an answer that could not come before. Where texts or
    numbers cannot be compared the answer is "unknown", which fails too unless --allow-unknown is given.

    OLD and NEW are compiled programs or sources.

    \b
    Examples:
      sglc diff crew-1.sglb examples/character.sgl
      sglc diff old.sgl new.sgl --json | jq '.changes[] | select(.kind == "breaks")'
    """
    from sglc.commands.shared.programs import load_program
    from sglc.compatibility.programs import changes

    before, now = load_program(invocation, old), load_program(invocation, new)
    invocation.stage = f"comparing {old} with {new}"
    found = changes(before, now)
    kinds = [change.kind for change in found]
    bad = "breaks" in kinds or ("unknown" in kinds and not allow_unknown)
    if as_json:
        print_json({"compatible": not bad, "changes": [_plain(change) for change in found]})
    else:
        for change in found:
            _show(change)
        told = [
            counted(kinds.count("breaks"), "break") if "breaks" in kinds else "",
            counted(kinds.count("unknown"), "unknown change") if "unknown" in kinds else "",
        ]
        click.echo(", ".join(filter(None, told)) or "compatible: every call and every reader stays right")
    if bad:
        raise CommandFailed(1)


def _plain(change: Change) -> dict[str, str]:
    fields = {"function": change.function, "kind": change.kind, "what": change.what}
    more = {"example": change.witness, "reason": change.reason}
    return fields | {name: text for name, text in more.items() if text}


def _show(change: Change) -> None:
    click.echo(f"{_MARKS[change.kind]:8} {change.function}: {change.what}")
    if change.witness:
        click.echo(f"         example: {change.witness}")
    if change.reason:
        click.echo(f"         {change.reason}")
