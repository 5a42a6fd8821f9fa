"""The description of all served functions: OpenAPI 3.1, made of their types and `##` comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from sglc.runtime.serve.functions import FunctionTable, ServedFunction
from sglc.runtime.serve.options import MOST_PRIORITY, MOST_SEED, MOST_TOP
from sglc.runtime.serve.problems import MEDIA_TYPE, TITLES
from sglc.types.notation.json_schema import json_schema
from sglc.types.text.plain_json import to_json, write_json

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject
    from sglc.types.type import Type

VERSION = "3.1.0"
DEFINED = "#/$defs/"
COMPONENTS = "#/components/schemas/"
EVENTS = "text/event-stream"
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]")

OPTIONS: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "seed": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MOST_SEED,
            "description": "Seed of every draw.",
        },
        "max_tokens": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "Most tokens of all holes together.",
        },
        "timeout": {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "description": "Most seconds, with waiting.",
        },
        "priority": {
            "type": ["integer", "null"],
            "minimum": -MOST_PRIORITY,
            "maximum": MOST_PRIORITY,
            "description": "Those with more go first.",
        },
        "tokens": {
            "type": ["boolean", "null"],
            "description": "Tell of each token, where events are asked for.",
        },
        "top": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MOST_TOP,
            "description": "Tell so many of the most probable tokens with each token.",
        },
        "answers": {
            "type": ["object", "null"],
            "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "description": "Texts that holes get instead of asking a model, in their order, by hole.",
        },
        "keep": {
            "type": ["number", "null"],
            "minimum": 0,
            "description": "Seconds that the run goes on, and its events are kept, without a client.",
        },
    },
}
PROBLEM: JsonObject = {
    "type": "object",
    "description": "RFC 9457. `name` is the error of the program or of the server.",
    "required": ["type", "title", "status", "detail", "name"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "name": {"type": "string"},
        "code": {"type": "string"},
        "hint": {"type": "string"},
        "fields": {"type": "object"},
        "partial": {"type": "string", "description": "Text of an answer that was not finished."},
        "retry_after": {"type": "integer", "description": "Seconds."},
        "id": {"type": "string", "description": "The run, where there was one."},
    },
}
USAGE: JsonObject = {
    "type": "object",
    "required": ["output_tokens", "forced_tokens", "forwards", "retries", "seconds"],
    "properties": {
        "output_tokens": {"type": "integer"},
        "forced_tokens": {"type": "integer", "description": "Of these, tokens that could be no others."},
        "forwards": {"type": "integer", "description": "Passes through the model."},
        "retries": {"type": "integer"},
        "seconds": {"type": "number"},
    },
}
CHECK: JsonObject = {
    "type": "object",
    "required": ["passed", "reason"],
    "properties": {"passed": {"type": "boolean"}, "reason": {"type": "string"}},
}
SHARED: Mapping[str, JsonObject] = {
    "sglc.Options": OPTIONS,
    "sglc.Problem": PROBLEM,
    "sglc.Usage": USAGE,
    "sglc.Check": CHECK,
}
"""Schemas that no program has. Names of a program have no such point before them."""


def document(table: FunctionTable, *, keyed: bool) -> str:
    """The description as JSON text. `keyed` says whether callers need a key."""
    schemas: JsonObject = {name: dict(schema) for name, schema in SHARED.items()}
    several = len({each.program.name for each in table.by_name.values()}) > 1
    paths: JsonObject = {}
    for each in table.by_name.values():
        paths[f"/v1/functions/{each.name}"] = {"post": _Operation(each, several, schemas).described()}
    found: JsonObject = {
        "openapi": VERSION,
        "info": {
            "title": ", ".join(_stem(session.program.name) for session in table.sessions) or "sglc",
            "version": "1",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if keyed:
        found["components"] = {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        }
        found["security"] = [{"key": []}]
    return write_json(found, indent=2) + "\n"


def arguments_schema(function: ServedFunction, schema: Callable[[Type], JsonObject]) -> JsonObject:
    """The schema of a function's arguments, an object by name; `schema` gives that of a type."""
    code, program = function.code, function.program
    properties: JsonObject = {}
    for each in code.parameters:
        type = program.types[each.type]
        found = schema(type)
        if each.has_default:
            default = to_json(each.default, type, program.table)
            found = {**found, "default": default}  # type: ignore[dict-item]
        properties[each.name] = found
    arguments: JsonObject = {"type": "object", "additionalProperties": False, "properties": properties}
    needed: list[JsonData] = [each.name for each in code.parameters if not each.has_default]
    if needed:
        arguments["required"] = needed
    return arguments


class _Operation:
    """One function in the description. Its types become schemas of the document."""

    def __init__(self, function: ServedFunction, several: bool, schemas: JsonObject) -> None:
        self._function = function
        self._prefix = f"{_word(_stem(function.program.name))}." if several else ""
        self._schemas = schemas

    def described(self) -> JsonObject:
        """The operation: request, value, events, problems."""
        code = self._function.code
        summary, _, rest = code.doc.partition("\n")
        raised = ", ".join(code.raises)
        operation: JsonObject = {
            "operationId": code.name,
            "summary": summary or code.name,
            "requestBody": {"required": True, "content": {"application/json": {"schema": self._request()}}},
            "responses": self._responses(raised),
        }
        if rest.strip():
            operation["description"] = rest.strip()
        return operation

    def _request(self) -> JsonObject:
        arguments = arguments_schema(self._function, self._schema)
        request: JsonObject = {
            "type": "object",
            "additionalProperties": False,
            "properties": {"arguments": arguments, "options": _maybe(f"{COMPONENTS}sglc.Options")},
        }
        if "required" in arguments:
            request["required"] = ["arguments"]
        return request

    def _schema(self, type: Type) -> JsonObject:
        """The schema of a type; those that it names become schemas of the document."""
        schema = json_schema(type, self._function.program.table)
        schema.pop("$schema", None)
        defined = schema.pop("$defs", {})
        if isinstance(defined, dict):
            for name, each in defined.items():
                self._schemas[self._prefix + _word(name)] = self._led(each)
        found = self._led(schema)
        assert isinstance(found, dict)
        return found

    def _led(self, schema: JsonData) -> JsonData:
        """A schema whose references lead to those of the document. One with an `$id` is left as it is:
        what it refers to is inside of it."""
        if isinstance(schema, list):
            return [self._led(each) for each in schema]
        if not isinstance(schema, dict) or "$id" in schema:
            return schema
        found: JsonObject = {}
        for name, each in schema.items():
            if name == "$ref" and isinstance(each, str) and each.startswith(DEFINED):
                found[name] = COMPONENTS + self._prefix + _word(each.removeprefix(DEFINED))
            elif name in ("const", "enum", "default", "examples"):
                found[name] = each
            else:
                found[name] = self._led(each)
        return found

    def _responses(self, raised: str) -> JsonObject:
        code, program = self._function.code, self._function.program
        value: JsonObject = (
            {"type": "null"} if code.result is None else self._schema(program.types[code.result])
        )
        answer: JsonObject = {
            "type": "object",
            "required": ["id", "value", "usage", "checks"],
            "properties": {
                "id": {"type": "string"},
                "value": value,
                "usage": {"$ref": f"{COMPONENTS}sglc.Usage"},
                "checks": {"type": "array", "items": {"$ref": f"{COMPONENTS}sglc.Check"}},
            },
        }
        started: JsonObject = {
            "type": "object",
            "required": ["id", "state"],
            "properties": {"id": {"type": "string"}, "state": {"enum": ["running", "ended"]}},
        }
        found: JsonObject = {
            "200": {
                "description": "The value, or events that end with it.",
                "content": {"application/json": {"schema": answer}, EVENTS: {"schema": {"type": "string"}}},
            },
            "202": {
                "description": "It runs (`Prefer: respond-async`); `Location` has the run.",
                "content": {"application/json": {"schema": started}},
            },
        }
        for status in (400, 401, 403, 404, 408, 413, 415, 421, 422, 429, 500, 502, 503, 504):
            told = TITLES[status] + (f"; the program raises {raised}" if raised and status == 422 else "")
            problem: JsonObject = {MEDIA_TYPE: {"schema": {"$ref": f"{COMPONENTS}sglc.Problem"}}}
            found[str(status)] = {"description": told, "content": problem}
        return found


def _maybe(reference: str) -> JsonObject:
    """What a reference leads to, or null."""
    return {"anyOf": [{"$ref": reference}, {"type": "null"}]}


def _word(name: str) -> str:
    """A name as OpenAPI allows it for a component."""
    return _NO_NAME.sub(lambda found: f"_{ord(found[0]):x}_", name)


def _stem(program: str) -> str:
    """The name of a program without the folder and the ending of its file."""
    return PurePath(program).stem
