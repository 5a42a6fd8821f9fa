"""`--ui`, `--mcp` and `--queue`: ways to the functions of a server besides HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import click
from click.core import ParameterSource

from sglc import __version__
from sglc.commands.running.run_options import Models, Observation
from sglc.commands.shared.invocation import Invocation, counted, fail, fault
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.runtime.engine.core.options import EngineOptions
from sglc.targets.projection.core.capabilities import Level

if TYPE_CHECKING:
    from sglc.runtime.serve.faces import MakeFace, Served
    from sglc.runtime.serve.options import ServeLimits
    from sglc.runtime.serve.queue.address import QueueAddress
    from sglc.runtime.serve.queue.broker import Broker

R = TypeVar("R")
OF_HTTP = (
    *("host", "port", "keys", "tls", "cors", "hosts", "access_log", "ui", "queue", "reload"),
    *("workers", "cluster", "grpc_place", "kept", "forwarded"),
)
"""Parameters of `sglc serve` that mean nothing where it speaks with one client at stdin."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Which ways there are beside typed HTTP: `ui` is the page for browsers, `mcp` where the protocol is
    spoken, `queue` a broker."""

    ui: bool = False
    mcp: Literal["", "http", "stdio"] = ""
    queue: str = ""

    def faces(self, invocation: Invocation) -> list[MakeFace]:
        """What is served beside HTTP. A missing extra, or an address that is none, ends the command."""
        found: list[MakeFace] = []
        if self.ui:
            from sglc.runtime.serve.ui.face import UiFace

            found.append(UiFace)
        if self.mcp == "http":
            try:
                from sglc.runtime.serve.mcp.face import McpFace
            except ImportError as missing:
                raise fail(invocation, _missing("mcp", missing)) from None
            _silence()
            found.append(lambda served: McpFace(served, __version__))
        if self.queue:
            found.append(_queue(invocation, self.queue))
        return found


def beside_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add `--ui`, `--mcp` and `--queue`; the command gets `beside`."""

    @click.option(
        "--ui", is_flag=True, help="Give out a page at /ui/: forms for the functions, runs as they go on."
    )
    @click.option(
        "--mcp",
        is_flag=False,
        flag_value="http",
        default="",
        metavar="[stdio]",
        callback=_mcp,
        help="Functions as tools of MCP at /mcp, or for one client at stdin and stdout.",
    )
    @click.option(
        "--queue",
        default="",
        metavar="URL",
        envvar="SGLC_QUEUE",
        help="Take calls from a queue, redis://… or nats://…",
    )
    @wraps(command)
    def with_beside(
        *arguments: object, ui: bool, mcp: Literal["", "http", "stdio"], queue: str, **named: object
    ) -> R:
        return command(*arguments, beside=Beside(ui, mcp, queue), **named)

    return with_beside


def _mcp(context: click.Context, parameter: click.Parameter, given: str) -> str:
    if given not in ("", "http", "stdio"):
        raise click.BadParameter(f"`stdio` or nothing may follow, not {given!r}; give files before it")
    return given


def _missing(extra: str, missing: ImportError) -> Diagnostic:
    return fault(
        "E0812",
        f"`sglc serve --{extra}` needs the package {missing.name}",
        hint=f"pip install 'sglc[{extra}]'",
    )


def _silence() -> None:
    """The package of the protocol logs parts of messages; the server logs what is wrong with them itself."""
    logger = logging.getLogger("mcp")
    logger.handlers, logger.propagate = [logging.NullHandler()], False


def _queue(invocation: Invocation, url: str) -> MakeFace:
    from sglc.runtime.errors import ArgumentError
    from sglc.runtime.serve.queue.address import read_address
    from sglc.runtime.serve.queue.worker import QueueFace

    try:
        address = read_address(url)
    except ArgumentError as problem:
        raise fail(invocation, problem.diagnostic()) from None
    make: Callable[[QueueAddress], Broker]
    try:
        if address.redis:
            from sglc.runtime.serve.queue.redis_streams import RedisQueue as make
        else:
            from sglc.runtime.serve.queue.jetstream import JetStreamQueue as make
    except ImportError as missing:
        raise fail(invocation, _missing("queue", missing)) from None
    return lambda served: QueueFace(served, address, make(address))


def speak_at_stdin(
    invocation: Invocation,
    files: Sequence[Path],
    models: Models,
    engine: EngineOptions,
    required: Level | None,
    observation: Observation,
    limits: ServeLimits,
) -> None:
    """Serve one client of MCP at stdin and stdout until it closes stdin."""
    context = click.get_current_context()
    for name in OF_HTTP:
        if context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
            shown = next(each.opts[0] for each in context.command.params if each.name == name)
            raise click.UsageError(f"{shown} is of HTTP: with `--mcp stdio` there is one client, at stdin")
    try:
        from sglc.runtime.serve.mcp.face import reserved_stdout, speak
    except ImportError as missing:
        raise fail(invocation, _missing("mcp", missing)) from None
    from sglc.commands.serving.programs import ServedPrograms
    from sglc.runtime.errors import ArgumentError

    _silence()
    with (
        reserved_stdout() as stdout,
        ServedPrograms.open(invocation, files, models, engine, required, observation) as programs,
    ):

        async def talk(served: Served) -> None:
            number = counted(len(served.table.by_name), "tool")
            click.echo(f"serving {number} on {programs.model or 'no model'} at stdin", err=True)
            await speak(served, stdout, __version__)

        try:
            asyncio.run(programs.talk(limits, talk))
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic()) from None
