"""Typed calls over HTTP: values, events, problems, runs that are kept, clients that leave."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from decimal import Decimal

import pytest

from serving.server import Server, serving

PROGRAM = """
## One member of a crew.
record Member:
    name: str max 20 chars
    age: int in 0..99

error TooMany(found: int, why: str)

## Invent a member.
##
## By theme alone.
pub fn member(theme: str, old: bool = false) -> Member:
    user: | ${theme} ${old}
    assistant: | ?{member: Member}
    return member

pub fn double(x: decimal) -> decimal:
    return x * 2

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

fn hidden() -> int:
    return 1
"""
ANSWERS = {"member.member": {"name": "Ada", "age": 36}, "long.text": "a" * 3000}
EVENTS = {"accept": "text/event-stream"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM, ANSWERS) as made:
        yield made


def test_a_call_gives_value_and_usage(server: Server) -> None:
    reply = server.call("member", theme="the sea")
    assert reply.status == 200
    assert reply.data["value"] == {"name": "Ada", "age": 36}
    assert reply.data["usage"]["output_tokens"] > 10 and reply.data["checks"] == []
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_decimals_keep_their_digits(server: Server) -> None:
    body = b'{"arguments": {"x": 0.10000000000000000000000001}}'
    reply = server.ask("POST", "/v1/functions/double", body, {"content-type": "application/json"})
    assert json.loads(reply.body, parse_float=Decimal)["value"] == Decimal("0.20000000000000000000000002")


def test_checks_are_told_and_a_function_without_value_gives_null(server: Server) -> None:
    reply = server.call("nothing", x=-1)
    assert reply.data["value"] is None
    assert [check["passed"] for check in reply.data["checks"]] == [False]


@pytest.mark.parametrize(
    ("arguments", "status", "name", "words"),
    [
        ({}, 400, "Arguments", "needs the argument `theme`"),
        ({"theme": 3}, 400, "Arguments", "outside of its type"),
        ({"theme": "x", "odl": True}, 400, "Arguments", "no parameter `odl`"),
        ({"theme": "x", "options": {"sed": 1}}, 400, "Arguments", "no option `sed`"),
        ({"theme": "x", "options": {"seed": -1}}, 400, "Arguments", "`seed`"),
        ({"theme": "x", "options": {"timeout": 0}}, 400, "Arguments", "`timeout`"),
        ({"theme": "x", "options": {"max_tokens": True}}, 400, "Arguments", "`max_tokens`"),
        ({"theme": "x", "options": [1]}, 400, "Arguments", "object"),
    ],
)
def test_wrong_arguments_are_problems(
    server: Server, arguments: dict[str, object], status: int, name: str, words: str
) -> None:
    reply = server.call("member", **arguments)
    assert (reply.status, reply.data["status"], reply.data["name"]) == (status, status, name)
    assert words in reply.data["detail"]
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "media", "status"),
    [
        (b"[1]", "application/json", 400),
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"arguments": {"x": 1, "x": 2}}', "application/json", 400),
        (b'{"arguments": {"x": NaN}}', "application/json", 400),
        (b'{"arguments": 1}', "application/json", 400),
        (b'{"argument": {}}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"arguments": {"x": 1e99999999999999999999}}', "application/json", 400),
        (b'{"arguments": {"x": 1}, "options": {"seed": 1e400000000}}', "application/json", 400),
        (b'{"arguments": {"x": 1}, "options": {"\\ud800": 1}}', "application/json", 400),
        (b'{"arguments": {"\\udfff": 1, "\\udfff": 1}}', "application/json", 400),
        (b"{}", "text/plain", 415),
        (b" " * (4 * 1024 * 1024 + 1), "application/json", 413),
    ],
)
def test_bodies_that_cannot_be_read_are_problems(
    server: Server, body: bytes, media: str, status: int
) -> None:
    reply = server.ask("POST", "/v1/functions/double", body, {"content-type": media})
    assert reply.status == status == reply.data["status"]


def test_a_body_without_a_length_is_bounded_too(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(
            b"POST /v1/functions/double HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        with pytest.raises(ConnectionError):  # answered and closed before all is sent
            for _ in range(2000):
                connection.sendall(piece)


def test_there_is_no_function_of_another_name(server: Server) -> None:
    reply = server.call("membr", theme="x")
    assert reply.status == 404 and "member" in reply.data["hint"]
    assert server.call("hidden").status == 404
    assert server.ask("GET", "/v1/functions/member").status == 405
    assert server.ask("GET", "/nothing").status == 404


def test_errors_of_the_program_have_their_fields(server: Server) -> None:
    reply = server.call("refuses", n=7)
    assert reply.status == 422 and reply.data["name"] == "TooMany"
    assert reply.data["fields"] == {"found": 7, "why": "too many"}
    failed = server.call("broken", n=5)
    assert (failed.status, failed.data["name"], failed.data["code"]) == (422, "Failure", "E0710")


def test_a_budget_that_is_too_small_is_an_error_of_the_program(server: Server) -> None:
    reply = server.call("member", theme="x", options={"max_tokens": 12})
    assert (reply.status, reply.data["name"], reply.data["code"]) == (422, "Truncated", "E0701")


def test_events_end_with_the_value(server: Server) -> None:
    reply = server.call("member", EVENTS, theme="the sea")
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = reply.events
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    names = [name for _, name, _ in events]
    assert names[0] == "start" and names[-1] == "value" and "hole_end" in names and "token" not in names
    assert events[-1][2]["value"] == {"name": "Ada", "age": 36}
    parts = [data["value"] for _, name, data in events if name == "partial"]
    assert parts[-1] == {"name": "Ada", "age": 36}
    text = "".join(data["text"] for _, name, data in events if name in ("forced", "generated"))
    assert json.loads(text) == {"name": "Ada", "age": 36}


def test_tokens_are_told_where_they_are_asked_for(server: Server) -> None:
    reply = server.call("member", EVENTS, theme="the sea", options={"tokens": True})
    tokens = [data for _, name, data in reply.events if name == "token"]
    assert tokens and all(data["mask"] >= 1 for data in tokens)


def test_events_of_a_failure_end_with_the_problem(server: Server) -> None:
    events = server.call("refuses", EVENTS, n=7).events
    assert events[-1][1] == "error" and events[-1][2]["name"] == "TooMany"
    assert [data["uncaught"] for _, name, data in events if name == "raised"][-1] is True


def test_a_run_that_is_kept_goes_on_behind_an_event(server: Server) -> None:
    first = server.call("member", EVENTS, theme="x", options={"keep": 30})
    path = f"/v1/runs/{first.headers['sglc-run']}"
    again = server.ask("GET", path, headers={**EVENTS, "last-event-id": "5"})
    assert again.events == first.events[5:]
    assert server.ask("GET", path).data["value"] == {"name": "Ada", "age": 36}
    assert server.ask("GET", path, headers={**EVENTS, "last-event-id": "x"}).status == 400
    assert server.ask("GET", "/v1/runs/none").status == 404


def test_a_call_may_be_asked_for_later(server: Server) -> None:
    reply = server.call("member", {"prefer": "respond-async"}, theme="x")
    assert reply.status == 202 and reply.data["id"] in reply.headers["location"]
    server.until(lambda: server.ask("GET", reply.headers["location"]).status == 200)
    assert server.ask("GET", reply.headers["location"]).data["value"]["name"] == "Ada"


def test_a_run_without_keep_is_gone_with_its_client(server: Server) -> None:
    reply = server.call("member", EVENTS, theme="x")
    server.until(lambda: server.ask("GET", f"/v1/runs/{reply.headers['sglc-run']}").status == 404)


def test_the_same_seed_gives_the_same_answer(server: Server) -> None:
    values = [server.call("long", theme="x", options={"seed": 5, "max_tokens": 40}).data for _ in range(2)]
    assert values[0]["value"] == values[1]["value"]


def test_a_pair_of_surrogates_is_a_character(server: Server) -> None:
    body = b'{"arguments": {"theme": "\\ud83d\\udc4b"}}'
    assert server.ask("POST", "/v1/functions/member", body).status == 200


def test_a_slash_too_many_is_another_path(server: Server) -> None:
    for path in ("/v1/functions/", "/healthz/"):
        reply = server.ask("GET", path, headers={"host": "localhost"})
        assert (reply.status, reply.data["name"]) == (404, "NotFound")


@pytest.mark.parametrize("behind", [b"", b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"])
@pytest.mark.parametrize("headers", [{}, EVENTS])
def test_a_client_that_leaves_ends_its_run(headers: dict[str, str], behind: bytes) -> None:
    """Also where it has sent another request already."""
    with serving(PROGRAM, ANSWERS, pace=0.005) as server:
        for _ in range(4):
            body = json.dumps({"arguments": {"theme": "x"}}).encode()
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(
                b"POST /v1/functions/long HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                + head.encode()
                + f"content-length: {len(body)}\r\n\r\n".encode()
                + body
                + behind
            )
            server.until(lambda: bool(server.runs.going))
            connection.close()
            server.until(lambda: not server.runs.going)
        passes = server.model.passes
        assert server.call("double", x=2).data["value"] == 4
        assert server.model.passes == passes < 3000


def test_a_run_can_be_cancelled() -> None:
    with serving(PROGRAM, ANSWERS, pace=0.005) as server:
        reply = server.call("long", {"prefer": "respond-async"}, theme="x")
        server.until(lambda: server.model.passes > 3)
        assert server.ask("DELETE", reply.headers["location"]).status == 204
        server.until(lambda: server.ask("GET", reply.headers["location"]).status != 202)
        ended = server.ask("GET", reply.headers["location"])
        assert (ended.status, ended.data["name"]) == (503, "Cancelled")
        assert set(ended.data["partial"]) == {"a"}


def test_a_run_without_an_end_in_time_is_late() -> None:
    with serving(PROGRAM, ANSWERS, pace=0.005) as server:
        reply = server.call("long", theme="x", options={"timeout": 0.2})
        assert (reply.status, reply.data["name"]) == (504, "Timeout")
        assert set(reply.data["partial"]) == {"a"}


STEPS = """
pub fn steps() -> [str]:
    assistant:
        | ?{first: "a" | "b"}
        | ?{second: "a" | "b"}
    return [first, second]
"""


def test_answers_are_given_to_holes_in_their_order() -> None:
    with serving(STEPS, {"steps.first": "a", "steps.second": "b"}) as server:
        passes = server.model.passes
        assert server.call("steps", options={"answers": {"steps.first": ["b"]}}).data["value"] == ["b", "b"]
        assert server.model.passes > passes
        passes = server.model.passes
        both = {"steps.first": ["b"], "steps.second": ["a"]}
        assert server.call("steps", options={"answers": both}).data["value"] == ["b", "a"]
        assert server.model.passes == passes
        other = server.call("steps", options={"answers": {"steps.first": ["c"]}})
        assert other.status == 422 and "is not a value of the hole" in other.data["detail"]
        near = server.call("steps", options={"answers": {"steps.frist": ["a"]}})
        assert near.status == 400 and "steps.first" in near.data["hint"]
        for wrong in ([], {"steps.first": "a"}, {"steps.first": [1]}, {"steps.first": []}):
            assert server.call("steps", options={"answers": wrong}).status == 400
        half = server.call("steps", options={"answers": {"steps.first": ["\ud800"]}})
        assert half.status == 422 and "\\ud800" in half.body.decode()
        large = server.call("steps", options={"answers": {"steps.first": ["a" * 60_000, "b" * 60_000]}})
        assert large.status == 400 and "100000" in large.data["detail"]


def test_the_most_probable_tokens_are_told() -> None:
    with serving(STEPS, {"steps.first": "a", "steps.second": "b"}) as server:
        sent = {"accept": "text/event-stream"}
        told = server.call("steps", sent, options={"tokens": True, "top": 2}).events
        tops = [data["top"] for _, name, data in told if name == "token"]
        assert tops and all(len(top) == 2 for top in tops)
        assert server.call("steps", options={"top": 21}).status == 400
