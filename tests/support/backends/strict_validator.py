"""What OpenAI's strict mode refuses of a schema, by its guide alone: no code is shared with the writer.

Source: OpenAI, "Structured Outputs", section "Supported schemas".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
_BY_TYPE = {
    "string": {"pattern", "format"},
    "number": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"},
    "integer": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
    "boolean": set(),
    "null": set(),
}
_ANYWHERE = {"type", "enum", "const", "anyOf", "$ref", "$defs", "description", "title", "default"}
_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def strict_faults(schema: Any) -> list[str]:
    """What is refused of a schema; empty for a good one."""
    faults = list(_faults(schema, "#", 1, root=True))
    if isinstance(schema, dict) and "anyOf" in schema:
        faults.append("#: the root is an anyOf")
    if isinstance(schema, dict) and schema.get("type") != "object":
        faults.append("#: the root is no object")
    if _properties(schema) > 5_000:
        faults.append("#: more than 5,000 properties")
    return faults


def _faults(schema: Any, place: str, level: int, *, root: bool = False) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{place}: no schema"
        return
    if "$ref" in schema:
        if set(schema) - {"$ref"} - ({"$defs"} if root else set()):
            yield f"{place}: keywords beside $ref"
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if set(types) - _TYPES:
        yield f"{place}: unknown type"
    if not types and not {"anyOf", "enum", "const"} & set(schema):
        yield f"{place}: no type"
    known = _ANYWHERE.union(*(_BY_TYPE[each] for each in types if each in _BY_TYPE))
    for word in sorted(set(schema) - known):
        yield f"{place}: {word} is not supported"
    if schema.get("format", "date") not in _FORMATS:
        yield f"{place}: format is not supported"
    if "object" in types:
        if level > 10:
            yield f"{place}: more than 10 levels"
        if schema.get("additionalProperties") is not False:
            yield f"{place}: additionalProperties is not false"
        if sorted(schema.get("required", [])) != sorted(schema.get("properties", {})):
            yield f"{place}: not all fields are required"
    for name, part in schema.get("properties", {}).items():
        yield from _faults(part, f"{place}/properties/{name}", level + 1)
    if "array" in types and "items" not in schema:
        yield f"{place}: no items"
    if "items" in schema:
        yield from _faults(schema["items"], f"{place}/items", level)
    for at, part in enumerate(schema.get("anyOf", [])):
        yield from _faults(part, f"{place}/anyOf/{at}", level)
    for name, part in schema.get("$defs", {}).items():
        yield from _faults(part, f"{place}/$defs/{name}", 1)


def _properties(schema: Any) -> int:
    if isinstance(schema, list):
        return sum(map(_properties, schema))
    if not isinstance(schema, dict):
        return 0
    own = len(schema.get("properties", ()) or ())
    return own + sum(map(_properties, schema.values()))
