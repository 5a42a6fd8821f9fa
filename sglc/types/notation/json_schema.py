"""A type as JSON Schema 2020-12. Every text of the type's JSON surface validates against it.

There are two readers. A model is shown patterns as the program has them. A validator gets them written out,
so that it accepts exactly the values (`definitions`), but for what `unsaid` names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote

from sglc.types.dependent import erased
from sglc.types.json_values import schema_data
from sglc.types.notation.text_rules import LINE, float_bounds, text_rules
from sglc.types.text.plain_json import to_json, write_json
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declared_type,
)

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema_text(type: Type, table: TypeTable) -> str:
    """The schema as JSON text, indented by two spaces."""
    return write_json(json_schema(type, table), indent=2)


def json_schema(type: Type, table: TypeTable) -> JsonObject:
    """The schema as plain data, decimals exact; declared types are definitions."""
    writer = _Writer(table)
    root = writer.schema(type)
    definitions: JsonObject = {}
    for name in writer.found:
        definitions[name] = writer.definition(name)
    schema = {"$schema": DIALECT, **root}
    if definitions:
        schema["$defs"] = definitions
    return schema


def definitions(names: Sequence[str], table: TypeTable) -> JsonObject:
    """A schema that accepts anything and defines declared types, with those that they mention.

    Each accepts exactly the JSON values of its type, but for the parts that `unsaid` names. A number is what
    it is worth (3.0 is 3), an object has no order. Limits of the language on digits and levels are left out.
    """
    writer = _Writer(table, exact=True)
    writer.found += names
    return {"$schema": DIALECT, "$defs": {name: writer.definition(name) for name in writer.found}}


def embedded_schema(text: str) -> JsonObject:
    """The schema of a `json schema` type as a part of another one: references in it lead to itself."""
    data = schema_data(text) if text else {}
    if not isinstance(data, dict):
        return {} if data else {"not": {}}
    if ("$ref" in text or "$dynamicRef" in text) and not {"$id", "id"}.intersection(data):
        return {"$id": f"urn:sgl:{sha256(text.encode()).hexdigest()[:16]}", **data}
    return data


def unsaid(type: Type) -> tuple[str, str] | None:
    """What JSON Schema 2020-12 cannot say of a type, its parts left aside, and what it says instead."""
    match type:
        case Str(grammar=grammar) if grammar:
            return "a grammar", "any string, with the rules as `x-grammar`"
        case Json(schema) if schema:
            data = schema_data(schema)
            if isinstance(data, dict) and str(data.get("$schema", DIALECT)).rstrip("#") != DIALECT:
                return "a JSON Schema of another draft", "any JSON value"
            if _has_format(data):
                return "`format` in a JSON Schema", "the schema, where `format` asserts nothing"
    return None


def _has_format(data: JsonData) -> bool:
    if isinstance(data, dict):
        return isinstance(data.get("format"), str) or any(map(_has_format, data.values()))
    return isinstance(data, list) and any(map(_has_format, data))


_NO_TAG: JsonObject = {}


class _Writer:
    def __init__(self, table: TypeTable, *, exact: bool = False) -> None:
        self.table = table
        self.exact = exact
        self.found: list[str] = []

    def schema(self, type: Type) -> JsonObject:
        lost = unsaid(type) if self.exact else None
        if lost is None:
            return self.said(type)
        comment: JsonObject = {"$comment": f"wider than the program: {lost[0]}"}
        return comment if lost[1] == "any JSON value" else {**self.said(type), **comment}

    def said(self, type: Type) -> JsonObject:
        match type:
            case Str():
                return self.text(type)
            case OneOf() | SpanOf() | Applied():
                return self.schema(erased(type))
            case Json(schema):
                return embedded_schema(schema)
            case Int():
                return self.number("integer", type.minimum, type.maximum, type.multiple_of)
            case Dec():
                return self.number("number", type.minimum, type.maximum, type.multiple_of)
            case Float():
                low, high = float_bounds(type) if self.exact else (type.minimum, type.maximum)
                return self.number("number", low, high, None)
            case Bool():
                return {"type": "boolean"}
            case Null():
                return {"type": "null"}
            case Constant(value):
                return {"const": value}
            case InForm(item):
                return self.schema(item)
            case Optional(item):
                return {"anyOf": [self.schema(item), {"type": "null"}]}
            case Alternatives(arms) if all(isinstance(arm, Constant) for arm in arms):
                return {"enum": [arm.value for arm in arms if isinstance(arm, Constant)]}
            case Alternatives(arms):
                return {"anyOf": [self.schema(arm) for arm in arms]}
            case ListOf(item, low, high):
                return {"type": "array", "items": self.schema(item), **_sizes("Items", low, high)}
            case TupleOf(items):
                size = len(items)
                out: JsonObject = {"type": "array", "minItems": size, "maxItems": size}
                return {**out, "prefixItems": [self.schema(item) for item in items]} if items else out
            case MapOf(key, item, low, high):
                return {
                    "type": "object",
                    "propertyNames": self.schema(key),
                    "additionalProperties": self.schema(item),
                    **_sizes("Properties", low, high),
                }
            case Named(name):
                if name not in self.found:
                    self.found.append(name)
                return {"$ref": f"#/$defs/{quote(name)}"}

    def text(self, type: Str) -> JsonObject:
        if type.grammar:
            from sglc.types.grammar_text import grammar_shown

            # No keyword of JSON Schema says it; what is not known there is an annotation.
            return {"type": "string", "x-grammar": grammar_shown(type.grammar)}
        out: JsonObject = {"type": "string"}
        if type.min_chars:
            out["minLength"] = type.min_chars
        if type.max_chars is not None:
            out["maxLength"] = type.max_chars
        rules: list[JsonObject] = [{"pattern": pattern} for pattern in self.patterns(type)[0]]
        rules += ({"not": {"pattern": pattern}} for pattern in self.patterns(type)[1])
        if len(rules) > 1:
            return {**out, "allOf": [*rules]}
        return {**out, **rules[0]} if rules else out

    def patterns(self, type: Str) -> tuple[list[str], list[str]]:
        """What matches a text as a whole, and what matches none of its parts."""
        rules = text_rules(type)
        if self.exact:
            return [f"^(?:{pattern})$" for pattern in rules.whole], list(rules.banned)
        # `(?i)` is no part of the regular expressions of JSON Schema, so such a pattern is left out.
        shown = [pattern for pattern in type.patterns if not pattern.startswith("(?i)")]
        line = [f"^{LINE}$"] if type.layout == "line" else []
        banned = [re.escape(text) for text in (*type.until, *type.excludes)]
        return line + [f"^(?:{pattern})$" for pattern in shown], banned

    def number(
        self, kind: str, low: int | Decimal | None, high: int | Decimal | None, step: int | Decimal | None
    ) -> JsonObject:
        out: JsonObject = {"type": kind}
        for key, bound in (("minimum", low), ("maximum", high), ("multipleOf", step)):
            if bound is not None:
                out[key] = bound
        return out

    def definition(self, name: str) -> JsonObject:
        declared = declared_type(name, self.table)
        doc = {"description": declared.doc} if declared.doc else {}
        match declared:
            case RecordType():
                return {**doc, **self.fields(declared.fields)}
            case EnumType():
                return {**doc, "enum": list(declared.members)}
            case AliasType():
                return {**doc, **self.schema(declared.type)}
            case UnionType():
                return {**doc, "oneOf": [self.variant(variant) for variant in declared.variants]}

    def variant(self, variant: RecordType) -> JsonObject:
        out = self.fields(variant.fields, {TAG: {"const": variant.name}})
        return {"description": variant.doc, **out} if variant.doc else out

    def fields(self, fields: tuple[FieldType, ...], tag: Mapping[str, JsonData] = _NO_TAG) -> JsonObject:
        """An object of exactly these fields, behind the required keys of `tag`."""
        properties = {**tag}
        for field in fields:
            schema = self.schema(field.type)
            if field.doc:
                schema = {"description": field.doc, **schema}
            if field.has_default and self.exact:
                schema = {**schema, "default": _plain(to_json(field.default, field.type, self.table))}
            elif field.has_default and isinstance(field.default, str | int | bool | Decimal | None):
                schema = {**schema, "default": field.default}
            properties[field.name] = schema
        required: list[JsonData] = [*tag]
        required += (field.name for field in fields if not (field.optional or field.has_default))
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }


def _plain(value: object) -> JsonData:
    """Plain data of a value, whose only numbers that JSON data does not have are floats."""
    data: JsonData = schema_data(write_json(value, indent=2))
    return data


def _sizes(noun: str, low: int, high: int | None) -> dict[str, int]:
    out = {}
    if low:
        out[f"min{noun}"] = low
    if high is not None:
        out[f"max{noun}"] = high
    return out
