"""`sglc test`: the test blocks of programs, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    counted,
    fail,
    fault,
    level_option,
    outside_option,
    print_json,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sglc.testing import Report


@click.command("test")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("-k", "words", default="", metavar="WORDS", help="Only tests whose title contains the words.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of random answers."
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Run each test this often, each time with the next seed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@level_option
@outside_option
@click.pass_obj
def command(
    invocation: Invocation, files: tuple[Path, ...], words: str, seed: int, rounds: int, as_json: bool
) -> None:
    """Run the test blocks of programs, without a model.

    `mock` answers a hole with a value that it could produce; `fuzz` answers all holes with random legal
    values. A test that fails shows the expectation, the values of its parts and variables, and the seed
    that repeats it. Mocks that no hole asks for and tests that expect nothing are told.

    \b
    Examples:
      sglc test examples/character.sgl
      sglc test examples/*.sgl --rounds 5
      sglc test examples/loop.sgl -k "keeps to its time" --seed 3
    """
    from sglc.commands.shared.files import programs_below
    from sglc.commands.shared.programs import load_program

    below, problems = programs_below(files)
    if problems:
        raise fail(invocation, *problems, as_json=as_json)
    programs = [(path, load_program(invocation, path)) for path in below]
    from sglc.testing import run_tests

    results: list[bool] = []
    shown: list[dict[str, object]] = []
    for path, program in programs:
        if not as_json and len(programs) > 1:
            click.echo(f"{path}")
        for report in _stages(invocation, path, run_tests(program, words, seed=seed, rounds=rounds)):
            results.append(report.passed)
            if as_json:
                shown.append(_as_data(path, report))
                continue
            mark = _styled(
                invocation, "ok    " if report.passed else "FAILED", "green" if report.passed else "red"
            )
            click.echo(f"  {mark} {report.title} ({counted(report.expectations, 'expectation')})")
            if report.warnings:
                show(invocation, report.warnings)
            if not report.passed:
                show(invocation, report.failures)
                again = f'sglc test {path} -k "{report.title}" --seed {report.seed}'
                click.echo(f"to repeat it: {again}\n", err=True)
    passed = sum(results)
    failed = len(results) - passed
    if as_json:
        print_json({"ok": failed == 0, "passed": passed, "failed": failed, "tests": shown})
    elif results:
        click.echo(f"{counted(len(results), 'test')}: {passed} passed, {failed} failed")
    else:
        meant = f'with "{words}" in its title' if words else "in " + ", ".join(map(str, files))
        raise fail(invocation, fault("E0809", f"there is no test {meant}"))
    if failed:
        raise CommandFailed(1)


def _stages(invocation: Invocation, path: Path, reports: Iterator[Report]) -> Iterator[Report]:
    invocation.stage = f"testing {path}"
    yield from reports


def _styled(invocation: Invocation, text: str, color: str) -> str:
    return click.style(text, fg=color) if invocation.color_stdout else text


def _as_data(path: Path, report: Report) -> dict[str, object]:
    from sglc.diagnostics.render import to_json

    return {
        "file": str(path),
        "title": report.title,
        "passed": report.passed,
        "seed": report.seed,
        "rounds": report.rounds,
        "expectations": report.expectations,
        "seconds": round(report.seconds, 3),
        "diagnostics": [to_json(found) for found in (*report.failures, *report.warnings)],
    }
