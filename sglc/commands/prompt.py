"""`sglc prompt`: the conversations of a call as a model will see them, without running one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    fail,
    level_option,
    outside_option,
    print_json,
    show,
    summary,
)

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.commands.prompting.drawing import Drawing
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.runtime.preview import Preview
    from sglc.types.values import Value


@click.command("prompt")
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
@click.option(
    "--fill", "fills", multiple=True, metavar="HOLE=VALUE", help="What a hole is filled with; in their order."
)
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="Fill holes as a run's trace says."
)
@click.option("--fuzz", is_flag=True, help="Fill all other holes with random legal values.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of --fuzz.")
@click.option("--model", metavar="NAME", help="Show this model's chat template, with its special tokens.")
@click.option("--tokens", is_flag=True, help="With --model: show where tokens end.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@level_option
@outside_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path,
    function: str | None,
    pairs: tuple[str, ...],
    arguments: Path | None,
    fills: tuple[str, ...],
    trace: Path | None,
    fuzz: bool,
    seed: int,
    model: str | None,
    tokens: bool,
    as_json: bool,
) -> None:
    """Show the conversations of a call as a model will see them, without running one.

    Each conversation stands under the path of the calls that lead to it. A hole stands as `?{name: type}`,
    and so does `${…}` that depends on one: --fill, --trace and --fuzz put values in. What follows a hole
    without a value is shown as far as it is certain; where a conversation stops, the command says why. Only
    with --model a tokenizer is read, never weights.

    \b
    Examples:
      sglc prompt examples/character.sgl --arg theme="a lighthouse"
      sglc prompt examples/loop.sgl --fill name="Clear broth" --fill minutes=20
      sglc prompt examples/repair.sgl stall --model smollm2 --tokens
    """
    from sglc.commands.prompting.fills import read_fills, read_trace
    from sglc.commands.running.arguments import bind, choose_function, read_file, read_pairs
    from sglc.commands.shared.programs import load_program

    if tokens and model is None:
        raise click.UsageError("--tokens needs --model: each model has tokens of its own")
    if trace is not None and fills:
        raise click.UsageError("--trace and --fill both fill holes: give one of them")
    program = load_program(invocation, file)
    invocation.stage = "reading the arguments"
    code, problems = choose_function(program, function)
    texts, found = read_pairs(pairs)
    problems += found
    values: dict[str, Value] = {}
    if arguments is not None:
        values, found = read_file(arguments)
        problems += found
    bound: dict[str, Value] = {}
    if code is not None:
        bound, found = bind(program, code, texts, values)
        problems += found
    given, found = read_fills(program, fills) if trace is None else read_trace(program, trace)
    problems += found
    if problems or code is None:
        raise _refused(invocation, problems, as_json)

    import asyncio

    from sglc.commands.building.masks import read_tokenizer
    from sglc.commands.prompting.drawing import Drawing
    from sglc.runtime.preview import preview

    tokenizer = None if model is None else read_tokenizer(invocation, model)
    invocation.stage = f"following {code.name}"
    shown = asyncio.run(
        preview(program, code.name, bound, tokenizer=tokenizer, fills=given, fuzz=fuzz, seed=seed)
    )
    drawing = Drawing(program, tokenizer, tokens, invocation.color_stdout)
    if as_json:
        _print_data(shown, drawing, code.name, model)
    else:
        if shown.conversations:
            click.echo("\n\n".join(drawing.text(recorded) for recorded in shown.conversations))
        _tell(invocation, shown, program)
    if shown.error is not None:
        raise CommandFailed(1)


def _refused(invocation: Invocation, problems: list[Diagnostic], as_json: bool) -> CommandFailed:
    failed = fail(invocation, *problems, as_json=as_json)
    if len(problems) > 1 and not as_json:
        click.echo(summary(problems), err=True)
    return failed


def _tell(invocation: Invocation, shown: Preview, program: Program) -> None:
    """On stderr: values that no hole or call asked for, and the error that ended the call."""
    holes = {hole.name for hole in program.holes}
    for name in dict.fromkeys(shown.unused):
        what = "hole" if name.rpartition("@")[0] in holes or name in holes else "call"
        told = f"no {what} asked for this value of {name.removesuffix('@')}"
        click.echo(f"warning: {told}; {shown.unused.count(name)} left", err=True)
    if shown.error is not None:
        from sglc.runtime.errors import diagnostic_of

        show(invocation, [diagnostic_of(shown.error, program)])
    elif not shown.conversations:
        click.echo("the call writes nothing into a conversation", err=True)


def _print_data(shown: Preview, drawing: Drawing, function: str, model: str | None) -> None:
    from sglc.diagnostics.render import to_json
    from sglc.runtime.errors import diagnostic_of

    error = shown.error
    print_json(
        {
            "ok": error is None,
            "function": function,
            "model": model,
            "conversations": [drawing.data(recorded) for recorded in shown.conversations],
            "unused": list(shown.unused),
            "diagnostics": [] if error is None else [to_json(diagnostic_of(error, drawing.program))],
        }
    )
