"""The gRPC server beside the HTTP server: where it listens, what it serves, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc
from starlette.routing import BaseRoute

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.functions import FunctionTable
from sglc.runtime.serve.grpc.calls import Service
from sglc.runtime.serve.grpc.descriptors import pool_of
from sglc.runtime.serve.grpc.guard import Guard
from sglc.runtime.serve.grpc.handing import Arriving
from sglc.runtime.serve.grpc.health import SERVICE, Health
from sglc.targets.proto.described import described
from sglc.targets.proto.description import ProtoFile
from sglc.targets.proto.numbers import Lock, LockError, numbered
from sglc.targets.proto.partials import partials_of

MOST_CALLS = 1024
"""Most calls at a time, those that wait and those of health among them. Each has a thread."""
MOST_OF_A_CONNECTION = 256
LAST_WORDS = 5.0
"""Seconds in which calls end when all runs have ended."""
PACKAGE_LOG = "grpc._cython.cygrpc"
UNTOLD = "Invalid encoding"
"""What the package says, with the bytes, of metadata that is no text: it may be a key, and is no fault."""
ALIVE_MILLISECONDS, ANSWER_MILLISECONDS = 60_000, 20_000
"""How long a connection is silent before it is asked whether its client lives, and how long that may take."""


@dataclass(frozen=True, slots=True)
class GrpcPlace:
    """Where a server listens for gRPC. `tls` are the files of its certificate and key."""

    host: str = "127.0.0.1"
    port: int = 50051
    tls: tuple[Path, Path] | None = None


class GrpcFace:
    """Functions of programs as services of gRPC.

    `locks` have the numbers of each program, in the order of the programs; those that are not there number
    by order. Raises ArgumentError for numbers that cannot be kept, and for two programs of one name.
    """

    def __init__(self, served: Served, place: GrpcPlace, locks: Sequence[Lock] = ()) -> None:
        self._served = served
        self._place = place
        self.files = _files(served.table, locks)
        self._pool = pool_of(self.files)
        self.port = 0
        """Where it listens, once it does."""

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """None: it has a port of its own."""
        return ()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Sequence[str]]:
        """Serve while the block runs. Raises ArgumentError where the place cannot be had.

        The server has threads: grpcio's server on a loop ends for good at a path that is no UTF-8 (1.85).
        """
        logging.getLogger(PACKAGE_LOG).addFilter(_is_told)
        threads = ThreadPoolExecutor(MOST_CALLS, "grpc")
        server = grpc.server(
            threads,
            interceptors=(Guard(self._served.access),),
            options=(
                ("grpc.max_receive_message_length", self._served.runs.limits.body),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),
                ("grpc.max_concurrent_streams", MOST_OF_A_CONNECTION),
                ("grpc.keepalive_time_ms", ALIVE_MILLISECONDS),
                ("grpc.keepalive_timeout_ms", ANSWER_MILLISECONDS),
            ),
            maximum_concurrent_rpcs=MOST_CALLS,
        )
        table, arriving = self._served.table, Arriving()
        for session, file in zip(table.sessions, self.files, strict=True):
            own = {name: each for name, each in table.by_name.items() if each.session is session}
            service = Service(self._served.runs, file, self._pool, partials_of(session.program), arriving)
            server.add_generic_rpc_handlers((service.handlers(own),))
        health = Health([file.full_service for file in self.files], arriving)
        server.add_generic_rpc_handlers((health.handlers,))
        self._reflect(server)
        self.port = self._bind(server)
        server.start()
        beside = [
            asyncio.ensure_future(self._when_ending(health)),
            asyncio.ensure_future(arriving.end_late()),
        ]
        try:
            yield self._lines()
        finally:
            for each in beside:
                each.cancel()
            await asyncio.to_thread(server.stop(LAST_WORDS).wait)
            threads.shutdown(wait=False)

    def _bind(self, server: grpc.Server) -> int:
        host = f"[{self._place.host}]" if ":" in self._place.host else self._place.host
        address = f"{host}:{self._place.port}"
        try:
            if self._place.tls is None:
                port = server.add_insecure_port(address)
            else:
                certificate, key = (file.read_bytes() for file in self._place.tls)
                port = server.add_secure_port(address, grpc.ssl_server_credentials(((key, certificate),)))
        except (OSError, RuntimeError) as problem:
            why = getattr(problem, "strerror", None) or "the port is taken or may not be used"
            raise ArgumentError("E0811", f"gRPC cannot be served at {address}", reason=why) from None
        assert isinstance(port, int), "a port is a number"
        return port

    def _reflect(self, server: grpc.Server) -> None:
        for each in (health_pb2, reflection_pb2):
            self._pool.AddSerializedFile(each.DESCRIPTOR.serialized_pb)
        names = [file.full_service for file in self.files]
        names += [SERVICE, reflection.SERVICE_NAME]
        servicer = reflection.ReflectionServicer(names, pool=self._pool)
        reading = _Reading(server, reflection_pb2.ServerReflectionRequest())
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(servicer, reading)

    async def _when_ending(self, health: Health) -> None:
        await self._served.runs.ending.wait()
        health.end()

    def _lines(self) -> list[str]:
        host = f"[{self._place.host}]" if ":" in self._place.host else self._place.host
        services = ", ".join(file.full_service for file in self.files)
        return [f"gRPC {host}:{self.port}    {services or 'health, reflection'}"]


def _is_told(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(UNTOLD)


def _files(table: FunctionTable, locks: Sequence[Lock]) -> list[ProtoFile]:
    """The file of each program. Raises ArgumentError for two with one name, and for numbers that cannot be
    kept."""
    found: list[ProtoFile] = []
    for index, session in enumerate(table.sessions):
        program = session.program
        hint = "`sglc proto` says what can be done"
        try:
            file, _, changed = numbered(described(program), locks[index] if index < len(locks) else Lock())
        except LockError as wrong:
            what = f"the lock of {program.name} cannot be used"
            raise ArgumentError("E0836", what, reason=str(wrong), hint=hint) from None
        if changed:
            raise ArgumentError("E0836", changed[0].message_text, reason=changed[0].reason, hint=hint)
        if any(each.package == file.package for each in found):
            raise ArgumentError(
                "E0828",
                f"two programs are called `{file.package}`",
                reason="over gRPC the name of a program is that of its package",
                hint="give one of the files another name",
            )
        found.append(file)
    return found


class _Reading:
    """Takes handlers for a server, and has them read messages without faults: of bytes that are no message a
    handler gets `unread`."""

    def __init__(self, server: grpc.Server, unread: Message) -> None:
        self._server = server
        self._unread = unread

    def add_generic_rpc_handlers(self, found: Sequence[grpc.GenericRpcHandler]) -> None:
        """Nothing: the handlers by name are the same."""

    def add_registered_method_handlers(self, service: str, found: dict[str, grpc.RpcMethodHandler]) -> None:
        """Handlers of a service by their names."""
        made = {name: self._wrapped(each) for name, each in found.items()}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, made),))

    def _wrapped(self, handler: grpc.RpcMethodHandler) -> grpc.RpcMethodHandler:
        read = handler.request_deserializer

        def reading(data: bytes) -> Message:
            try:
                found: Message = read(data)
            except DecodeError:
                return self._unread
            return found

        return handler._replace(request_deserializer=reading)
