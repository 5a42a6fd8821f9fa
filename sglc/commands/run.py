"""`sglc run`: one function of a program on a model, once or for each row of a file."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sglc.commands.clustering.options import ClusterOptions, check_rows, cluster_options
from sglc.commands.running.run_options import (
    DEFAULT_MODEL,
    LevelOptions,
    Models,
    Observation,
    RunCommand,
    answer_options,
    engine_options,
    models_option,
    observation_options,
)
from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    fail,
    fault,
    level_option,
    outside_option,
    python_option,
    require_option,
    show,
    summary,
)
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.engine.core.options import EngineOptions

if TYPE_CHECKING:
    from sglc.bytecode.code import Code, Program
    from sglc.commands.running.execution import Call, Outcome
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.runtime.errors import SglError
    from sglc.targets.projection.core.capabilities import Level
    from sglc.types.values import Value

INTERRUPTED = 130


@click.command("run", cls=RunCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("function", required=False)
@click.option("--arg", "pairs", multiple=True, metavar="NAME=VALUE", help="An argument, read by its type.")
@click.option(
    "--args",
    "arguments",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Arguments from a JSON object.",
)
@models_option(
    "Name, folder, GGUF file, scripted:FILE, or one elsewhere, as openai:NAME or vllm:URL; smollm2 "
    "by default. With NAME= the one that the program means by `using NAME`."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Most tokens to generate.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Most time to take."
)
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="Write what happened.")
@click.option(
    "--trace-top",
    type=click.IntRange(min=1),
    metavar="K",
    help="With --trace: note the K most probable tokens with each token.",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Show the text as it comes, also without a terminal, "
    "and what models elsewhere guarantee of each hole, on stderr.",
)
@click.option("--json", "as_json", is_flag=True, help="Print value, text and statistics as one JSON object.")
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="ROWS.jsonl", help="One run a line of arguments."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="RESULTS.jsonl", help="Results of --data.")
@click.option("--retry-errors", is_flag=True, help="With --data: run failed rows again.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Most rows of --data, or calls ahead of their turn, at a time; else what the engine does best.",
)
@click.option(
    "--decode",
    type=click.Choice(["local"]),
    help="Draw every hole token by token, whatever the program says.",
)
@click.option(
    "--select",
    type=click.Choice(["choose"]),
    help="Let a model elsewhere that tells no scores write the option of a `select` itself.",
)
@require_option
@click.option("--sequential", is_flag=True, help="Begin no call of the program before its turn.")
@engine_options
@answer_options
@observation_options
@cluster_options
@level_option
@outside_option
@python_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path,
    function: str | None,
    pairs: tuple[str, ...],
    arguments: Path | None,
    models: Models,
    seed: int,
    max_tokens: int | None,
    timeout: float | None,
    trace: Path | None,
    trace_top: int | None,
    verbose: bool,
    as_json: bool,
    data: Path | None,
    out: Path | None,
    retry_errors: bool,
    concurrency: int | None,
    decode: Literal["local"] | None,
    select: Literal["choose"] | None,
    required: Level | None,
    sequential: bool,
    engine: EngineOptions,
    answers: AnswerOptions,
    observation: Observation,
    cluster: ClusterOptions,
) -> None:
    """Run a function of a program on a model and print its value.

    FILE is source or a compiled .sglb. FUNCTION may be left out where one is meant.
    On a terminal the answer is shown as it is generated: dim where nothing else could stand, bright where the
    model chose. When piped, stdout has the value alone.

    \b
    Examples:
      sglc run examples/character.sgl --arg theme="a lighthouse at the end of the world"
      sglc run examples/triage.sgl --args examples/triage.json --seed 7
      sglc run crew.sglb crew --arg theme=salvage --trace run.jsonl --trace-top 5
      sglc run examples/triage.sgl --data mails.jsonl --out desks.jsonl --stats
    """
    if (data is None) != (out is None):
        raise click.UsageError("--data and --out go together: rows to read and where their results go")
    if data is not None and (trace is not None or as_json):
        raise click.UsageError("--trace and --json belong to a single run, not to --data")
    if trace is None and trace_top is not None:
        raise click.UsageError("--trace-top belongs to --trace")
    if data is None and retry_errors:
        raise click.UsageError("--retry-errors belongs to --data")
    check_rows(cluster, data is not None, answers, select)
    if data is None and sequential and concurrency is not None:
        raise click.UsageError("--sequential and --concurrency say two things of the same calls")

    from sglc.commands.running.arguments import choose_function, read_file, read_pairs
    from sglc.commands.shared.programs import ARTEFACT, load_program

    invocation.startup.lap("Python")
    program = load_program(invocation, file)
    invocation.startup.lap("program")
    invocation.stage = "reading the arguments"
    code, problems = choose_function(program, function)
    texts, found = read_pairs(pairs)
    problems += found
    values: dict[str, Value] = {}
    if arguments is not None:
        values, found = read_file(arguments)
        problems += found
    if problems or code is None:
        raise _refused(invocation, problems, as_json)

    from sglc.commands.running.execution import Call
    from sglc.commands.running.settings import engine_of, models_of, project_for, setting
    from sglc.externs.modules import access_for
    from sglc.runtime.mask.artifact.places import program_masks

    project = project_for(invocation, file, as_json=as_json)
    own, named = models_of(project, models, program)
    engine = engine_of(project, engine)
    concurrency = setting(project.run, "concurrency", concurrency)
    masks = program_masks(file)
    ahead = 0 if sequential else concurrency
    call = Call(
        program,
        code,
        own or DEFAULT_MODEL,
        named,
        engine,
        observation,
        setting(project.run, "seed", seed),
        setting(project.run, "max_tokens", max_tokens),
        setting(project.run, "timeout", timeout),
        masks,
        ahead,
        trace_top or 0,
        setting(project.run, "decode", decode),
        select,
        access_for(file, invocation.python),
        tuple(project.settings.values()),
        answers,
        LevelOptions(required, verbose, as_json),
    )
    if data is not None and out is not None:
        from sglc.commands.clustering.rows import row_runner
        from sglc.commands.running.batch import Common, run_rows

        common, opened = Common(texts, values), row_runner(invocation, call, cluster, file, concurrency)
        run_rows(invocation, call, data, out, common, retry_errors, concurrency, opened)
        return
    from sglc.commands.running.arguments import bind

    bound, problems = bind(program, code, texts, values)
    if problems:
        raise _refused(invocation, problems, as_json)
    _run_once(invocation, call, bound, trace, verbose, as_json, compiled=file.suffix == ARTEFACT)


def _refused(invocation: Invocation, problems: list[Diagnostic], as_json: bool) -> CommandFailed:
    failed = fail(invocation, *problems, as_json=as_json)
    if len(problems) > 1 and not as_json:
        click.echo(summary(problems), err=True)
    return failed


def _run_once(
    invocation: Invocation,
    call: Call,
    bound: dict[str, Value],
    trace: Path | None,
    verbose: bool,
    as_json: bool,
    *,
    compiled: bool,
) -> None:
    from sglc.commands.running.execution import Runner
    from sglc.commands.running.live import LiveText, PlainText
    from sglc.commands.running.narration import Narrator

    terminal = sys.stdout.isatty() and not as_json
    sink: Any = None
    if terminal:
        sink = LiveText(sys.stdout, shutil.get_terminal_size().columns, color=invocation.color_stdout)
    elif verbose:
        sink = PlainText(sys.stderr)
    narrator = Narrator(call.program, sink, call.code.name) if sink is not None else None
    with Runner.open(invocation, call) as runner:
        invocation.stage = f"running {call.code.name}"
        try:
            outcome = runner.run(bound, trace=trace, narrator=narrator)
        except OSError as problem:
            if trace is None:
                raise
            reason = problem.strerror or str(problem)
            raise fail(invocation, fault("E0805", f"{trace} cannot be written", reason=reason)) from None
        finally:
            if narrator is not None:
                narrator.finish()
        if outcome.failed is not None and not compiled:
            _own_up(outcome.failed.error)
        if as_json:
            click.echo(_as_json(call.program, call.code, outcome))
        elif outcome.failed is None:
            from sglc.commands.running.execution import value_text

            click.echo(value_text(call.program, call.code, outcome.value, indent=2 if terminal else None))
            if terminal or verbose:
                for line in outcome.remarks:
                    click.echo(line, err=True)
        else:
            show(invocation, [outcome.failed.diagnostic])
            if outcome.partial and narrator is None:
                click.echo("What there was until then:\n" + outcome.partial, err=True)
        if outcome.interrupted:
            raise CommandFailed(INTERRUPTED)
        if outcome.failed is not None:
            raise CommandFailed(1)


def _own_up(error: SglError) -> None:
    """What breaks the machine in a program that this compiler made is our fault, not the program's."""
    if error.fatal and error.name == "Failure" and isinstance(error.__cause__, Exception):
        raise error.__cause__


def _as_json(program: Program, code: Code, outcome: Outcome) -> str:
    """One JSON object. The value is put in as its exact text."""
    import json

    from sglc.commands.running.execution import value_text
    from sglc.diagnostics.render import to_json

    head: dict[str, object] = {"ok": outcome.failed is None, "function": code.name}
    tail: dict[str, object] = {
        "text": outcome.text,
        "statistics": outcome.statistics,
        "checks": outcome.checks,
    }
    if outcome.failed is not None:
        tail["partial"] = outcome.partial
        tail["diagnostics"] = [to_json(outcome.failed.diagnostic)]
        return json.dumps({**head, **tail}, ensure_ascii=False)
    value = value_text(program, code, outcome.value)
    return (
        json.dumps(head, ensure_ascii=False)[:-1]
        + f', "value": {value}, '
        + json.dumps(tail, ensure_ascii=False)[1:]
    )
