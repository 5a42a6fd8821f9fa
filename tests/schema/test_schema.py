"""JSON Schema as languages: which values are accepted, keyword by keyword, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checkout import DOCS
from oracles.schema_oracle import Pairs, accepts
from oracles.term_oracle import accepts as accepts_text
from sglc.automata.term import Arm, Array, Bytes, Choice, Counter, Object, Property, Rule, Sequence, Words
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError, UnsupportedConstraint
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import SchemaError, SchemaFault, SchemaTooLarge, Unsatisfiable, UnsupportedSchema
from sglc.schema.core.options import Draft, SchemaLimits, SchemaOptions
from supported.json_schema import page

FREE = SchemaOptions(order="any", spelling="any")


def check(schema: Any, good: list[Any], bad: list[Any], options: SchemaOptions = FREE) -> None:
    language = compile_schema(schema, options)
    assert [value for value in good if not accepts(language, value)] == []
    assert [value for value in bad if accepts(language, value)] == []


CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "anything": ({}, [None, 1, "x", [1], {"a": []}], []),
    "types": ({"type": ["null", "integer"]}, [None, 1, 1.0], [1.5, "a", True, []]),
    "enum": ({"enum": [1, "a", None, [1], {"x": 1}]}, [1, 1.0, "a", None, [1], {"x": 1}], [2, "b", True, []]),
    "const": ({"const": {"a": 1, "b": 2}}, [{"b": 2, "a": 1}], [{"a": 1}, {"a": 1, "b": 2, "c": 3}]),
    "bounds": ({"minimum": 1, "exclusiveMaximum": 3}, [1, 2.5, "x"], [0.99, 3, 10]),
    "steps": ({"multipleOf": 0.01}, [0, 1.25, -3.07], [0.001, 1.255]),
    "steps of both kinds": ({"multipleOf": 2, "not": {"multipleOf": 3}}, [2, 4, -8], [6, 3, 0, 1]),
    "length": ({"minLength": 2, "maxLength": 3}, ["ab", "é😀", 5], ["a", "abcd"]),
    "pattern": ({"pattern": "fo+x"}, ["a fox b", "foox"], ["fx", ""]),
    "strings": (
        {"type": "string", "pattern": "^a", "not": {"pattern": "b$"}, "maxLength": 3},
        ["a", "abc"],
        ["ab", "ba", "abca"],
    ),
    "format": ({"format": "date"}, ["2024-02-29", 3], ["2023-02-29", "x"]),
    "format regex beside an enumeration": (
        {"format": "regex", "enum": ["a", "(", "[a]+", 1]},
        ["a", 1],
        ["("],
    ),
    "format regex beside plain characters": (
        {"type": "string", "minLength": 2, "format": "regex", "pattern": "^[0-9:.]*$"},
        ["1.", "::"],
        ["1", "1a"],
    ),
    "unknown format": ({"format": "colour"}, ["x"], []),
    "items": ({"items": {"type": "integer"}, "maxItems": 2}, [[], [1], [1, 2]], [["a"], [1, 2, 3]]),
    "prefixItems": (
        {"prefixItems": [{"const": 1}, {"const": 2}], "items": False, "minItems": 1},
        [[1], [1, 2]],
        [[], [2], [1, 2, 3]],
    ),
    "contains": (
        {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
        [["a", 1, "b"], ["a", "b", "c"]],
        [["a"], ["a", "b", "c", "d"], []],
    ),
    "unique words": ({"items": {"enum": ["a", "b"]}, "uniqueItems": True}, [["b", "a"]], [["a", "a"]]),
    "unique strings": (
        {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True},
        [[], ["x", "y"]],
        [["x", "x"], ["x", ""], [1]],
    ),
    "unique values": (
        {"items": {"enum": [1, None, [1], {"a": 1}]}, "uniqueItems": True},
        [[1, None, [1], {"a": 1}]],
        [[1, 1.0], [[1], [1]], [2]],
    ),
    "unique by place": (
        {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": False, "uniqueItems": True},
        [["a", 1]],
        [["a", "a"]],
    ),
    "not unique": (
        {"items": {"type": "boolean"}, "not": {"uniqueItems": True}},
        [[True, True], [True, False, True]],
        [[True, False], [], [True]],
    ),
    "required": ({"required": ["a"]}, [{"a": 1}, {"b": 1, "a": 2}, 3], [{}, {"b": 1}]),
    "closed": (
        {
            "properties": {"a": {}},
            "patternProperties": {"^x": {"type": "null"}},
            "additionalProperties": False,
        },
        [{}, {"a": 1, "x1": None}],
        [{"b": 1}, {"x": 1}],
    ),
    "families that overlap": (
        {
            "patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 4}},
            "additionalProperties": {"const": 0},
        },
        [{"a": 5, "b": 1, "ab": 3, "c": 0}],
        [{"ab": 5}, {"ba": 1}, {"c": 1}],
    ),
    "propertyNames": (
        {"propertyNames": {"maxLength": 2, "not": {"const": "no"}}},
        [{"ab": 1, "x": 2}],
        [{"abc": 1}, {"no": 1}],
    ),
    "sizes": (
        {"minProperties": 1, "maxProperties": 2},
        [{"a": 1}, {"a": 1, "b": 2}],
        [{}, {"a": 1, "b": 2, "c": 3}],
    ),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 2}], [{"a": 1}]),
    "dependentSchemas": (
        {"dependentSchemas": {"a": {"properties": {"b": {"type": "null"}}}}},
        [{"b": 1}, {"a": 1}, {"a": 1, "b": None}],
        [{"a": 1, "b": 1}],
    ),
    "one of two keys": (
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        [{"a": 1}, {"b": 1, "c": 2}],
        [{}, {"a": 1, "b": 2}],
    ),
    "one of overlapping ranges": ({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, [0, 4], [1, 2, 3, "a"]),
    "one of overlapping objects": (
        {
            "type": "object",
            "oneOf": [
                {"properties": {"a": {"type": "string"}, "n": {"minimum": 1}}},
                {"properties": {"b": {"type": "string"}, "n": {"maximum": 1}}},
            ],
        },
        [{"n": 0}, {"n": 2}, {"a": 1}, {"b": 1}, {"a": 1, "n": 1}],
        [{}, {"n": 1}, {"a": "x", "b": "y"}, {"a": 1, "b": 1}],
    ),
    "not an object": (
        {"type": "object", "not": {"properties": {"a": {"type": "string"}}, "required": ["a", "b"]}},
        [{}, {"a": "x"}, {"a": 1, "b": 1}],
        [{"a": "x", "b": 1}],
    ),
    "not closed": (
        {"type": "object", "not": {"additionalProperties": {"type": "null"}}},
        [{"a": 1}],
        [{}, {"a": None}],
    ),
    "not items": ({"type": "array", "not": {"items": {"type": "null"}}}, [[1], [None, 2]], [[], [None]]),
    "if then else": (
        {
            "if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
            "then": {"required": ["x"]},
            "else": {"required": ["y"]},
        },
        [{"k": 1, "x": 0}, {"y": 0}, {"k": 2, "y": 0}, 7],
        [{"k": 1}, {"k": 2}, {"k": 1, "y": 0}],
    ),
    "unevaluatedProperties": (
        {
            "properties": {"a": {}},
            "anyOf": [{"properties": {"b": {"const": 1}}, "required": ["b"]}, {"required": ["a"]}],
            "unevaluatedProperties": False,
        },
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
        [{"a": 1, "b": 2}, {"b": 1, "c": 1}, {}],
    ),
    "unevaluatedItems": (
        {"prefixItems": [{}], "contains": {"const": 5}, "unevaluatedItems": {"type": "null"}},
        [[1, 5, None], [5], [5, 5]],
        [[1, 5, 2], [1]],
    ),
    "recursion": (
        {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}, "additionalProperties": False},
        [{}, {"v": 1, "next": {"next": {"v": 2}}}],
        [{"next": {"v": "x"}}, {"other": 1}],
    ),
    "the complement of recursion": (
        {
            "not": {"$ref": "#/$defs/t"},
            "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}, "v": {"type": "null"}}}},
        },
        [{"v": 1}, {"t": {"t": {"v": 1}}}],
        [{}, {"v": None}, {"t": {"v": None}}, 3],
    ),
    "anchors": (
        {"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "string"}}},
        ["a"],
        [1],
    ),
    "embedded resources": (
        {
            "$id": "https://example.org/root",
            "items": {"$ref": "part#/$defs/n"},
            "$defs": {"p": {"$id": "part", "$defs": {"n": {"type": "number"}}}},
        },
        [[1, 2]],
        [["x"]],
    ),
    "dynamicRef": (
        {
            "$id": "https://example.org/strict",
            "$ref": "tree",
            "$dynamicAnchor": "node",
            "unevaluatedProperties": False,
            "$defs": {
                "tree": {
                    "$id": "tree",
                    "$dynamicAnchor": "node",
                    "properties": {"data": {}, "children": {"items": {"$dynamicRef": "#node"}}},
                }
            },
        },
        [{"data": 1, "children": [{"data": 2}]}],
        [{"children": [{"daat": 2}]}, {"x": 1}],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_keyword_accepts_and_refuses(case: tuple[Any, list[Any], list[Any]]) -> None:
    check(*case)


DRAFTS: dict[str, tuple[Draft, Any, list[Any], list[Any]]] = {
    "integers of draft 4 have no point": ("4", {"type": "integer"}, [1], [1.0, 1.5]),
    "exclusive bounds of draft 4": ("4", {"minimum": 1, "exclusiveMinimum": True}, [1.5], [1]),
    "const is no keyword of draft 4": ("4", {"const": 1}, [2], []),
    "contains is one of draft 6": ("6", {"contains": {"const": 1}}, [[1]], [[2]]),
    "if is none of draft 6": ("6", {"if": True, "then": False}, [1], []),
    "references have no siblings": (
        "7",
        {"$ref": "#/definitions/a", "minimum": 5, "definitions": {"a": {}}},
        [1],
        [],
    ),
    "tuples": ("7", {"items": [{"const": 1}], "additionalItems": {"const": 2}}, [[1, 2, 2]], [[1, 1]]),
    "dependencies": (
        "7",
        {"dependencies": {"a": ["b"], "c": False}},
        [{"a": 1, "b": 1}],
        [{"a": 1}, {"c": 1}],
    ),
    "ids that are anchors": (
        "7",
        {"$ref": "#x", "definitions": {"a": {"$id": "#x", "type": "null"}}},
        [None],
        [1],
    ),
    "recursiveRef": (
        "2019-09",
        {
            "$recursiveAnchor": True,
            "properties": {"a": {"$recursiveRef": "#"}},
            "unevaluatedProperties": False,
        },
        [{"a": {"a": {}}}],
        [{"a": {"b": 1}}],
    ),
}


@pytest.mark.parametrize("case", DRAFTS.values(), ids=DRAFTS.keys())
def test_drafts_differ(case: tuple[Draft, Any, list[Any], list[Any]]) -> None:
    draft, schema, good, bad = case
    check(schema, good, bad, SchemaOptions(draft=draft, order="any", spelling="any"))


def test_the_schema_names_its_draft() -> None:
    check({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}, [2], [])
    check({"$schema": "https://json-schema.org/draft/2020-12/schema", "const": 1}, [1], [2])
    check({"$schema": "http://json-schema.org/schema#", "const": 1}, [1], [2])


# Spelling and order


def texts(schema: Any, good: list[str], bad: list[str], **options: Any) -> None:
    language = compile_schema(schema, SchemaOptions(**options))
    assert [text for text in good if not accepts_text(language, text.encode())] == []
    assert [text for text in bad if accepts_text(language, text.encode())] == []


PAIR = {
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
    "additionalProperties": False,
    "type": "object",
}


def test_order() -> None:
    texts(PAIR, ['{"a": 1, "b": "x"}', '{"b": "x"}', "{}"], ['{"b": "x", "a": 1}', '{"a": 1, "a": 1}'])
    texts(PAIR, ['{"b": "x", "a": 1}'], ['{"a": 1, "a": 1}'], order="any")


def test_declared_order_is_that_of_properties_then_of_what_is_required() -> None:
    schema = {"required": ["z", "b"], "properties": {"b": {"const": 1}, "a": {"const": 1}}, "type": "object"}
    schema["additionalProperties"] = {"const": 0}
    texts(schema, ['{"b": 1, "a": 1, "z": 0, "y": 0}'], ['{"z": 0, "b": 1}', '{"a": 1, "b": 1, "z": 0}'])


def test_spacing() -> None:
    texts(PAIR, ['{"a": 1, "b": "x"}'], ['{"a":1,"b":"x"}', '{"a": 1,"b": "x"}'])
    texts(PAIR, ['{"a":1,"b":"x"}'], ['{"a": 1, "b": "x"}'], spacing="compact")
    free = ['{"a":1,"b":"x"}', '{ "a" : 1 ,\n "b": "x"}', "{ }", '{"a": 1}']
    texts(PAIR, free, ["{" + " " * 9 + '"a":1}', '\f{"a":1}'], spacing="flexible")
    texts(
        {"type": "array", "items": {"const": 1}}, ["[1 ,1]", "[ ]", "[\n1\n]"], ["[1 1]"], spacing="flexible"
    )


def test_spelling() -> None:
    schema = {"enum": ["aé\n", 10, 0.5]}
    texts(schema, ['"aé\\n"', "10", "0.5"], ['"a\\u00e9\\n"', "1e1", "10.0", "0.50"])
    texts(schema, ['"aé\\n"', '"a\\u00E9\\u000a"', "10.0", "0.50"], ["11"], spelling="any")
    texts({"type": "integer"}, ["7"], ["7.0"], spelling="any", numbers="canonical")


def test_strings_in_one_spelling_escape_what_they_must() -> None:
    texts({"type": "string"}, ['"\\"\\\\/\\n\\u0001"'], ['"\\/"', '"\\u0041"', '"\n"'])


# Terms


def test_terms_are_plain() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"enum": ["x", None]}, "b": {"$ref": "#"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    language = compile_schema(schema)
    inside = Object(
        (Property("a", (Arm(Words(frozenset({b'"x"', b"null"}))),)), Property("b", (Arm(Rule("#")),))),
        clauses=(frozenset({(0, True)}),),
    )
    assert language.root == Rule("#")
    assert dict(language.rules) == {"#": Sequence((Bytes(b"{"), inside, Bytes(b"}")))}


def test_contains_is_a_counter() -> None:
    schema = {"type": "array", "items": {"type": ["boolean"]}, "contains": {"const": True}, "maxContains": 2}
    true, false = Bytes(b"true"), Bytes(b"false")
    inside = Array((), (Arm(true, (0,)), Arm(false)), counters=(Counter(1, 2),))
    assert compile_schema(schema).root == Sequence((Bytes(b"["), inside, Bytes(b"]")))


def test_branches_of_different_types_stay_apart() -> None:
    language = compile_schema({"oneOf": [{"type": "null"}, {"type": "array", "maxItems": 0}]})
    assert isinstance(language.root, Choice) and language.root.arms[0] == Bytes(b"null")


def test_keys_that_could_hide_another_must_differ() -> None:
    schema = {"type": "object", "minProperties": 2, "additionalProperties": {"type": "null"}}
    language = compile_schema(schema)
    assert accepts(language, Pairs([("a", None), ("b", None)]))
    assert not accepts(language, Pairs([("a", None), ("a", None)]))


# What is refused


FAULTS: dict[str, tuple[Any, type[SchemaFault], str, str]] = {
    "an unknown type": ({"type": "text"}, SchemaError, "#/type", "no type"),
    "a number for a schema": ({"properties": {"a": 1}}, SchemaError, "#/properties/a", "object or a boolean"),
    "a bound that is no number": ({"items": {"minimum": "1"}}, SchemaError, "#/items/minimum", "number"),
    "a size below zero": ({"minItems": -1}, SchemaError, "#/minItems", "not negative"),
    "a list of no strings": ({"required": "a"}, SchemaError, "#/required", "list of strings"),
    "a key with a slash": (
        {"properties": {"a/b": {"enum": 1}}},
        SchemaError,
        "#/properties/a~1b/enum",
        "list",
    ),
    "a lost reference": ({"items": {"$ref": "#/$defs/x"}}, SchemaError, "#/items/$ref", "leads nowhere"),
    "a foreign reference": ({"$ref": "https://example.org/x"}, SchemaError, "#/$ref", "not given"),
    "a reference to itself": ({"$ref": "#"}, SchemaError, "#", "refers to itself"),
    "a circle": ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, SchemaError, "#", "refers to itself"),
    "an unknown dialect": ({"$schema": "https://example.org/x"}, SchemaError, "#/$schema", "not known"),
    "a broken pattern": ({"pattern": "a("}, SchemaFault, "#/pattern", ""),
    "a pattern that is not regular": ({"pattern": r"(a+)\1"}, UnsupportedSchema, "#/pattern", "pattern"),
    "different objects": (
        {"items": {"type": "object"}, "not": {"uniqueItems": True}},
        UnsupportedSchema,
        "#/not/uniqueItems",
        "finitely many",
    ),
    "nothing": (False, Unsatisfiable, "#", "no JSON value"),
    "nothing by bounds": (
        {"type": "integer", "minimum": 3, "maximum": 2},
        Unsatisfiable,
        "#",
        "no JSON value",
    ),
    "nothing by recursion": (
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        Unsatisfiable,
        "#",
        "no JSON",
    ),
    "nothing by counting": (
        {"type": "array", "maxItems": 1, "contains": {}, "minContains": 2},
        Unsatisfiable,
        "#",
        "",
    ),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_says_what_and_where(case: tuple[Any, type[SchemaFault], str, str]) -> None:
    schema, kind, path, words = case
    with pytest.raises(kind) as caught:
        compile_schema(schema)
    assert caught.value.path == path
    assert words in str(caught.value)


def test_unreachable_definitions_may_ask_for_what_is_not_supported() -> None:
    check({"type": "null", "$defs": {"other": {"pattern": "(a+)\\1", "$ref": "#/none"}}}, [None], [1])


BOMBS = {
    "many alternatives": {
        "allOf": [
            {"anyOf": [{"properties": {f"{a}{b}": {"const": b}}, "required": [f"{a}{b}"]} for b in range(6)]}
            for a in range(9)
        ]
    },
    "many kinds of keys": {
        "patternProperties": {f"{a}.*{b}": {} for a in "abcdefgh" for b in "ijklmnop"},
        "additionalProperties": False,
    },
    "many counters": {"allOf": [{"contains": {"multipleOf": n}, "maxContains": n} for n in range(2, 40)]},
    "many digits": {"minimum": 10**5000},
    "deep": json.loads('{"items":' * 400 + "{}" + "}" * 400),
}


@pytest.mark.slow
@pytest.mark.parametrize("schema", BOMBS.values(), ids=BOMBS.keys())
def test_bombs_meet_limits(schema: Any) -> None:
    """They are refused as too large or unsupported, or compiled after all; soon, whichever it is."""
    try:
        compile_schema(schema)
    except (SchemaTooLarge, UnsupportedSchema) as fault:
        assert fault.path.startswith("#")


def test_limits_are_options() -> None:
    with pytest.raises(SchemaTooLarge, match="more than 2 subschemas"):
        compile_schema({"items": {"items": {}}}, SchemaOptions(limits=SchemaLimits(schemas=2)))


def test_resources_are_given_never_fetched() -> None:
    options = SchemaOptions(resources={"https://example.org/n": {"type": "number"}})
    check({"items": {"$ref": "https://example.org/n"}}, [[1]], [["a"]], options)


# The door of constraints


def test_constraints_take_schemas() -> None:
    assert not compile_constraint(json_schema={"type": "string"}).is_empty
    with pytest.raises(UnsupportedConstraint) as refused:
        compile_constraint(json_schema={"items": {"not": {"uniqueItems": True}}})
    assert (refused.value.keyword, refused.value.path) == ("uniqueItems", "#/items/not/uniqueItems")
    with pytest.raises(ConstraintError, match="no type") as broken:
        compile_constraint(json_schema={"items": {"type": "text"}})
    assert broken.value.position == "#/items/type"


def test_the_page_of_what_is_supported_is_that_of_the_code() -> None:
    written = DOCS / "json-schema.md"
    assert written.read_text("utf-8") == page()
