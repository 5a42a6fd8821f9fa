"""`sglc fmt`: programs in their one layout."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import click

from sglc.commands.shared.files import programs_below, unified, write_whole
from sglc.commands.shared.invocation import CommandFailed, Invocation, counted, fault, show
from sglc.diagnostics.diagnostic import Diagnostic

STDIN = Path("-")


@dataclass(slots=True)
class _Outcome:
    """What came of the files of one call."""

    changed: list[Path] = field(default_factory=list)
    kept: int = 0
    faulty: int = 0

    def told(self, done: str) -> str:
        """One line that says it; `done` is what was, or would be, done."""
        parts = [f"{counted(len(self.changed), 'file')} {done}"] if self.changed else []
        parts += [f"{counted(self.kept, 'file')} unchanged"] if self.kept else []
        parts += [f"{counted(self.faulty, 'file')} with errors left alone"] if self.faulty else []
        return ", ".join(parts)


@click.command("fmt")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("--check", is_flag=True, help="Write nothing; fail where a file would change.")
@click.option("--diff", is_flag=True, help="Print what would change as a unified diff; write nothing.")
@click.option("--stdin-name", metavar="NAME", help="How stdin is called in messages; goes with -.")
@click.pass_obj
def command(
    invocation: Invocation, paths: tuple[Path, ...], check: bool, diff: bool, stdin_name: str | None
) -> None:
    """Write programs in their one layout: blanks, indentation, where lines end, blank lines.

    What a model reads stays as it is, byte for byte, and so do comments. A folder stands for the programs in
    it, - for a program on stdin that goes to stdout. A file with errors of syntax is left alone, and told.

    --check and --diff write nothing and fail where a file would change.

    \b
    Examples:
      sglc fmt examples
      sglc fmt program.sgl --diff
      sglc fmt . --check
      sglc fmt - --stdin-name program.sgl < program.sgl
    """
    if STDIN in paths:
        if len(paths) > 1:
            raise click.UsageError("- is one program on stdin; no files go with it")
        _from_stdin(invocation, stdin_name or "<stdin>", check, diff)
        return
    if stdin_name is not None:
        raise click.UsageError("--stdin-name goes with -, a program on stdin")
    outcome = _Outcome()
    files, problems = programs_below(paths)
    show(invocation, problems)
    for file in files:
        invocation.stage = f"formatting {file}"
        _format(invocation, file, outcome, check=check, diff=diff)
    dry = check or diff
    told = outcome.told("would change" if dry else "formatted")
    if told:
        click.echo(told, err=True)
    if problems or outcome.faulty or (dry and outcome.changed):
        raise CommandFailed(1)


def _format(invocation: Invocation, file: Path, outcome: _Outcome, *, check: bool, diff: bool) -> None:
    """Format one file, or say what would be changed in it."""
    from sglc.commands.shared.programs import ARTEFACT, LARGEST_SOURCE, read_bytes

    if file.suffix == ARTEFACT:
        raise click.UsageError(f"{file} is compiled already; its source is formatted")
    data, problem = read_bytes(file, LARGEST_SOURCE)
    before, after, found = ("", "", [problem]) if problem else _formatted(str(file), data)
    show(invocation, found)
    if found:
        outcome.faulty += 1
        return
    if after.encode("utf-8") == data:
        outcome.kept += 1
        return
    outcome.changed.append(file)
    if diff:
        click.echo(unified(str(file), before, after), nl=False)
    elif check:
        click.echo(f"{file}: would change")
    else:
        write_whole(invocation, file.resolve(), after.encode("utf-8"))
        click.echo(f"{file}: formatted")


def _from_stdin(invocation: Invocation, name: str, check: bool, diff: bool) -> None:
    """Format what stands on stdin; without an option it goes to stdout."""
    from sglc.commands.shared.programs import LARGEST_SOURCE

    invocation.stage = f"formatting {name}"
    data = sys.stdin.buffer.read(LARGEST_SOURCE + 1)
    if len(data) > LARGEST_SOURCE:
        limit = f"the limit is {LARGEST_SOURCE // 1024 // 1024} MiB"
        before, after, found = "", "", [fault("E0802", f"{name} is too large", reason=limit)]
    else:
        before, after, found = _formatted(name, data)
    show(invocation, found)
    changed = after.encode("utf-8") != data
    if not found and diff:
        click.echo(unified(name, before, after) if changed else "", nl=False)
    elif not found and check:
        click.echo(f"{name}: would change" if changed else "", nl=changed)
    elif not found:
        sys.stdout.flush()
        sys.stdout.buffer.write(after.encode("utf-8"))
    if found or (changed and (check or diff)):
        raise CommandFailed(1)


def _formatted(name: str, data: bytes) -> tuple[str, str, list[Diagnostic]]:
    """The text of a file, that of its one layout, and what keeps it as it is."""
    from sglc.commands.shared.programs import as_text, seldom_collected
    from sglc.format.formatter import formatted
    from sglc.source import Source

    text, problem = as_text(name, data)
    if problem is not None:
        return "", "", [problem]
    with seldom_collected():
        after, found = formatted(Source(name, text))
    mark = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
    return mark + text, after, found
