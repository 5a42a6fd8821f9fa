"""The target `openai`: held against the documented rules of strict mode, jsonschema, and OpenAI's client."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from judges.json_reading import Validator, is_of_type
from judges.strict_mode import NotStrict, check_request, check_schema
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets.projection.schemas.value_schema import ROOT
from sglc.targets.requests.strict_schema import strict_schema
from sglc.types.text.plain_json import dumps, parse_json, write_json
from sglc.types.type import AliasType, EnumType, FieldType, ListOf, Named, RecordType, Str, matching
from strategies.near_misses import edited
from strategies.typed_values import SEEDS, types, values_of

ABSENT = "a field that may be absent"


def as_json(schema: dict) -> dict:
    return json.loads(write_json(schema, indent=2), parse_float=Decimal)


def written(text: str, *, allow_wider: bool = False) -> tuple[dict, list[str]]:
    text, found = write_target(Source("p.sgl", text), "openai", allow_wider=allow_wider)
    return json.loads(text or "{}"), [d.message for d in found if d.code in ("E0817", "W0224")]


@pytest.mark.slow
@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(types(), SEEDS, st.data())
def test_a_schema_is_strict_and_has_the_values(case, seed, data) -> None:
    """Without a loss the schema has exactly the values; with one that is written wider it has no fewer."""
    type, table = case
    schema, losses = strict_schema(type, table, "hole f.x")
    assume(all(loss.instead for loss in losses))
    schema = as_json(schema)
    check_schema(json.loads(json.dumps(schema, default=float)))
    validator = Validator(schema)
    wrapped = any(ROOT in loss.instead for loss in losses)
    exact = len(losses) == wrapped
    assume(not any(loss.construct == ABSENT for loss in losses))
    value = parse_json(dumps(data.draw(values_of(type, table)), type, table))
    dice = random.Random(seed)
    for other in (value, *(edited(dice, value) for _ in range(4))):
        legal = is_of_type(other, type, table)
        if legal or exact:
            assert validator.is_valid({ROOT: other} if wrapped else other) == legal, other


def test_lengths_and_patterns_are_one_pattern() -> None:
    for type, good, bad in (
        (Str(2, 3), ("ab", "a\n"), ("a", "abcd")),
        (matching("[a-z]+", of=Str(max_chars=3)), ("abc",), ("abcd", "A", "")),
        (matching(r"(?!The )[A-Z][a-z]+ x"), ("Ann x",), ("The x",)),
        (Str(excludes=("ab",)), ("ba", ""), ("aab",)),
    ):
        schema, losses = strict_schema(type, {}, "")
        check_schema(as_json(schema))
        assert len(losses) == 1, "only that the root is an object"
        validator = Validator(schema)
        assert all(validator.is_valid({ROOT: text}) for text in good)
        assert not any(validator.is_valid({ROOT: text}) for text in bad)


def test_limits_are_losses() -> None:
    many = {"E": EnumType("E", tuple(f"m{i}" for i in range(1001)))}
    assert strict_schema(Named("E"), many, "")[1][-1].construct == "more than 1,000 members of enums in all"
    long = {"E": EnumType("E", tuple(f"{i:0100}" for i in range(251)))}
    assert strict_schema(Named("E"), long, "")[1][-1].construct == "an enum of more than 15,000 characters"
    wide = {"R": RecordType("R", tuple(FieldType(f"f{i}", Str()) for i in range(5001)))}
    (loss,) = strict_schema(Named("R"), wide, "")[1]
    assert (loss.construct, loss.instead) == ("more than 5,000 fields in all", "")
    with pytest.raises(NotStrict):
        check_schema(strict_schema(Named("R"), wide, "")[0])
    tree = {"R": RecordType("R", (FieldType("parts", ListOf(Named("R"))),)), "A": AliasType("A", Named("R"))}
    schema, losses = strict_schema(Named("A"), tree, "")
    assert not losses and schema["properties"]["parts"]["items"] == {"$ref": "#/$defs/R"}


PROGRAM = """\
record Crew:  ## One member.
    name: str max 20 chars
    post: Post  ## on board

enum Post: pilot, medic

const SHOWN = ["a ship", "a farm"]

part rules(tone: str):
    | Be ${tone}.

fn crew(theme: str, year: int) -> Crew within 90 tok:
    system:
        part rules("kind")
        | Write no \\${x}.
    for shown in SHOWN:
        user: | For ${shown}?
    user: | For ${theme} in ${year}.
    assistant: | ?{member: Crew temp 0.8 top_p 0.9 seed 3}
    user: | And the motto of ${member.name}?
    assistant: | ?{motto: lines max 40 tok until "END"}
    return member
"""


def test_messages_and_settings() -> None:
    found, losses = written(PROGRAM, allow_wider=True)
    assert losses == ["openai cannot say a budget of several answers, at crew"]
    first, second = found["crew"]
    assert first["answer"] == "member"
    assert first["request"]["messages"] == [
        {"role": "system", "content": "Be kind.\nWrite no \\${x}."},
        {"role": "user", "content": "For a ship?"},
        {"role": "user", "content": "For a farm?"},
        {"role": "user", "content": "For ${theme} in ${year}."},
    ]
    settings = {
        key: first["request"][key] for key in ("temperature", "top_p", "seed", "max_completion_tokens")
    }
    assert settings == {"temperature": 0.8, "top_p": 0.9, "seed": 3, "max_completion_tokens": 90}
    assert first["request"]["response_format"]["json_schema"]["schema"]["description"] == "One member."
    assert second["request"]["messages"][4:] == [
        {"role": "assistant", "content": "${member}"},
        {"role": "user", "content": "And the motto of ${member.name}?"},
    ]
    assert second["request"]["stop"] == ["END"] and second["request"]["max_completion_tokens"] == 40
    assert "response_format" not in second["request"]


ROLES = "record R:\n    x: int\n\nfn f(a: int, xs: [int]) -> int:\n    user: | Hi.\n    {}\n    return 1\n"
REFUSED = [
    ("assistant: | ?{v: {str max 3 chars: int; ..3}}", "a map, at hole f.v"),
    ("assistant: | ?{v: json max 9 tok}", "any JSON, at hole f.v"),
    ("user: | ${a + 1}\n    assistant: | ?{v: R}", "a computed value in a text, at f"),
    (
        "if a > 1:\n        user: | More.\n    assistant: | ?{v: R}",
        "what depends on arguments or answers, at f",
    ),
    ("for x in xs:\n        user: | ${x}\n    assistant: | ?{v: R}", "a loop over values of the run, at f"),
    ("let t = fork i in 0..<3:\n        assistant: | ?{v: R}\n        yield v", "a fork, at f"),
    ("assistant: | ?{v: choose xs}", "options that are values of the run, at hole f.v"),
]
WIDER = [
    ("assistant: | ?{v: R where v.x > 3}", "a condition on the answer, at hole f.v"),
    ("assistant: | So ?{v: R}", "an answer that goes on with its message, at hole f.v"),
    ("assistant: | ?{v: int}", "an answer that is no record, at hole f.v"),
    ("assistant: | ?{v: str max 9 chars}", "a condition on a text that is no JSON, at hole f.v"),
    ("assistant: | ?{v: R top_k 4}", "`top_k`, at hole f.v"),
    ("assistant: | ?{v: R seed a}", "`seed` that is a value of the run, at hole f.v"),
    ("assistant: | ?{v: R}\n    ensure v.x > a", "a condition on arguments or answers, at f"),
    ("try:\n        assistant: | ?{v: R}\n    except: return 2", "the handling of errors, at f"),
    ('assistant: | ?{v: select ["a", "b"]}', "the scores of options, at hole f.v"),
]


@pytest.mark.parametrize(("body", "loss"), [*REFUSED, *WIDER], ids=[body[:40] for body, _ in REFUSED + WIDER])
def test_what_is_lost_is_named(body: str, loss: str) -> None:
    text = ROLES.replace("{}", body, 1)
    found, losses = written(text)
    assert found == {} and f"openai cannot say {loss}" in losses
    found, _ = written(text, allow_wider=True)
    assert bool(found) == ((body, loss) in WIDER)


@contextmanager
def service() -> Iterator[str]:
    """A server of chat completions that holds requests to the rules and answers with what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                check_request(body)
                status, answer = 200, completion(json.dumps(body))
            except NotStrict as fault:
                status, answer = 400, {"error": {"message": str(fault), "type": "invalid_request_error"}}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(content: str) -> dict:
    message = {"role": "assistant", "content": content, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


@pytest.mark.slow
def test_the_client_sends_the_requests_of_all_examples() -> None:
    openai = pytest.importorskip("openai")
    sent = 0
    with service() as address:
        client = openai.OpenAI(api_key="none", base_url=address, max_retries=0)
        for path in sorted(EXAMPLES.glob("*.sgl")):
            source = Source(str(path), path.read_text(encoding="utf-8"))
            text, _ = write_target(source, "openai", allow_wider=True)
            for requests in json.loads(text or "{}").values():
                for each in requests:
                    made = client.chat.completions.create(model="m", **each["request"])
                    seen = json.loads(made.choices[0].message.content)
                    assert seen == {"model": "m", **each["request"]}, "nothing is lost on the way"
                    sent += 1
        with pytest.raises(openai.BadRequestError):
            bad = {
                "type": "json_schema",
                "json_schema": {"name": "x", "strict": True, "schema": {"type": "array"}},
            }
            client.chat.completions.create(model="m", messages=[], response_format=bad)
    assert sent >= 10
