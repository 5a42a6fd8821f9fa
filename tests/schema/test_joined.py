"""Unions of objects that are alike but for one value: fewer objects, the same values."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.schema_oracle import accepts
from sglc.automata.term import Choice, Object, Property, Sequence, Term, Text
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions

PARTS: list[Any] = [
    {"type": "integer", "minimum": 1, "maximum": 2},
    {"type": "integer", "minimum": 2, "maximum": 4},
    {"const": "a"},
    {"const": 3},
    {"type": "boolean"},
    {"type": "array", "items": {"const": 1}},
    {},
]
VALUES = st.sampled_from([0, 1, 2, 3, 4, "a", "b", True, None, [], [1], [2], {"x": 1}])
OBJECTS = st.dictionaries(st.sampled_from(["p", "q", "r"]), VALUES, max_size=3)


def closed(schemas: dict[str, Any], required: list[str], rest: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": schemas,
        "required": required,
        "additionalProperties": rest,
    }


def objects_of(term: Term) -> list[Object]:
    match term:
        case Object():
            return [term]
        case Choice(arms):
            return [found for arm in arms for found in objects_of(arm)]
        case Sequence(items):
            return [found for item in items for found in objects_of(item)]
    return []


ARMS = st.lists(
    st.builds(
        closed,
        st.fixed_dictionaries({"p": st.sampled_from(PARTS), "q": st.sampled_from(PARTS)}),
        st.sampled_from([[], ["p"], ["p", "q"]]),
        st.sampled_from([False, {"const": 1}, {"type": "integer"}]),
    ),
    min_size=2,
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(ARMS, st.lists(OBJECTS, min_size=4, max_size=12), st.sampled_from(["anyOf", "oneOf"]))
def test_a_union_of_objects_has_their_values(arms: list[Any], values: list[Any], word: str) -> None:
    schema = {word: arms}
    validator = jsonschema.Draft202012Validator(schema)
    options = SchemaOptions(order="any", spelling="canonical")
    if word == "oneOf" and not any(map(validator.is_valid, values)):
        return
    language = compile_schema(schema, options)
    for value in values:
        assert accepts(language, value) == validator.is_valid(value), value


def test_objects_that_differ_in_one_value_are_one() -> None:
    def arm(kind: str, low: int, rest: Any) -> dict[str, Any]:
        number = {"type": "integer", "minimum": low, "maximum": low + 1}
        return closed({"kind": {"const": kind}, "n": number}, ["kind"], rest)

    language = compile_schema({"anyOf": [arm("a", 1, False), arm("a", 3, False), arm("a", 5, False)]})
    (found,) = objects_of(language.root)
    number = found.properties[1]
    assert isinstance(number, Property) and len(number.arms) == 1
    assert isinstance(number.arms[0].term, Text)
    # What differs in two values, in what is required or in other keys stays apart.
    apart = [arm("a", 1, False), arm("b", 3, False), arm("a", 5, {"type": "null"})]
    apart.append(apart[0] | {"required": ["kind", "n"]})
    assert len(objects_of(compile_schema({"anyOf": apart}).root)) == 4
