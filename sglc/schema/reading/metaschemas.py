"""The metaschemas of the standard, for references to them: which values each keyword of a draft may have.

Made from tables when first asked for. Drafts 2019-09 and 2020-12 are one schema for each vocabulary and one
that joins them, bound together by their recursive (dynamic) references.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject


_TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"]
_STRING: JsonObject = {"type": "string"}
_BOOLEAN: JsonObject = {"type": "boolean"}
_NUMBER: JsonObject = {"type": "number"}
_COUNT: JsonObject = {"type": "integer", "minimum": 0}
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


@cache
def metaschema(uri: str) -> JsonObject | None:
    """The schema that describes a dialect, or one of its vocabularies; None if the URI is none of theirs."""
    if uri == "http://json-schema.org/draft-04/schema":
        return _draft_4(uri)
    for draft in (6, 7):
        if uri == f"http://json-schema.org/draft-0{draft}/schema":
            return _draft_6_or_7(uri, draft)
    for year, name in ((2019, "2019-09"), (2020, "2020-12")):
        base = f"https://json-schema.org/draft/{name}/"
        if uri == base + "schema":
            return _joined(base, year)
        if uri.startswith(base + "meta/"):
            return _vocabulary(base, year, uri.removeprefix(base + "meta/"))
    return None


def _array(items: JsonData, least: int = 0, unique: bool = False) -> JsonObject:
    found: JsonObject = {"type": "array", "items": items}
    if least:
        found["minItems"] = least
    if unique:
        found["uniqueItems"] = True
    return found


def _definitions(names: JsonObject, schemas: JsonData) -> JsonObject:
    """What the standard calls the parts of its metaschemas, so that references to them lead somewhere."""
    counts = dict.fromkeys(("nonNegativeInteger", "nonNegativeIntegerDefault0"), _COUNT)
    return {**counts, "schemaArray": schemas, "simpleTypes": {"enum": _TYPES}, "stringArray": names}


def _map(values: JsonData) -> JsonObject:
    return {"type": "object", "additionalProperties": values}


def _types() -> JsonObject:
    one: JsonObject = {"enum": _TYPES}
    return {"anyOf": [one, _array(one, 1, True)]}


def _texts(*names: str, format: str | None = None) -> JsonObject:
    value: JsonData = _STRING if format is None else {"type": "string", "format": format}
    return dict.fromkeys(names, value)


def _counts(*kinds: str) -> JsonObject:
    return {bound + kind: _COUNT for kind in kinds for bound in ("min", "max")}


def _applicators(self: JsonData, schemas: JsonData) -> JsonObject:
    """Keywords that all drafts share: subschemas, and how they are put together."""
    return {
        "properties": _map(self),
        "patternProperties": _map(self),
        "definitions": _map(self),
        "allOf": schemas,
        "anyOf": schemas,
        "oneOf": schemas,
        "not": self,
        "items": {"anyOf": [self, schemas]},
    }


def _draft_4(uri: str) -> JsonObject:
    self: JsonObject = {"$ref": "#"}
    schemas = _array(self, 1)
    closed: JsonObject = {"anyOf": [_BOOLEAN, self]}
    names = _array(_STRING, 1, True)
    return {
        "$schema": uri + "#",
        "id": uri + "#",
        "type": "object",
        "definitions": {
            **dict.fromkeys(("positiveInteger", "positiveIntegerDefault0"), _COUNT),
            "schemaArray": schemas,
            "simpleTypes": {"enum": _TYPES},
            "stringArray": names,
        },
        "properties": {
            **_texts("id", "$schema", "title", "description", "format"),
            **_texts("pattern", format="regex"),
            "multipleOf": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            **dict.fromkeys(("minimum", "maximum"), _NUMBER),
            **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum", "uniqueItems"), _BOOLEAN),
            **_counts("Length", "Items", "Properties"),
            "required": names,
            "default": {},
            "enum": {"type": "array", "minItems": 1, "uniqueItems": True},
            "type": _types(),
            **_applicators(self, schemas),
            **dict.fromkeys(("additionalItems", "additionalProperties"), closed),
            "dependencies": _map({"anyOf": [self, names]}),
        },
        "dependencies": {"exclusiveMaximum": ["maximum"], "exclusiveMinimum": ["minimum"]},
    }


def _draft_6_or_7(uri: str, draft: int) -> JsonObject:
    self: JsonObject = {"$ref": "#"}
    names = _array(_STRING, 0, True)
    properties: JsonObject = {
        **_texts("$id", "$ref", format="uri-reference"),
        **_texts("$schema", format="uri"),
        **_texts("title", "description", "format"),
        **_texts("pattern", format="regex"),
        "multipleOf": {"type": "number", "exclusiveMinimum": 0},
        **dict.fromkeys(_BOUNDS, _NUMBER),
        **_counts("Length", "Items", "Properties"),
        "uniqueItems": _BOOLEAN,
        "required": names,
        "enum": _array(True) if draft == 7 else {"type": "array"},
        "examples": _array(True),
        **dict.fromkeys(("default", "const"), True),
        "type": _types(),
        **_applicators(self, _array(self, 1)),
        "patternProperties": {**_map(self), "propertyNames": {"format": "regex"}},
        **dict.fromkeys(("additionalItems", "additionalProperties", "contains", "propertyNames"), self),
        "dependencies": _map({"anyOf": [self, names]}),
    }
    if draft == 7:
        properties |= {
            **_texts("$comment", "contentMediaType", "contentEncoding"),
            **dict.fromkeys(("readOnly", "writeOnly"), _BOOLEAN),
            **dict.fromkeys(("if", "then", "else"), self),
        }
    return {
        "$schema": uri + "#",
        "$id": uri + "#",
        "type": ["object", "boolean"],
        "definitions": _definitions(names, _array(self, 1)),
        "properties": properties,
    }


def _vocabulary_names(year: int) -> list[str]:
    names = ["core", "applicator", "validation", "meta-data", "content"]
    return [*names, "format"] if year == 2019 else [*names, "unevaluated", "format-annotation"]


def _self(year: int) -> JsonObject:
    return {"$recursiveRef": "#"} if year == 2019 else {"$dynamicRef": "#meta"}


def _frame(base: str, year: int, name: str, properties: JsonObject) -> JsonObject:
    mark: JsonObject = {"$recursiveAnchor": True} if year == 2019 else {"$dynamicAnchor": "meta"}
    found: JsonObject = {
        "$schema": base + "schema",
        "$id": base + name,
        **mark,
        "type": ["object", "boolean"],
    }
    return {**found, "properties": properties} if properties else found


def _joined(base: str, year: int) -> JsonObject:
    self = _self(year)
    names = _array(_STRING, 0, True)
    old: JsonObject = {"definitions": _map(self), "dependencies": _map({"anyOf": [self, names]})}
    if year == 2020:
        anchor: JsonObject = {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}
        old |= {"$recursiveAnchor": anchor, "$recursiveRef": {"type": "string", "format": "uri-reference"}}
    return {
        **_frame(base, year, "schema", old),
        "allOf": [{"$ref": f"meta/{name}"} for name in _vocabulary_names(year)],
        "$vocabulary": {base + "vocab/" + name: True for name in _vocabulary_names(year)},
    }


def _vocabulary(base: str, year: int, name: str) -> JsonObject | None:
    self = _self(year)
    schemas = _array(self, 1)
    names = _array(_STRING, 0, True)
    match name:
        case "core":
            properties = _core(self, year)
        case "applicator":
            shared = _applicators(self, schemas)
            del shared["definitions"]
            shared["patternProperties"] = {**_map(self), "propertyNames": {"format": "regex"}}
            alone = ("additionalProperties", "contains", "propertyNames", "if", "then", "else")
            properties = {**shared, **dict.fromkeys(alone, self), "dependentSchemas": _map(self)}
            if year == 2019:
                others = ("additionalItems", "unevaluatedItems", "unevaluatedProperties")
                properties |= dict.fromkeys(others, self)
            else:
                properties |= {"prefixItems": schemas, "items": self}
        case "unevaluated" if year == 2020:
            properties = dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), self)
        case "validation":
            properties = {
                "type": _types(),
                "const": True,
                "enum": _array(True),
                "multipleOf": {"type": "number", "exclusiveMinimum": 0},
                **dict.fromkeys(_BOUNDS, _NUMBER),
                **_counts("Length", "Items", "Properties", "Contains"),
                **_texts("pattern", format="regex"),
                "uniqueItems": _BOOLEAN,
                "required": names,
                "dependentRequired": _map(names),
            }
        case "meta-data":
            properties = {
                **_texts("title", "description"),
                **dict.fromkeys(("deprecated", "readOnly", "writeOnly"), _BOOLEAN),
                "default": True,
                "examples": _array(True),
            }
        case "content":
            properties = {**_texts("contentMediaType", "contentEncoding"), "contentSchema": self}
        case "format" | "format-annotation" | "format-assertion":
            properties = _texts("format")
        case _:
            return None
    found = _frame(base, year, f"meta/{name}", properties)
    return {**found, "$defs": _definitions(names, schemas)}


def _core(self: JsonData, year: int) -> JsonObject:
    found: JsonObject = {
        "$id": {"type": "string", "format": "uri-reference", "pattern": "^[^#]*#?$"},
        **_texts("$schema", format="uri"),
        **_texts("$ref", format="uri-reference"),
        **_texts("$comment"),
        "$vocabulary": {**_map(_BOOLEAN), "propertyNames": {"type": "string", "format": "uri"}},
        "$defs": _map(self),
    }
    if year == 2019:
        anchor: JsonObject = {"type": "string", "pattern": "^[A-Za-z][-A-Za-z0-9.:_]*$"}
        reference = {"type": "string", "format": "uri-reference"}
        return {**found, "$anchor": anchor, "$recursiveRef": reference, "$recursiveAnchor": _BOOLEAN}
    anchor = {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}
    dynamic = {"type": "string", "format": "uri-reference"}
    return {**found, "$anchor": anchor, "$dynamicAnchor": anchor, "$dynamicRef": dynamic}
