"""`sglc stubs`: the target `stubs`, for many programs, each beside its program where checkers look for it."""

from __future__ import annotations

from pathlib import Path

import click

from sglc.commands.shared.files import programs_below, write_whole
from sglc.commands.shared.invocation import CommandFailed, Invocation, fail, outside_option, show
from sglc.diagnostics.diagnostic import has_errors

STDOUT = Path("-")


@click.command("stubs")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write, - being stdout; default FILE.pyi beside it.",
)
@click.option("--allow-wider", is_flag=True, help="Say less of a type where Python lacks words for it.")
@outside_option
@click.pass_obj
def command(invocation: Invocation, paths: tuple[Path, ...], output: Path | None, allow_wider: bool) -> None:
    """Write what Python sees of programs as .pyi files, for checkers such as mypy.

    `crew.pyi` beside `crew.sgl` types the module that `import crew` gives with `sglc.importer`: its classes,
    and its functions with their forms (f.aio, f.run, f.stream). A folder stands for the programs in it.
    It is `sglc build FILE --emit stubs -o FILE.pyi`, for many files.

    \b
    Examples:
      sglc stubs examples/character.sgl
      sglc stubs src
      sglc stubs examples/character.sgl -o -
    """
    from sglc.commands.shared.programs import ARTEFACT, read_source
    from sglc.driver import write_target

    files, problems = programs_below(paths)
    if problems:
        raise fail(invocation, *problems)
    if output is not None and len(files) != 1:
        raise click.UsageError(f"-o names one file, and there are {len(files)} programs")
    failed = False
    for file in files:
        if file.suffix == ARTEFACT:
            raise click.UsageError(f"{file} is compiled already; stubs are made of its source")
        invocation.stage = f"writing stubs of {file}"
        source, problem = read_source(file)
        if source is None:
            raise fail(invocation, *([problem] if problem else []))
        text, diagnostics = write_target(source, "stubs", invocation.options, allow_wider)
        show(invocation, diagnostics)
        if has_errors(diagnostics):
            failed = True
        elif output == STDOUT:
            click.echo(text, nl=False)
        else:
            target = output or file.with_suffix(".pyi")
            write_whole(invocation, target, text.encode("utf-8"))
            click.echo(f"{target}: {file}")
    if failed:
        raise CommandFailed(1)
