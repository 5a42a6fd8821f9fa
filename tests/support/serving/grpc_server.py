"""A server for tests that is called over gRPC, with the stub that protoc makes of its `.proto` file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import grpc

from serving.protoc import stub
from serving.server import Server, serving
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.grpc.face import GrpcFace, GrpcPlace
from sglc.targets.proto.numbers import Lock
from sglc.targets.proto.text import text_of


@dataclass
class GrpcServer:
    """A server, a channel to it, and the modules of its stub."""

    server: Server
    face: GrpcFace
    channel: grpc.Channel
    pb: ModuleType
    stub: Any


@contextmanager
def serving_grpc(
    folder: Path,
    name: str,
    text: str,
    answers: Any = (),
    *,
    locks: Sequence[Lock] = (),
    tls: tuple[Path, Path] | None = None,
    **options: Any,
) -> Iterator[GrpcServer]:
    """Serve a program over HTTP and gRPC while the block runs.

    Its name is one that no other test has: stubs of one package cannot be loaded twice. `options` are those
    of `serving`.
    """
    faces: list[GrpcFace] = []

    def make(served: Served) -> GrpcFace:
        faces.append(GrpcFace(served, GrpcPlace(port=0, tls=tls), locks))
        return faces[0]

    with serving(text, answers, faces=[make], tls=tls, name=f"{name}.sgl", **options) as server:
        (face,) = faces
        pb, made = stub(text_of(face.files[0]), name, folder)
        address = f"localhost:{face.port}"
        if tls is None:
            channel = grpc.insecure_channel(address)
        else:
            channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(tls[0].read_bytes()))
        with channel:
            yield GrpcServer(
                server, face, channel, pb, getattr(made, f"{face.files[0].service}Stub")(channel)
            )


def problem_of(pb: ModuleType, error: grpc.RpcError) -> Any:
    """The SglProblem in the details of an error, read with the package of googleapis."""
    from grpc_status import rpc_status

    status = rpc_status.from_call(error)
    assert status is not None and status.code == error.code().value[0]
    found = pb.SglProblem()
    assert status.details[0].Unpack(found)
    return found
