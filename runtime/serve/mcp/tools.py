"""Functions as tools: their names, what they take and give as JSON Schema, and what they do besides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcp import types

from sglc.bytecode.reached import reached_codes
from sglc.runtime.serve.functions import ServedFunction
from sglc.runtime.serve.openapi import arguments_schema
from sglc.types.notation.json_schema import DIALECT, json_schema
from sglc.types.text.plain_json import write_json

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonObject
    from sglc.types.type import Type

RESULT = "result"
"""The member of structured content that has the value: the protocol wants an object up to 2025-11-25."""


def tool_of(function: ServedFunction) -> types.Tool:
    """A function as clients see it. Its `##` comment is the description, or else its signature."""
    code = function.code
    summary = code.doc.partition("\n")[0].strip()
    return types.Tool(
        name=code.name,
        title=summary if 0 < len(summary) <= 80 else None,
        description=code.doc.strip() or function.signature,
        input_schema=_plain(_input(function)),
        output_schema=_plain(_output(function)),
        annotations=_annotations(function),
    )


def _input(function: ServedFunction) -> JsonObject:
    schemas = _Schemas(function)
    return schemas.closed(arguments_schema(function, schemas.of))


def _output(function: ServedFunction) -> JsonObject:
    code, schemas = function.code, _Schemas(function)
    value = {"type": "null"} if code.result is None else schemas.of(function.program.types[code.result])
    return schemas.closed(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {RESULT: value},
            "required": [RESULT],
        }
    )


class _Schemas:
    """Schemas of types in one document: those that they name stand in its `$defs`."""

    def __init__(self, function: ServedFunction) -> None:
        self._table = function.program.table
        self._defined: JsonObject = {}

    def of(self, type: Type) -> JsonObject:
        """The schema of a type, without what it names."""
        schema = json_schema(type, self._table)
        schema.pop("$schema", None)
        defined = schema.pop("$defs", {})
        if isinstance(defined, dict):
            self._defined.update(defined)
        return schema

    def closed(self, schema: JsonObject) -> JsonObject:
        """A schema with all that the types in it name."""
        found: JsonObject = {"$schema": DIALECT, **schema}
        return {**found, "$defs": self._defined} if self._defined else found


def _annotations(function: ServedFunction) -> types.ToolAnnotations:
    """What a call does at most, by the `effects` that programs declare of Python's functions. A function that
    calls none only computes and asks models."""
    program = function.program
    reached = [program.codes[at].extern for at in reached_codes(program, function.code)]
    effects = {extern.effect for extern in reached if extern is not None}
    writes = "write" in effects
    return types.ToolAnnotations(read_only_hint=not writes, open_world_hint=bool(effects - {"pure"}))


def _plain(schema: JsonObject) -> dict[str, object]:
    """A schema as the package takes it: numbers as Python's JSON has them."""
    found = json.loads(write_json(schema))
    assert isinstance(found, dict)
    return found
