"""What is malformed is refused as such, at its path, and options have no other values than theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError, UnsupportedConstraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import SchemaError, UnsupportedSchema
from sglc.schema.core.options import SchemaOptions

TWICE = {"$defs": {"a": {"$anchor": "x", "type": "null"}, "b": {"$anchor": "x"}}}
MALFORMED: list[tuple[Any, str]] = [
    ({"pattern": "(a"}, "#/pattern"),
    ({"patternProperties": {"[b": True}}, "#/patternProperties/[b"),
    ({"dependentRequired": {"a": "bcd"}}, "#/dependentRequired/a"),
    ({"dependencies": {"a": "bcd"}}, "#/dependencies/a"),
    ({"$id": 5}, "#/$id"),
    ({"properties": {"a": {"$anchor": 5}}}, "#/properties/a/$anchor"),
    ({"$defs": 5}, "#/$defs"),
    ({"definitions": []}, "#/definitions"),
    ({"$defs": {"a": {"type": "strin"}}}, "#/$defs/a/type"),
    ({"$defs": {"a": {"$defs": {"b": {"items": {"minItems": -1}}}}}}, "#/$defs/a/$defs/b/items/minItems"),
    ({"$defs": {"a": 5}}, "#/$defs/a"),
]


@pytest.mark.parametrize(("schema", "path"), MALFORMED, ids=str)
def test_malformed(schema: Any, path: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert caught.value.path == path
    with pytest.raises(ConstraintError) as shown:
        compile_constraint(json_schema=schema)
    assert not isinstance(shown.value, UnsupportedConstraint)
    assert shown.value.position == path


@pytest.mark.parametrize("index", ["00", "01", "2", "-", "-1", "+1", "1" * 5_000, "٠"])
def test_a_place_of_a_list_is_written_in_one_way(index: str) -> None:
    schema = {"allOf": [{"type": "array"}, True], "items": {"$ref": f"#/allOf/{index}"}}
    with pytest.raises(SchemaError, match="leads nowhere") as caught:
        compile_schema(schema)
    assert caught.value.path == "#/items/$ref"


def test_an_anchor_stands_at_one_place() -> None:
    with pytest.raises(SchemaError, match="'x' is there twice") as caught:
        compile_schema(TWICE)
    assert caught.value.path in ("#/$defs/a/$anchor", "#/$defs/b/$anchor")
    other = {"$id": "http://x.example/other", "$anchor": "x"}
    compile_schema({"$defs": {"a": {"$anchor": "x"}, "b": other}, "$ref": "#x"})


def test_definitions_that_nothing_leads_to_need_no_references() -> None:
    compile_schema({"$defs": {"a": {"$ref": "http://nowhere.example"}}, "type": "null"})
    shared = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "null"}}}
    compile_schema(shared)
    # Words of names are annotations where the draft does not have them.
    compile_schema({"$defs": 5, "$anchor": 5}, SchemaOptions(draft="7"))


@pytest.mark.parametrize(
    ("schema", "keyword", "path"),
    [
        ({"pattern": r"(a*)b\1"}, "pattern", "#/pattern"),
        ({"patternProperties": {r"(a*)b\1": True}}, "patternProperties", r"#/patternProperties/(a*)b\1"),
    ],
)
def test_patterns_that_are_not_regular_are_not_malformed(schema: Any, keyword: str, path: str) -> None:
    with pytest.raises(UnsupportedSchema) as caught:
        compile_schema(schema)
    assert (caught.value.keyword, caught.value.path) == (keyword, path)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("spacing", "pretty", "'canonical', 'compact' or 'flexible'"),
        ("order", "anything", "'declared' or 'any'"),
        ("spelling", "x", "'canonical' or 'any'"),
        ("numbers", 1, "'canonical', 'any' or None"),
        ("draft", "3", "'4', '6', '7', '2019-09' or '2020-12'"),
        ("draft", ["7"], "'4', '6'"),
        ("blanks", -1, "from 0 up"),
        ("blanks", True, "from 0 up"),
        ("formats", "no", "True or False"),
        ("distinct", None, "True or False"),
        ("resources", [], "URIs"),
        ("limits", 5, "SchemaLimits"),
    ],
)
def test_options(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(ValueError, match=name) as caught:
        SchemaOptions(**{name: value})
    assert allowed in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"choices": [1, 2]},
        {"choices": "ab"},
        {"choices": 5},
        {"choices": [None]},
        {"regex": 5},
        {"regex": b"a"},
        {"grammar": 5},
        {"type": 5},
        {"language": "a"},
    ],
    ids=str,
)
def test_constraints_of_other_types_are_no_constraints(given: Any) -> None:
    with pytest.raises(TypeError, match="must be"):
        compile_constraint(**given)


def test_rows_that_do_not_fit_are_refused_with_what_is_needed() -> None:
    words = Vocabulary([b"a", b"b"])
    matcher = compile_constraint(choices=["a"]).matcher(words)
    good = np.zeros(1, np.int32)
    frozen = np.zeros(1, np.int32)
    frozen.flags.writeable = False
    for bad in (np.zeros(2, np.int32), np.zeros(1, np.int64), np.zeros((1, 1), np.int32), frozen, [0], None):
        with pytest.raises(ValueError, match=r"numpy array int32\[1\]"):
            matcher.fill_mask(bad)  # type: ignore[arg-type]
        matcher.fill_mask(good)
        assert good[0] == 1
