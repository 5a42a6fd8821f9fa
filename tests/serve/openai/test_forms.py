"""Answers with a form: all that a model writes at random is legal; what cannot be enforced is a 400."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from example_budget import examples
from serving.server import Reply, Server, serving

PROGRAM = "pub fn add(a: int, b: int) -> int:\n    return a + b\n"
HOT: dict[str, Any] = {"temperature": 2, "max_tokens": 400}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM) as made:  # without a script the model writes at random
        yield made


def chat(server: Server, **body: Any) -> Reply:
    messages = [{"role": "user", "content": "go"}]
    return server.ask(
        "POST", "/v1/chat/completions", {"model": "scripted", "messages": messages} | HOT | body
    )


def of_schema(schema: Any, strict: bool = True) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "s", "strict": strict, "schema": schema}}


def random_schema(draw: random.Random, depth: int = 2) -> dict[str, Any]:
    kinds = ["integer", "string", "boolean", "enum", *(["object", "array"] if depth else [])]
    match draw.choice(kinds):
        case "object":
            names = draw.sample(["name", "age", "über", 'a"b'], draw.randint(1, 3))
            fields = {name: random_schema(draw, depth - 1) for name in names}
            return {
                "type": "object",
                "properties": fields,
                "required": names[: draw.randint(0, len(names))],
                "additionalProperties": False,
            }
        case "array":
            return {"type": "array", "items": random_schema(draw, depth - 1), "maxItems": draw.randint(0, 3)}
        case "enum":
            return {"enum": draw.sample(["red", 1, None, "grün", True], draw.randint(1, 3))}
        case "integer":
            return {"type": "integer", "minimum": draw.randint(-9, 0), "maximum": draw.randint(0, 99)}
        case "string":
            return {"type": "string", "maxLength": draw.randint(0, 9)}
    return {"type": "boolean"}


def test_random_schemas_hold(server: Server) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    draw = random.Random(5)
    for number in range(examples(25)):
        schema = random_schema(draw)
        reply = chat(server, response_format=of_schema(schema, number % 2 == 0), seed=number)
        assert reply.status == 200, (schema, reply.body)
        [choice] = reply.data["choices"]
        assert choice["finish_reason"] == "stop"
        jsonschema.validate(json.loads(choice["message"]["content"]), schema)


def test_any_object(server: Server) -> None:
    for body in ({"response_format": {"type": "json_object"}}, {"structured_outputs": {"json_object": True}}):
        found = chat(server, **body, max_tokens=60).data["choices"][0]
        assert isinstance(json.loads(found["message"]["content"]), dict)


@pytest.mark.parametrize(
    ("wanted", "legal"),
    [
        ({"regex": r"[a-c]{2,4}-\d"}, r"[a-c]{2,4}-\d"),
        ({"choice": ["red", "light blue"]}, "red|light blue"),
        ({"grammar": 'root ::= "x" | "(" root ")"'}, r"\(*x\)*"),
        ({"grammar": 'start: "a" "b"+'}, "ab+"),
        ({"json": {"enum": [1, 2]}}, "1|2"),
        ({"json": '{"enum": [1, 2]}'}, "1|2"),
    ],
)
def test_structured_outputs_hold(server: Server, wanted: Any, legal: str) -> None:
    for choice in chat(server, structured_outputs=wanted, n=4, max_tokens=30).data["choices"]:
        assert re.fullmatch(legal, choice["message"]["content"])
        assert choice["finish_reason"] == "stop"


def test_a_limit_closes_a_value(server: Server) -> None:
    form = of_schema(
        {"type": "array", "items": {"type": "integer", "minimum": 10, "maximum": 99}, "minItems": 2}
    )
    found = chat(server, response_format=form, max_tokens=9).data["choices"][0]
    assert len(json.loads(found["message"]["content"])) == 2 and found["finish_reason"] == "stop"
    refused = chat(server, response_format=form, max_tokens=7)
    assert refused.status == 400 and "7 tokens" in refused.data["error"]["message"]


SCHEMA = "response_format.json_schema.schema"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"response_format": of_schema({"type": "robot"})}, SCHEMA),
        ({"response_format": of_schema({"type": "integer", "minimum": 2, "maximum": 1})}, SCHEMA),
        ({"response_format": of_schema(5)}, SCHEMA),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"structured_outputs": {"regex": "("}}, "structured_outputs.regex"),
        ({"structured_outputs": {"grammar": "start: nothing"}}, "structured_outputs.grammar"),
        ({"structured_outputs": {"choice": []}}, "structured_outputs.choice"),
        ({"structured_outputs": {"regex": "a", "choice": ["a"]}}, "structured_outputs"),
        ({"structured_outputs": {"regex": "[a-z]{9999}" * 3000}}, "structured_outputs.regex"),
    ],
)
def test_what_cannot_be_enforced_is_refused(server: Server, body: Any, param: str) -> None:
    reply = chat(server, **body)
    assert (reply.status, reply.data["error"]["param"]) == (400, param)


def test_the_official_client_parses_and_streams(server: Server) -> None:
    openai, pydantic = pytest.importorskip("openai"), pytest.importorskip("pydantic")
    card = pydantic.create_model(
        "Card", name=(str, pydantic.Field(max_length=9)), age=(int, pydantic.Field(ge=0, le=99))
    )
    with openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="x", max_retries=0) as client:
        asked: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "go"}]}
        assert [each.id for each in client.models.list()] == ["scripted"]
        parsed = (
            client.chat.completions.parse(**asked, response_format=card, max_tokens=60)
            .choices[0]
            .message.parsed
        )
        assert isinstance(parsed, card)
        with client.chat.completions.stream(**asked, max_tokens=20, seed=1) as events:
            streamed = events.get_final_completion().choices[0].message.content
        assert (
            streamed
            == client.chat.completions.create(**asked, max_tokens=20, seed=1).choices[0].message.content
        )
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(**asked, reasoning_effort="low")
        assert (refused.value.code, refused.value.param) == ("unsupported_parameter", "reasoning_effort")
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(**{**asked, "model": "none"})
