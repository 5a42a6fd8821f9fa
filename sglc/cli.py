"""The command `sglc`: a table of commands, each imported only when it is called, and one place for failure.

Exit codes: 0 all is well, 1 the program or its run failed, 2 the command was used wrongly, 70 a fault of sglc
itself, 130 interrupted, 141 broken pipe. This is the only file that reads the environment for the look of the
output.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import click

from sglc import __version__
from sglc.commands.shared.invocation import CommandFailed, Invocation

COMMANDS: dict[str, str] = {
    "check": "Find what is wrong with programs, without running them.",
    "fmt": "Write programs in their one layout.",
    "build": "Compile a program into one file, or print a stage of it.",
    "stubs": "Write what Python sees of programs, for checkers of types.",
    "plan": "Show what a program costs before it runs.",
    "run": "Run a function of a program on a model and print its value.",
    "repl": "Try the language out at a prompt.",
    "debug": "Run a function step by step, back and forth.",
    "serve": "Serve the public functions of programs over HTTP.",
    "proto": "Write a program as protocol buffers, for clients of gRPC.",
    "show": "Show a recorded run as a picture: its text, tokens and holes.",
    "view": "Look at recorded runs in a browser.",
    "prompt": "Show the conversations of a call as a model will see them.",
    "test": "Run the test blocks of programs, without a model.",
    "repair": "Get a legal text from any command that writes text.",
    "explain": "Say what a diagnostic means, or what a hole allows.",
    "diff": "Say whether a program can take the place of an earlier build.",
    "disasm": "Print the bytecode of a program.",
    "models": "List the models at hand, or fetch one.",
    "lsp": "Answer an editor about programs: the language server.",
}
"""Name of each command and what it does; see `command_of`."""

ROOMS = {
    "view": "viewing.view",
    "proto": "serving.proto",
    "lsp": "editing.lsp",
    "repl": "editing.repl",
    "debug": "editing.debug",
    "fmt": "editing.fmt",
}
"""Commands whose modules lie in a room of `sglc.commands`; those of the others are called like them."""

INTERNAL_FAULT = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
VERBOSE = "sglc.verbose"
"""Where a call's context keeps that `--verbose` was given."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a full disk says, and a device that has gone."""

EPILOG = """\b
Start here:
  sglc run examples/character.sgl --arg theme="a lighthouse at the end of the world"
  sglc check my_program.sgl
  sglc explain E0101

\b
Exit codes: 0 ok, 1 the program has errors or its run failed, 2 wrong usage,
70 a fault of sglc itself, 130 interrupted, 141 the reader of the output left."""


class ReaderLeft(Exception):
    """Whoever read our output has left. click would make an exit with 1 of a broken pipe."""


def command_of(name: str) -> click.Command:
    """One of COMMANDS, whose module is imported now."""
    command: click.Command = importlib.import_module(f"sglc.commands.{ROOMS.get(name, name)}").command
    return command


class CommandTable(click.Group):
    """A group that knows its commands' names and first lines without importing them."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The names of the commands, in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """A command, whose module is imported now; None if there is no such command."""
        if name not in COMMANDS:
            return None
        return command_of(name)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; a wrong one is told the nearest name, or `sglc run` for a
        file."""
        if args and args[0] not in COMMANDS:
            from sglc.diagnostics.suggest import nearest

            close = nearest(args[0], COMMANDS)
            if args[0].endswith((".sgl", ".sglb")):
                context.fail(f"`{args[0]}` is a file: did you mean `sglc run {args[0]}`?")
            context.fail(
                f"there is no command `{args[0]}`"
                + (f": did you mean `{close}`?" if close else "; see sglc --help")
            )
        return super().resolve_command(context, args)

    def invoke(self, context: click.Context) -> Any:
        """Run the command. Raises ReaderLeft if nobody reads what it writes."""
        try:
            return super().invoke(context)
        except BrokenPipeError:
            raise ReaderLeft from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _verbose(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    context.meta[VERBOSE] = given


def _version(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    verbose = context.meta.get(VERBOSE, False)
    if not given:
        if verbose:
            context.fail("`--verbose` goes with `--version`")
        return
    click.echo(f"sglc, version {__version__}")
    if verbose:
        from sglc.commands.shared.installation import described

        for name, text in described():
            click.echo(f"{name:<12}{text}")
    context.exit()


@click.group(cls=CommandTable, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour: auto is on a terminal, unless NO_COLOR is set.",
)
@click.option("--traceback", is_flag=True, help="Show where in sglc an internal fault happened.")
@click.option("--version", is_flag=True, callback=_version, expose_value=False, help="Show the version.")
@click.option(
    "--verbose",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_verbose,
    help="With --version: packages, processor, kernels, cache.",
)
@click.pass_context
def sglc(context: click.Context, color: str, traceback: bool) -> None:
    """Check, compile, test and run programs written in SGL, a language for structured generation."""
    invocation: Invocation = context.obj
    invocation.traceback = traceback
    context.color = None if color == "auto" else color == "always"
    invocation.color_stdout = _colored(color, sys.stdout.isatty())
    invocation.color_stderr = _colored(color, sys.stderr.isatty())


def _colored(choice: str, terminal: bool) -> bool:
    if choice != "auto":
        return choice == "always"
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code. Nothing that a user can cause leaves as an exception."""
    with warnings.catch_warnings():
        warnings.showwarning = _warner(warnings.showwarning)
        return _call(arguments)


def _warner(other: Callable[..., None]) -> Callable[..., None]:
    """Prints our own warnings as messages; those of other packages as `other` does."""

    def show(message: Warning | str, category: type[Warning], *rest: object, **more: object) -> None:
        if category.__module__.partition(".")[0] == "sglc":
            click.echo(f"warning: {message}", err=True)
        else:
            other(message, category, *rest, **more)

    return show


def _call(arguments: Sequence[str] | None) -> int:
    invocation = Invocation()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
    try:
        result = sglc.main(
            args=None if arguments is None else list(arguments),
            prog_name="sglc",
            standalone_mode=False,
            obj=invocation,
        )
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except CommandFailed as failure:
        return failure.exit_code
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except (ReaderLeft, BrokenPipeError):
        _drop_output()
        return BROKEN_PIPE
    except Exception as fault:
        if isinstance(fault, OSError) and fault.errno in NO_ROOM and fault.filename is None:
            return _output_full(fault)
        return _internal_fault(fault, invocation)


def _output_full(fault: OSError) -> int:
    """What stdout goes to takes no more. Files of our own are told by those who write them."""
    from sglc.commands.shared.invocation import fault as diagnostic
    from sglc.diagnostics.render import render

    _drop_output()
    reason = fault.strerror or str(fault)
    click.echo(render(diagnostic("E0805", "the output cannot be written", reason=reason)).rstrip(), err=True)
    return 1


def _drop_output() -> None:
    """The rest of the output must not fail again while Python shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _internal_fault(fault: Exception, invocation: Invocation) -> int:
    if invocation.traceback:
        import traceback

        traceback.print_exception(fault)
    text = str(fault).split("\n", 1)[0][:200]
    click.echo(
        f"internal error while {invocation.stage}: {type(fault).__name__}{': ' + text if text else ''}\n"
        f"This is a fault of sglc {__version__}, not of your program. Please report it with the command and "
        "the program" + ("." if invocation.traceback else "; `sglc --traceback …` shows where it happened."),
        err=True,
    )
    return INTERNAL_FAULT
