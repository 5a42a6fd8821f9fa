"""`sglc show`: a recorded run as a picture, on the terminal or as a page."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import CommandFailed, Invocation, counted, fail, fault, show

if TYPE_CHECKING:
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.viewer.model import Run
    from sglc.viewer.reading import Fault, Reading


@click.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="OUT.html",
    help="Write one page that needs no network.",
)
@click.option("-v", "verbose", is_flag=True, help="On the terminal: every token with what is known of it.")
@click.pass_obj
def command(invocation: Invocation, file: Path, html: Path | None, verbose: bool) -> None:
    """Show a run that `sglc run --trace FILE.jsonl` has recorded.

    The conversation with literal and inserted text, forced text dim, drawn text bright, coloured where the
    mask fought the model; retries, checks, forks, calls and errors at their places; then the holes with their
    figures. A page shows each token's details under the pointer.

    \b
    Examples:
      sglc run examples/character.sgl --arg theme=salvage --trace run.jsonl --trace-top 5
      sglc show run.jsonl
      sglc show run.jsonl --html run.html
    """
    run, reading = _read(invocation, file)
    if not reading.lines or reading.damaged == reading.lines:
        problems = [_drawn(file, each) for each in reading.faults]
        what = f"{file} is no trace of a run"
        empty = fault("E0804", what, reason="it is empty", hint="`sglc run … --trace FILE.jsonl` writes one")
        raise fail(invocation, *(problems or [empty]))
    if html is not None:
        from sglc.commands.shared.files import write_whole
        from sglc.viewer.page import page

        invocation.stage = f"drawing {file}"
        write_whole(invocation, html, page(run, reading).encode(), private=True)
    else:
        from sglc.viewer.terminal import TerminalPicture

        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        picture = TerminalPicture(
            run, reading, columns=columns, color=invocation.color_stdout, verbose=verbose
        )
        picture.write(sys.stdout)
    _tell(invocation, file, reading)


def _read(invocation: Invocation, file: Path) -> tuple[Run, Reading]:
    """The run, and what reading its trace came to."""
    from sglc.commands.shared.programs import unreadable
    from sglc.viewer.building import Builder
    from sglc.viewer.reading import Reading

    invocation.stage = f"reading {file}"
    builder, reading = Builder(), Reading()
    try:
        with file.open("rb") as opened:
            for event in reading.events(opened):
                builder.add(event)
    except OSError as problem:
        raise fail(invocation, unreadable(file, problem)) from None
    return builder.end(), reading


def _drawn(file: Path, found: Fault) -> Diagnostic:
    """A damaged line as a diagnostic."""
    code = "E0820" if found.version else "E0804"
    hint = "the rest of the trace is shown"
    return fault(code, f"line {found.line} of {file} cannot be read", reason=found.reason, hint=hint)


def _tell(invocation: Invocation, file: Path, reading: Reading) -> None:
    """Tell of damaged lines. A last line that is unfinished is no fault: the run was cut short there."""
    faults = [found for found in reading.faults if not found.unfinished]
    show(invocation, [_drawn(file, found) for found in faults])
    more = reading.damaged - len(reading.faults)
    if more:
        click.echo(f"{counted(more, 'damaged line')} more", err=True)
    if faults:
        raise CommandFailed(1)
