"""Traffic that is recorded and replayed: byte for byte, in order, without secrets, never something else."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.servers.traffic_server import GivenTransport, PlainBackend, Reply
from sglc.runtime.backends.exchange import BackendFault, Message, Piece, Query
from sglc.runtime.backends.recording import traffic
from sglc.runtime.backends.recording.traffic import TrafficError, TrafficFile, read_traffic
from sglc.runtime.backends.recording.transports import RecordingTransport, ReplayingTransport
from sglc.runtime.backends.secrets import HIDDEN, Redactor, secret_values
from sglc.runtime.backends.transport import HttpRequest, Transport
from sglc.runtime.errors import SglError

KEY = "canary-1f9a/+=key"
URL = "https://model.test/v1/answer"


async def read(transport: Transport, request: HttpRequest, most: int | None = None) -> Any:
    """Status, headers and pieces of a reply, of which no more than `most` are read."""
    async with transport.send(request) as reply:
        pieces: list[bytes] = []
        stream = reply.pieces()
        async for piece in stream:
            pieces.append(piece)
            if len(pieces) == most:
                await stream.aclose()  # type: ignore[attr-defined]
                break
        return reply.status, dict(reply.headers), pieces


def recorded(
    path: Path, reply: Callable[[HttpRequest], Reply], *requests: HttpRequest, **more: Any
) -> list[Any]:
    """What came of some requests, while they were recorded: replies, or the faults that were raised."""

    async def run() -> list[Any]:
        ticks = itertools.count()
        given = GivenTransport(reply)
        transport = RecordingTransport(given, TrafficFile(path), now=lambda: float(next(ticks)), **more)
        found = [await tried(read(transport, request)) for request in requests]
        await transport.close()
        assert given.closed
        return found

    return asyncio.run(run())


def replayed(path: Path, *requests: HttpRequest) -> list[Any]:
    async def run() -> list[Any]:
        transport = ReplayingTransport(read_traffic(path))
        return [await tried(read(transport, request)) for request in requests]

    return asyncio.run(run())


async def tried(work: Any) -> Any:
    try:
        return await work
    except BackendFault as fault:
        return (fault.cause, fault.message, fault.status, fault.again, fault.retry_after)


def test_bytes_come_again_as_they_came(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    pieces = ["é".encode()[:1], "é".encode()[1:] + b"data: 1\n", b"\x00\xff", b""]
    requests = [HttpRequest(URL, b'{"n": 1}'), HttpRequest(URL, b"\xff"), HttpRequest(URL, method="GET")]
    first = recorded(path, lambda request: Reply(pieces), *requests)
    assert replayed(path, *requests) == first
    assert first[0] == (200, {"content-type": "text/event-stream"}, pieces)
    assert [at for at, _ in read_traffic(path)[0].pieces] == [1, 2, 3, 4]


def test_equal_requests_are_answered_in_the_order_in_which_they_were_sent(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    numbers = itertools.count()
    same = [HttpRequest(URL, b"{}")] * 3
    first = recorded(path, lambda request: Reply([b"%d" % next(numbers)]), *same)
    assert [pieces for _, _, pieces in first] == [[b"0"], [b"1"], [b"2"]]
    assert replayed(path, *same) == first
    with pytest.raises(SglError, match="was recorded 3 times, and is sent once more") as caught:
        replayed(path, *same, same[0])
    assert caught.value.fatal


def test_requests_side_by_side_are_numbered_as_they_were_sent(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    numbers = itertools.count()

    async def run() -> None:
        transport = RecordingTransport(
            GivenTransport(lambda request: Reply([b"%d" % next(numbers)])), TrafficFile(path)
        )
        async with transport.send(HttpRequest(URL)) as one, transport.send(HttpRequest(URL)) as two:
            assert [piece async for piece in two.pieces()] == [b"1"]
            assert [piece async for piece in one.pieces()] == [b"0"]
        await transport.close()

    asyncio.run(run())
    assert [pieces for _, _, pieces in replayed(path, HttpRequest(URL), HttpRequest(URL))] == [[b"0"], [b"1"]]


def test_faults_come_again_before_and_behind_pieces(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    fault = BackendFault("rate", "slow down", status=429, again=True, retry_after=2.5)
    replies = iter([Reply(status=0, fault=fault), Reply([b"a"], fault=fault), Reply([b"no"], status=500)])
    requests = [HttpRequest(URL, b"%d" % n) for n in range(3)]
    first = recorded(path, lambda request: next(replies), *requests)
    told = ("rate", "slow down", 429, True, 2.5)
    assert first == [told, told, (500, {"content-type": "text/event-stream"}, [b"no"])]
    assert replayed(path, *requests) == first
    assert [piece for _, piece in read_traffic(path)[1].pieces] == [b"a"]


def test_a_reply_that_was_closed_is_recorded_as_far_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"

    async def run() -> None:
        transport = RecordingTransport(GivenTransport(lambda _: Reply([b"a", b"b", b"c"])), TrafficFile(path))
        await read(transport, HttpRequest(URL), 2)
        await transport.close()

    asyncio.run(run())
    (exchange,) = read_traffic(path)
    assert [piece for _, piece in exchange.pieces] == [b"a", b"b"] and not exchange.whole


# -- what was not recorded -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"m": ["a", "x"], "n": 1}, r'exchange 0: body\.m\[1\] was "b" and is "x"$'),
        ({"m": ["a", "b"], "n": 1, "t": 0.5}, r"exchange 0: body\.t was absent and is 0\.5$"),
        ({"m": ["a"], "n": 1.0}, r"body\.m\[1\] was \"b\" and is absent, and 1 more place$"),
        ("text", r'body was .* and is "text"$'),
    ],
)
def test_a_request_that_was_not_recorded_is_told_beside_the_nearest(
    tmp_path: Path, body: Any, said: str
) -> None:
    path = tmp_path / "run.traffic"
    requests = [HttpRequest(URL, json.dumps(each).encode()) for each in ({"m": ["a", "b"], "n": 1}, [1, 2])]
    recorded(path, lambda request: Reply([b"x"]), *requests)
    with pytest.raises(SglError, match=said) as caught:
        replayed(path, HttpRequest(URL, json.dumps(body).encode()))
    assert caught.value.fatal and caught.value.name == "Backend"


def test_another_address_and_other_blanks_are_told(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    recorded(path, lambda request: Reply([b"x"]), HttpRequest(URL, b"{}"))
    with pytest.raises(SglError, match=r"the recording has POST https://model\.test/v1/answer$"):
        replayed(path, HttpRequest("https://other.test/", b"{}"))
    with pytest.raises(SglError, match=r'body was "\{\}" and is "\{ \}"'):
        replayed(path, HttpRequest(URL, b"{ }"))
    path.write_text('{"sglc-traffic": 1}\n')
    with pytest.raises(SglError, match="the recording has none"):
        replayed(path, HttpRequest(URL))


# -- secrets ---------------------------------------------------------------------------------------------


def test_secrets_are_in_no_line_and_a_replay_needs_none(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    with_key = HttpRequest(
        f"https://user:pass@model.test/v1?key={KEY}&n=1",
        json.dumps({"said": f"my key is {KEY}", "other": "environment-canary"}).encode(),
        headers={"x-plain": KEY},
        secrets={"authorization": f"Bearer {KEY}"},
    )
    cut = len(KEY) // 2
    pieces = [f"You sent {KEY[:cut]}".encode(), f"{KEY[cut:]}, so".encode(), json.dumps(KEY).encode()]
    headers = {"content-type": "text/plain", "x-request-id": KEY, "set-cookie": "session"}
    environment = {"SOME_API_KEY": "environment-canary", "HOME": "/home/me"}
    recorded(path, lambda _: Reply(pieces, headers=headers), with_key, secrets=secret_values(environment))
    text = path.read_text()
    for secret in (KEY, KEY[cut:], json.dumps(KEY)[1:-1], "environment-canary", "user:pass", "session"):
        assert secret not in text
    (exchange,) = read_traffic(path)
    assert [piece for _, piece in exchange.pieces] == [
        f"You sent {HIDDEN}".encode(), b", so", f'"{HIDDEN}"'.encode()
    ]  # fmt: skip
    without = HttpRequest("https://model.test/v1?n=1", exchange.body)
    assert replayed(path, without)[0][0] == 200
    assert replayed(path, HttpRequest(with_key.url, exchange.body))[0][0] == 200


def test_short_values_are_no_secrets() -> None:
    assert Redactor(["abcde"]).text("abcdef") == "abcdef"
    assert Redactor(["abcdef"]).text("abcdefg") == f"{HIDDEN}g"


@given(st.lists(st.binary(max_size=9), max_size=6), st.integers(0, 40), st.integers(0, 5))
def test_a_secret_that_is_cut_anywhere_is_taken_out_and_all_else_stays(
    around: list[bytes], at: int, more: int
) -> None:
    secret = b"s3cr3t-canary"
    whole = b"".join(around)
    at = min(at, len(whole))
    whole = whole[:at] + secret + whole[at:] + secret * (more % 2)
    pieces = [whole[start : start + more + 1] for start in range(0, len(whole), more + 1)]
    cleaned = Redactor([secret.decode()]).pieces(pieces)
    assert len(cleaned) == len(pieces)
    assert b"".join(cleaned) == whole.replace(secret, HIDDEN.encode())


# -- the file --------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_file_is_its_users_alone_also_where_it_was_not(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    path.write_text("")
    path.chmod(0o644)
    TrafficFile(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == '{"sglc-traffic": 1}\n'
    TrafficFile(path).close()


@pytest.mark.parametrize("text", ["old", '{"sglc-traffic": 1}\n{}\n'])
def test_a_file_in_which_something_stands_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.traffic"
    path.write_text(text)
    with pytest.raises(FileExistsError):
        TrafficFile(path)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "empty"),
        ("no json", ":1: no JSON"),
        ("[1]", ":1: not recorded by `--record`"),
        ('{"sglc-traffic": 2}', ":1: version 2, and this sglc reads 1; record it again"),
        ('{"sglc-traffic": 1}\n[]', ":2: no exchange"),
        ('{"sglc-traffic": 1}\n' + "[" * 100_000, ":2: no JSON"),
        ('{"sglc-traffic": 1}\n{"number": true}', ":2: no exchange"),
        (
            '{"sglc-traffic": 1}\n{"number": 0, "method": "GET", "url": "u", "body": {"base64": "?"}}',
            ":2: no exchange",
        ),
    ],
)
def test_files_that_are_none_are_refused_with_the_place(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "run.traffic"
    path.write_text(lines)
    with pytest.raises(TrafficError) as caught:
        read_traffic(path)
    assert said in str(caught.value)


def test_bounds_of_a_line_and_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = HttpRequest(URL, b"x" * 100), HttpRequest(URL, b"x" * 1000)
    numbers = itertools.count()

    def record(*requests: HttpRequest) -> Path:
        path = tmp_path / f"{next(numbers)}.traffic"
        recorded(path, lambda _: Reply(), *requests)
        return path

    size = record(small).stat().st_size
    monkeypatch.setattr(traffic, "MOST_LINE", size)
    record(small)
    with pytest.raises(SglError, match="of one exchange") as caught:
        record(large)
    assert caught.value.fatal and caught.value.name == "Backend"
    monkeypatch.setattr(traffic, "MOST_BYTES", size)
    path = record(small)
    assert len(read_traffic(path)) == 1
    with pytest.raises(SglError, match="more than"):
        record(small, small)
    monkeypatch.setattr(traffic, "MOST_BYTES", 10)
    with pytest.raises(TrafficError, match="more than 10 bytes"):
        read_traffic(path)


def test_a_backend_gives_the_same_events_without_its_key(tmp_path: Path) -> None:
    path = tmp_path / "run.traffic"
    query = Query((Message("user", "Who?"),), seed=3)

    async def ask(transport: Transport, key: str) -> list[Any]:
        backend = PlainBackend(transport, key)
        found = [event async for event in backend.stream(query)]
        await backend.close()
        return found

    given = GivenTransport(lambda request: Reply([b"An", b"n"]))
    first = asyncio.run(ask(RecordingTransport(given, TrafficFile(path)), KEY))
    assert first[:2] == [Piece("An"), Piece("n")]
    assert asyncio.run(ask(ReplayingTransport(read_traffic(path)), "")) == first
    assert ReplayingTransport(read_traffic(path)).unused == 1
