"""Requests over HTTP: bounds of time and bytes, redirects, connections, certificates."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from backends.servers.raw_server import Answer, Seen, raw_server, reply
from sglc.runtime.backends import http_transport
from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.http_transport import HttpTransport
from sglc.runtime.backends.transport import HttpRequest, Timeouts, shown_address

PATIENT = Timeouts(connect=60, first=60, between=60, whole=60)
KEY = "sk-canary-7h3s3cr3t"


def answers(*parts: bytes, pause: float = 0.0) -> Answer:
    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def asked(answer: Answer, make: Callable[[str], HttpRequest], **options: object) -> tuple[int, bytes]:
    """Status and body of one request to a server."""

    async def job() -> tuple[int, bytes]:
        transport = HttpTransport(**{"verify": False, **options})  # type: ignore[arg-type]
        async with raw_server(answer) as server:
            try:
                async with transport.send(make(server.url)) as got:
                    return got.status, b"".join([piece async for piece in got.pieces()])
            finally:
                await transport.close()

    return asyncio.run(job())


def fault(answer: Answer, make: Callable[[str], HttpRequest], **options: object) -> BackendFault:
    with pytest.raises(BackendFault) as caught:
        asked(answer, make, **options)
    return caught.value


def plain(url: str, timeouts: Timeouts = PATIENT) -> HttpRequest:
    return HttpRequest(url, b"{}", timeouts=timeouts, secrets={"authorization": f"Bearer {KEY}"})


def within(**bounds: float) -> Callable[[str], HttpRequest]:
    return lambda url: plain(url, replace(PATIENT, **bounds))


def test_a_request_has_its_headers_and_body() -> None:
    async def job() -> None:
        transport = HttpTransport(verify=False)
        async with raw_server(answers(reply(b"yes"))) as server:
            headers = {"content-type": "application/json"}
            for _ in range(3):
                request = HttpRequest(server.url + "/a", b'{"x":1}', "POST", headers, {"x-key": KEY}, PATIENT)
                async with transport.send(request) as got:
                    assert [piece async for piece in got.pieces()] == [b"yes"]
            await transport.close()
        first = server.requests[0]
        assert first.line == "POST /a HTTP/1.1"
        assert first.body == b'{"x":1}'
        assert first.headers["x-key"] == KEY
        assert first.headers["content-type"] == "application/json"
        assert first.headers["accept-encoding"] == "identity"
        assert server.connections == 3, "what is left on a connection must be nobody's answer"

    asyncio.run(job())


def test_pieces_come_when_they_are_written() -> None:
    async def job() -> None:
        transport = HttpTransport(verify=False)
        more = asyncio.Event()

        async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\none")
            await more.wait()
            writer.write(b"two")

        async with raw_server(answer) as server, transport.send(plain(server.url)) as got:
            pieces = got.pieces()
            assert await anext(pieces) == b"one"
            more.set()
            assert await anext(pieces) == b"two"
        await transport.close()

    asyncio.run(job())


def test_leaving_the_block_ends_the_request() -> None:
    async def job() -> None:
        transport = HttpTransport(verify=False)
        endless = answers(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 10_000, pause=0.001)
        async with raw_server(endless) as server:
            async with transport.send(plain(server.url)) as got:
                assert await anext(got.pieces())
            for _ in range(200):
                if server.left:
                    break
                await asyncio.sleep(0.01)
            assert server.left == 1
        await transport.close()

    asyncio.run(job())


def test_nothing_within_the_bound_of_the_first_byte() -> None:
    for written in ([], [b"HTTP/1.1 200 OK\r\n\r\n"]):
        silent = fault(answers(*written, b"", pause=9.0), within(first=0.15))
        assert (silent.cause, silent.again) == ("connection", True)
        assert silent.message == "nothing came within 0.15 seconds"


def test_a_pause_between_bytes() -> None:
    late = fault(answers(b"HTTP/1.1 200 OK\r\n\r\nfirst", pause=9.0), within(between=0.1))
    assert late.message == "nothing more came for 0.1 seconds"
    slow = answers(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n", *[b"a"] * 6, pause=0.1)
    assert asked(slow, within(between=0.5)) == (200, b"a" * 6), "all pauses together may be longer than one"


def test_the_whole_has_a_bound() -> None:
    dripping = answers(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 1000, pause=0.02)
    late = fault(dripping, within(whole=0.3))
    assert late.message in ("the answer was not whole within 0.3 seconds", "nothing came within 0.3 seconds")
    assert late.again


def test_the_body_has_a_bound() -> None:
    assert asked(answers(reply(b"x" * 100)), plain, most_bytes=100) == (200, b"x" * 100)
    long = fault(answers(reply(b"x" * 101)), plain, most_bytes=100)
    assert (long.cause, long.again, long.message) == ("protocol", False, "the reply is longer than 100 bytes")


def test_the_bound_is_of_what_is_unpacked() -> None:
    packed = gzip.compress(b"x" * 1_000_000)
    bomb = reply(packed, headers="content-encoding: gzip\r\n")
    assert len(packed) < 5_000
    assert fault(answers(bomb), plain, most_bytes=5_000).cause == "protocol"


@pytest.mark.parametrize(
    "written", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", b"SSH-2.0-x\r\n\r\n"]
)
def test_broken_connections(written: bytes) -> None:
    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(written)
        writer.close()

    broken = fault(answer, plain)
    assert (broken.cause, broken.again) == ("connection", True)


def test_nobody_listens() -> None:
    refused = fault(answers(), lambda url: plain("http://127.0.0.1:9"))
    assert (refused.cause, refused.again, refused.endpoint) == ("connection", True, "http://127.0.0.1:9")


def test_redirects_stay_with_the_host() -> None:
    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if " /new " in seen.line:
            writer.write(reply(b"moved"))
        else:
            writer.write(reply(b"", status="307 Temporary Redirect", headers="location: /new\r\n"))

    assert asked(answer, plain) == (200, b"moved")


def test_redirects_elsewhere_are_refused() -> None:
    there = "https://elsewhere.example/v1?key=abc"
    away = fault(
        answers(reply(b"", status="308 Permanent Redirect", headers=f"location: {there}\r\n")), plain
    )
    assert (away.cause, away.status, away.again) == ("request", 308, False)
    assert away.message == "the server redirects to https://elsewhere.example/v1; give that address"
    circle = fault(answers(reply(b"", status="307 T", headers="location: /\r\n")), plain)
    assert circle.message == "the server redirects in a circle"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other"])
def test_a_post_does_not_become_a_get(status: str) -> None:
    moved = fault(answers(reply(b"", status=status, headers="location: /new\r\n")), plain)
    assert moved.cause == "request"


def test_faults_hold_no_secret() -> None:
    faults = [
        fault(answers(b"\x00" * 40), plain),
        fault(answers(b"", pause=9.0), within(first=0.1)),
        fault(answers(), lambda url: plain("ftp://x")),
        fault(answers(), lambda url: plain("http://[")),
        fault(answers(), lambda url: plain(f"http://user:{KEY}@127.0.0.1:9/a?key={KEY}")),
    ]
    for each in faults:
        assert KEY not in f"{each} {each!r} {each.args} {vars(each)}"


def test_shown_addresses() -> None:
    assert shown_address("https://u:p@host:1/v1?key=s#f") == "https://host:1/v1"
    assert shown_address("http://[::1]:8/x") == "http://[::1]:8/x"


def test_another_loop_has_connections_of_its_own() -> None:
    transport = HttpTransport(verify=False)

    async def job() -> bytes:
        async with raw_server(answers(reply(b"x"))) as server, transport.send(plain(server.url)) as got:
            return b"".join([piece async for piece in got.pieces()])

    assert asyncio.run(job()) == asyncio.run(job()) == b"x"


def test_trusted_certificates_are_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For all transports and loops of the process, and once more where the environment names others."""
    read: list[ssl.SSLContext] = []
    whole = ssl.SSLContext.load_verify_locations

    def counted(self: ssl.SSLContext, *values: object) -> None:
        read.append(self)
        whole(self, *values)  # type: ignore[arg-type]

    async def job() -> None:
        for _ in range(3):
            transport = HttpTransport()
            transport._client()
            await transport.close()

    http_transport._read_once.cache_clear()
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    asyncio.run(job())
    asyncio.run(job())
    assert len(read) == 1
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "other"))
    asyncio.run(job())
    assert len(read) == 2 and read[0] is not read[1]
    http_transport._read_once.cache_clear()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl for a certificate")
def test_certificates_are_verified(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = f"-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {key} -out {certificate}"
    made = f"openssl req -x509 {options} -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(made.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))

    async def job() -> None:
        async with raw_server(answers(reply(b"yes")), context) as server:
            transport = HttpTransport()
            with pytest.raises(BackendFault, match="certificate of the server is not valid") as caught:
                async with transport.send(plain(server.url)):
                    pass
            assert not caught.value.again
            await transport.close()
            transport = HttpTransport(verify=trusting)
            before = server.connections
            for _ in range(3):
                async with transport.send(plain(server.url)) as got:
                    assert got.status == 200
                    assert [piece async for piece in got.pieces()] == [b"yes"]
            assert server.connections == before + 1, "encrypted connections are kept for the next request"
            await transport.close()

    asyncio.run(job())
