"""Whether OpenAI's strict mode takes a schema, a response format and a request: rules in the plainest code.

Written from the public documentation of Structured Outputs ("Supported schemas") and of chat completions. It
shares nothing with the writer under test.
"""

from __future__ import annotations

import re
from typing import Any

OBJECT = {"type", "properties", "required", "additionalProperties", "description", "$defs"}
BY_TYPE = {
    "string": {"pattern", "format", "enum", "const"},
    "number": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "enum", "const"},
    "integer": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "enum", "const"},
    "boolean": {"enum", "const"},
    "null": set(),
    "array": {"items", "minItems", "maxItems"},
}


class NotStrict(Exception):
    """What the service would answer."""


def check_schema(schema: dict[str, Any]) -> None:
    """Raises NotStrict."""
    if schema.get("type") != "object" or "anyOf" in schema:
        raise NotStrict("the root is no object")
    counts = {"properties": 0, "enum": 0, "text": 0}
    _check(schema, schema, 1, counts)
    if counts["properties"] > 5000 or counts["enum"] > 1000 or counts["text"] > 120_000:
        raise NotStrict(f"too large: {counts}")


def _check(schema: dict[str, Any], root: dict[str, Any], level: int, counts: dict[str, int]) -> None:
    if level > 10:
        raise NotStrict("more than 10 levels")
    for name, definition in schema.get("$defs", {}).items():
        counts["text"] += len(name)
        _check(definition, root, 1 if definition.get("type") == "object" else 0, counts)
    if "$ref" in schema:
        if set(schema) != {"$ref"}:
            raise NotStrict(f"$ref cannot have keywords {set(schema) - {'$ref'}}")
        found = re.fullmatch(r"#/\$defs/([A-Za-z0-9_.-]+)", schema["$ref"])
        if found is None or found[1] not in root.get("$defs", {}):
            raise NotStrict(f"{schema['$ref']} leads nowhere")
        return
    if "anyOf" in schema:
        if set(schema) - {"anyOf", "description", "$defs"} or not schema["anyOf"]:
            raise NotStrict(f"beside anyOf: {set(schema)}")
        for arm in schema["anyOf"]:
            _check(arm, root, level + (arm.get("type") == "object"), counts)
        return
    kind = schema.get("type")
    if kind == "object":
        _check_object(schema, root, level, counts)
    elif kind in BY_TYPE:
        _check_scalar(schema, root, level, counts)
    else:
        raise NotStrict(f"a schema must have a type: {schema}")


def _check_object(schema: dict[str, Any], root: dict[str, Any], level: int, counts: dict[str, int]) -> None:
    if extra := set(schema) - OBJECT:
        raise NotStrict(f"{extra} is not permitted")
    if schema.get("additionalProperties") is not False:
        raise NotStrict("additionalProperties is required to be supplied and to be false")
    properties = schema.get("properties")
    if not isinstance(properties, dict) or sorted(schema.get("required", ())) != sorted(properties):
        raise NotStrict("required is required to be an array including every key in properties")
    counts["properties"] += len(properties)
    for name, part in properties.items():
        counts["text"] += len(name)
        _check(part, root, level + (part.get("type") == "object"), counts)


def _check_scalar(schema: dict[str, Any], root: dict[str, Any], level: int, counts: dict[str, int]) -> None:
    allowed = BY_TYPE[schema["type"]] | {"type", "description", "$defs"}
    if extra := set(schema) - allowed:
        raise NotStrict(f"{extra} is not permitted")
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    counts["enum"] += len(schema.get("enum", ()))
    counts["text"] += sum(len(str(value)) for value in values)
    if len(values) > 250 and sum(len(str(value)) for value in values) > 15_000:
        raise NotStrict("an enum that is too long")
    if "enum" in schema and len(set(map(repr, values))) != len(values):
        raise NotStrict("enum has equal values")
    if "pattern" in schema:
        if re.search(r"\(\?[=!<]", schema["pattern"]):
            raise NotStrict("look-around is not supported")
        re.compile(schema["pattern"])
    if schema["type"] == "array":
        if not isinstance(schema.get("items"), dict):
            raise NotStrict("array schema missing items")
        items = schema["items"]
        _check(items, root, level + (items.get("type") == "object"), counts)


def check_request(body: dict[str, Any]) -> None:
    """A body of chat completions, with the model. Raises NotStrict."""
    known = {
        "model",
        "messages",
        "response_format",
        "stop",
        "temperature",
        "top_p",
        "seed",
        "n",
        "max_completion_tokens",
    }
    if set(body) - known or not {"model", "messages"} <= set(body):
        raise NotStrict(f"keys: {set(body)}")
    if not body["messages"]:
        raise NotStrict("no messages")
    for message in body["messages"]:
        if set(message) != {"role", "content"} or not isinstance(message["content"], str):
            raise NotStrict(f"message: {message}")
        if message["role"] not in ("system", "user", "assistant"):
            raise NotStrict(f"role: {message['role']}")
    bounds = {"temperature": (0, 2), "top_p": (0, 1), "n": (1, 128), "max_completion_tokens": (1, 10**6)}
    for name, (low, high) in bounds.items():
        if not low <= body.get(name, low) <= high:
            raise NotStrict(f"{name}: {body[name]}")
    stops = body.get("stop", [])
    if not 0 <= len(stops) <= 4 or not all(isinstance(stop, str) and stop for stop in stops):
        raise NotStrict(f"stop: {stops}")
    if "response_format" in body:
        form = body["response_format"]
        described = form["json_schema"]
        if form["type"] != "json_schema" or described["strict"] is not True:
            raise NotStrict("no strict schema")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", described["name"]):
            raise NotStrict(f"name: {described['name']}")
        check_schema(described["schema"])
