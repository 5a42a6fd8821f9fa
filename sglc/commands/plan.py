"""`sglc plan`: the price of a program before it is paid, and beside it what a run took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.running.run_options import (
    DEFAULT_MODEL,
    Models,
    Observation,
    RunCommand,
    engine_options,
    models_option,
)
from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    fail,
    fault,
    level_option,
    outside_option,
    print_json,
    python_option,
    show,
    summary,
)
from sglc.runtime.engine.core.options import EngineOptions

if TYPE_CHECKING:
    from sglc.bytecode.code import Code, Program
    from sglc.commands.running.execution import Failed
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.plan.measured import Measured
    from sglc.plan.plan import ProgramPlan
    from sglc.types.values import Value

LARGEST_TRACE = 256 * 1024 * 1024
"""Bytes of a trace that is read: some million events."""


@dataclass(frozen=True, slots=True)
class Run:
    """How a run is to go: what `sglc run` takes too."""

    pairs: tuple[str, ...]
    arguments: Path | None
    seed: int
    max_tokens: int | None
    timeout: float | None
    ahead: int | None
    """Most calls that run ahead of their turn; None leaves it to the engine."""
    engine: EngineOptions
    models: Mapping[str, str]
    """Models that the program names."""


@click.command("plan", cls=RunCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("function", required=False)
@models_option(
    "Count in tokens of this model; only its tokenizer is read. With --run and NAME= also one that the "
    "program means by `using NAME`."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; docs/plan.md describes it.")
@click.option(
    "--diff", "old", type=click.Path(path_type=Path), metavar="OLD.sglb", help="Say what has changed since."
)
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="Show a recorded run beside it."
)
@click.option("--run", "runs", is_flag=True, help="Run the function, and show beside it what that took.")
@click.option("--arg", "pairs", multiple=True, metavar="NAME=VALUE", help="With --run: an argument.")
@click.option(
    "--args", "arguments", type=click.Path(path_type=Path), metavar="FILE.json", help="With --run: arguments."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="With --run.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="With --run: most tokens.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="With --run: most time."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="With --run: most calls ahead of their turn; else what the engine does best.",
)
@click.option("--sequential", is_flag=True, help="With --run: begin no call before its turn.")
@engine_options
@level_option
@outside_option
@python_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path,
    function: str | None,
    models: Models,
    as_json: bool,
    old: Path | None,
    trace: Path | None,
    runs: bool,
    pairs: tuple[str, ...],
    arguments: Path | None,
    seed: int,
    max_tokens: int | None,
    timeout: float | None,
    concurrency: int | None,
    sequential: bool,
    engine: EngineOptions,
) -> None:
    """Show what a program costs before it runs: its texts, its holes, and bounds of their tokens.

    FILE is source or a compiled .sglb. Without FUNCTION all functions that ask a model are shown. Of each
    hole the fewest and the most tokens are told, and how many are drawn; of a function with a budget,
    whether it holds. Without --model bounds are in bytes. --diff fails where anything has changed.

    \b
    Examples:
      sglc plan examples/character.sgl --model smollm2
      sglc plan examples/character.sgl --run --arg theme="a lighthouse"
      sglc plan examples/triage.sgl triage --trace run.jsonl --json
      sglc plan examples/orders.sgl --model smollm2 --diff orders.sglb
    """
    if models.named and not runs:
        raise click.UsageError("--model NAME=MODEL belongs to --run: without a run nothing is asked")
    _check_usage(runs, trace, old, pairs, arguments)
    from sglc.commands.shared.programs import load_program

    program = load_program(invocation, file)
    names, problems = _functions(program, function, runs)
    if problems:
        raise _refused(invocation, problems, as_json)
    from sglc.commands.running.settings import engine_of, models_of, project_for, setting
    from sglc.project.models import is_elsewhere
    from sglc.types.model_use import MAIN

    project = project_for(invocation, file, as_json=as_json)
    model, named = models_of(project, models, program)
    if runs:
        if sequential and concurrency is not None:
            raise click.UsageError("--sequential and --concurrency say two things of the same calls")
        ahead = 0 if sequential else setting(project.run, "concurrency", concurrency)
        run = Run(
            pairs,
            arguments,
            setting(project.run, "seed", seed),
            setting(project.run, "max_tokens", max_tokens),
            setting(project.run, "timeout", timeout),
            ahead,
            engine_of(project, engine),
            named,
        )
        _with_run(invocation, program, file, names[0], model or DEFAULT_MODEL, run, as_json)
        return
    counted_in = None if model is not None and is_elsewhere(model) else model
    priced = project.settings.get(MAIN)
    price = None if priced is None else priced.price
    plan = replace(_plan(invocation, program, file, names, counted_in), price=price)
    if old is not None:
        _diff(invocation, plan, old, function, counted_in, as_json)
        return
    measured = None if trace is None else _traced(invocation, program, trace, as_json)
    _print(invocation, plan, measured, as_json)


def _check_usage(
    runs: bool, trace: Path | None, old: Path | None, pairs: tuple[str, ...], arguments: Path | None
) -> None:
    if runs and trace is not None:
        raise click.UsageError("--run and --trace both show a run: give one of them")
    if old is not None and (runs or trace is not None):
        raise click.UsageError("--diff compares two programs, not what their runs took")
    if not runs and (pairs or arguments is not None):
        raise click.UsageError(f"{'--arg' if pairs else '--args'} belongs to --run")


def _functions(program: Program, name: str | None, one: bool) -> tuple[list[str], list[Diagnostic]]:
    """The functions to plan: the named one, or all that ask a model; `one` for a run."""
    from sglc.commands.running.arguments import choose_function

    asking = [entry for entry, index in program.entry.items() if program.codes[index].kind == "fn"]
    if name is None and not one and asking:
        return asking, []
    code, problems = choose_function(program, name)
    if code is None:
        return [], problems
    if code.kind != "fn":
        what = f"{code.name} asks no model"
        return [], [fault("E0712", what, hint=f"functions that do: {', '.join(asking) or 'none'}")]
    return [code.name], problems


def _plan(
    invocation: Invocation, program: Program, file: Path, names: list[str], model: str | None
) -> ProgramPlan:
    from sglc.plan.collect import plan_program

    if model is None:
        invocation.stage = f"planning {file}"
        return plan_program(program, names)
    from sglc.commands.building.masks import read_tokenizer
    from sglc.runtime.mask.artifact.places import program_masks

    tokenizer = read_tokenizer(invocation, model)
    invocation.stage = f"planning {file}"
    return plan_program(program, names, model=model, tokenizer=tokenizer, masks=program_masks(file))


def _print(invocation: Invocation, plan: ProgramPlan, measured: Measured | None, as_json: bool) -> None:
    if as_json:
        from sglc.plan.data import as_data

        print_json(as_data(plan, measured))
        return
    from sglc.plan.text import Picture

    click.echo(Picture(plan, measured, invocation.color_stdout).text())


def _refused(invocation: Invocation, problems: list[Diagnostic], as_json: bool) -> CommandFailed:
    failed = fail(invocation, *problems, as_json=as_json)
    if len(problems) > 1 and not as_json:
        click.echo(summary(problems), err=True)
    return failed


# -- beside it -------------------------------------------------------------------------------------------


def _traced(invocation: Invocation, program: Program, path: Path, as_json: bool) -> Measured:
    from sglc.commands.shared.programs import read_text
    from sglc.plan.measured import NoTrace, from_trace

    text, problem = read_text(path, LARGEST_TRACE)
    if problem is not None:
        raise fail(invocation, problem, as_json=as_json)
    try:
        found = from_trace(text.splitlines())
    except NoTrace as wrong:
        what = f"{path} is no trace of a run"
        raise fail(invocation, fault("E0804", what, reason=str(wrong)), as_json=as_json) from None
    known = {hole.name for hole in program.holes}
    strange = next((name for name in found.holes if name not in known), None)
    if strange is not None:
        what = f"{path} fills {strange}, which {program.name} has not"
        problem = fault("E0819", what, hint="it is the trace of another program")
        raise fail(invocation, problem, as_json=as_json)
    return found


def _diff(
    invocation: Invocation,
    plan: ProgramPlan,
    old: Path,
    function: str | None,
    model: str | None,
    as_json: bool,
) -> None:
    from sglc.commands.shared.programs import load_program
    from sglc.plan.diff import as_data, as_text, changes

    program = load_program(invocation, old)
    wanted = [function] if function is not None else list(program.entry)
    names = [n for n in wanted if n in program.entry and program.codes[program.entry[n]].kind == "fn"]
    found = changes(_plan(invocation, program, old, names, model), plan)
    if as_json:
        print_json(as_data(found))
    else:
        click.echo(as_text(found) if found else "nothing has changed")
    if found:
        raise CommandFailed(1)


def _with_run(
    invocation: Invocation, program: Program, file: Path, name: str, model: str, run: Run, as_json: bool
) -> None:
    """Run the function, and print the plan with the figures of `--stats` beside it."""
    from sglc.commands.running.execution import Call, Runner
    from sglc.externs.modules import access_for
    from sglc.plan.collect import plan_program
    from sglc.plan.measured import from_report
    from sglc.runtime.backends.filling.opening import is_elsewhere
    from sglc.runtime.mask.artifact.places import program_masks
    from sglc.runtime.metrics.report import report

    if is_elsewhere(model):
        reason = "plans count in tokens of the model, and its tokenizer is not here"
        hint = "plan with --model of a like tokenizer, and see what a run takes by `sglc run --stats`"
        what = f"a run on {model} cannot be shown beside a plan"
        raise fail(invocation, fault("E0807", what, reason=reason, hint=hint), as_json=as_json)
    code = program.codes[program.entry[name]]
    bound = _bound(invocation, program, code, run, as_json)
    masks = program_masks(file)
    call = Call(
        program,
        code,
        model,
        run.models,
        run.engine,
        Observation(),
        run.seed,
        run.max_tokens,
        run.timeout,
        masks,
        run.ahead,
        access=access_for(file, invocation.python),
    )
    with Runner.open(invocation, call) as runner:
        invocation.stage = f"running {name}"
        outcome = runner.run(bound)
        assert runner.engine is not None, "functions that ask a model have an engine"
        measured = from_report(report(runner.observer.collector, runner.engine))
        tokenizer = runner.engine.model.tokenizer
    invocation.stage = f"planning {file}"
    plan = plan_program(program, [name], model=model, tokenizer=tokenizer, masks=masks, callees=True)
    _print(invocation, plan, measured, as_json)
    if outcome.failed is not None:
        _tell(invocation, outcome.failed)


def _bound(invocation: Invocation, program: Program, code: Code, run: Run, as_json: bool) -> dict[str, Value]:
    """The arguments of the run, by name."""
    from sglc.commands.running.arguments import bind, read_file, read_pairs

    texts, problems = read_pairs(run.pairs)
    values: dict[str, Value] = {}
    if run.arguments is not None:
        values, found = read_file(run.arguments)
        problems += found
    if not problems:
        bound, problems = bind(program, code, texts, values)
        if not problems:
            return bound
    raise _refused(invocation, problems, as_json)


def _tell(invocation: Invocation, failed: Failed) -> None:
    show(invocation, [failed.diagnostic])
    raise CommandFailed(1)
