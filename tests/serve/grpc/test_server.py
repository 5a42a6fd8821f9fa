"""The gRPC server: reflection, health, keys, its end, TLS, numbers from a lock."""

from __future__ import annotations

import asyncio
import logging
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from serving.server import serving
from sglc.driver import compile_source
from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import Access, Key, new_key
from sglc.runtime.serve.faces import Served
from sglc.runtime.serve.functions import FunctionTable, ServedFunction
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.targets.proto.numbers import Lock, lock_of

pytest.importorskip("grpc_health")
pytest.importorskip("grpc_reflection")
pytest.importorskip("grpc_tools")
pytest.importorskip("grpc_status")
import grpc
from google.protobuf import descriptor_pool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from serving.grpc_server import GrpcServer, problem_of, serving_grpc
from sglc.runtime.serve.grpc import face, guard
from sglc.runtime.serve.grpc.face import GrpcFace, GrpcPlace
from sglc.runtime.serve.grpc.handing import ROOM, Arriving, Handed

PROGRAM = """
record Point:
    x: int
    y: int

pub pure fn turned(point: Point) -> Point:
    return Point(point.y, point.x)

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text
"""
ANSWERS = {"long.text": "a" * 3000}
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


def code(call: Any) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as found:
        call()
    return found.value.code()


def health(made: GrpcServer, service: str = "") -> int:
    request = health_pb2.HealthCheckRequest(service=service)
    found: int = health_pb2_grpc.HealthStub(made.channel).Check(request).status
    return found


def test_reflection_tells_all_that_a_client_needs(tmp_path: Path) -> None:
    """A client without a file finds the service, makes messages of its descriptors and calls."""
    with serving_grpc(tmp_path, "reflected", PROGRAM) as made:
        found = ProtoReflectionDescriptorDatabase(made.channel)
        services = [
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
            "reflected.ReflectedService",
        ]
        assert list(found.get_services()) == services
        pool = descriptor_pool.DescriptorPool(found)
        for each in services:
            pool.FindServiceByName(each)
        method = pool.FindServiceByName(services[2]).FindMethodByName("Turned")
        from google.protobuf.message_factory import GetMessageClass

        request, reply = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        call = made.channel.unary_unary("/reflected.ReflectedService/Turned", None, reply.FromString)
        value = call(request(point={"x": 1, "y": 2}).SerializeToString()).value
        assert (value.x, value.y) == (2, 1)


def test_health(tmp_path: Path) -> None:
    with serving_grpc(tmp_path, "healthy", PROGRAM) as made:
        assert health(made) == health(made, "healthy.HealthyService") == SERVING
        assert code(lambda: health(made, "nobody")) == grpc.StatusCode.NOT_FOUND
        listed = made.channel.unary_unary("/grpc.health.v1.Health/List")
        assert code(lambda: listed(b"")) == grpc.StatusCode.UNIMPLEMENTED


def test_health_takes_no_place_of_calls(tmp_path: Path) -> None:
    """It is told without a key, so whoever asks for it without end has 128 calls of 1,024."""
    key, digest = new_key()
    with serving_grpc(tmp_path, "watched", PROGRAM, access=Access((Key("a", digest, "a"),))) as made:
        stub = health_pb2_grpc.HealthStub(made.channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest()) for _ in range(128)]
        assert all(next(each).status == SERVING for each in watches)
        assert code(lambda: health(made)) == grpc.StatusCode.RESOURCE_EXHAUSTED
        right = (("authorization", f"Bearer {key}"),)
        assert made.stub.Turned(made.pb.TurnedRequest(point={"x": 1}), metadata=right).value.y == 1
        for each in watches:
            each.cancel()
        made.server.until(lambda: _answers(made))


def _answers(made: GrpcServer) -> bool:
    try:
        return health(made) == SERVING
    except grpc.RpcError:
        return False


def test_messages_that_do_not_come_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(face, "Arriving", lambda: Arriving(0.2))
    with serving_grpc(tmp_path, "silent", PROGRAM) as made:
        for path in ("/silent.SilentService/Turned", "/grpc.health.v1.Health/Watch"):
            never = threading.Event()
            call = made.channel.stream_stream(path)(iter(never.wait, None))
            assert code(lambda call=call: list(call)) == grpc.StatusCode.CANCELLED
            never.set()


def test_keys(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    key, digest = new_key()
    access = Access((Key("bill", digest, "bill", rate=3),), clock=lambda: 0.0)
    caplog.set_level(logging.INFO, "sglc.serve.access")
    with serving_grpc(tmp_path, "keyed", PROGRAM, access=access) as made:
        request = made.pb.TurnedRequest(point={"x": 1})
        assert code(lambda: made.stub.Turned(request)) == grpc.StatusCode.UNAUTHENTICATED
        wrong = (("authorization", "Bearer sgl-wrong"),)
        assert code(lambda: made.stub.Turned(request, metadata=wrong)) == grpc.StatusCode.UNAUTHENTICATED
        assert (
            code(lambda: list(made.stub.LongEvents(made.pb.LongRequest()))) == grpc.StatusCode.UNAUTHENTICATED
        )
        database = ProtoReflectionDescriptorDatabase(made.channel)
        assert code(database.get_services) == grpc.StatusCode.UNAUTHENTICATED
        assert health(made) == SERVING
        right = (("authorization", f"Bearer {key}"), ("traceparent", f"00-{'a' * 32}-{'b' * 16}-01"))
        for _ in range(3):
            assert made.stub.Turned(request, metadata=right).value.y == 1
        with pytest.raises(grpc.RpcError) as spent:
            made.stub.Turned(request, metadata=right)
        assert spent.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert int(dict(spent.value.trailing_metadata())["grpc-retry-pushback-ms"]) > 1000
        assert (
            made.server.ask("GET", "/v1/functions", headers={"authorization": f"Bearer {key}"}).status == 429
        )
    assert "GRPC /keyed.KeyedService/Turned OK" in caplog.text and f"key=bill trace={'a' * 32}" in caplog.text
    assert " from=127.0.0.1 key=bill" in caplog.text
    assert "GRPC /keyed.KeyedService/Turned UNAUTHENTICATED from=127.0.0.1" in caplog.text
    assert key not in caplog.text and "sgl-wrong" not in caplog.text


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.1:4711", "192.0.2.1"),
        ("ipv6:%5B2001:db8::1%5D:4711", "2001:db8::1"),
        ("ipv6:[::1]:4711", "::1"),
        ("unix:/run/sock", ""),
        ("", ""),
    ],
)
def test_where_a_call_comes_from(peer: str, address: str) -> None:
    assert guard.address_of(peer) == address


def test_the_end_of_a_server(tmp_path: Path) -> None:
    """Health says so first, a call that goes on has its time, no other begins."""
    limits, answers = ServeLimits(grace=30), {"long.text": "a" * 1000}
    with serving_grpc(tmp_path, "ending", PROGRAM, answers, pace=0.03, limits=limits) as made:
        watch = health_pb2_grpc.HealthStub(made.channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == SERVING
        going = made.stub.Long.future(made.pb.LongRequest(theme="x"))
        made.server.until(lambda: made.server.model.passes > 2)
        made.server.stop()
        assert next(watch).status == NOT_SERVING == health(made, "ending.EndingService")
        refused = code(lambda: made.stub.Turned(made.pb.TurnedRequest(point={"x": 1})))
        assert refused == grpc.StatusCode.UNAVAILABLE and not going.done()
        made.server.model.pace = 0.0
        assert going.result().value == "a" * 1000


def test_runs_that_are_late_have_what_there_was(tmp_path: Path) -> None:
    limits = ServeLimits(grace=0.1)
    with serving_grpc(tmp_path, "late", PROGRAM, ANSWERS, pace=0.01, limits=limits) as made:
        going = made.stub.Long.future(made.pb.LongRequest(theme="x"))
        made.server.until(lambda: made.server.model.passes > 20)
        made.server.stop()
        with pytest.raises(grpc.RpcError) as ended:
            going.result()
        assert ended.value.code() == grpc.StatusCode.UNAVAILABLE
        found = problem_of(made.pb, ended.value)
        assert found.name == "Cancelled" and set(found.partial) == {"a"}


def test_details_that_are_too_long_for_a_header_are_cut(tmp_path: Path) -> None:
    text = "é" * 5000
    program = f'error Far(text: str)\npub fn far() -> int raises Far:\n    raise Far("{text}")\n'
    with serving_grpc(tmp_path, "cut", program) as made:
        with pytest.raises(grpc.RpcError) as failed:
            made.stub.Far(made.pb.FarRequest())
        found = problem_of(made.pb, failed.value)
        assert (found.name, found.fields) == ("Far", "") and found.detail.startswith("éé")


def test_a_fault_of_ours_says_nothing_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: ServedFunction, value: Any) -> str:
        raise ZeroDivisionError("a secret of the house")

    monkeypatch.setattr(ServedFunction, "value_text", broken)
    with serving_grpc(tmp_path, "faulty", PROGRAM) as made:
        with pytest.raises(grpc.RpcError) as failed:
            made.stub.Turned(made.pb.TurnedRequest(point={"x": 1}))
    assert failed.value.code() == grpc.StatusCode.INTERNAL and "secret" not in failed.value.details()
    assert "a secret of the house" in caplog.text
    assert problem_of(made.pb, failed.value).run in caplog.text


def test_a_client_that_reads_nothing_loses_its_run() -> None:
    """Events that are not taken are given up after a while, however many a thread would still take."""

    async def filled() -> int:
        handed, given = Handed(idle=0.1), 0
        with pytest.raises(TimeoutError):
            while True:
                await handed.put(b"event")
                given += 1
        return given

    assert asyncio.run(filled()) == ROOM


def test_a_stream_that_nobody_reads_ends(tmp_path: Path) -> None:
    """The window of a connection is full after a while: the run ends, and its client is told."""
    limits = ServeLimits(idle=0.2, grace=0)
    with serving_grpc(tmp_path, "stuck", PROGRAM, ANSWERS, pace=0.001, limits=limits) as made:
        narrow = (("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0))
        request = made.pb.LongRequest(theme="x", options={"tokens": True})
        with grpc.insecure_channel(f"localhost:{made.face.port}", narrow) as channel:
            call = channel.unary_stream("/stuck.StuckService/LongEvents")
            events = call(request.SerializeToString())
            made.server.until(lambda: len(made.server.runs.going) == 1)
            made.server.until(lambda: not made.server.runs.going, 30)
            assert made.server.model.passes < 3000
            with pytest.raises(grpc.RpcError) as ended:
                list(events)
        assert ended.value.code() == grpc.StatusCode.UNAVAILABLE and "read nothing" in ended.value.details()


def test_tls(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    with serving_grpc(tmp_path, "secure", PROGRAM, tls=(certificate, key)) as made:
        request = made.pb.TurnedRequest(point={"x": 1})
        assert made.stub.Turned(request).value.y == 1
        with grpc.insecure_channel(f"localhost:{made.face.port}") as plain:
            call = plain.unary_unary("/secure.SecureService/Turned")
            assert code(lambda: call(request.SerializeToString())) == grpc.StatusCode.UNAVAILABLE


def test_numbers_come_from_the_lock(tmp_path: Path) -> None:
    """A client of an earlier version of the program reads its fields, although another stands before them."""
    lock = lock_of(
        '{"v": 1, "messages": {"Point": {"numbers": {"y": "1 int64", "x": "4 int64"}}}, "enums": {}}'
    )
    with serving_grpc(tmp_path, "locked", PROGRAM, locks=[lock]) as made:
        numbers = {each.name: each.number for each in made.pb.Point.DESCRIPTOR.fields}
        assert numbers == {"x": 4, "y": 1}
        sent = b"\n\x04\x08\x07\x20\x05"  # the field 1, a point: 1 is 7, 4 is 5
        call = made.channel.unary_unary("/locked.LockedService/Turned")
        reply = made.pb.TurnedReply.FromString(call(sent))
        assert (reply.value.x, reply.value.y) == (7, 5)


def table_of(*programs: tuple[str, str]) -> FunctionTable:
    found = []
    for name, text in programs:
        program = compile_source(Source(name, text)).program
        assert program is not None
        found.append(Session(program, None))
    return FunctionTable(found)


def test_what_has_no_descriptor() -> None:
    one = "pub pure fn {}(x: int) -> int:\n    return x\n"
    twins = table_of(("a/main.sgl", one.format("f")), ("b/main.sgl", one.format("g")))
    with pytest.raises(ArgumentError, match="two programs are called `main`"):
        GrpcFace(Served(twins, None, Access()), GrpcPlace())  # type: ignore[arg-type]
    lock = lock_of('{"v": 1, "messages": {"FRequest": {"numbers": {"x": "1 string"}}}, "enums": {}}')
    single = table_of(("main.sgl", one.format("f")))
    with pytest.raises(ArgumentError, match="`x` of FRequest cannot keep its number 1") as told:
        GrpcFace(Served(single, None, Access()), GrpcPlace(), [lock])  # type: ignore[arg-type]
    assert told.value.code == "E0836"
    both = table_of(("main.sgl", one.format("f")), ("other.sgl", one.format("g")))
    made = GrpcFace(Served(both, None, Access()), GrpcPlace(), [Lock(), Lock()])  # type: ignore[arg-type]
    assert [each.full_service for each in made.files] == ["main.MainService", "other.OtherService"]


def test_a_port_that_is_taken() -> None:
    faces: list[GrpcFace] = []

    def make(served: Served) -> GrpcFace:
        faces.append(GrpcFace(served, GrpcPlace(port=0)))
        return faces[-1]

    with serving(PROGRAM, faces=[make]):
        port = faces[0].port
        with (
            pytest.raises(AssertionError, match="gRPC cannot be served at"),
            serving(PROGRAM, faces=[lambda served: GrpcFace(served, GrpcPlace(port=port))]),
        ):
            pass
