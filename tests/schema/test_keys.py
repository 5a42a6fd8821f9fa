"""`propertyNames` that are no regular set, and the metaschemas, which have such names."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_specifications import REGISTRY

from sglc.automata.analysis.membership import is_word
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import UnsupportedConstraint
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions
from sglc.schema.reading.metaschemas import metaschema

DEFAULT = SchemaOptions()
NULL = {"type": "null"}
NAMES = {"type": "object", "propertyNames": {"format": "regex"}}


def accepted(schema: Any, texts: list[str], options: SchemaOptions = DEFAULT) -> list[bool]:
    language = compile_schema(schema, options)
    return [is_word(language, text) for text in texts]


def test_names_may_be_of_a_format_that_is_a_grammar() -> None:
    texts = ["{}", '{"a": 1}', '{"a(b)*": 1, "c": 2}', '{"(": 1}', '{"a": 1, "(": 2}', '{"a": 1 }']
    assert accepted(NAMES, texts) == [True, True, True, False, False, False]
    loose = SchemaOptions(spelling="any", spacing="flexible")
    assert accepted(NAMES, ['{ "\\u0061" : 1 , "b":2 }', '{"\\u0028":1}'], loose) == [True, False]


def test_other_keywords_beside_such_names() -> None:
    values = {**NAMES, "additionalProperties": {"type": "integer"}, "maxProperties": 1, "minProperties": 1}
    assert accepted(values, ['{"a": 1}', '{"a": "b"}', "{}", '{"a": 1, "b": 2}']) == [
        True,
        False,
        False,
        False,
    ]
    closed = {**NAMES, "properties": {"a": True, "(": True}, "additionalProperties": False}
    assert accepted(closed, ["{}", '{"a": 1}', '{"(": 1}']) == [True, True, False]
    either = {"type": "object", "propertyNames": {"anyOf": [{"format": "regex"}, {"const": "("}]}}
    assert accepted(either, ['{"(": 1, "[a]": 2}', '{"((": 1}']) == [True, False]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"propertyNames": {"format": "regex"}, "minProperties": 2}}},
        {"properties": {"a": {"propertyNames": {"format": "regex"}, "properties": {"b": True}}}},
        {
            "properties": {
                "a": {"propertyNames": {"format": "regex"}, "patternProperties": {"^b": {"type": "null"}}}
            }
        },
        {"properties": {"a": {"not": {"propertyNames": {"format": "regex"}}}}},
    ],
)
def test_what_cannot_be_kept_is_refused_where_it_stands(schema: Any) -> None:
    with pytest.raises(UnsupportedConstraint, match=r"propertyNames.*#/properties/a"):
        compile_constraint(json_schema=schema)
    with pytest.raises(UnsupportedConstraint, match="propertyNames"):
        compile_constraint(json_schema=NAMES, schema_options=SchemaOptions(distinct=True))


def test_different_strings_of_a_format_that_is_a_grammar() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "format": "regex"}}
    assert accepted(schema, ['["a", "b"]', '["a", "a"]', '["("]']) == [True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    "uri",
    [
        "http://json-schema.org/draft-04/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ],
)
def test_metaschemas_are_schemas(uri: str) -> None:
    assert metaschema(uri) is not None
    schema = {"$ref": uri}
    texts = ['{"patternProperties": {"a+": {"type": "object"}}}', '{"type": "strin"}', '{"minLength": -1}']
    assert accepted(schema, texts) == [True, False, False]
    assert not compile_constraint(json_schema=schema).is_empty
    if "draft-04" not in uri and "draft-06" not in uri:
        assert accepted(schema, ['{"patternProperties": {"a(": {}}}']) == [False]


def test_metaschemas_have_the_keywords_of_the_standard() -> None:
    for uri in REGISTRY:
        ours = metaschema(uri.removesuffix("#"))
        if "draft-03" in uri:
            assert ours is None
            continue
        assert ours is not None
        # The published draft 7 has `writeOnly`; the copy in the package has not.
        keywords = set(REGISTRY.contents(uri).get("properties", ())) | {"writeOnly"}
        assert set(ours.get("properties", ())) | {"writeOnly"} == keywords, uri


def test_names_that_are_only_required_stand_in_the_order_of_required() -> None:
    schema = {
        "required": ["b", "d", "a"],
        "properties": {"c": True},
        "type": "object",
        "additionalProperties": NULL,
    }
    first = '{"c": 1, "b": null, "d": null, "a": null}'
    assert accepted(schema, [first, '{"b": null, "d": null, "a": null}']) == [True, True]
    assert accepted(
        schema, ['{"a": null, "b": null, "d": null}', '{"b": null, "d": null, "c": 1, "a": null}']
    ) == [
        False,
        False,
    ]
    both = {
        "type": "object",
        "allOf": [{"required": ["z", "y"]}, {"required": ["x", "y"]}],
        "maxProperties": 3,
    }
    assert accepted(both, ['{"z": 1, "y": 2, "x": 3}', '{"x": 3, "y": 2, "z": 1}']) == [True, False]
    inner = {"items": {"type": "object", "required": ["y", "z"], "maxProperties": 2}}
    assert accepted({**both, "properties": {"x": inner}}, ['{"x": [{"y": 1, "z": 1}], "z": 1, "y": 2}']) == [
        True
    ]
