"""The description: every reference leads somewhere, requests and answers are what their schemas say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from serving.server import Reply, Server, serving

PROGRAM = """
enum Mood: calm, annoyed

record Point:
    x: int in -5..5
    y: decimal in 0..10

type Even = int in 0..100 where it % 2 == 0

union Shape:
    Dot:
        at: Point
    Line:
        from: Point
        to: Point?
    Text:
        said: str min 1 chars max 10 chars
        mood: Mood

error TooFar(by: int)

## Counts.
##
## Weights are not looked at.
pub fn count(shapes: [Shape], weights: {str: int in 0..9}, mood: Mood = calm) -> int:
    return len(shapes)

pub fn echo(shape: Shape, pair: (int, bool), maybe: str?) -> Shape:
    return shape

pub fn even(n: Even) -> Even:
    return n

pub fn far(n: int in 0..20) -> int raises TooFar:
    if n > 10: raise TooFar(n)
    return n

pub fn word(w: str matching /[a-z]{1,5}/, kind: "a" | "b" | 3) -> str:
    return w

pub fn anything(j: json) -> json:
    return j

pub fn ask(theme: str max 50 chars) -> Shape:
    assistant: | ?{shape: Shape}
    return shape
"""
DOT = {"type": "Dot", "at": {"x": 1, "y": 2.5}}
LINE = {"type": "Line", "from": {"x": 1, "y": 2}, "to": None}
CALLS: list[tuple[str, dict[str, Any], int]] = [
    ("count", {"shapes": [DOT, LINE], "weights": {"a": 1}, "mood": "annoyed"}, 200),
    ("count", {"shapes": [], "weights": {}}, 200),
    ("count", {"shapes": [{"type": "Dot"}], "weights": {}}, 400),
    ("echo", {"shape": LINE, "pair": [1, True], "maybe": None}, 200),
    ("echo", {"shape": DOT, "pair": [1], "maybe": None}, 400),
    ("even", {"n": 4}, 200),
    ("even", {"n": 102}, 400),
    ("far", {"n": 3}, 200),
    ("far", {"n": 13}, 422),
    ("word", {"w": "abc", "kind": 3}, 200),
    ("word", {"w": "abcdef", "kind": "a"}, 400),
    ("anything", {"j": [1, {"a": None}]}, 200),
    ("ask", {"theme": "x"}, 200),
    ("ask", {"theme": "x" * 51}, 400),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PROGRAM, {"ask.shape": DOT}) as made:
        yield made


@pytest.fixture(scope="module")
def described(server: Server) -> Any:
    return server.ask("GET", "/openapi.json").data


def _validator(described: Any, schema: Any) -> Draft202012Validator:
    resource = Resource.from_contents(described, default_specification=DRAFT202012)
    registry: Any = Registry().with_resource("urn:doc", resource)
    return Draft202012Validator(_led(schema), registry=registry)


def _led(schema: Any) -> Any:
    """A part of the document whose references lead into it from outside."""
    if isinstance(schema, dict):
        return {k: f"urn:doc{v}" if k == "$ref" else _led(v) for k, v in schema.items()}
    return [_led(each) for each in schema] if isinstance(schema, list) else schema


def test_every_reference_leads_somewhere(described: Any) -> None:
    def walk(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            for name, each in part.items():
                if name == "$ref":
                    yield each
                yield from walk(each)
        elif isinstance(part, list):
            for each in part:
                yield from walk(each)

    references = set(walk(described))
    assert "#/components/schemas/Shape" in references
    for reference in references:
        found = described
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        assert isinstance(found, dict)


@pytest.mark.parametrize(("name", "arguments", "status"), CALLS)
def test_calls_are_as_they_are_described(
    server: Server, described: Any, name: str, arguments: dict[str, Any], status: int
) -> None:
    operation = described["paths"][f"/v1/functions/{name}"]["post"]
    asked = operation["requestBody"]["content"]["application/json"]["schema"]
    assert _validator(described, asked).is_valid({"arguments": arguments}) == (status != 400)
    reply: Reply = server.call(name, **arguments)
    assert reply.status == status
    media = reply.headers["content-type"]
    _validator(described, operation["responses"][str(status)]["content"][media]["schema"]).validate(
        reply.data
    )


def test_comments_errors_and_defaults_are_told(described: Any) -> None:
    count = described["paths"]["/v1/functions/count"]["post"]
    assert (count["summary"], count["description"]) == ("Counts.", "Weights are not looked at.")
    arguments = count["requestBody"]["content"]["application/json"]["schema"]["properties"]["arguments"]
    assert (
        arguments["required"] == ["shapes", "weights"]
        and arguments["properties"]["mood"]["default"] == "calm"
    )
    assert "TooFar" in described["paths"]["/v1/functions/far"]["post"]["responses"]["422"]["description"]
    assert described["info"]["title"] == "served" and "security" not in described


def test_options_that_are_null_are_as_if_not_there(server: Server) -> None:
    names = ("seed", "max_tokens", "timeout", "priority", "tokens", "keep")
    assert server.call("even", n=2, options=dict.fromkeys(names)).status == 200
    assert server.call("even", n=2, options={"seed": 1.0}).status == 200
    assert server.call("even", n=2, options={"seed": 1.5}).status == 400
