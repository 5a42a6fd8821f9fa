"""Which part of JSON Schema a backend enforces: data that the writer of schemas and its limits go by.

Sources, none of them run here: OpenAI, "Structured Outputs", section "Supported schemas"
(https://platform.openai.com/docs/guides/structured-outputs), as of February 2026; that `$ref` has no keyword
beside it is what the service answers. Anthropic, "Structured outputs", section "JSON Schema limitations"
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sglc.targets.projection.core.capabilities import Dialect

Schema = dict[str, Any]
"""A JSON Schema by its keywords."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a schema of a dialect may say.

    only_objects  the root is an object; every object has all of its fields and no others
    maps          objects whose keys are not known, with bounds on their number
    tuples        how an array with a type for each place is said: by `prefixItems`, as an object with a field
                  for each place, or as a list of any of the types, which is wider
    lengths       lengths of texts, several patterns and `not`
    bounds        bounds and steps of numbers
    sizes         bounds on the number of items; without them only that there is one at least
    recursion     types that contain themselves
    counted       the largest number in a quantifier of a pattern, None without a bound
    limited       whether the limits of `excess` hold
    """

    only_objects: bool = False
    maps: bool = True
    tuples: Literal["prefix", "objects", "lists"] = "prefix"
    lengths: bool = True
    bounds: bool = True
    sizes: bool = True
    recursion: bool = True
    counted: int | None = None
    limited: bool = False


MOST_SIMPLE = 100
"""Anthropic takes "simple" quantifiers and none "with large ranges", without a number: lengths of a line are
simple enough, those of a page are not."""

DIALECTS: dict[Dialect, Rules] = {
    "whole": Rules(),
    "openai": Rules(only_objects=True, maps=False, tuples="objects", lengths=False, limited=True),
    "anthropic": Rules(
        only_objects=True,
        maps=False,
        tuples="objects",
        lengths=False,
        bounds=False,
        sizes=False,
        recursion=False,
        counted=MOST_SIMPLE,
    ),
}

KEYWORDS = frozenset(
    "type properties required additionalProperties items enum const anyOf $ref $defs description pattern "
    "minimum maximum multipleOf minItems maxItems".split()
)
"""The keywords that the writer uses for OpenAI. All are supported, and `format` too."""
MOST_PROPERTIES = 5_000
MOST_LEVELS = 10
"""Objects inside each other, the root among them; a reference counts as one that is not gone into."""
MOST_ENUM_VALUES = 1_000
LONGEST_NAMES = 120_000
"""Characters of all names of properties and definitions, enum values and constants together."""
MANY_ENUM_VALUES = 250
LONGEST_LARGE_ENUM = 15_000
"""Characters of an enum with more than MANY_ENUM_VALUES texts."""
LONGEST_NAME = 64
"""Characters of the name of a schema, which are letters, digits, `_` and `-`."""
MOST_STOPS = 4
"""Stop texts of a request, by the reference of chat completions."""


def excess(schema: Schema) -> str | None:
    """Which limit of OpenAI's strict mode a schema is beyond, as a noun."""
    parts = list(_parts(schema, 0))
    properties = sum(len(part.get("properties", ())) for part, _ in parts)
    enums = [part["enum"] for part, _ in parts if "enum" in part]
    names = [name for part, _ in parts for key in ("properties", "$defs") for name in part.get(key, ())]
    texts = [str(value) for values in enums for value in values]
    texts += [str(part["const"]) for part, _ in parts if "const" in part]
    if properties > MOST_PROPERTIES:
        return f"more than {MOST_PROPERTIES:,} fields in all"
    if max(level for _, level in parts) > MOST_LEVELS:
        return f"more than {MOST_LEVELS} records inside each other"
    if sum(map(len, enums)) > MOST_ENUM_VALUES:
        return f"more than {MOST_ENUM_VALUES:,} members of enums in all"
    if sum(map(len, (*names, *texts))) > LONGEST_NAMES:
        return f"names of more than {LONGEST_NAMES:,} characters in all"
    for values in enums:
        if len(values) > MANY_ENUM_VALUES and sum(len(str(value)) for value in values) > LONGEST_LARGE_ENUM:
            return f"an enum of more than {LONGEST_LARGE_ENUM:,} characters"
    return None


def _parts(schema: Schema, level: int) -> Iterator[tuple[Schema, int]]:
    """All schemas in a schema, with the number of objects around them and in them."""
    level += schema.get("type") == "object"
    yield schema, level
    for part in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from _parts(part, level)
    if "items" in schema:
        yield from _parts(schema["items"], level)
    for part in schema.get("$defs", {}).values():
        yield from _parts(part, 0)
