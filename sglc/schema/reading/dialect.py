"""The five dialects: what is a keyword in which of them, and where subschemas stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject


_CORE_URIS = {
    "http://json-schema.org/draft-04/schema": 4,
    "http://json-schema.org/draft-06/schema": 6,
    "http://json-schema.org/draft-07/schema": 7,
    "https://json-schema.org/draft/2019-09/schema": 2019,
    "https://json-schema.org/draft/2020-12/schema": 2020,
}
_DRAFTS = {"4": 4, "6": 6, "7": 7, "2019-09": 2019, "2020-12": 2020}

_LOGIC_4 = {"allOf", "anyOf", "oneOf", "not"}
_APPLICATOR_4 = _LOGIC_4 | {
    "properties",
    "patternProperties",
    "additionalProperties",
    "dependencies",
    "items",
    "additionalItems",
}
_VALIDATION_4 = {
    "type",
    "enum",
    "multipleOf",
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxProperties",
    "minProperties",
    "required",
}
_APPLICATOR_6 = _APPLICATOR_4 | {"contains", "propertyNames"}
_APPLICATOR_7 = _APPLICATOR_6 | {"if", "then", "else"}
_APPLICATOR_2019 = _APPLICATOR_7 | {"dependentSchemas"}
_UNEVALUATED = {"unevaluatedItems", "unevaluatedProperties"}
_VALIDATION_2019 = _VALIDATION_4 | {"const", "maxContains", "minContains", "dependentRequired"}

_VOCABULARIES = {
    4: {"applicator": _APPLICATOR_4, "validation": _VALIDATION_4},
    6: {"applicator": _APPLICATOR_6, "validation": _VALIDATION_4 | {"const"}},
    7: {"applicator": _APPLICATOR_7, "validation": _VALIDATION_4 | {"const"}},
    2019: {"applicator": _APPLICATOR_2019 | _UNEVALUATED, "validation": _VALIDATION_2019},
    2020: {
        "applicator": (_APPLICATOR_2019 - {"additionalItems"}) | {"prefixItems"},
        "unevaluated": _UNEVALUATED,
        "validation": _VALIDATION_2019,
    },
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """`draft` is 4, 6, 7, 2019 or 2020; words that are not among `keywords` are annotations."""

    draft: int
    keywords: frozenset[str]

    @property
    def id_keyword(self) -> str:
        """The keyword that names a schema."""
        return "id" if self.draft == 4 else "$id"


def _dialect(draft: int, vocabularies: frozenset[str] | None = None) -> Dialect:
    parts = _VOCABULARIES[draft]
    words = {"$ref", "format"}
    if draft == 2019:
        words.add("$recursiveRef")
    if draft == 2020:
        words.add("$dynamicRef")
    for name, keywords in parts.items():
        if vocabularies is None or name in vocabularies:
            words |= keywords
    return Dialect(draft, frozenset(words))


_KNOWN = {draft: _dialect(draft) for draft in _VOCABULARIES}


def draft_dialect(name: str) -> Dialect:
    """The dialect of an option's draft name; KeyError if there is none."""
    return _KNOWN[_DRAFTS[name]]


def standard_dialect(uri: str) -> Dialect | None:
    """The dialect of a `$schema` of the standard, None for others."""
    draft = _CORE_URIS.get(uri.removesuffix("#"))
    if draft is None:
        draft = _CORE_URIS.get(uri.removesuffix("#").replace("https:", "http:"))
    return None if draft is None else _KNOWN[draft]


def custom_dialect(metaschema: JsonData) -> Dialect | None:
    """The dialect that a metaschema describes by its own `$schema` and `$vocabulary`."""
    if not isinstance(metaschema, dict) or not isinstance(metaschema.get("$schema"), str):
        return None
    base = standard_dialect(metaschema["$schema"])
    vocabularies = metaschema.get("$vocabulary")
    if base is None or base.draft < 2019 or not isinstance(vocabularies, dict):
        return base
    return _dialect(base.draft, frozenset(uri.rpartition("/")[2] for uri in vocabularies))


_IN_MAPS = frozenset(
    {
        "properties",
        "patternProperties",
        "$defs",
        "definitions",
        "dependentSchemas",
        "dependencies",
    }
)
_IN_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_ALONE = frozenset(
    {
        "additionalProperties",
        "items",
        "additionalItems",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    }
)


def subschemas(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """(pointer below it, object) of every place where a subschema stands, in any dialect."""
    for keyword, inside in schema.items():
        if isinstance(inside, dict):
            if keyword in _IN_MAPS:
                for name, value in inside.items():
                    if isinstance(value, dict):
                        yield f"/{keyword}/{escape(name)}", value
            elif keyword in _ALONE:
                yield f"/{keyword}", inside
        elif isinstance(inside, list) and keyword in _IN_LISTS:
            for index, value in enumerate(inside):
                if isinstance(value, dict):
                    yield f"/{keyword}/{index}", value


def escape(name: str) -> str:
    """A key as a token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name
