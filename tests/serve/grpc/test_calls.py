"""A stub that protoc makes of the `.proto` file, against a real server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from serving.server import serving
from sglc.runtime.serve.access import Access, Key, new_key
from sglc.runtime.serve.options import ServeLimits
from sglc.targets.proto.text import text_of

pytest.importorskip("grpc_health")
pytest.importorskip("grpc_reflection")
pytest.importorskip("grpc_tools")
pytest.importorskip("grpc_status")
import grpc

from serving.grpc_server import GrpcServer, problem_of, serving_grpc

FOLDER = os.environ.get("SGLC_GRPC_JS", "")
CLIENT = Path(__file__).parents[2] / "support" / "judges" / "grpc_js_client.mjs"
PROGRAM = """
enum Mood: calm, annoyed

record Member:
    name: str max 20 chars
    age: int in 0..99
    mood: Mood?
    tags: [str max 9 chars; ..3] = ["new"]

union Mail:
    Question(topic: str)
    Thanks

error TooMany(found: int, why: str)

pub fn member(theme: str, old: bool = false) -> Member:
    user: | ${theme} ${old}
    assistant: | ?{member: Member}
    return member

pub pure fn double(x: decimal) -> decimal:
    return x * 2

pub pure fn whole(x: int) -> int:
    return x * x

pub pure fn swap(mail: Mail, both: (int, str?)) -> {str: [Mail]}:
    return {"mail": [mail, Thanks()], "none": []}

pub fn refuses(n: int) -> int raises TooMany:
    raise TooMany(n, "too many")

pub fn broken(n: int) -> int:
    let xs = [1]
    return xs[n]

pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text

pub fn nothing(x: int):
    check x > 0
"""
ANSWERS: dict[str, Any] = {
    "member.member": {"name": "Ada", "age": 36, "mood": "calm", "tags": ["a", "b"]},
    "long.text": "a" * 3000,
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GrpcServer]:
    limits = ServeLimits(grace=0.0, body=64 * 1024)
    folder = tmp_path_factory.mktemp("calls")
    with serving_grpc(folder, "calls", PROGRAM, ANSWERS, pace=0.001, limits=limits) as made:
        yield made


def failed(call: Any) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as found:
        call()
    return found.value


def test_a_call_gives_value_and_usage(calls: GrpcServer) -> None:
    reply = calls.stub.Member(calls.pb.MemberRequest(theme="the sea"))
    value = reply.value
    assert (value.name, value.age, value.mood, list(value.tags.items)) == (
        "Ada",
        36,
        calls.pb.MOOD_CALM,
        ["a", "b"],
    )
    assert reply.usage.output_tokens > 10 and reply.id and not reply.checks


def test_decimals_keep_their_digits_and_integers_have_bounds(calls: GrpcServer) -> None:
    reply = calls.stub.Double(calls.pb.DoubleRequest(x="0.10000000000000000000000001"))
    assert Decimal(reply.value) == Decimal("0.20000000000000000000000002")
    assert calls.stub.Whole(calls.pb.WholeRequest(x=-5)).value == 25
    error = failed(lambda: calls.stub.Whole(calls.pb.WholeRequest(x=2**40)))
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION and "does not fit an int64" in error.details()


def test_unions_tuples_and_maps(calls: GrpcServer) -> None:
    pb = calls.pb
    request = pb.SwapRequest(
        mail=pb.Mail(question=pb.Mail.Question(topic="t")), both=pb.SwapRequest.BothTuple(item1=1)
    )
    value = calls.stub.Swap(request).value
    kinds = [each.WhichOneof("variant") for each in value["mail"].items]
    assert kinds == ["question", "thanks"] and not value["none"].items


def test_checks_and_a_function_without_value(calls: GrpcServer) -> None:
    reply = calls.stub.Nothing(calls.pb.NothingRequest(x=-1))
    assert [each.passed for each in reply.checks] == [False]
    assert "value" not in {field.name for field in reply.DESCRIPTOR.fields}


def test_events_end_with_the_value(calls: GrpcServer) -> None:
    events = list(calls.stub.MemberEvents(calls.pb.MemberRequest(theme="x")))
    numbers = [each.number for each in events]
    assert numbers == sorted(set(numbers))
    kinds = [each.WhichOneof("event") for each in events]
    assert kinds[-1] == "value" and kinds.count("value") == 1 and "partial" in kinds
    assert events[-1].value.value.name == "Ada"
    partial = [json.loads(each.partial.value) for each in events if each.WhichOneof("event") == "partial"]
    assert partial[-1] == ANSWERS["member.member"]
    so_far = [each.so_far for each in events if each.HasField("so_far")]
    assert len(so_far) == len(partial) and so_far[-1].tags.items == ["a", "b"]
    for typed, plain in zip(so_far, partial, strict=True):
        there = {name for name in ("name", "age", "mood", "tags") if typed.HasField(name)}
        assert there == set(plain) and typed.name == plain.get("name", "")
    assert {"hole_start", "hole_end"} <= {each.told.name for each in events}


def test_options(calls: GrpcServer) -> None:
    pb = calls.pb
    options = pb.SglOptions(seed=3, max_tokens=5, priority=1, tokens=True)
    reply = calls.stub.Long(pb.LongRequest(theme="x", options=options))
    assert reply.usage.output_tokens <= 5 and 0 < len(reply.value) < 3000
    error = failed(lambda: calls.stub.Long(pb.LongRequest(theme="x", options=pb.SglOptions(seed=-1))))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and "seed" in error.details()
    error = failed(lambda: calls.stub.Long(pb.LongRequest(options=pb.SglOptions(timeout=0.02))))
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED and problem_of(pb, error).name == "Timeout"
    error = failed(lambda: calls.stub.Long(pb.LongRequest(options=pb.SglOptions(timeout=float("nan")))))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_errors_have_a_status_and_details(calls: GrpcServer) -> None:
    pb = calls.pb
    error = failed(lambda: calls.stub.Refuses(pb.RefusesRequest(n=3)))
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
    found = problem_of(pb, error)
    assert (found.status, found.name, json.loads(found.fields)) == (
        422,
        "TooMany",
        {"found": 3, "why": "too many"},
    )
    assert found.run and not found.HasField("retry_after")
    error = failed(lambda: calls.stub.Broken(pb.BrokenRequest(n=3)))
    assert problem_of(pb, error).name == "Failure"
    error = failed(lambda: list(calls.stub.RefusesEvents(pb.RefusesRequest(n=3))))
    assert problem_of(pb, error).name == "TooMany"


def test_wrong_arguments(calls: GrpcServer) -> None:
    pb = calls.pb
    error = failed(lambda: calls.stub.Double(pb.DoubleRequest(x="many")))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert (
        error.details() == 'Arguments: the request is not what is wanted: x: expected a number, found "many"'
    )
    error = failed(lambda: calls.stub.Swap(pb.SwapRequest(both={"item1": 1})))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and "mail" in error.details()
    error = failed(lambda: calls.stub.Long(pb.LongRequest(theme="x" * 100_000)))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    small = {"compression": grpc.Compression.Gzip}
    error = failed(lambda: calls.stub.Long(pb.LongRequest(theme="x" * 1_000_000), **small))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    nothing = calls.channel.stream_stream("/calls.CallsService/Double")
    error = failed(lambda: list(nothing(iter(()))))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and "has no message" in error.details()
    unknown = calls.channel.unary_unary("/calls.CallsService/Nobody")
    assert failed(lambda: unknown(b"")).code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_call_that_is_cancelled_frees_its_run(calls: GrpcServer) -> None:
    server = calls.server
    call = calls.stub.Long.future(calls.pb.LongRequest(theme="x"))
    server.until(lambda: len(server.runs.going) == 1)
    call.cancel()
    server.until(lambda: not server.runs.going and not server.runs.by_id)
    events = calls.stub.LongEvents(calls.pb.LongRequest(theme="x"))
    next(events)
    events.cancel()
    server.until(lambda: not server.runs.going and not server.runs.by_id)


def test_a_deadline_is_the_time_of_the_run(calls: GrpcServer) -> None:
    error = failed(lambda: calls.stub.Long(calls.pb.LongRequest(theme="x"), timeout=0.2))
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    calls.server.until(lambda: not calls.server.runs.going)


def test_values_are_those_over_http(calls: GrpcServer) -> None:
    with serving(PROGRAM, ANSWERS) as server:
        assert server.call("member", theme="the sea").data["value"] == ANSWERS["member.member"]
    by_http = calls.server.call("member", theme="the sea").data["value"]
    value = calls.stub.Member(calls.pb.MemberRequest(theme="the sea")).value
    mood = calls.pb.Mood.Name(value.mood).removeprefix("MOOD_").lower()
    assert by_http == {"name": value.name, "age": value.age, "mood": mood, "tags": list(value.tags.items)}


def test_many_calls_at_a_time(calls: GrpcServer) -> None:
    futures = [calls.stub.Double.future(calls.pb.DoubleRequest(x=str(n))) for n in range(200)]
    assert [Decimal(each.result().value) for each in futures] == [Decimal(2 * n) for n in range(200)]


def test_a_full_queue_says_when(tmp_path: Path) -> None:
    limits = ServeLimits(grace=0.0, waiting=0)
    with serving_grpc(tmp_path, "full_queue", PROGRAM, ANSWERS, pace=0.01, limits=limits, running=1) as made:
        going = made.stub.Long.future(made.pb.LongRequest(theme="x"))
        made.server.until(lambda: len(made.server.runs.going) == 1)
        error = failed(lambda: made.stub.Long(made.pb.LongRequest(theme="y")))
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert problem_of(made.pb, error).retry_after >= 1
        assert int(dict(error.trailing_metadata())["grpc-retry-pushback-ms"]) >= 1000
        going.cancel()


@pytest.mark.skipif(not FOLDER or shutil.which("node") is None, reason="no grpc-js (SGLC_GRPC_JS)")
def test_grpc_js(tmp_path: Path) -> None:
    """A client of another language, with what `sglc proto` prints."""
    key, digest = new_key()
    access = Access((Key("bill", digest, "bill"),))
    calls = [
        {"method": "Member", "request": {"theme": "the sea", "options": {"seed": 3}}},
        {"method": "MemberEvents", "request": {"theme": "the sea"}},
        {"method": "Double", "request": {"x": "0.10000000000000000000000001"}},
        {"method": "Swap", "request": {"mail": {"question": {"topic": "t"}}, "both": {"item1": 2}}},
        {"method": "Whole", "request": {"x": "3037000499"}},
        {"method": "Refuses", "request": {"n": 3}},
        {"method": "Double", "request": {"x": "many"}},
    ]
    with serving_grpc(tmp_path, "grpc_js", PROGRAM, ANSWERS, access=access) as made:
        (file,) = made.face.files
        proto = tmp_path / "told.proto"
        proto.write_text(text_of(file))
        done = subprocess.run(
            ["node", str(CLIENT), FOLDER, str(proto), f"localhost:{made.face.port}", key],
            input=json.dumps({"service": file.full_service, "calls": calls}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    member, events, double, swap, whole, refused, wrong = json.loads(done.stdout)
    value = member["value"]
    assert (value["name"], value["age"], value["mood"]) == ("Ada", "36", "MOOD_CALM")
    assert value["tags"]["items"] == ["a", "b"] and member["usage"]["output_tokens"] != "0"
    assert events[-1] == "value" and {"partial", "told"} <= set(events)
    assert double["value"] == "0.20000000000000000000000002"
    assert swap["value"]["mail"]["items"][0]["question"]["topic"] == "t"
    assert whole["value"] == "9223372030926249001"
    assert (refused["code"], refused["bytes"] > 20) == (9, True)
    assert (wrong["code"], "expected a number" in wrong["details"]) == (3, True)
