"""Random schemas and random instances: the language accepts exactly what the jsonschema package validates."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.schema_oracle import accepts
from sglc.automata.term import Language, Nothing
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import SchemaError, SchemaTooLarge, Unsatisfiable, UnsupportedSchema
from sglc.schema.core.options import Draft, SchemaLimits, SchemaOptions

VALIDATORS: dict[Draft, Any] = {
    "4": jsonschema.Draft4Validator,
    "6": jsonschema.Draft6Validator,
    "7": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}
NAMES = st.sampled_from(["a", "b", "ab", "c"])
NUMBERS = st.sampled_from([0, 1, 2, 3, 6, -1, 1.5, 0.5, 2.0])
TEXTS = st.sampled_from(["", "a", "b", "ab", "ba", "abc", "é"])
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(NAMES, TEXTS), inner, max_size=4)
    ),
    max_leaves=8,
)
SEVERAL_VALUES = st.lists(VALUES, min_size=3, max_size=8)
SIZES = st.integers(0, 3)
PATTERNS = st.sampled_from(["a", "^a", "b$", "^[ab]*$", "^.{2}$", "", "c|^$"])
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


YEARS: dict[Draft, int] = {"4": 4, "6": 6, "7": 7, "2019-09": 2019, "2020-12": 2020}


@cache
def values_of_keywords(draft: Draft, depth: int) -> dict[str, st.SearchStrategy[Any]]:
    """What may be written behind each keyword of a schema; `$ref` only where a value has been gone into."""
    year = YEARS[draft]
    inner = schemas(draft, depth - 1) if depth else st.just({})
    child = st.one_of(inner, st.just({"$ref": "#"}), st.just({"$ref": "#/definitions/d"}))
    several = st.lists(inner, min_size=1, max_size=3)
    keywords: dict[str, Any] = {
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
        "minLength": SIZES,
        "maxLength": SIZES,
        "pattern": PATTERNS,
        "minItems": SIZES,
        "maxItems": SIZES,
        "uniqueItems": st.booleans(),
        "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
        "minProperties": SIZES,
        "maxProperties": SIZES,
        "properties": st.dictionaries(NAMES, child, max_size=3),
        "patternProperties": st.dictionaries(PATTERNS, child, max_size=2),
        "additionalProperties": child,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "items": child,
    }
    if year == 4:
        keywords["exclusiveMinimum"] = st.booleans()
        keywords["exclusiveMaximum"] = st.booleans()
    else:
        keywords["exclusiveMinimum"] = NUMBERS
        keywords["exclusiveMaximum"] = NUMBERS
        keywords["const"] = VALUES
        keywords["contains"] = child
        keywords["propertyNames"] = inner
    if year <= 7:
        keywords["dependencies"] = st.dictionaries(
            NAMES, st.one_of(st.lists(NAMES, min_size=1, max_size=2, unique=True), inner), max_size=2
        )
    else:
        keywords["dependentRequired"] = st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True))
        keywords["dependentSchemas"] = st.dictionaries(NAMES, inner, max_size=2)
        keywords["minContains"] = SIZES
        keywords["maxContains"] = SIZES
    if year >= 7:
        keywords["if"] = inner
        keywords["then"] = inner
        keywords["else"] = inner
    if year == 2020:
        # (In 2019-09 jsonschema does not count what additionalProperties {} evaluates.)
        keywords["unevaluatedProperties"] = child
        keywords["unevaluatedItems"] = child
        keywords["prefixItems"] = st.lists(child, min_size=1, max_size=3)
    else:
        keywords["items"] = st.one_of(child, st.lists(child, min_size=1, max_size=3))
        keywords["additionalItems"] = child
    return keywords


@cache
def names_of_keywords(draft: Draft, depth: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(sorted(values_of_keywords(draft, depth))), max_size=4, unique=True)


@cache
@st.composite
def schemas(draw: Any, draft: Draft, depth: int = 3) -> Any:
    """A schema of a few keywords."""
    year = YEARS[draft]
    if year > 4 and draw(st.integers(0, 12)) == 0:
        return draw(st.booleans())
    keywords = values_of_keywords(draft, depth)
    chosen = draw(names_of_keywords(draft, depth))
    if "if" in chosen:
        chosen += [word for word in ("then", "else") if word not in chosen]
    if year == 4:
        pairs = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
        chosen += [other for word, other in pairs if word in chosen and other not in chosen]
    schema = {word: draw(keywords[word]) for word in chosen}
    if not isinstance(schema.get("items"), list):
        schema.pop("additionalItems", None)  # without a meaning, and jsonschema trips over it
    return schema


def compiled(schema: Any, options: SchemaOptions) -> Language:
    """The language; without a word where nothing satisfies the schema; what is refused is passed over."""
    try:
        return compile_schema(schema, options)
    except Unsatisfiable:
        return Language(Nothing())
    except (UnsupportedSchema, SchemaTooLarge):
        assume(False)
        raise


@pytest.mark.slow
@pytest.mark.parametrize("draft", VALIDATORS)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_language_holds_the_valid_instances(draft: Draft, data: st.DataObject) -> None:
    schema = data.draw(schemas(draft))
    definition = data.draw(schemas(draft, 1))
    if isinstance(schema, dict):
        schema = {**schema, "definitions": {"d": definition}}
    options = SchemaOptions(
        draft=draft, order="any", spelling="any", formats=False, limits=SchemaLimits(work=3_000, domain=16)
    )
    try:
        language = compiled(schema, options)
    except SchemaError as fault:
        assert "refers to itself" in fault.reason or "leads nowhere" in fault.reason
        assume(False)
        raise
    validator = VALIDATORS[draft](schema)
    for value in data.draw(SEVERAL_VALUES):
        assert accepts(language, value) == validator.is_valid(value), value
