"""JSON Schemas that ask for as much work as they can, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any


def strings(**keywords: Any) -> dict[str, Any]:
    return {"type": "string", **keywords}


def objects(properties: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **keywords}


def if_else(depth: int) -> Any:
    schema: Any = {"type": "object"}
    for i in range(depth):
        test = {"properties": {f"k{i}": {"const": i}}, "required": [f"k{i}"]}
        schema = {"if": test, "then": {"properties": {f"v{i}": {"type": "string"}}}, "else": schema}
    return schema


def if_then(depth: int) -> Any:
    schema: Any = {"properties": {"end": {"type": "integer"}}}
    for i in range(depth):
        schema = {
            "if": {"properties": {f"k{i}": {"const": i}}},
            "then": schema,
            "else": {"required": [f"e{i}"]},
        }
    return {"type": "object", **schema}


def if_conditions(count: int) -> Any:
    return {
        "type": "object",
        "allOf": [
            {"if": {"properties": {f"k{i}": {"const": 1}}}, "then": {"required": [f"r{i}"]}}
            for i in range(count)
        ],
    }


def nested(keyword: str, depth: int) -> Any:
    schema: Any = {"type": "string", "minLength": 1}
    for _ in range(depth):
        schema = {keyword: schema} if keyword == "not" else {keyword: [schema, {"type": "integer"}]}
    return schema


def nested_arrays(depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": 2, "maxItems": 3}
    return schema


def nested_objects(depth: int, width: int = 1) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = objects({f"k{i}": schema for i in range(width)}, required=["k0"], additionalProperties=False)
    return schema


def unique(items: Any, **keywords: Any) -> Any:
    return {"type": "array", "uniqueItems": True, "items": items, **keywords}


def patterned(count: int, form: str) -> list[dict[str, Any]]:
    return [{"pattern": form.format(i=i)} for i in range(count)]


def chain(count: int, last: Any) -> Any:
    return {
        "$ref": "#/$defs/d0",
        "$defs": {**{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(count)}, f"d{count}": last},
    }


def doubled_references(count: int) -> Any:
    definitions: dict[str, Any] = {
        f"d{i}": objects(
            {"a": {"$ref": f"#/$defs/d{i + 1}"}, "b": {"$ref": f"#/$defs/d{i + 1}"}}, required=["a", "b"]
        )
        for i in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{count}": {"type": "integer"}}}


POINT = objects({"a": {"type": "string"}, "b": {"type": "integer"}}, required=["a", "b"])
TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": objects({"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}),
    },
}


def _nest(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


SCHEMAS: dict[str, Callable[[], Any]] = {
    "allOf of 500 patterns": lambda: strings(allOf=patterned(500, "^.*x{i}.*$")),
    "allOf of 500 short patterns": lambda: strings(allOf=patterned(500, "a{i}|b[0-9]*{i}")),
    "allOf of 60 patterns": lambda: strings(allOf=patterned(60, "x{i}")),
    "allOf of 12 patterns": lambda: strings(allOf=patterned(12, "x{i}")),
    "anyOf of 500 patterns": lambda: strings(anyOf=patterned(500, "^.*x{i}.*$")),
    "oneOf of 500 patterns": lambda: strings(oneOf=patterned(500, "^.*x{i}.*$")),
    "oneOf of 40 patterns": lambda: strings(oneOf=patterned(40, "x{i}")),
    "not of 300 patterns": lambda: strings(allOf=[{"not": one} for one in patterned(300, "^.*x{i}.*$")]),
    "not anyOf of patterns": lambda: strings(**{"not": {"anyOf": patterned(200, "x{i}.*y{i}")}}),
    "oneOf of 500 objects": lambda: {
        "oneOf": [objects({f"k{i}": {"type": "string"}}, required=[f"k{i}"]) for i in range(500)]
    },
    "oneOf of 500 open objects": lambda: {
        "oneOf": [objects({f"k{i}": {"type": "string"}}) for i in range(500)]
    },
    "oneOf of 60 open objects": lambda: {
        "oneOf": [objects({f"k{i}": {"type": "string"}}) for i in range(60)]
    },
    "oneOf of 500 closed objects": lambda: {
        "oneOf": [
            objects(
                {"kind": {"const": i}, f"k{i}": {"type": "string"}},
                required=["kind"],
                additionalProperties=False,
            )
            for i in range(500)
        ]
    },
    "oneOf of 500 enums": lambda: {"oneOf": [{"enum": [i, i + 1, "x"]} for i in range(500)]},
    "anyOf of 2000 objects": lambda: {
        "anyOf": [objects({f"k{i}": {"type": "string"}}, required=[f"k{i}"]) for i in range(2000)]
    },
    "allOf of 30 anyOf": lambda: {
        "type": "object",
        "allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(30)],
    },
    "allOf of 12 oneOf": lambda: {
        "type": "object",
        "allOf": [
            {"oneOf": [objects({f"a{i}": {"type": "integer"}}, required=[f"a{i}"]), {"required": [f"b{i}"]}]}
            for i in range(12)
        ],
    },
    "allOf of 20 oneOf of values": lambda: {
        "allOf": [
            {"oneOf": [objects({"v": {"minimum": i}}), objects({"v": {"maximum": -i}})]} for i in range(20)
        ]
    },
    "if and else, 60 levels": lambda: if_else(60),
    "if and else, 12 levels": lambda: if_else(12),
    "if and then, 60 levels": lambda: if_then(60),
    "60 conditions": lambda: if_conditions(60),
    "200 conditions": lambda: if_conditions(200),
    "anyOf nested 200": lambda: nested("anyOf", 200),
    "oneOf nested 100": lambda: nested("oneOf", 100),
    "allOf nested 300": lambda: nested("allOf", 300),
    "not nested 300": lambda: nested("not", 300),
    "not nested 2000": lambda: nested("not", 2000),
    "arrays nested 100": lambda: nested_arrays(100),
    "arrays nested 600": lambda: nested_arrays(600),
    "objects nested 140": lambda: nested_objects(140),
    "objects nested 900": lambda: nested_objects(900),
    "objects nested 6, 8 wide": lambda: nested_objects(6, 8),
    "longest minLength": lambda: strings(minLength=16_777_216),
    "minLength and a pattern": lambda: strings(minLength=1_000_000, pattern="^(ab|c)*$"),
    "minLength and a pattern in steps": lambda: strings(
        minLength=1_000_000, pattern="^([a-z]{7}|[0-9]{11})*$"
    ),
    "minLength and a long cycle": lambda: strings(minLength=1_000_000, pattern="^(a{97}|b{101}|c{103})*$"),
    "minLength and words": lambda: strings(
        minLength=1_000_000, pattern="^(" + "|".join(f"k{i}{'x' * (i % 37)}" for i in range(300)) + ")*$"
    ),
    "length exactly, in cycles": lambda: strings(
        minLength=99_991, maxLength=99_991, pattern="^(a{89}|b{97})*$"
    ),
    "length from the end": lambda: strings(minLength=5000, maxLength=6000, pattern="a.{14}$"),
    "bounds of no text": lambda: strings(minLength=2**63, maxLength=2**63),
    "format and a length": lambda: strings(format="email", minLength=200, maxLength=5000),
    "format and a pattern": lambda: strings(format="uri", pattern="^https://.{1,500}[0-9]{5}$"),
    "formats, all": lambda: strings(
        allOf=[{"format": f} for f in ("uri", "iri", "uri-reference", "hostname")]
    ),
    "format regex and a pattern": lambda: strings(format="regex", pattern="^a.*b$"),
    "unique 30 of 30 numbers": lambda: unique({"type": "integer", "minimum": 1, "maximum": 30}, minItems=30),
    "unique 64 of 64 numbers": lambda: unique({"type": "integer", "minimum": 1, "maximum": 64}, minItems=64),
    "unique 30 objects": lambda: unique(POINT, minItems=30, maxItems=30),
    "unique 30 values": lambda: unique({}, minItems=30),
    "unique 30 arrays of enums": lambda: unique(
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3}, minItems=30
    ),
    "unique 64 objects of booleans": lambda: unique(
        objects(
            {k: {"type": "boolean"} for k in "abcdef"}, required=list("abcdef"), additionalProperties=False
        ),
        minItems=64,
    ),
    "unique 60 of 1000": lambda: unique({"enum": [f"v{i}" for i in range(1000)]}, minItems=60),
    "unique 1000 of 1000": lambda: unique({"enum": [f"v{i}" for i in range(1000)]}, minItems=1000),
    "unique numbers, any spelling": lambda: unique({"type": "number"}, minItems=30),
    "unique in unique": lambda: unique(unique({"enum": [1, 2, 3]}), minItems=5),
    "not unique": lambda: {"type": "array", "items": {"type": "integer"}, "not": {"uniqueItems": True}},
    "unique and contains": lambda: unique({"type": "integer"}, contains={"const": 5}, minContains=1),
    "contains 30 counted": lambda: {
        "type": "array",
        "allOf": [{"contains": {"const": i}, "minContains": 2, "maxContains": 5} for i in range(30)],
    },
    "contains 5 counted": lambda: {
        "type": "array",
        "items": {"enum": [0, 1, 2, 3, 4]},
        "allOf": [{"contains": {"const": i}, "minContains": 10, "maxContains": 50} for i in range(5)],
    },
    "contains a million": lambda: {"type": "array", "contains": {"const": 1}, "minContains": 1_000_000},
    "contains, overlapping": lambda: {
        "type": "array",
        "allOf": [{"contains": {"multipleOf": n}, "minContains": n} for n in (2, 3, 5, 7, 11)],
    },
    "items a million": lambda: {"type": "array", "minItems": 1_000_000, "items": {"const": 1}},
    "items beyond all": lambda: {"type": "array", "minItems": 2**31},
    "prefix of 2000": lambda: {
        "type": "array",
        "prefixItems": [{"const": i} for i in range(2000)],
        "minItems": 2000,
    },
    "properties beyond all": lambda: {"type": "object", "minProperties": 2**40},
    "properties a million": lambda: {"type": "object", "minProperties": 1_000_000},
    "2000 properties": lambda: objects({f"k{i}": {"type": "integer"} for i in range(2000)}),
    "2000 required": lambda: objects(
        {f"k{i}": {"type": "integer"} for i in range(2000)}, required=[f"k{i}" for i in range(2000)]
    ),
    "300 properties, some": lambda: objects(
        {f"k{i}": {} for i in range(300)}, minProperties=100, maxProperties=200
    ),
    "dependent 200": lambda: {
        "type": "object",
        "dependentRequired": {f"k{i}": [f"k{i + 1}"] for i in range(200)},
    },
    "dependent schemas 40": lambda: {
        "type": "object",
        "dependentSchemas": {
            f"k{i}": {"required": [f"k{(i * 7) % 40}"], "maxProperties": i + 5} for i in range(40)
        },
    },
    "40 pattern properties": lambda: {
        "type": "object",
        "patternProperties": {f"x{i}": {"type": "integer", "minimum": i} for i in range(40)},
    },
    "12 pattern properties": lambda: {
        "type": "object",
        "patternProperties": {f"x{i}": {"type": "integer", "minimum": i} for i in range(12)},
    },
    "pattern properties that overlap": lambda: {
        "type": "object",
        "patternProperties": {
            f"^.*{c}.*$": {"type": "string", "minLength": n} for n, c in enumerate("abcdefghij")
        },
        "additionalProperties": False,
    },
    "pattern properties of counts": lambda: {
        "type": "object",
        "patternProperties": {f"^.{{{n},1000}}x": {"minimum": n} for n in range(1, 8)},
    },
    "property names": lambda: {"type": "object", "propertyNames": strings(allOf=patterned(30, "x{i}"))},
    "property names of lengths": lambda: {
        "type": "object",
        "propertyNames": {"minLength": 900, "maxLength": 1100, "pattern": "a.*b"},
        "minProperties": 20,
    },
    "property names and patterns": lambda: {
        "type": "object",
        "propertyNames": {"pattern": "^(a|b)*a(a|b){9}$"},
        "patternProperties": {"^a": {"type": "integer"}, "b$": {"type": "string"}, "aa": {"minimum": 3}},
    },
    "unevaluated properties": lambda: {
        "type": "object",
        "anyOf": [objects({f"k{i}": {"type": "integer"}}) for i in range(20)],
        "unevaluatedProperties": False,
    },
    "unevaluated under oneOf": lambda: {
        "type": "object",
        "oneOf": [objects({f"k{i}": {"type": "integer"}}) for i in range(12)],
        "unevaluatedProperties": {"type": "null"},
    },
    "unevaluated items": lambda: {
        "type": "array",
        "anyOf": [{"prefixItems": [{"const": i}] * (i + 1)} for i in range(20)],
        "contains": {"type": "string"},
        "unevaluatedItems": False,
    },
    "unevaluated conditions": lambda: {**if_conditions(12), "unevaluatedProperties": False},
    "a reference to itself": lambda: {"$ref": "#"},
    "references in a circle": lambda: {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "allOf of itself": lambda: {"allOf": [{"$ref": "#"}]},
    "not itself": lambda: {"not": {"$ref": "#"}},
    "a tree": lambda: TREE,
    "a tree that has no end": lambda: {
        "$ref": "#/$defs/t",
        "$defs": {"t": objects({"t": {"$ref": "#/$defs/t"}}, required=["t"])},
    },
    "a chain of 900 references": lambda: chain(900, {"type": "integer"}),
    "a chain of 5000 references": lambda: chain(5000, {"type": "integer"}),
    "references doubled 60 times": lambda: doubled_references(60),
    "a dynamic reference": lambda: {
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"n": {"$dynamicRef": "#node"}},
        "unevaluatedProperties": False,
    },
    "enum of 20000": lambda: {"enum": [f"value number {i}" for i in range(20_000)]},
    "enum of 5000 objects": lambda: {"enum": [{"a": i, "b": [i, str(i)]} for i in range(5000)]},
    "enum and patterns": lambda: {
        "enum": [f"v{i}" for i in range(5000)],
        "allOf": patterned(30, "^v{i}|^v[0-9]*$"),
    },
    "not an enum of 5000": lambda: strings(**{"not": {"enum": [f"v{i}" for i in range(5000)]}}),
    "enum of numbers and steps": lambda: {"enum": list(range(20_000)), "multipleOf": 7},
    "a constant nested 400": lambda: {"const": _nest(400)},
    "steps": lambda: {"type": "integer", "allOf": [{"multipleOf": n} for n in (7, 11, 13, 17)]},
    "not steps": lambda: {"type": "integer", "allOf": [{"not": {"multipleOf": n}} for n in (7, 11, 13)]},
    "a step that is prime": lambda: {"multipleOf": 4999, "minimum": 10**40},
    "a step too large": lambda: {"multipleOf": 10**9 + 7},
    "a step too small": lambda: {"multipleOf": 1e-300, "minimum": 1e300},
    "a step beyond all": lambda: {"multipleOf": Decimal("1E+1000000")},
    "bounds of 900 digits": lambda: {"type": "number", "minimum": -(10**900), "maximum": 10**900 - 7},
    "bounds beyond digits": lambda: {"minimum": 10**5000},
    "not 300 numbers": lambda: {"type": "number", "not": {"enum": list(range(300))}},
    "oneOf of ranges": lambda: {
        "oneOf": [{"type": "number", "minimum": i, "maximum": i + 60} for i in range(80)]
    },
}


ANY_WAY = (
    "2000 required",
    "300 properties, some",
    "dependent 200",
    "60 conditions",
    "allOf of 12 oneOf",
    "unique 30 objects",
    "12 pattern properties",
    "unevaluated properties",
    "objects nested 6, 8 wide",
    "contains 5 counted",
    "a tree",
    "unique numbers, any spelling",
    "allOf of 12 patterns",
    "enum of 5000 objects",
)
"""Schemas whose texts may have any order and spelling as well."""
