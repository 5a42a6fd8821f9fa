"""`sglc debug`: a function of a program, stopped where its user wants it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from sglc.commands.debugging.wanted import Wanted
from sglc.commands.running.run_options import Models, answer_options, engine_options, models_option
from sglc.commands.shared.invocation import (
    Invocation,
    level_by_default,
    outside_option,
    python_option,
    require_option,
)
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.engine.core.options import EngineOptions

if TYPE_CHECKING:
    from sglc.targets.projection.core.capabilities import Level

FACES = "--plain, --dap, --dap-port and --dap-socket exclude each other"


@click.command("debug")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.argument("function", required=False)
@click.option(
    "--test",
    metavar="TITLE",
    help="Debug a `test` block in place of a function: its title, or words of it that no other has.",
)
@click.option("--arg", "pairs", multiple=True, metavar="NAME=VALUE", help="An argument, read by its type.")
@click.option(
    "--args",
    "arguments",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Arguments from a JSON object.",
)
@models_option("As of `sglc run`: a name, a folder, scripted:FILE; with NAME= one that the program names.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Most tokens to generate.")
@click.option(
    "--decode",
    type=click.Choice(["local"]),
    help="Draw every hole token by token, so that it can be stepped.",
)
@click.option(
    "--break",
    "breaks",
    multiple=True,
    metavar="PLACE",
    help="Stop at LINE, FILE:LINE, `hole NAME` or `fn NAME`, perhaps with ` if EXPRESSION`.",
)
@click.option(
    "--stop",
    "stops",
    multiple=True,
    metavar="WHAT",
    help="Stop at `ensure`, `expect`, `raised`, `uncaught`, `improbable P` or `pressure Q`.",
)
@click.option("--plain", is_flag=True, help="A prompt in lines of text; needs no extra.")
@click.option("--dap", is_flag=True, help="Speak the debug adapter protocol at stdin and stdout.")
@click.option(
    "--dap-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Speak it at a port of 127.0.0.1 to clients that know the key, which is printed; 0 takes any.",
)
@click.option(
    "--dap-socket",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Speak it at a socket in a new file that you alone may open.",
)
@require_option
@engine_options
@answer_options
@level_by_default(0)
@outside_option
@python_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path | None,
    function: str | None,
    test: str | None,
    pairs: tuple[str, ...],
    arguments: Path | None,
    models: Models,
    seed: int,
    max_tokens: int | None,
    decode: Literal["local"] | None,
    breaks: tuple[str, ...],
    stops: tuple[str, ...],
    plain: bool,
    dap: bool,
    dap_port: int | None,
    dap_socket: Path | None,
    required: Level | None,
    engine: EngineOptions,
    answers: AnswerOptions,
) -> None:
    """Run a function or a test step by step: look at its conversation, masks and values, and change them.

    It stops at lines, holes, tokens, failed conditions, improbable tokens. A hole can be given a value, and
    the run can go back to any hole and on from there. On a terminal it has a face of its own (extra `debug`);
    --plain is a prompt, --dap is for editors. The results of a run that is only looked at are those of
    `sglc run`.

    \b
    Examples:
      sglc debug examples/triage.sgl --args examples/triage.json --plain
      sglc debug crew.sgl crew --arg theme=salvage --break "hole member" --stop "improbable 0.01"
      sglc debug crew.sgl --test "keeps to its time" --plain
      sglc debug --dap
    """
    editors = dap + (dap_port is not None) + (dap_socket is not None)
    if plain + editors > 1:
        raise click.UsageError(FACES)
    if file is None and not editors:
        raise click.UsageError("name a program; only --dap, --dap-port and --dap-socket can do without")
    if test is not None and (function is not None or pairs or arguments is not None):
        raise click.UsageError("--test takes no function and no arguments")
    if test is not None and (decode is not None or max_tokens is not None or required is not None):
        raise click.UsageError("--test takes no --decode, --max-tokens or --require: `sglc test` has none")
    wanted = Wanted(
        *(file or Path(), function, pairs, arguments, models, seed, max_tokens, decode, required, engine),
        answers,
        test=test,
    )
    if editors:
        from sglc.commands.debugging.adapter import Launcher, serve_editors

        serve_editors(Launcher(invocation, wanted, file is not None, breaks, stops), dap_port, dap_socket)
        return
    from sglc.commands.debugging.prompt import at_prompt, at_terminal

    at = at_terminal if not plain and sys.stdin.isatty() and sys.stdout.isatty() else at_prompt
    at(invocation, wanted, breaks, stops)
