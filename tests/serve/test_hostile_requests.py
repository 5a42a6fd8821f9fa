"""Requests and messages that are damaged anywhere: an answer or a closed connection, never a traceback."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from serving.server import Server, serving

PROGRAM = """
pub fn double(x: int in 0..1000, note: str = "") -> int:
    return x * 2

pub fn ask(theme: str) -> "yes" | "no":
    assistant: | ?{answer: "yes" | "no"}
    return answer
"""
COUNT = examples(150)
"""Requests of each test. SGLC_TEST_EXAMPLES=50000 takes some minutes."""
BODY = json.dumps({"arguments": {"x": 21, "note": "n"}, "options": {"seed": 1, "keep": 0.1}}).encode()
REQUESTS = [
    b"POST /v1/functions/double HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    + f"Content-Length: {len(BODY)}\r\n".encode()
    + b"Connection: close\r\n\r\n"
    + BODY,
    b"POST /v1/functions/double HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    + f"{len(BODY):x}\r\n".encode()
    + BODY
    + b"\r\n0\r\n\r\n",
    b"POST /v1/functions/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: "
    b"text/event-stream\r\nConnection: close\r\nContent-Length: 32\r\n\r\n"
    b'{"arguments": {"theme": "x" }  }',
    b"GET /v1/runs/abc HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 4\r\nAccept: text/event-stream\r\n"
    b"Connection: close\r\n\r\n",
    b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    b"\x81\x85\x00\x00\x00\x00hello",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM, {"ask.answer": "yes"}) as made:
        yield made


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A request with some bytes changed, left out, doubled or put in."""
    found = bytearray(draw(st.sampled_from(REQUESTS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(found)))
        length = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(["change", "drop", "double", "put", "cut"]))
        if kind == "change" and at < len(found):
            found[at] = draw(st.integers(0, 255))
        elif kind == "drop":
            del found[at : at + length]
        elif kind == "double":
            found[at:at] = found[at : at + length]
        elif kind == "put":
            found[at:at] = draw(st.sampled_from(WORDS))
        else:
            del found[at:]
    return bytes(found)


WORDS = [
    b"\0",
    b"\r\n",
    b"\r\n\r\n",
    b'"',
    b"[" * 200,
    b"{",
    b"1e999",
    b"-1",
    b"\xff\xfe",
    b"NaN",
    b"\xed\xa0\x80",
]


def _exchange(port: int, sent: bytes) -> bytes:
    """What a server says to bytes, until it closes or has said nothing for a while after we closed."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                found += piece
        except ConnectionError:
            pass
    return found


@settings(max_examples=COUNT, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sent=damaged())
def test_damaged_requests_end_in_an_answer(
    server: Server, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("sglc.serve", "uvicorn.error", "asyncio"):
        logging.getLogger(name).propagate = True
    caplog.clear()
    reply = _exchange(server.port, sent)
    assert "Traceback" not in caplog.text, (sent, caplog.text)
    assert not reply or reply.startswith(b"HTTP/1."), sent
    status = int(reply.split(b" ", 2)[1]) if reply else 400
    assert status < 500 or status in (501, 503, 504), (sent, reply)


MESSAGES = [
    b'{"id": 1, "call": "double", "arguments": {"x": 2}, "options": {"seed": 3}, "events": true}',
    b'{"id": "a", "call": "ask", "arguments": {"theme": "x"}}',
    b'{"id": 1, "cancel": true}',
]


@settings(max_examples=COUNT, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_messages_are_answered(
    server: Server, data: st.DataObject, caplog: pytest.LogCaptureFixture
) -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    message = bytearray(data.draw(st.sampled_from(MESSAGES)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(message)))
        message[at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from(WORDS))
    caplog.clear()
    with connect(f"ws://127.0.0.1:{server.port}/v1/ws") as connection:
        try:
            connection.send(bytes(message).decode("latin-1"))
            connection.send('{"id": "last", "call": "double", "arguments": {"x": 4}}')
            while (told := json.loads(connection.recv(timeout=20)))["id"] != "last":
                assert told["event"] in ("error", "value", "start", "finish")
            assert told["data"].get("value") == 8
        except ConnectionClosed as closed:
            pytest.fail(f"the connection was closed: {closed}")
    assert "Traceback" not in caplog.text, (message, caplog.text)


def test_the_server_still_answers(server: Server) -> None:
    assert server.call("double", x=4).data["value"] == 8
    server.until(lambda: not server.runs.going)
