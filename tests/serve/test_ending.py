"""The end of a server, full queues, faults of our own, headers without end."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from serving.server import Server, holding, serving
from sglc.runtime.serve import listening
from sglc.runtime.serve.access import ANYONE, Access, Key, new_key
from sglc.runtime.serve.app import AppOptions
from sglc.runtime.serve.event_stream import EventStream
from sglc.runtime.serve.functions import ServedFunction
from sglc.runtime.serve.options import CallOptions, ServeLimits
from sglc.runtime.serve.runs import Run

PROGRAM = """
pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text

pub fn one() -> int:
    return 1
"""
ANSWERS = {"long.text": "a" * 200}


def test_runs_that_go_on_have_time_to_end() -> None:
    with serving(PROGRAM, ANSWERS, pace=0.002, limits=ServeLimits(grace=30)) as server:
        with ThreadPoolExecutor(2) as pool:
            going = pool.submit(server.call, "long", theme="x")
            server.until(lambda: server.model.passes > 2)
            server.stop()
            server.until(lambda: server.runs.draining)
            assert server.ask("GET", "/readyz").status == 503
            assert server.ask("GET", "/healthz").status == 200
            refused = server.call("one")
            assert (refused.status, refused.data["name"]) == (503, "Ending") and refused.headers[
                "retry-after"
            ]
            assert going.result().data["value"] == "a" * 200


def test_a_server_that_can_answer_no_call_says_so() -> None:
    why = ["the cluster is gone"]
    with serving(PROGRAM, options=AppOptions(unable=lambda: "".join(why))) as server:
        found = server.ask("GET", "/readyz")
        assert (found.status, found.data["name"], found.data["detail"]) == (503, "Unable", why[0])
        why.clear()
        assert server.ask("GET", "/readyz").status == 200


def test_runs_that_are_late_are_cancelled_with_what_there_was() -> None:
    with serving(PROGRAM, {"long.text": "a" * 3000}, pace=0.01, limits=ServeLimits(grace=0.1)) as server:
        with ThreadPoolExecutor(2) as pool:
            going = pool.submit(server.call, "long", theme="x")
            server.until(lambda: server.model.passes > 20)
            server.stop()
            reply = going.result()
    assert (reply.status, reply.data["name"]) == (503, "Cancelled")
    assert set(reply.data["partial"]) == {"a"}


def test_a_full_queue_refuses_at_once() -> None:
    """One call runs and two wait until the others have been refused."""
    goes_on = threading.Event()
    with (
        holding(goes_on),
        serving(PROGRAM, ANSWERS, limits=ServeLimits(waiting=2, grace=0), running=1) as server,
        ThreadPoolExecutor(12) as pool,
    ):
        calls = [pool.submit(server.call, "long", theme="x") for _ in range(12)]
        server.until(lambda: sum(call.done() for call in calls) == 9, 60)
        refused = [call.result() for call in calls if call.done()]
        goes_on.set()
        statuses = sorted(call.result().status for call in calls)
    assert statuses == [200] * 3 + [429] * 9
    assert all(reply.status == 429 and int(reply.headers["retry-after"]) >= 1 for reply in refused)


CALL = b"POST %s HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\ncontent-length: 25\r\n%s\r\n"
"""The head of a call, whose body comes later or never."""


@pytest.fixture(scope="module")
def full() -> Iterator[tuple[Server, str]]:
    """A server with a key whose queue is full, and the key."""
    key, digest = new_key()
    limits = ServeLimits(waiting=0, grace=0)
    options = AppOptions(origins=("http://page.example",))
    access = Access((Key("a", digest, "a"),))
    with serving(PROGRAM, ANSWERS, limits=limits, running=1, access=access, options=options) as server:
        server.runs.admission.running = 1
        yield server, key


@pytest.mark.parametrize(
    ("path", "more", "status", "name"),
    [
        (b"/v1/functions/long", b"authorization: Bearer KEY\r\n", 429, "Busy"),
        (b"/v1/functions/gone", b"authorization: Bearer KEY\r\n", 429, "Busy"),
        (b"/v1/functions/long", b"", 401, "Access"),
        (b"/v1/chat/completions", b"authorization: Bearer KEY\r\n", 429, "queue_full"),
        (b"/v1/completions", b"authorization: Bearer KEY\r\n", 429, "queue_full"),
        (b"/v1/functions/long", b"authorization: Bearer KEY\r\norigin: http://page.example\r\n", 429, "Busy"),
    ],
)
def test_a_full_queue_refuses_before_the_body_is_there(
    full: tuple[Server, str], path: bytes, more: bytes, status: int, name: str
) -> None:
    """Who may not call is told that first; the connection goes on behind the body."""
    server, key = full
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall(CALL % (path, b"localhost", more.replace(b"KEY", key.encode())))
        reply = HTTPResponse(connection)
        reply.begin()
        told = json.loads(reply.read())
        assert (reply.status, told.get("name") or told["error"]["code"]) == (status, name)
        assert (reply.getheader("retry-after") is not None) == (status == 429)
        assert reply.getheader("x-content-type-options") == "nosniff"
        page = "http://page.example" if b"origin" in more else None
        assert reply.getheader("access-control-allow-origin") == page
        connection.sendall(b'{"arguments": {"x": "y"}}' + b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        after = HTTPResponse(connection)
        after.begin()
        assert (after.status, after.read()) == (200, b"ok\n")


def test_many_refusals_on_one_connection(full: tuple[Server, str]) -> None:
    server, key = full
    more = f"authorization: Bearer {key}\r\n".encode()
    one = CALL % (b"/v1/functions/long", b"localhost", more) + b'{"arguments": {"x": "y"}}'
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall(
            one * 3000 + b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        )
        told = b""
        while piece := connection.recv(1 << 16):
            told += piece
    assert told.count(b"HTTP/1.1 429 ") == 3000 and told.endswith(b"ok\n")


def test_a_small_tenant_does_not_wait_behind_a_large_one(caplog: pytest.LogCaptureFixture) -> None:
    """The log of the server has the calls in the order of their ends."""
    keys = {name: new_key() for name in ("large", "small")}
    access = Access(tuple(Key(name, digest, name) for name, (_, digest) in keys.items()))
    goes_on = threading.Event()
    caplog.set_level(logging.INFO, "sglc.serve.access")
    with (
        holding(goes_on),
        serving(PROGRAM, ANSWERS, access=access, running=1) as server,
        ThreadPoolExecutor(9) as pool,
    ):

        def call(name: str) -> int:
            return server.call("long", {"authorization": f"Bearer {keys[name][0]}"}, theme="x").status

        calls = [pool.submit(call, "large") for _ in range(8)]
        server.until(lambda: server.runs.admission.waiting == 7, 60)
        calls.append(pool.submit(call, "small"))
        server.until(lambda: server.runs.admission.waiting == 8, 60)
        goes_on.set()
        assert [each.result() for each in calls] == [200] * 9
    ended = [each.getMessage() for each in caplog.records if each.name == "sglc.serve.access"]
    assert len(ended) == 9 and "key=small" in "".join(ended[:3])


def test_a_fault_of_ours_says_nothing_of_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: ServedFunction, value: Any) -> str:
        raise ZeroDivisionError("a secret of the house")

    monkeypatch.setattr(ServedFunction, "value_text", broken)
    with serving(PROGRAM) as server:
        reply = server.call("one")
    assert reply.status == 500 and reply.data["name"] == "Internal"
    assert b"secret" not in reply.body
    assert "a secret of the house" in caplog.text and reply.data["id"] in caplog.text


def test_headers_without_end_are_refused() -> None:
    with serving(PROGRAM) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.settimeout(10)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(100):
                connection.sendall(b"x-filler: " + b"a" * 8000 + b"\r\n")
                time.sleep(0.001)
        assert server.ask("GET", "/healthz").status == 200


def test_headers_up_to_the_limit_are_read() -> None:
    with serving(PROGRAM) as server:
        filler = {f"x-{n}": "a" * 6000 for n in range(9)}
        assert server.ask("GET", "/healthz", headers=filler).status == 200


def test_headers_that_do_not_come_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "HEADER_SECONDS", 0.2)
    with serving(PROGRAM) as server:
        for beginning in (b"", b"GET /healthz HTTP/1.1\r\nhost: lo"):
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                connection.settimeout(10)
                connection.sendall(beginning)
                assert connection.recv(100) == b""


def test_what_comes_between_requests_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blank lines, or a body that nobody reads: the connection is closed at last, a WebSocket's is not."""
    monkeypatch.setattr(listening, "LEFTOVER_SECONDS", 0.3)
    ask = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"
    with serving(PROGRAM) as server:
        with connect(f"ws://127.0.0.1:{server.port}/v1/ws") as socket_:
            for beginning, after in ((ask + b"\r\n", b"\r\n"), (ask + b"content-length: 9\r\n\r\n", b"1")):
                with socket.create_connection(("127.0.0.1", server.port)) as connection:
                    connection.settimeout(20)
                    connection.sendall(beginning)
                    told = b""
                    while not told.endswith(b"ok\n"):
                        told += connection.recv(4096)
                    connection.sendall(after)
                    assert connection.recv(100) == b""
            socket_.send('{"id": 1, "call": "one"}')
            assert json.loads(socket_.recv(10))["data"]["value"] == 1


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of WebSockets count, too."""
    monkeypatch.setattr(listening, "MOST_CONNECTIONS", 2)
    with serving(PROGRAM) as server, connect(f"ws://127.0.0.1:{server.port}/v1/ws"):
        with socket.create_connection(("127.0.0.1", server.port)):
            refused = server.ask("GET", "/healthz")
            assert (refused.status, refused.data["name"]) == (429, "Busy")
            assert refused.headers["retry-after"] == "1"
        server.until(lambda: server.ask("GET", "/healthz").status == 200)


def test_a_client_that_reads_nothing_loses_its_run() -> None:
    """A write that is not taken is given up, and the run ends at its next token."""

    async def never(message: object = None) -> Any:
        await asyncio.Event().wait()

    async def stuck(message: Any) -> None:
        if message["type"] == "http.response.body":
            await never()

    async def read_nothing(server: Server) -> Run:
        function = server.table.get("long")
        run = server.runs.start(function, {"theme": "x"}, CallOptions(), ANYONE, told=True)
        await EventStream(server.runs, run)({}, never, stuck)
        assert run.task is not None
        await run.task
        return run

    limits = ServeLimits(idle=0.2, grace=0)
    with serving(PROGRAM, {"long.text": "a" * 3000}, pace=0.001, limits=limits) as server:
        run = asyncio.run_coroutine_threadsafe(read_nothing(server), server.loop).result(30)
        assert run.answer is not None and run.answer.problem is not None
        assert "read nothing" in run.answer.problem.detail and server.model.passes < 3000
        assert server.call("one").data["value"] == 1


def test_https(tmp_path: Path) -> None:
    """A certificate of the test's own; a client that trusts it alone is answered."""
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
    listening.check_tls(listening.Listening(tls=(certificate, key)))
    with serving(PROGRAM, tls=(certificate, key)) as server:
        trusting = ssl.create_default_context(cafile=str(certificate))
        connection = HTTPSConnection("localhost", server.port, timeout=20, context=trusting)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
        connection.close()


@pytest.mark.slow
def test_a_burst_fills_the_queue_and_no_more() -> None:
    """All are there at once: as many as there is room for are let in, and the others wait for nothing."""
    body = b'{"arguments": {"theme": "x"}}'
    one = (
        b"POST /v1/functions/long HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
    ) + body
    limits = ServeLimits(waiting=5, grace=0)
    with serving(PROGRAM, ANSWERS, limits=limits, running=2, pace=0.002) as server:
        for _ in range(2):
            pause = threading.Event()
            server.loop.call_soon_threadsafe(
                pause.wait, 20
            )  # so that the server reads all of them in one turn
            made = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(40)]
            for each in made:
                each.sendall(one)
            pause.set()
            statuses = []
            for each in made:
                with each:
                    reply = HTTPResponse(each)
                    reply.begin()
                    reply.read()
                    statuses.append(reply.status)
            assert (statuses.count(200), statuses.count(429)) == (7, 33)
