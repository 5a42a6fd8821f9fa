"""What one call of the command line carries: how to print, what it is doing now, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import click

from sglc.commands.shared.startup import Startup
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.options import LEVELS, CompileOptions


@dataclass(slots=True)
class Invocation:
    """One call. `stage` says what is being done, for the message about a fault of our own.

    `options` says how programs are compiled; options of the command line change it.
    """

    color_stdout: bool = False
    color_stderr: bool = False
    traceback: bool = False
    options: CompileOptions = field(default_factory=CompileOptions)
    stage: str = "reading the command line"
    startup: Startup = field(default_factory=Startup)
    python: tuple[str, ...] = ()
    """Modules of Python that the program may import."""
    told: list[Diagnostic] | None = None
    """Where diagnostics are kept that are not to be drawn, because somebody else shows them."""


def _allow(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    invocation = context.find_object(Invocation)
    if invocation is not None:
        invocation.options = replace(invocation.options, allow_outside=given)


outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    expose_value=False,
    callback=_allow,
    help="Let the program read files outside of its project.",
)
"""Of every command that compiles programs."""


def _allow_python(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> None:
    invocation = context.find_object(Invocation)
    if invocation is not None:
        invocation.python = given


python_option = click.option(
    "--allow-py",
    multiple=True,
    metavar="MODULE",
    expose_value=False,
    callback=_allow_python,
    help="Let the program import this module of Python. A source may import those of its own project.",
)
"""Of every command that runs programs."""


def _level(context: click.Context, parameter: click.Parameter, given: int) -> None:
    invocation = context.find_object(Invocation)
    if invocation is not None:
        invocation.options = replace(invocation.options, level=given)


def level_by_default(level: int) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """The option `-O`, with the level where it is not given."""
    return click.option(
        "-O",
        "level",
        type=click.IntRange(LEVELS[0], LEVELS[-1]),
        default=level,
        show_default=True,
        expose_value=False,
        callback=_level,
        help="Which passes run: -O0 none, -O1 those that tidy, -O2 all.",
    )


level_option = level_by_default(CompileOptions().level)
"""Of the commands that make code."""

require_option = click.option(
    "--require",
    "required",
    type=click.Choice(("exact", "value", "wider", "asked")),
    help="With a model elsewhere: fail where less is guaranteed of a hole.",
)
"""Of the commands that tell levels."""


class CommandFailed(Exception):
    """The command has failed and has already said why."""

    def __init__(self, exit_code: int = 1) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def print_json(value: object) -> None:
    """Print plain data on stdout as indented JSON; letters beyond ASCII stay as they are."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def counted(number: int, noun: str) -> str:
    """`1 error`, `2 errors`: a number with its noun, whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty where there is neither."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    parts = [
        counted(number, noun)
        for noun in ("error", "warning")
        if (number := sum(severity == noun for severity in severities))
    ]
    return ", ".join(parts)


def show(invocation: Invocation, diagnostics: Iterable[Diagnostic]) -> None:
    """Draw diagnostics on stderr, one below the other."""
    if invocation.told is not None:
        invocation.told += diagnostics
        return
    for diagnostic in diagnostics:
        from sglc.diagnostics.render import render

        click.echo(render(diagnostic, color=invocation.color_stderr).rstrip("\n") + "\n", err=True)


def fail(invocation: Invocation, *diagnostics: Diagnostic, as_json: bool = False) -> CommandFailed:
    """Show why the command fails; raise what it returns. With `as_json` the findings go to stdout as JSON."""
    if as_json:
        from sglc.diagnostics.render import to_json

        print_json({"ok": False, "diagnostics": [to_json(diagnostic) for diagnostic in diagnostics]})
    else:
        show(invocation, diagnostics)
    return CommandFailed(1)


def fault(code: str, message: str, *, reason: str = "", hint: str = "") -> Diagnostic:
    """A diagnostic about the command itself, without a place in a program."""
    return Diagnostic(code, message, None, reason=reason, hint=hint)
