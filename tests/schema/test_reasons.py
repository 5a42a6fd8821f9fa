"""Schemas that no value satisfies: they are refused, with the reason and the path where it is near."""

from __future__ import annotations

from typing import Any

import pytest

from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import Unsatisfiable

TO_A, TO_B = {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}
ARRAY = {"type": "array", "uniqueItems": True}
CASES: list[tuple[Any, str, str]] = [
    (False, "it is false", "#"),
    ({"type": "integer", "minimum": 5, "maximum": 3}, "the minimum 5 is above the maximum 3", "#"),
    ({"type": "integer", "minimum": 1.2, "maximum": 1.8}, "no such number lies between 1.2 and 1.8", "#"),
    ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength 5 is above maxLength 3", "#"),
    ({"type": "array", "minItems": 2, "maxItems": 1}, "minItems 2 is above maxItems 1", "#"),
    ({"type": "object", "minProperties": 2, "maxProperties": 1}, "minProperties 2 is above", "#"),
    ({"type": "string", "pattern": "^a", "format": "ipv4"}, "no string satisfies all", "#"),
    ({"enum": []}, "enum has no values", "#"),
    ({"enum": ["a", 2], "type": "boolean"}, "no value of enum is of type boolean", "#"),
    ({"enum": [1, 2], "minimum": 3}, "no value of enum satisfies what else is asked", "#"),
    ({"const": 1, "type": "string"}, "is not of type string", "#"),
    ({"allOf": [{"type": "string"}, {"type": "null"}]}, "of type string and of type null", "#/allOf/0"),
    ({"type": "null", "not": {"type": "null"}}, "'not' leaves nothing", "#"),
    ({"anyOf": [False, False]}, "'anyOf' leaves nothing", "#"),
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, "'a' is required and cannot", "#"),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, "'a' is required and cannot", "#"),
    ({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}, "'a' is required", "#"),
    (
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "null", "enum": [5]}}},
        "is not of type null",
        "#/properties/a",
    ),
    ({"type": "array", "minItems": 2, "items": False}, "there must be 2 items, and item 0 cannot be", "#"),
    (
        {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "boolean"}},
        "there must be 3 items, for which there are too few values",
        "#",
    ),
    ({"type": "array", "minItems": 4, "uniqueItems": True, "items": {"enum": [1, 2, 3]}}, "4 items", "#"),
    (
        {**ARRAY, "minItems": 3, "prefixItems": [{"enum": [1, 2]}] * 3, "items": False},
        "3 items",
        "#",
    ),
]


@pytest.mark.parametrize(("schema", "reason", "path"), CASES, ids=lambda value: str(value)[:60])
def test_reasons(schema: Any, reason: str, path: str) -> None:
    with pytest.raises(Unsatisfiable) as caught:
        compile_schema(schema)
    assert reason in caught.value.reason
    assert caught.value.path == path
    with pytest.raises(ConstraintError, match="no JSON value satisfies"):
        compile_constraint(json_schema=schema)


def test_arrays_with_just_enough_values_are_taken() -> None:
    for schema in (
        {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"type": "boolean"}},
        {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"enum": [1, 2, 3]}},
        {**ARRAY, "minItems": 2, "prefixItems": [{"enum": [1, 2]}, {"const": 1}], "items": False},
    ):
        assert not compile_constraint(json_schema=schema).is_empty


def test_an_array_without_enough_values_is_taken_out_of_alternatives() -> None:
    few = {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "boolean"}}
    assert not compile_constraint(json_schema={"anyOf": [few, {"type": "null"}]}).is_empty


def test_what_only_masks_find_empty_is_refused_too() -> None:
    schema = {
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
        "items": {"enum": [1, 2, 3]},
        "contains": {"const": 1},
        "minContains": 2,
        "uniqueItems": True,
    }
    with pytest.raises(ConstraintError, match="no JSON value satisfies"):
        compile_constraint(json_schema=schema)


def test_reasons_that_lead_back_to_themselves_end() -> None:
    near = {"required": ["x", "b"], "type": "object", "properties": {"x": {"$ref": "#"}, "b": False}}
    schema = {"type": "object", "required": ["a", "c"], "properties": {"a": near, "c": False}}
    with pytest.raises(Unsatisfiable, match="is required and cannot have a value"):
        compile_schema(schema)
    for first in ("a", "b"):
        loop = {
            "$ref": f"#/$defs/{first}",
            "$defs": {
                "a": {"type": "object", "required": ["b", "z"], "properties": {"b": TO_B, "z": False}},
                "b": {"type": "object", "required": ["a", "z"], "properties": {"a": TO_A, "z": False}},
            },
        }
        with pytest.raises(Unsatisfiable, match="is required and cannot have a value"):
            compile_schema(loop)
