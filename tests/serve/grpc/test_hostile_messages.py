"""Messages and connections that are damaged anywhere: a status or a closed connection, never a traceback."""

from __future__ import annotations

import logging
import random
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from example_budget import examples

pytest.importorskip("grpc_health")
pytest.importorskip("grpc_reflection")
pytest.importorskip("grpc_tools")
pytest.importorskip("grpc_status")
import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from serving.grpc_server import GrpcServer, serving_grpc

PROGRAM = """
enum Mood: calm, annoyed

record Node:
    name: str max 20 chars
    mood: Mood?
    inner: [Node]
    next: Node? = null
    notes: {str: [json]}

union Mail:
    Question(topic: str, weight: decimal)
    Thanks(pair: (int, float))

pub pure fn same(node: Node, mail: Mail, id: int | str | [bool], big: int in 0..99999999999999999999) -> Node:
    return node

pub fn ask(theme: str) -> "yes" | "no":
    assistant: | ?{answer: "yes" | "no"}
    return answer
"""
COUNT = examples(400)
"""Messages of the first test. SGLC_TEST_EXAMPLES=100000 takes some minutes."""
HEALTH, REFLECTION = (
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
)
ANSWERED = {"OK", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "RESOURCE_EXHAUSTED"}
WORDS = (
    b"\0",
    b"\xff" * 10,
    b"\x80" * 9 + b"\x01",
    b"\n",
    b"\xed\xa0\x80",
    b"1e99",
    b"\x7f",
    b"NaN",
    b"\x0a\x02" * 60,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GrpcServer]:
    with serving_grpc(tmp_path_factory.mktemp("hostile"), "hostile", PROGRAM, {"ask.answer": "yes"}) as made:
        yield made


def messages(pb: Any) -> list[tuple[str, bytes]]:
    """Calls that are well, with their paths."""
    node = pb.Node(name="a", mood=1, inner=[pb.Node(name="b")])
    node.notes["k"].items.extend(['{"a": [1.50, null]}', "1"])
    node.next.value.name = "c"
    mail = pb.Mail(question=pb.Mail.Question(topic="t", weight="1.50"))
    thanks = pb.Mail(thanks=pb.Mail.Thanks(pair={"item1": 1, "item2": 2.5}))
    choice = pb.SameRequest.IdChoice
    options = pb.SglOptions(seed=1, timeout=500.0, priority=2)
    found = [
        pb.SameRequest(
            node=node, mail=mail, id=choice(text="x"), big="12345678901234567890", options=options
        ),
        pb.SameRequest(node=node, mail=thanks, id=choice(bool_list={"items": [True, False]}), big="0"),
    ]
    calls = [("/hostile.HostileService/Same", each.SerializeToString()) for each in found]
    ask = pb.AskRequest(theme="x", options=options).SerializeToString()
    listed = reflection_pb2.ServerReflectionRequest(list_services="").SerializeToString()
    symbol = reflection_pb2.ServerReflectionRequest(file_containing_symbol="hostile.Node").SerializeToString()
    return [
        *calls,
        ("/hostile.HostileService/Ask", ask),
        ("/hostile.HostileService/AskEvents", ask),
        ("/hostile.HostileService/SameEvents", calls[0][1]),
        (HEALTH, health_pb2.HealthCheckRequest(service="hostile.HostileService").SerializeToString()),
        (REFLECTION, listed),
        (REFLECTION, symbol),
    ]


def damaged(dice: random.Random, message: bytes) -> bytes:
    """A message with some bytes changed, left out, doubled or put in."""
    found = bytearray(message)
    for _ in range(dice.randint(1, 6)):
        at, length = dice.randint(0, len(found)), dice.randint(0, 12)
        match dice.randrange(6):
            case 0 if at < len(found):
                found[at] = dice.randrange(256)
            case 1 if at < len(found):
                found[at] ^= 1 << dice.randrange(8)
            case 2:
                del found[at : at + length]
            case 3:
                found[at:at] = found[at : at + length]
            case 4:
                found[at:at] = dice.choice(WORDS)
            case 5:
                del found[at:]
    return bytes(found)


def call(server: GrpcServer, path: str, data: bytes) -> str:
    """The code that a call ends with."""
    channel = server.channel
    try:
        if path == REFLECTION:
            list(channel.stream_stream(path)(iter([data]), timeout=120))
        elif path.endswith("Events"):
            list(channel.unary_stream(path)(data, timeout=120))
        else:
            channel.unary_unary(path)(data, timeout=120)
    except grpc.RpcError as error:
        found: str = error.code().name
        return found
    return "OK"


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    for name in ("sglc.serve", "asyncio", "grpc"):
        logging.getLogger(name).propagate = True
    return caplog


def test_damaged_messages_end_in_a_status(server: GrpcServer, told: pytest.LogCaptureFixture) -> None:
    known = messages(server.pb)
    assert {call(server, *each) for each in known} == {"OK"}
    codes: dict[str, int] = {}
    for seed in range(COUNT):
        dice = random.Random(seed)
        path, message = dice.choice(known)
        code = call(server, path, damaged(dice, message))
        codes[code] = codes.get(code, 0) + 1
        assert code in ANSWERED, (seed, code, told.text)
        assert "Traceback" not in told.text, (seed, told.text)
    print(codes)
    assert codes["INVALID_ARGUMENT"] > COUNT // 20 and codes["OK"] > COUNT // 20
    server.server.until(lambda: not server.server.runs.going)


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame of HTTP/2 (RFC 9113)."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def connection(path: str, message: bytes) -> bytes:
    """What a client sends for one call: preface, settings, headers as literals (RFC 7541), one message."""
    headers = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost"}
    headers |= {"te": "trailers", "content-type": "application/grpc", "authorization": "Bearer x"}
    block = b"".join(
        b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()
        for name, value in headers.items()
    )
    body = b"\0" + len(message).to_bytes(4, "big") + message
    return (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        + frame(4, 0, 0, b"")
        + frame(1, 4, 1, block)
        + frame(0, 1, 1, body)
        + frame(7, 0, 0, b"\0" * 8)
    )


def exchange(port: int, sent: bytes) -> bytes:
    """What a server says to bytes, until it closes, or says nothing more to a client that has ended."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as made:
        try:
            made.sendall(sent)
            made.shutdown(socket.SHUT_WR)
            while piece := made.recv(65536):
                found += piece
        except ConnectionError:
            pass
    return found


def test_damaged_connections_are_closed(server: GrpcServer, told: pytest.LogCaptureFixture) -> None:
    known = [connection(path, message) for path, message in messages(server.pb)]
    port = server.face.port
    assert all(exchange(port, each) for each in known)
    for seed in range(min(COUNT, 4_000)):
        dice = random.Random(seed)
        exchange(port, damaged(dice, dice.choice(known)))
        assert "Traceback" not in told.text, (seed, told.text)
    assert call(server, *messages(server.pb)[0]) == "OK"
    server.server.until(lambda: not server.server.runs.going)


def test_headers_that_are_no_keys(server: GrpcServer, told: pytest.LogCaptureFixture) -> None:
    path, message = messages(server.pb)[0]
    exchange(server.face.port, connection(path, message).replace(b"Bearer x", b"Beare\xff x"))
    assert "Beare" not in told.text
    same = server.channel.unary_unary("/hostile.HostileService/Ask")
    for name, value in (
        ("authorization", "x" * 4000),
        ("traceparent", "0" * 55),
        ("authorization-bin", b"\xff\0"),
    ):
        same(b"", metadata=((name, value),))
    assert "Traceback" not in told.text
