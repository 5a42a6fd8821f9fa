"""Many calls on one WebSocket: values, events, cancelling, messages that cannot be read, other origins."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from serving.server import Server, serving
from sglc.runtime.serve.access import Access, Key, new_key
from sglc.runtime.serve.admission import Admission
from sglc.runtime.serve.functions import FunctionTable
from sglc.runtime.serve.options import ServeLimits
from sglc.runtime.serve.runs import Runs
from sglc.runtime.serve.websocket import Connection

PROGRAM = """
pub fn double(x: int) -> int:
    return x * 2

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text
"""
ANSWERS = {"long.text": "a" * 3000}


def _talk(server: Server, talk: Callable[[ClientConnection], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        async with connect(f"ws://127.0.0.1:{server.port}/v1/ws", **options) as socket:
            await talk(socket)

    asyncio.run(asyncio.wait_for(whole(), 60))


async def _receive(socket: ClientConnection) -> Any:
    return json.loads(await socket.recv())


def test_many_calls_on_one_connection() -> None:
    async def talk(socket: ClientConnection) -> None:
        for number in range(20):
            await socket.send(json.dumps({"id": number, "call": "double", "arguments": {"x": number}}))
        found = [await _receive(socket) for _ in range(20)]
        assert {each["id"]: each["data"]["value"] for each in found} == {n: 2 * n for n in range(20)}
        assert {each["event"] for each in found} == {"value"}

    with serving(PROGRAM) as server:
        _talk(server, talk)


def test_events_and_cancelling() -> None:
    async def talk(socket: ClientConnection) -> None:
        call = {"id": "a", "call": "long", "arguments": {"theme": "x"}, "events": True}
        await socket.send(json.dumps(call))
        while (await _receive(socket))["event"] != "partial":
            pass
        await socket.send(json.dumps({"id": "a", "cancel": True}))
        last = await _receive(socket)
        while last["event"] not in ("value", "error"):
            last = await _receive(socket)
        assert (last["id"], last["event"], last["data"]["name"]) == ("a", "error", "Cancelled")
        await socket.send(json.dumps({"id": "a", "call": "double", "arguments": {"x": 1}}))
        assert (await _receive(socket))["data"]["value"] == 2

    with serving(PROGRAM, ANSWERS, pace=0.002) as server:
        _talk(server, talk)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("x", "no JSON"),
        ("[]", "object"),
        ('{"call": "double"}', "`id`"),
        ('{"id": true, "call": "double"}', "`id`"),
        ('{"id": 1, "call": "doubel"}', "no function `doubel`"),
        ('{"id": 1, "call": 3}', "`call`"),
        ('{"id": 1, "call": "double", "argument": {}}', "no member `argument`"),
        ('{"id": 1, "call": "double", "arguments": {"x": "y"}}', "outside of its type"),
        ('{"id": 1, "call": "double", "arguments": {"x": 1}, "options": {"sed": 2}}', "no option"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_connection_stays(message: str, words: str) -> None:
    async def talk(socket: ClientConnection) -> None:
        await socket.send(message)
        told = await _receive(socket)
        assert told["event"] == "error" and words in told["data"]["detail"]
        await socket.send('{"id": 2, "call": "double", "arguments": {"x": 4}}')
        assert (await _receive(socket))["data"]["value"] == 8

    with serving(PROGRAM) as server:
        _talk(server, talk)


def test_a_connection_that_goes_leaves_its_calls() -> None:
    async def talk(socket: ClientConnection) -> None:
        for number in range(3):
            await socket.send(json.dumps({"id": number, "call": "long", "arguments": {"theme": "x"}}))
        await socket.send('{"id": 9, "call": "double", "arguments": {"x": 1}}')
        while (await _receive(socket))["id"] != 9:
            pass

    with serving(PROGRAM, ANSWERS, pace=0.002) as server:
        _talk(server, talk)
        server.until(lambda: not server.runs.going)
        assert server.model.passes < 3000


def test_bytes_end_the_connection() -> None:
    async def talk(socket: ClientConnection) -> None:
        await socket.send(b"\0")
        with pytest.raises(Exception, match=r"received|closed"):
            await asyncio.wait_for(socket.recv(), 10)

    with serving(PROGRAM) as server:
        _talk(server, talk)


def test_many_messages_leave_turns_to_others() -> None:
    """Also where all of them are there at once, so that nothing has to be waited for."""

    class Ready:
        """A socket with bad messages at hand."""

        def __init__(self) -> None:
            self.scope: dict[str, object] = {}
            self.left = 100

        async def accept(self, protocol: str | None) -> None:
            pass

        async def receive_text(self) -> str:
            self.left -= 1
            if not self.left:
                raise WebSocketDisconnect
            return "{"

        async def send_text(self, text: str) -> None:
            assert "no JSON" in text

    async def whole() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(other())
        runs = Runs(ServeLimits(), Admission(1, 1), Access())
        await Connection(cast(WebSocket, Ready()), cast(FunctionTable, None), runs).serve()
        beside.cancel()
        return turns

    assert asyncio.run(whole()) >= 99


def test_halves_of_characters_come_back_as_they_came() -> None:
    async def talk(socket: ClientConnection) -> None:
        for message, words in (
            (r'{"id": "\ud800", "call": "double", "arguments": {"x": 1}}', ""),
            (r'{"id": "\ud800", "call": "\udfff"}', "no function"),
            (r'{"\ud800": 1, "\ud800": 2}', "stands twice"),
        ):
            await socket.send(message)
            told = await _receive(socket)
            assert told["id"] == (None if "twice" in words else "\ud800")
            assert words in told["data"].get("detail", "")

    with serving(PROGRAM) as server:
        _talk(server, talk)


def test_who_may_connect() -> None:
    key, digest = new_key()

    async def talk(socket: ClientConnection) -> None:
        await socket.send('{"id": 2, "call": "double", "arguments": {"x": 4}}')
        assert (await _receive(socket))["data"]["value"] == 8

    with serving(PROGRAM, access=Access((Key("a", digest, "a"),))) as server:
        _talk(server, talk, additional_headers={"authorization": f"Bearer {key}"})
        _talk(server, talk, subprotocols=["sglc.v1", f"sglc.key.{key}"])
        for wrong in ({}, {"subprotocols": ["sglc.key.x"]}):
            with pytest.raises(InvalidStatus, match="401"):
                _talk(server, talk, **wrong)
    with serving(PROGRAM) as server:
        _talk(server, talk, origin=f"http://127.0.0.1:{server.port}")
        with pytest.raises(InvalidStatus, match="403"):
            _talk(server, talk, origin="http://evil.example")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"X-Name: \xe9t\xc3\xa9\xff", 101),
        (b"Sec-WebSocket-Extensions: \x80", 101),
        (b"Sec-WebSocket-Protocol: \x80", 101),
        (b"Origin: http://localhost\xff", 403),
        (b"Authorization: Bearer \x80", 101),
        (b"Origin: http://[::1", 403),
        (b"X-Long: " + b"v" * 9000, 400),
        (b"Transfer-Encoding: chunked", 400),
        (b"Sec-WebSocket-Key: \x80", 400),
    ],
)
def test_odd_headers_of_a_handshake(header: bytes, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """websockets 15, 16.1 and 17 decode those that are no ASCII in three ways, of which uvicorn knows two."""
    sent = (
        b"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" + header + b"\r\n\r\n"
    )
    with serving(PROGRAM) as server, socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(sent)
        assert connection.recv(4096).startswith(b"HTTP/1.1 %d " % status)
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
