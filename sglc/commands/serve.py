"""`sglc serve`: the public functions of programs as a service."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.clustering.options import ClusterOptions, cluster_options
from sglc.commands.running.run_options import (
    DEFAULT_MODEL,
    Models,
    Observation,
    engine_options,
    models_option,
    span_options,
)
from sglc.commands.serving.faces import Beside, beside_options, speak_at_stdin
from sglc.commands.serving.grpc_option import grpc_faces, grpc_option
from sglc.commands.serving.reach import check_reach, forwarded_option
from sglc.commands.serving.room import kept_option, schemas_option
from sglc.commands.shared.invocation import (
    Invocation,
    counted,
    fail,
    fault,
    level_option,
    outside_option,
    python_option,
    require_option,
)
from sglc.runtime.engine.core.options import EngineOptions
from sglc.targets.projection.core.capabilities import Level

if TYPE_CHECKING:
    import socket
    from ipaddress import IPv4Network, IPv6Network

    from sglc.runtime.serve.access import Access
    from sglc.runtime.serve.faces import MakeFace
    from sglc.runtime.serve.functions import FunctionTable
    from sglc.runtime.serve.listening import Listening


def _tls(context: click.Context, parameter: click.Parameter, given: str | None) -> tuple[Path, Path] | None:
    if given is None:
        return None
    certificate, comma, key = given.partition(",")
    if not comma or not certificate or not key:
        raise click.BadParameter("two files with a comma between them: the certificate and its key")
    return Path(certificate), Path(key)


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _new_key(context: click.Context, parameter: click.Parameter, name: str | None) -> None:
    """Make a key and end. The key goes to stdout alone; the table of the file goes to stderr."""
    if name is None:
        return
    if not _NAME.fullmatch(name):
        raise click.BadParameter("a name has letters, digits, _ and -, at most 64 of them")
    from sglc.runtime.serve.access import new_key

    key, digest = new_key()
    click.echo(f'[keys.{name}]\ndigest = "{digest}"\n', err=True)
    click.echo(key)
    context.exit()


@click.command("serve")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@models_option("What functions run on, as of `sglc run`; smollm2 by default.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 for any.")
@click.option("--keys", type=click.Path(path_type=Path), metavar="FILE", help="Who may call.")
@click.option(
    "--new-key",
    metavar="NAME",
    is_eager=True,
    expose_value=False,
    callback=_new_key,
    help="Make a key, print it and what FILE of --keys has of it, and end.",
)
@click.option("--tls", callback=_tls, metavar="CERT,KEY", help="Files of a certificate and its key.")
@click.option("--cors", multiple=True, metavar="ORIGIN", help="A page of browsers that may call, or *.")
@click.option(
    "--name",
    "hosts",
    multiple=True,
    metavar="HOST",
    help="A name of this server, besides localhost, without keys.",
)
@click.option(
    "--running", type=click.IntRange(1), metavar="N", help="Most runs at a time; else what suits the model."
)
@click.option(
    "--waiting", type=click.IntRange(0), default=256, show_default=True, help="Most runs that wait."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Most time of a run, with its waiting.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Time of runs at the end.",
)
@click.option("--reload", is_flag=True, help="Take programs and keys over when their files change.")
@forwarded_option()
@schemas_option()
@kept_option()
@click.option(
    "--access-log/--no-access-log", default=True, show_default=True, help="One line a request, without texts."
)
@beside_options
@grpc_option
@require_option
@span_options
@cluster_options
@engine_options
@level_option
@outside_option
@python_option
@click.pass_obj
def command(
    invocation: Invocation,
    files: tuple[Path, ...],
    models: Models,
    host: str,
    port: int,
    keys: Path | None,
    tls: tuple[Path, Path] | None,
    cors: tuple[str, ...],
    hosts: tuple[str, ...],
    forwarded: tuple[IPv4Network | IPv6Network, ...],
    running: int | None,
    waiting: int,
    timeout: float,
    grace: float,
    reload: bool,
    schemas: int,
    kept: int,
    access_log: bool,
    beside: Beside,
    grpc_place: tuple[str, int] | None,
    required: Level | None,
    observation: Observation,
    engine: EngineOptions,
    cluster: ClusterOptions,
) -> None:
    """Serve public functions of programs over HTTP, and models in OpenAI's protocol.

    Functions are typed calls, with events, and WebSocket; those of one text are also models, `sgl/NAME`.
    Without FILES a model is served alone.

    Without --keys only the machine itself is served. What there is, is at /openapi.json.

    \b
    Examples:
      sglc serve examples/triage.sgl
      sglc serve --model smollm2
      sglc serve crew.sgl mails.sgl --model llama:http://localhost:8080 --port 9000
      sglc serve crew.sgl --grpc :50051
      sglc serve --new-key billing 2>> keys.toml
      sglc serve crew.sgl --host 0.0.0.0 --keys keys.toml --tls cert.pem,key.pem
    """
    try:
        from sglc.runtime.serve import listening as network
    except ImportError as missing:
        found = fault(
            "E0812", f"`sglc serve` needs the package {missing.name}", hint="pip install 'sglc[serve]'"
        )
        raise fail(invocation, found) from None
    from sglc.commands.serving.programs import ServedPrograms
    from sglc.commands.serving.reloading import Reloading
    from sglc.runtime.errors import ArgumentError
    from sglc.runtime.serve.guard import Proxies
    from sglc.runtime.serve.options import ServeLimits

    _log(access_log)
    limits = ServeLimits(
        running=running, waiting=waiting, seconds=timeout, grace=grace, schemas=schemas, kept=kept
    )
    if beside.mcp == "stdio":
        speak_at_stdin(invocation, files, models, engine, required, observation, limits)
        return
    fixed = "--workers" if cluster.sizes is not None else "--grpc" if grpc_place is not None else ""
    if reload and fixed:
        raise click.UsageError(f"--reload cannot be with {fixed}, which keeps the programs of the start")
    place = network.Listening(host, port, tls)
    check_reach(invocation, host, keys)
    access, listener = _opened(invocation, place, keys)
    faces: list[MakeFace] = beside.faces(invocation)
    faces += grpc_faces(invocation, grpc_place, host, keys, tls, files)
    with (
        ServedPrograms.open(invocation, files, models, engine, required, observation, cluster) as programs,
        listener,
    ):
        address = network.address_of(place, listener)
        faces.append(partial(Reloading, invocation, programs, keys, reload, bool(fixed)))
        model = models.own or programs.model or DEFAULT_MODEL
        shown = [f"GET {address}/ui/    the page, for browsers"] if beside.ui else []

        def ready(others: Sequence[str]) -> None:
            _tell(programs.table, model, address, [*shown, *others])

        reached = (limits, access, place, listener, frozenset(hosts), cors, faces, ready, Proxies(forwarded))
        try:
            asyncio.run(programs.serve(*reached))
        except ArgumentError as problem:
            raise fail(invocation, problem.diagnostic()) from None


def _opened(invocation: Invocation, place: Listening, keys: Path | None) -> tuple[Access, socket.socket]:
    """Who may call, and the socket that is listened at. What cannot be had ends the command."""
    from sglc.runtime.errors import ArgumentError
    from sglc.runtime.serve import listening as network
    from sglc.runtime.serve.access import Access, read_keys

    try:
        access = Access(() if keys is None else read_keys(keys))
        network.check_tls(place)
        return access, network.bound(place)
    except ArgumentError as problem:
        raise fail(invocation, problem.diagnostic()) from None
    except OSError as problem:
        what = f"nothing can be served at {place.host}:{place.port}"
        if place.tls is not None:
            what = f"cannot serve at {place.host}:{place.port} with {place.tls[0]}, {place.tls[1]}"
        raise fail(invocation, fault("E0811", what, reason=problem.strerror or str(problem))) from None


def _tell(table: FunctionTable, model: str, address: str, others: Sequence[str]) -> None:
    """Say on stderr what is served where."""
    number = counted(len(table.by_name), "function")
    click.echo(f"serving {f'{number} on ' if table.by_name else ''}{model} at {address}", err=True)
    click.echo(f"  POST {address}/v1/chat/completions    in OpenAI's protocol", err=True)
    for each in table.by_name.values():
        click.echo(f"  POST {address}/v1/functions/{each.name}    {each.signature}", err=True)
    for line in others:
        click.echo(f"  {line}", err=True)


def _log(access: bool) -> None:
    """Log on stderr: faults always, requests where they are asked for."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for name, level in (("sglc.serve", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    logging.getLogger("sglc.serve.access").disabled = not access
