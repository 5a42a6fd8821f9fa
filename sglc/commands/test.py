"""`sglc test`: the test blocks of programs, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.running.run_options import Models, answer_options, models_option
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
    from collections.abc import Iterator, Sequence

    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.runtime.backends.recording.options import AnswerOptions
    from sglc.runtime.vm.coverage import BranchCoverage
    from sglc.testing import Report


MOST_MISSED = 20
"""Most branches that are told one by one: a screen of them."""


@click.command("test")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "-k",
    "words",
    default="",
    metavar="WORDS",
    help="Only tests whose title contains the words; `and`, `or`, `not` and parentheses combine them.",
)
@click.option(
    "--tag", "tags", multiple=True, metavar="NAME", help="Only tests with this tag, or one of several."
)
@click.option("--not-tag", "without", multiple=True, metavar="NAME", help="No tests with this tag.")
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
@click.option(
    "--update-golden", is_flag=True, help="Keep what `golden` calls are asked and give, in place of what was."
)
@click.option("--coverage", is_flag=True, help="Tell which branches of the functions no test has taken.")
@click.option(
    "--pressure",
    type=click.FloatRange(min=0),
    metavar="NATS",
    help="Fail where masks fought the model more in a replayed run: nats a drawn token, by hole.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the results as JUnit's XML too.",
)
@models_option(
    "With --record, --replay or --cache-answers: a model elsewhere, for holes that no mock answers."
)
@answer_options
@level_option
@outside_option
@click.pass_obj
def command(
    invocation: Invocation,
    files: tuple[Path, ...],
    words: str,
    tags: tuple[str, ...],
    without: tuple[str, ...],
    seed: int,
    rounds: int,
    update_golden: bool,
    coverage: bool,
    pressure: float | None,
    as_json: bool,
    junit: Path | None,
    models: Models,
    answers: AnswerOptions,
) -> None:
    """Run the test blocks of programs, without a model.

    `mock` answers a hole with a value that it could produce; `fuzz` answers all holes with random legal
    values, and shows the least that fail. A test that fails shows the expectation, the values of its parts
    and variables, and the seed that repeats it. Mocks that no hole asks for and tests that expect nothing
    are told. `golden` holds a call against FILE.golden.json beside the program, `replay` a recorded run
    against its trace; with `--pressure 0.3` the masks of that run are held against a bound, too.

    Holes that no mock answers are filled by a model elsewhere with --record FILE, which keeps the traffic;
    with --replay FILE the same tests run on it again, without a network or a key.

    Exit codes: 0 all tests passed; 1 one failed, or something cannot be read; 2 the command is wrong.

    \b
    Examples:
      sglc test examples/character.sgl
      sglc test examples/*.sgl --rounds 5
      sglc test examples/loop.sgl -k "keeps to its time" --seed 3
      sglc test crew.sgl --not-tag slow --junit report.xml
      sglc test crew.sgl --model openai:gpt-x --replay crew.traffic
    """
    from sglc.commands.shared.files import programs_below
    from sglc.commands.shared.programs import load_program
    from sglc.commands.testing.asked_models import asked_models, check_use
    from sglc.commands.testing.selection import SelectionFault, as_words, chooser

    try:
        chosen = chooser(words, tags, without)
    except SelectionFault as wrong:
        told = fault("E0823", f"`-k {words}` cannot be read", reason=str(wrong))
        raise fail(invocation, told) from None
    below, problems = programs_below(files)
    if problems:
        raise fail(invocation, *problems, as_json=as_json)
    check_use(models, answers, len(below))
    programs = [(path, load_program(invocation, path)) for path in below]
    from sglc.recorded.goldens import GoldenFault, Goldens, golden_path
    from sglc.recorded.pressures import PressureBound
    from sglc.runtime.vm.coverage import BranchCoverage
    from sglc.testing import run_tests

    bound = None if pressure is None else PressureBound(pressure)
    results: list[tuple[Path, Report]] = []
    covered: dict[Path, BranchCoverage] = {}
    for path, program in programs:
        if not as_json and len(programs) > 1:
            click.echo(f"{path}")
        try:
            goldens = Goldens.open(golden_path(path), update=update_golden)
            if coverage:
                covered[path] = BranchCoverage(program)
            with asked_models(invocation, path, program, models, answers) as asked:
                ran = run_tests(
                    program,
                    seed=seed,
                    rounds=rounds,
                    chosen=chosen,
                    place=path,
                    goldens=goldens,
                    coverage=covered.get(path),
                    pressure=bound,
                    models=asked,
                )
                for report in _stages(invocation, path, ran):
                    results.append((path, report))
                    if not as_json:
                        _tell(invocation, report, f"sglc test {path} -k {as_words(report.title)}")
            if goldens.save() and not as_json:
                click.echo(f"  kept in {goldens.path}")
            if path in covered and not as_json:
                _tell_covered(covered[path])
        except GoldenFault as problem:
            raise fail(invocation, fault("E0822", str(problem))) from None
    if junit is not None:
        _write(invocation, junit, results)
    unmeasured = bound is not None and not bound.measured
    if unmeasured and results and all(report.passed for _, report in results):
        raise fail(invocation, _unmeasured(), as_json=as_json)
    if not results:
        raise fail(invocation, _none_chosen(files, words, tags, without), as_json=as_json)
    passed = sum(report.passed for _, report in results)
    failed = len(results) - passed
    if as_json:
        shown = [_as_data(path, report) for path, report in results]
        taken = {"coverage": {str(path): each.plain() for path, each in covered.items()}} if coverage else {}
        print_json({"ok": failed == 0, "passed": passed, "failed": failed, "tests": shown, **taken})
    else:
        click.echo(f"{counted(len(results), 'test')}: {passed} passed, {failed} failed")
    if failed:
        raise CommandFailed(1)


def _none_chosen(
    files: Sequence[Path], words: str, tags: Sequence[str], without: Sequence[str]
) -> Diagnostic:
    """A choice that no test meets must not look as if all had passed."""
    chosen = [f'with "{words}" in its title'] if words else []
    chosen += [f"with the tag {' or '.join(tags)}"] if tags else []
    chosen += [f"without the tag {' and '.join(without)}"] if without else []
    return fault("E0809", f"there is no test {' '.join(chosen) or 'in ' + ', '.join(map(str, files))}")


def _unmeasured() -> Diagnostic:
    """A bound that nothing was held against must not look as if it were kept."""
    return fault(
        "E0824",
        "no test has replayed a run in which pressure was measured",
        reason="tests run without a model, so it is known of recorded runs alone",
        hint='record one: `sglc run … --trace run.jsonl`, and replay it in a test: `replay "run.jsonl"`',
    )


def _tell(invocation: Invocation, report: Report, again: str) -> None:
    """How a test came out, and how to repeat it where it failed."""
    mark = _styled(invocation, "ok    " if report.passed else "FAILED", "green" if report.passed else "red")
    click.echo(f"  {mark} {report.title} ({counted(report.expectations, 'expectation')})")
    if report.warnings:
        show(invocation, report.warnings)
    if not report.passed:
        show(invocation, report.failures)
        click.echo(f"to repeat it: {again} --seed {report.seed}\n", err=True)


def _tell_covered(coverage: BranchCoverage) -> None:
    """Which branches no test has taken."""
    missed, count = coverage.missed(), coverage.count()
    click.echo(f"  branches: {count - len(missed)} of {count} taken")
    for each in missed[:MOST_MISSED]:
        click.echo(f"    {each.place}: {each.text}")
    if len(missed) > MOST_MISSED:
        click.echo(f"    and {len(missed) - MOST_MISSED} more; --json has all")


def _write(invocation: Invocation, path: Path, results: list[tuple[Path, Report]]) -> None:
    from sglc.cache_files import write_atomically
    from sglc.commands.testing.junit import junit

    try:
        write_atomically(path, junit(results), mode=0o644)
    except OSError as problem:
        told = fault("E0805", f"{path} cannot be written", reason=problem.strerror or str(problem))
        raise fail(invocation, told) from None


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
        "tags": list(report.tags),
        "passed": report.passed,
        "seed": report.seed,
        "rounds": report.rounds,
        "expectations": report.expectations,
        "seconds": round(report.seconds, 3),
        "diagnostics": [to_json(found) for found in (*report.failures, *report.warnings)],
    }
