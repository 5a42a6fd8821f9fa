"""`sglc check`: everything that can be said about programs without running them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.files import programs_below
from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    counted,
    fail,
    outside_option,
    print_json,
    require_option,
    show,
    summary,
)
from sglc.diagnostics.diagnostic import Diagnostic, has_errors

if TYPE_CHECKING:
    from sglc.commands.shared.fixing import Fixer
    from sglc.runtime.tokenizer import Tokenizer
    from sglc.targets.projection.core.capabilities import Level

FORMATS = ("text", "json", "sarif", "github")


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="How to tell what was found: text, or on stdout json, sarif (2.1.0), github (workflow commands).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--fix", is_flag=True, help="Make the edits that findings carry, then check again.")
@click.option("--diff", is_flag=True, help="Print those edits as a unified diff and change nothing.")
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="CODE",
    help="With --fix or --diff: make also the edits that findings of this code offer.",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Tell lengths of text in tokens of this model, and what its tokens cannot write; of a backend "
    "(openai:gpt-x) what it guarantees.",
)
@require_option
@outside_option
@click.pass_obj
def command(
    invocation: Invocation,
    files: tuple[Path, ...],
    form: str | None,
    as_json: bool,
    strict: bool,
    fix: bool,
    diff: bool,
    accepted: tuple[str, ...],
    model: str | None,
    required: Level | None,
) -> None:
    """Find what is wrong with programs, without running them.

    Reports every error it can find in one run: syntax, names, types, constraints that nothing can meet,
    values without a bound, stop texts that could occur inside their value. Needs no model; with --model a
    tokenizer is read. A folder stands for the programs in it.

    With --model of a backend (openai:NAME, vllm:URL, …) it prints what that enforces of each hole; nothing
    is asked of it.

    Findings whose repair is certain carry an edit, shown as the line would read. --fix makes the edits, in
    the program's own files only; --diff shows what --fix would do, and fails where that is something. An edit
    that would change what a model reads is offered: it is made where --accept names the finding's code.

    \b
    Examples:
      sglc check examples/character.sgl
      sglc check examples --strict
      sglc check program.sgl --fix
      sglc check program.sgl --diff --accept W0220
      sglc check program.sgl --json | jq '.diagnostics[].message'
      sglc check src --format sarif > sglc.sarif
      sglc check program.sgl --model openai:gpt-x --require value
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json is --format json, and --format {form} is given")
    form = "json" if as_json else form or "text"
    if diff and form != "text":
        given = "--json" if as_json else f"--format {form}"
        raise click.UsageError(f"--diff prints a diff, {given} prints {form}: give one of them")
    if accepted and not (fix or diff):
        raise click.UsageError("--accept goes with --fix or --diff")
    if accepted:
        _known(accepted)
    below, problems = programs_below(files)
    if model is not None and _is_elsewhere(model):
        if fix or diff or form in ("sarif", "github"):
            raise click.UsageError("--model of a backend takes no --fix, --diff or --format")
        if problems:
            raise fail(invocation, *problems, as_json=form == "json")
        _print_levels(invocation, below, model, required, form == "json")
        return
    if required is not None:
        raise click.UsageError("--require goes with --model of a backend, such as --model openai:gpt-x")
    tokenizer = None if model is None else _tokenizer(invocation, model)
    measure = None if tokenizer is None else lambda text: len(tokenizer.encode(text))
    if fix or diff:
        from sglc.commands.shared.fixing import Fixer

        fixer = Fixer(invocation.options.allow_outside, frozenset(accepted), measure)
        found = problems + _each(invocation, below, fixer.fix)
        if diff:
            _print_diff(fixer, found)
            return
        fixer.write(invocation)
        _report(invocation, below, found, form, strict, fixer)
    else:
        from sglc.check.program import Workspace
        from sglc.commands.shared.programs import check_path

        workspace = Workspace(keeps=len(below) > 1)

        def look(path: Path) -> list[Diagnostic]:
            found = check_path(path, invocation.options.allow_outside, measure, workspace)
            if model is None or tokenizer is None or has_errors(found):
                return found
            return found + _dead_ends(invocation, path, tokenizer, model)

        _report(invocation, below, problems + _each(invocation, below, look), form, strict, None)


def _is_elsewhere(model: str) -> bool:
    """Whether a model is one of another service."""
    from sglc.project.models import is_elsewhere

    return is_elsewhere(model)


def _print_levels(
    invocation: Invocation, files: Sequence[Path], model: str, required: Level | None, as_json: bool
) -> None:
    """Print what models elsewhere guarantee of every hole; fails where that is less than is required."""
    from sglc.commands.running.settings import project_for
    from sglc.commands.shared.levels import as_data, candidates_named, shown
    from sglc.commands.shared.programs import load_program
    from sglc.runtime.errors import ArgumentError
    from sglc.targets.projection.level_findings import shortfalls
    from sglc.targets.projection.levels import levels_of

    faults: list[Diagnostic] = []
    tables: dict[str, list[dict[str, object]]] = {}
    for path in files:
        program = load_program(invocation, path)
        project = project_for(invocation, path, as_json=as_json)
        try:
            models = candidates_named(program, model, project)
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic(), as_json=as_json) from None
        levels = levels_of(program, models)
        tables[str(path)] = as_data(levels)
        if required is not None:
            faults += shortfalls(levels, required)
        if not as_json:
            click.echo((f"{path}\n" if len(files) > 1 else "") + shown(levels), nl=False)
    if as_json:
        from sglc.diagnostics.render import to_json

        told = [to_json(each) for each in faults]
        print_json({"ok": not faults, "model": model, "levels": tables, "diagnostics": told})
    else:
        show(invocation, faults)
    if faults:
        raise CommandFailed(1)


def _tokenizer(invocation: Invocation, model: str) -> Tokenizer:
    from sglc.commands.building.masks import read_tokenizer

    return read_tokenizer(invocation, model)


def _dead_ends(invocation: Invocation, path: Path, tokenizer: Tokenizer, model: str) -> list[Diagnostic]:
    """What the tokens of a model cannot write of the holes of a program without errors."""
    from sglc.commands.building.dead_ends import dead_ends
    from sglc.commands.shared.programs import build_path
    from sglc.runtime.bounds.dead_ends import lacking

    vocabulary = tokenizer.vocabulary()
    if not lacking(vocabulary):
        return []
    built, _ = build_path(path, invocation.options, told=False, runs=True)
    if built is None or built.program is None:
        return []
    return dead_ends(built.program, vocabulary, model)


def _known(codes: tuple[str, ...]) -> None:
    """Refuse what is no code of a finding."""
    from sglc.diagnostics.catalogue.codes import CATALOGUE
    from sglc.diagnostics.suggest import nearest

    for code in codes:
        if code not in CATALOGUE:
            close = nearest(code, CATALOGUE)
            raise click.UsageError(f"there is no code {code}" + (f": did you mean {close}?" if close else ""))


def _each(
    invocation: Invocation, files: Sequence[Path], look: Callable[[Path], list[Diagnostic]]
) -> list[Diagnostic]:
    """What is found in all files, in their order."""
    found: list[Diagnostic] = []
    for path in files:
        invocation.stage = f"checking {path}"
        found += look(path)
    return found


def _print_diff(fixer: Fixer, left: list[Diagnostic]) -> None:
    """Print what would change; fails where anything would, or where errors would be left."""
    click.echo(fixer.diff(), nl=False)
    would = f"{counted(fixer.fixed, 'finding')} would be fixed, nothing is written"
    rest = summary(left)
    click.echo(f"{would}; {rest} would be left" if rest else would, err=True)
    if fixer.fixed or has_errors(left):
        raise CommandFailed(1)


def _report(
    invocation: Invocation,
    files: Sequence[Path],
    found: list[Diagnostic],
    form: str,
    strict: bool,
    fixer: Fixer | None,
) -> None:
    """Print what is found, and what was fixed; fails on errors, on warnings too where they count."""
    errors = sum(diagnostic.severity == "error" for diagnostic in found)
    warnings = sum(diagnostic.severity == "warning" for diagnostic in found)
    bad = errors > 0 or (strict and warnings > 0)
    if form == "sarif":
        from sglc import __version__
        from sglc.diagnostics.sarif import sarif_log

        print_json(sarif_log(found, __version__))
    elif form == "github":
        from sglc.diagnostics.github import github_command

        for diagnostic in found:
            click.echo(github_command(diagnostic))
        click.echo(f"{counted(len(files), 'file')}: {summary(found) or 'all is well'}", err=True)
    elif form == "json":
        from sglc.diagnostics.render import to_json

        print_json(
            {
                "ok": not bad,
                "files": [str(path) for path in files],
                "errors": errors,
                "warnings": warnings,
                **({} if fixer is None else {"fixed": fixer.fixed}),
                "diagnostics": [to_json(diagnostic) for diagnostic in found],
            }
        )
    else:
        show(invocation, found)
        if fixer is not None:
            changed = len(fixer.changed_files())
            click.echo(
                f"fixed {counted(fixer.fixed, 'finding')} in {counted(changed, 'file')}", err=bool(found)
            )
        fixable = sum(bool(diagnostic.edits) for diagnostic in found)
        if fixable and fixer is None:
            click.echo(f"`sglc check --fix` makes the {counted(fixable, 'edit')} shown above.", err=True)
        for code in sorted({diagnostic.code for diagnostic in found if diagnostic.offered}):
            click.echo(f"`sglc check --fix --accept {code}` makes the edits that {code} offers.", err=True)
        click.echo(f"{counted(len(files), 'file')}: {summary(found) or 'all is well'}", err=bool(found))
        if errors:
            code = next(diagnostic.code for diagnostic in found if diagnostic.severity == "error")
            click.echo(f"`sglc explain {code}` says more about an error.", err=True)
    if bad:
        raise CommandFailed(1)
