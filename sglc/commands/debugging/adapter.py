"""`sglc debug --dap`: runs for editors. What the command line says is the default of what a client says."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.debugging.prompt import armed
from sglc.commands.debugging.running import Running, opened
from sglc.commands.debugging.wanted import Wanted, debuggee
from sglc.commands.running.narration import Narrator
from sglc.commands.running.run_options import Models
from sglc.commands.shared.invocation import CommandFailed, Invocation, fail, fault
from sglc.debug.dap.adapter import Ended, Launched
from sglc.debug.dap.entrance import SHORTEST, Entrance, new_key
from sglc.debug.dap.messages import BadRequest, Request
from sglc.debug.dap.transport import serve_port, serve_socket, serve_stdio
from sglc.diagnostics.render import render
from sglc.runtime.debug.debugger import Debugger, Face
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import parse_json

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.debug.expressions import Expressions
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.types.values import Value

Text = Callable[[str, bool], None]
"""Takes text of the run, and whether the model wrote it."""


@dataclass(frozen=True, slots=True)
class _Sink:
    """Where the narrated text of a run goes."""

    text: Text

    def write(self, text: str, generated: bool) -> None:
        """Hand text on."""
        if text:
            self.text(text, generated)

    def token(self) -> None:
        """Tokens are not counted here."""

    def finish(self) -> None:
        """There is nothing to finish."""


class ReadyRun:
    """A run of a client that is ready to begin; see `Launched`."""

    def __init__(self, running: Running, path: Path, stack: ExitStack, text: Text) -> None:
        self._running = running
        self._stack = stack
        self._text = text
        self.path = path
        self.program: Program = running.debuggee.program
        self.debugger: Debugger = running.debugger
        self.expressions: Expressions = running.expressions

    async def run(self) -> Ended:
        """Run to the end."""
        running = self._running
        heard = Narrator(self.program, _Sink(self._text), running.debuggee.code.name)
        came = await running.whole(heard)
        heard.finish()
        warnings = "\n".join(map(render, came.warnings))
        if not came.failures:
            return Ended(came.told, warnings)
        return Ended(None, "\n".join(map(render, (*came.failures, *came.warnings))))

    def close(self) -> None:
        """Let go of the models."""
        with contextlib.suppress(CommandFailed):
            self._stack.close()


@dataclass(frozen=True, slots=True)
class Launcher:
    """Makes runs of what clients launch. `wanted` is what the command line says."""

    invocation: Invocation
    wanted: Wanted
    fixed: bool
    """Whether the program is that of the command line."""
    breaks: tuple[str, ...]
    stops: tuple[str, ...]

    def __call__(self, request: Request, face: Face, text: Text) -> Launched:
        """See `Launch`. Raises BadRequest."""
        wanted = self._wanted(request)
        told: list[Diagnostic] = []
        invocation = replace(self.invocation, told=told)
        stack = ExitStack()
        try:
            made = debuggee(invocation, wanted, settings=False)
            undebugged = request.flag("noDebug", False)
            entry = request.flag("stopOnEntry", False) and not undebugged
            running = stack.enter_context(opened(invocation, made, face, entry=entry))
            if not undebugged:
                armed(invocation, running.debugger, self.breaks, self.stops)
        except CommandFailed:
            stack.close()
            shown = [render(each) for each in told if each.severity == "error"]
            raise BadRequest("\n".join(shown).strip() or "the program cannot be run") from None
        except click.UsageError as problem:
            stack.close()
            raise BadRequest(problem.message) from None
        return ReadyRun(running, wanted.file, stack, text)

    def _wanted(self, request: Request) -> Wanted:
        """What the command line says, with what the client says in its place."""
        wanted = self.wanted
        program = request.text("program", "")
        if program and not self.fixed:
            wanted = replace(wanted, file=Path(request.text("cwd", "")) / program)
        elif program and Path(program).resolve() != wanted.file.resolve():
            raise BadRequest(f"this adapter debugs {wanted.file}; start one without a file for others")
        elif not self.fixed:
            raise BadRequest("`program` of launch is to be the path of a program")
        wanted = _called(request, wanted)
        own = request.text("model", "") or wanted.models.own
        named = {name: str(each) for name, each in request.part("models").arguments.items()}
        wanted = replace(wanted, models=Models(own, {**wanted.models.named, **named}))
        seed = request.number_of("seed", wanted.seed)
        most = request.number_of("maxTokens", wanted.max_tokens or 0) or None
        decode = request.text("decode", wanted.decode or "")
        if decode not in ("", "local"):
            raise BadRequest("`decode` of launch is `local`")
        return replace(wanted, seed=seed, max_tokens=most, decode="local" if decode else None)


def _called(request: Request, wanted: Wanted) -> Wanted:
    """What is to run: a function with its arguments, or a test."""
    if "test" in request.arguments:
        names = ("function", "args", "maxTokens", "decode")
        others = [name for name in names if request.arguments.get(name) is not None]
        if others:
            raise BadRequest(f"a `test` of launch takes no `{others[0]}`")
        return replace(wanted, test=request.text("test"), function=None, pairs=(), arguments=None)
    if "function" in request.arguments:
        wanted = replace(wanted, function=request.text("function"), test=None)
    if request.arguments.get("args") is not None:
        wanted = replace(wanted, data=_arguments(request))
    return wanted


def _arguments(request: Request) -> Mapping[str, Value]:
    """The arguments of the call by name, as values of JSON with exact decimals."""
    import json

    request.part("args")
    try:
        found = parse_json(json.dumps(request.arguments["args"]))
    except MemberError as wrong:
        raise BadRequest(f"`args` of launch: {wrong.reason}") from None
    assert isinstance(found, dict)
    return found


KEY = "SGLC_DEBUG_KEY"
"""The variable of the environment that names the key of a port; without it there is a new one each time."""


def serve_editors(launcher: Launcher, port: int | None, path: Path | None) -> None:
    """Serve one client at stdin and stdout, or one after the other at a port or at a socket in a file."""
    if port is None and path is None:
        asyncio.run(serve_stdio(launcher))
        return
    try:
        if path is not None:
            asyncio.run(
                serve_socket(path, launcher, Entrance(None), lambda: click.echo(f"listening at {path}"))
            )
        elif port is not None:
            asyncio.run(_at_port(launcher, port))
    except OSError as problem:
        reason = problem.strerror or str(problem)
        what = f"port {port}" if path is None else f"the socket {path}"
        raise fail(launcher.invocation, fault("E0805", f"{what} cannot be had", reason=reason)) from None
    click.echo("no client has come for a while: nobody listens any more")


async def _at_port(launcher: Launcher, port: int) -> None:
    """Serve at a port. A key that the user has not chosen is said, so that clients can be told it."""
    chosen = os.environ.get(KEY, "")
    if chosen and len(chosen) < SHORTEST:
        raise click.UsageError(f"the key in {KEY} has at least {SHORTEST} characters")
    key = chosen or new_key()

    def ready(found: int) -> None:
        click.echo(f"listening on 127.0.0.1:{found}")
        if not chosen:
            click.echo(f"key {key}")

    await serve_port(port, launcher, Entrance(key), ready)
