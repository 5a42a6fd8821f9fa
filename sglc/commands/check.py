"""`sglc check`: everything that can be said about programs without running them."""

from __future__ import annotations

from pathlib import Path

import click

from sglc.commands.invocation import CommandFailed, Invocation, counted, print_json, show, summary


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON on stdout.")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.pass_obj
def command(invocation: Invocation, files: tuple[Path, ...], as_json: bool, strict: bool) -> None:
    """Find what is wrong with programs, without running them.

    Reports every error it can find in one run: syntax, names, types, constraints that nothing can meet,
    values without a bound, stop texts that could occur inside their value. Needs no model.

    \b
    Examples:
      sglc check examples/character.sgl
      sglc check examples/*.sgl --strict
      sglc check program.sgl --json | jq '.diagnostics[].message'
    """
    from sglc.commands.programs import check_path

    found = []
    for path in files:
        invocation.stage = f"checking {path}"
        diagnostics = check_path(path)
        found += diagnostics
        if not as_json:
            show(invocation, diagnostics)
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    warnings = sum(diagnostic.severity == "warning" for diagnostic in found)
    bad = errors > 0 or (strict and warnings > 0)
    if as_json:
        from sglc.diagnostics.render import to_json

        print_json(
            {
                "ok": not bad,
                "files": [str(path) for path in files],
                "errors": errors,
                "warnings": warnings,
                "diagnostics": [to_json(diagnostic) for diagnostic in found],
            }
        )
    else:
        click.echo(f"{counted(len(files), 'file')}: {summary(found) or 'all is well'}", err=bool(found))
        if errors:
            code = next(diagnostic.code for diagnostic in found if diagnostic.severity == "error")
            click.echo(f"`sglc explain {code}` says more about an error.", err=True)
    if bad:
        raise CommandFailed(1)
