"""The target `json-schema`: judged by the package jsonschema, and read back by the language itself."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from judges.json_reading import Undecided, Validator, is_of_type
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets.json_schema import write_types
from sglc.types.schema_language import SchemaTextError
from sglc.types.text.plain_json import dumps, parse_json, write_json
from sglc.types.type import (
    AliasType,
    FieldType,
    Float,
    Int,
    Json,
    Named,
    Optional,
    RecordType,
    Str,
    Type,
    TypeTable,
    matching,
)
from strategies.near_misses import edited
from strategies.typed_values import SEEDS, types, values_of


def validator_of(type: Type, table) -> jsonschema.protocols.Validator:
    written = write_types({**table, "It": AliasType("It", type)})
    assert not written.losses
    schema = {**json.loads(written.text, parse_float=Decimal), "$ref": "#/$defs/It"}
    Validator.check_schema(json.loads(json.dumps(schema, default=float)))
    return Validator(schema)


def accepts(type: Type, data: object, table=None) -> bool:
    return validator_of(type, table or {}).is_valid(data)


@pytest.mark.slow
@settings(max_examples=examples(24), suppress_health_check=list(HealthCheck))
@given(types(), SEEDS, st.data())
def test_a_schema_accepts_exactly_the_values(case, seed, data) -> None:
    type, table = case
    validator = validator_of(type, table)
    dice = random.Random(seed)
    value = parse_json(dumps(data.draw(values_of(type, table)), type, table))
    assert validator.is_valid(value)
    for _ in range(4):
        other = edited(dice, value)
        with suppress(Undecided):
            assert validator.is_valid(other) == is_of_type(other, type, table), other


@pytest.mark.parametrize(("type", "nullable"), [(Int(), False), (Optional(Int()), True)])
def test_null_stands_for_a_field_that_may_be_null(type: Type, nullable: bool) -> None:
    """A field that may be absent is not null unless its type says so."""
    table: TypeTable = {"R": RecordType("R", (FieldType("x", type, True, False, None, ""),), "")}
    assert accepts(Named("R"), {}, table) and accepts(Named("R"), {"x": 1}, table)
    assert accepts(Named("R"), {"x": None}, table) is nullable
    assert is_of_type({"x": None}, Named("R"), table) is nullable


PATTERNS = [
    (r"(?i)straße", ("STRASSE", "Straße", "STRAẞE", "straße\n", "strasse")),
    (r"\d+", ("12", "1２", "１２", "12\n", "")),
    (r"\s", (" ", "\t", "\u00a0", "\u2028", "\ufeff")),
    (r".", ("a", "\r", "\u2028", "\n", "😀", "ab")),
    (r"\w+", ("abc", "é", "a_1", "a b")),
    (r"\p{Lu}[^\p{L}]", ("É1", "é1", "Éa", "A😀")),
    (r"\bfoo\b.*\Boo", ("foo moo", "foo oo", "foomoo")),
    (r"(?!The )[A-Z][a-z]+ x", ("The x", "Ann x", "Ann  x")),
    (r"(?<=^|x)a.*(?<!b|cd)", ("a", "ab", "acd", "ad")),
    (r"(?m)^a$\nb", ("a\nb", "a\n b", "ab")),
    (r"([ab])-\1", ("a-a", "a-b", "b-b")),
    (r"[\[\]^\-\\&~|/]{2}", ("[]", "^-", "\\&", "~|", "ab", "//")),
    (r"[\x00-\x1f]?[😀-😅]", ("😀", "\x01😃", "😆")),
]


@pytest.mark.parametrize(("pattern", "texts"), PATTERNS, ids=[pattern for pattern, _ in PATTERNS])
def test_a_pattern_means_the_same_in_another_dialect(pattern: str, texts: tuple[str, ...]) -> None:
    type = matching(pattern)
    told = {text: accepts(type, text) for text in texts}
    assert told == {text: is_of_type(text, type, {}) for text in texts}
    assert len(set(told.values())) == 2, "the texts tell the dialects apart"


@pytest.mark.parametrize(
    ("type", "texts"),
    [
        (Str(until=("<<",)), ("a", "a<<b", "a<", "<")),
        (Str(until=("aba",)), ("ab", "a", "b", "xab", "abac", "xa")),
        (Str(until=("ab", "bc")), ("a", "b", "xb", "ab")),
        (Str(excludes=("a.c",)), ("abc", "a.c", "xa.cx")),
        (Str(layout="line", until=("\n",)), ("a", "a\n", "\x85", "é")),
    ],
)
def test_what_a_text_may_not_hold_is_said(type: Str, texts: tuple[str, ...]) -> None:
    told = {text: accepts(type, text) for text in texts}
    assert told == {text: is_of_type(text, type, {}) for text in texts}
    assert len(set(told.values())) == 2


def test_a_float_with_one_bound_has_the_other_that_holes_have() -> None:
    type = Float(minimum=Decimal(0))
    told = {value: accepts(type, value) for value in (10**18, 10**18 + 1000, 0, -1)}
    assert told == {value: is_of_type(value, type, {}) for value in told}
    assert list(told.values()) == [True, False, True, False]


@pytest.mark.parametrize(
    ("schema", "lost"),
    [
        ('{"type": "string", "minLength": 2}', ""),
        ('{"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}', ""),
        ('{"properties": {"format": {"type": "string"}}}', ""),
        ('{"type": "string", "format": "date"}', "`format` in a JSON Schema"),
        (
            '{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}',
            "a JSON Schema of another draft",
        ),
    ],
)
def test_a_schema_in_a_type_is_kept_or_lost(schema: str, lost: str) -> None:
    written = write_types({"It": AliasType("It", Json(schema))})
    assert [loss.construct for loss in written.losses] == [lost] * bool(lost)
    assert ("$comment" in written.text) == bool(lost)
    if not lost:
        assert accepts(Json(schema), "abc") == is_of_type("abc", Json(schema), {})
        assert accepts(Json(schema), "a") == is_of_type("a", Json(schema), {})


@pytest.mark.slow
@given(types(), st.data())
@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
def test_what_is_written_is_read_as_the_same_type(case, data) -> None:
    """A schema in `$defs` is a type of the language again, `json schema`, with the same values."""
    type, table = case
    written = json.loads(write_types({**table, "It": AliasType("It", type)}).text, parse_float=Decimal)
    again = Json(write_json({**written, "$ref": "#/$defs/It"}, indent=2))
    value = parse_json(dumps(data.draw(values_of(type, table)), type, table))
    dice = random.Random(data.draw(SEEDS))
    for other in (value, edited(dice, value), edited(dice, value)):
        try:
            mine = is_of_type(other, type, table)
            assert is_of_type(other, again, {}) == mine, other
        except (SchemaTextError, Undecided):
            assume(False)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sgl")), ids=lambda path: path.stem)
def test_the_examples_give_schemas(path) -> None:
    text, _ = write_target(
        Source(str(path), path.read_text(encoding="utf-8")), "json-schema", allow_wider=True
    )
    assert text
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
