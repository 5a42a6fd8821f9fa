"""`--grpc` of `sglc serve`: functions over gRPC, beside HTTP."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from sglc.commands.serving.proto import unreadable
from sglc.commands.serving.reach import check_reach
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.targets.proto.numbers import LockError, lock_path, read_lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from sglc.runtime.serve.faces import Face, MakeFace, Served

Command = TypeVar("Command", bound="Callable[..., object]")
MOST_PORT = 65535


def _place(context: click.Context, parameter: click.Parameter, given: str | None) -> tuple[str, int] | None:
    if given is None:
        return None
    host, colon, port = given.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > MOST_PORT:
        raise click.BadParameter("an address and a port, as 127.0.0.1:50051, or :50051 for that of --host")
    return host.removeprefix("[").removesuffix("]"), int(port)


def grpc_option(command: Command) -> Command:
    """The option `--grpc`: an address, empty for that of `--host`, and a port."""
    return click.option(
        "--grpc",
        "grpc_place",
        callback=_place,
        metavar="[HOST]:PORT",
        help="Serve functions over gRPC, too; without HOST at that of --host.",
    )(command)


def grpc_faces(
    invocation: Invocation,
    given: tuple[str, int] | None,
    host: str,
    keys: Path | None,
    tls: tuple[Path, Path] | None,
    files: Sequence[Path],
) -> list[MakeFace]:
    """The face that the option asks for, none without it. Raises CommandFailed for what cannot be served."""
    if given is None:
        return []
    if not files:
        raise click.UsageError("--grpc serves the functions of programs: name the FILES")
    # The core of grpcio writes to stderr by itself, bytes of clients too. It reads this when it is loaded.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        from sglc.runtime.serve.grpc.face import GrpcFace, GrpcPlace
    except ImportError as missing:
        found = fault("E0812", f"`--grpc` needs the package {missing.name}", hint="pip install 'sglc[grpc]'")
        raise fail(invocation, found) from None
    place = GrpcPlace(given[0] or host, given[1], tls)
    check_reach(invocation, place.host, keys)
    locks = []
    for file in files:
        try:
            locks.append(read_lock(lock_path(file)))
        except LockError as wrong:
            raise fail(invocation, unreadable(lock_path(file), wrong)) from None

    def make(served: Served) -> Face:
        return GrpcFace(served, place, locks)

    return [make]
