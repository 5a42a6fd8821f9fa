"""`sglc repl`: a prompt for the language, on a terminal or for lines from elsewhere."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from sglc.commands.running.run_options import (
    Models,
    answer_options,
    engine_options,
    models_option,
)
from sglc.commands.shared.invocation import (
    CommandFailed,
    Invocation,
    fail,
    outside_option,
    python_option,
)

if TYPE_CHECKING:
    from sglc.commands.editing.console import Console
    from sglc.runtime.backends.recording.options import AnswerOptions
    from sglc.runtime.engine.core.options import EngineOptions


@click.command("repl")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@models_option(
    "Name, folder, GGUF file, scripted:FILE, or one elsewhere, as openai:NAME or vllm:URL; smollm2 "
    "by default. With NAME= the one that is meant by `using NAME`."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of every draw.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="Most tokens to generate for an input."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Most time that an input may take.",
)
@click.option("--plain", is_flag=True, help="Read lines without editing, history and completion.")
@engine_options
@answer_options
@outside_option
@python_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path | None,
    models: Models,
    seed: int,
    max_tokens: int | None,
    timeout: float | None,
    plain: bool,
    engine: EngineOptions,
    answers: AnswerOptions,
) -> None:
    """Try the language out at a prompt: declarations stay, expressions show their values.

    The declarations of FILE are there from the beginning. `let x = …` keeps a value; `user: | …` and
    `| ?{x: int}` go on with one conversation, whose keys and values are computed once. The model is loaded
    when a hole is first asked for. :help lists the commands, Ctrl-C ends a run, Ctrl-D the session.

    Without a terminal the lines of stdin are taken, and the exit code says whether all were.

    \b
    Examples:
      sglc repl
      sglc repl examples/character.sgl --model smollm2
      echo '1 + 1' | sglc repl
    """
    from sglc.commands.editing.console import Console
    from sglc.commands.running.settings import engine_of, project_for, setting
    from sglc.externs.modules import access_for
    from sglc.repl.compiling import Compiler
    from sglc.repl.models import DEFAULT_MODEL, SessionModels
    from sglc.repl.session import ReplSession
    from sglc.runtime.backends.filling.opening import wired
    from sglc.runtime.errors import ArgumentError
    from sglc.types.model_use import MAIN

    place = Path("session.sgl") if file is None else file
    project = project_for(invocation, place)
    named = {**{name: each for name, each in project.models.items() if name != MAIN}, **models.named}
    own = models.own or project.models.get(MAIN, DEFAULT_MODEL)
    known = tuple(project.settings.values())
    try:
        wiring = wired(answers, (own, *named.values()), known)
    except ArgumentError as problem:
        raise fail(invocation, problem.diagnostic()) from None
    lines = sys.stdin or io.StringIO()  # closed by who started us
    terminal = lines.isatty() and sys.stdout.isatty()

    def tell(name: str) -> None:
        if terminal:
            click.echo(f"loading {name} …", err=True)

    session = ReplSession(
        models=SessionModels(own, named, engine_of(project, engine), known, wiring, tell),
        compiler=Compiler(str(place.with_name("session")), invocation.options),
        access=access_for(place, invocation.python),
        seed=setting(project.run, "seed", seed),
        max_tokens=setting(project.run, "max_tokens", max_tokens),
        timeout=setting(project.run, "timeout", timeout),
    )
    columns = shutil.get_terminal_size().columns if terminal else 100
    console = Console(invocation, session, sys.stdout, invocation.color_stdout, columns)
    if file is not None:
        console.load(file)
        if console.refused:
            raise CommandFailed(1)
    if not terminal or plain:
        if not read_lines(console, lines, sys.stdout if terminal else None):
            raise CommandFailed(1)
        return
    try:
        from sglc.commands.editing.prompt_face import prompt_until_end
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] != "prompt_toolkit":
            raise
        hint = "pip install 'sglc[repl]' adds editing, history and completion"
        click.echo(f"lines are read as they are: {hint}", err=True)
        read_lines(console, lines, sys.stdout)
        return
    prompt_until_end(console, lambda: click.echo("sglc: :help lists the commands, Ctrl-D ends"))


def read_lines(console: Console, lines: TextIO, prompts: TextIO | None) -> bool:
    """Take the lines of a file as inputs; those of a block together. Prompts go to `prompts`, if anywhere.

    Whether all inputs were taken.
    """
    from sglc.repl.pieces import goes_on, is_open

    held: list[str] = []

    def give() -> bool:
        text, held[:] = "\n".join(held), []
        return console.feed(text) if text.strip() else True

    while True:
        if prompts is not None:
            prompts.write("...  " if held else "sgl> ")
            prompts.flush()
        try:
            line = lines.readline()
        except KeyboardInterrupt:
            held.clear()
            continue
        except UnicodeDecodeError:
            click.echo("the input is not UTF-8 text", err=True)
            return False
        if not line:
            if prompts is not None:
                prompts.write("\n")
            give()
            return not console.refused
        line = line.rstrip("\r\n")
        if held and not goes_on(line) and not is_open("\n".join([*held, ""])):
            if not give():
                return not console.refused
        if not held and not line.strip():
            continue
        held.append(line)
        if (line.startswith(":") and len(held) == 1) or not is_open("\n".join(held)):
            if not give():
                return not console.refused
