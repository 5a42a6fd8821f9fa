"""From JSON to the graph: keywords of all drafts, checked, as parts.

Every subschema that can be reached from the root is read, and every definition, so a fault in any of them is
found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from sglc.automata.number.number_set import MAX_SIZE, NumberError, NumberSet
from sglc.automata.term import MOST_COUNTED
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaError, SchemaFault, SchemaTooLarge, UnsupportedSchema
from sglc.schema.core.graph import Graph, Part, RefKey, Value
from sglc.schema.core.options import SchemaOptions
from sglc.schema.reading.dialect import escape
from sglc.schema.reading.loader import Loader, Place, ScopesNeeded

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject

_TYPES = {
    "null": g.NULL,
    "boolean": g.BOOL,
    "number": g.NUMBER,
    "integer": g.NUMBER,
    "string": g.STRING,
    "array": g.ARRAY,
    "object": g.OBJECT,
}
_SINGLE = {
    (name, plain): g.Types(bit, name == "integer", name == "integer" and plain)
    for name, bit in _TYPES.items()
    for plain in (False, True)
}
HOSTNAME_OF_LETTERS = "hostname-ldh"
_NO_HOSTNAMES = (
    "which labels of a `hostname` that begin with `xn--` stand for a name is no regular set; "
    'SchemaOptions(hostnames="plain") writes names without such labels'
)


Follow = Callable[[Place, "JsonData", str], Place]
"""Where a reference leads that stands at a place, and under a path."""


def read_schema(schema: JsonData, options: SchemaOptions) -> tuple[Graph, int]:
    """The graph of a schema and the number of its root. Raises SchemaError and SchemaTooLarge."""
    try:
        return _Reader(Loader(schema, options), options).read()
    except ScopesNeeded:
        return _Reader(Loader(schema, options, keep_scopes=True), options).read()


class _Reader:
    def __init__(self, loader: Loader, options: SchemaOptions) -> None:
        self.loader = loader
        self.options = options
        self.graph = Graph()
        self.count = 0
        self.pending: list[tuple[RefKey, Follow, Place, JsonData, str]] = []
        self.places: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self.definitions: list[tuple[Place, JsonObject, str]] = []

    def read(self) -> tuple[Graph, int]:
        root = self.node(self.loader.start)
        self.follow_references()
        # Those that nothing leads to are read for their faults alone; what they refer to is not looked for.
        try:
            for place, value, word in self.definitions:
                for name, inner in self.map(place, value, word).items():
                    self.below(place, inner, word, name)
        except SchemaTooLarge:
            pass  # the schema itself is not
        return self.graph, root

    def follow_references(self) -> None:
        references = self.graph.references
        while self.pending:
            key, follow, place, target, path = self.pending.pop()
            if key not in references:
                references[key] = -1
                references[key] = self.node(follow(place, target, path))

    def node(self, place: Place) -> int:
        value = place.value
        if value is True:
            return 0
        if value is False:
            return 1
        if not isinstance(value, dict):
            raise SchemaError("a schema must be an object or a boolean", place.path)
        known = (id(value), place.resource.number, place.scope)
        if known in self.places:
            return self.places[known]
        self.count += 1
        if self.count > self.options.limits.schemas:
            raise SchemaTooLarge(f"more than {self.options.limits.schemas} subschemas", place.path)
        number = self.graph.add(self.parts(place, value), place.path)
        self.places[known] = number
        return number

    def below(self, place: Place, value: JsonData, *tokens: str) -> int:
        path = place.path
        for token in tokens:
            path += "/" + escape(token)
        return self.node(self.loader.below(place, value, path))

    def parts(self, place: Place, value: JsonObject) -> tuple[Part, ...]:
        dialect = place.resource.dialect
        if dialect.draft <= 7 and "$ref" in value:
            return (self.reference(place, value, "$ref"),)
        out: list[Part] = []
        done: set[int] = set()
        last: list[Part] = []
        for word in value:
            if word in dialect.keywords:
                group = _GROUP[word]
                if group not in done:
                    done.add(group)
                    part = _READERS[group][0](self, place, value, word)
                    if isinstance(part, list):
                        out += part
                    elif isinstance(part, g.UnevaluatedItems | g.UnevaluatedProperties):
                        last.append(part)
                    elif part is not None:
                        out.append(part)
            elif word in _NAMES and _NAMES[word] <= dialect.draft:
                self.name(place, value, word)
        return (*out, *last)

    # Names and references

    def name(self, place: Place, value: JsonObject, word: str) -> None:
        if word in ("$defs", "definitions"):
            self.definitions.append((place, value, word))
        elif not isinstance(value[word], str):
            raise SchemaError(f"{word} must be a string", f"{place.path}/{word}")

    def reference(self, place: Place, value: JsonObject, word: str) -> Part:
        target = value[word]
        path = f"{place.path}/{word}"
        key = (word, place.resource.number, place.scope, target if isinstance(target, str) else None)
        follow = {
            "$ref": self.loader.follow,
            "$dynamicRef": self.loader.follow_dynamic,
            "$recursiveRef": self.loader.follow_recursive,
        }[word]
        self.pending.append((key, follow, place, target, path))
        return g.Ref(key, path)

    # Scalars

    def types(self, place: Place, value: JsonObject, word: str) -> Part:
        names = value["type"]
        plain = place.resource.dialect.draft == 4
        if isinstance(names, str) and (names, plain) in _SINGLE:
            return _SINGLE[names, plain]
        path = f"{place.path}/type"
        if isinstance(names, str):
            names = [names]
        if not isinstance(names, list) or not names:
            raise SchemaError("type must be a name of a type or a list of them", path)
        mask = 0
        for name in names:
            bit = _TYPES.get(name) if isinstance(name, str) else None
            if bit is None:
                raise SchemaError(f"{name!r} is no type of JSON Schema", path)
            mask |= bit
        integer = "integer" in names and "number" not in names
        return g.Types(mask, integer, integer and plain)

    def values(self, place: Place, value: JsonObject, word: str) -> Part:
        path = f"{place.path}/{word}"
        if word == "const":
            return g.Values((freeze(value["const"], path, self.graph.written),))
        if not isinstance(value["enum"], list):
            raise SchemaError("enum must be a list", path)
        items = [freeze(item, path, self.graph.written) for item in value["enum"]]
        return g.Values(tuple(dict.fromkeys(items)))

    def range(self, place: Place, value: JsonObject, word: str) -> Part:
        keywords = place.resource.dialect.keywords
        low, high, step = (
            number(value[name], f"{place.path}/{name}", name) if name in value and name in keywords else None
            for name in ("minimum", "maximum", "multipleOf")
        )
        low_open = high_open = False
        if place.resource.dialect.draft == 4:
            low_open, high_open = (
                self.flag(place, value, name) for name in ("exclusiveMinimum", "exclusiveMaximum")
            )
        else:
            if "exclusiveMinimum" in value:
                other = number(
                    value["exclusiveMinimum"], f"{place.path}/exclusiveMinimum", "exclusiveMinimum"
                )
                if low is None or other >= low:
                    low, low_open = other, True
            if "exclusiveMaximum" in value:
                other = number(
                    value["exclusiveMaximum"], f"{place.path}/exclusiveMaximum", "exclusiveMaximum"
                )
                if high is None or other <= high:
                    high, high_open = other, True
        if step is not None and step <= 0:
            raise SchemaError("multipleOf must be more than zero", f"{place.path}/multipleOf")
        steps = () if step is None else (step,)
        try:
            return g.Range(NumberSet(low, low_open, high, high_open, multiples=steps))
        except NumberError as fault:
            raise SchemaTooLarge(str(fault), f"{place.path}/{word}") from None

    def flag(self, place: Place, value: JsonObject, word: str) -> bool:
        found = value.get(word, False)
        if not isinstance(found, bool):
            raise SchemaError(f"{word} must be true or false", f"{place.path}/{word}")
        return found

    def length(self, place: Place, value: JsonObject, word: str) -> Part:
        return g.Length(*self.bounds(place, value, "minLength", "maxLength"))

    def bounds(
        self, place: Place, value: JsonObject, least: str, most: str, default: int = 0
    ) -> tuple[int, int | None]:
        low = size(value[least], f"{place.path}/{least}") if least in value else default
        if low > MOST_COUNTED:
            reason = f"a text with so many could never be completed; {MOST_COUNTED:,} is the most"
            raise UnsupportedSchema(least, f"{place.path}/{least}", reason)
        return low, size(value[most], f"{place.path}/{most}") if most in value else None

    def pattern(self, place: Place, value: JsonObject, word: str) -> Part:
        path = f"{place.path}/pattern"
        if not isinstance(value["pattern"], str):
            raise SchemaError("pattern must be a string", path)
        return g.Pattern(value["pattern"], path)

    def format(self, place: Place, value: JsonObject, word: str) -> Part | None:
        path = f"{place.path}/format"
        if not isinstance(value["format"], str):
            raise SchemaError("format must be a string", path)
        if not self.options.formats:
            return None
        name = value["format"]
        if name == "hostname":
            # Drafts 4 and 6 know RFC 1034 alone, for which labels of Punycode are like all others.
            if place.resource.dialect.draft < 7:
                name = HOSTNAME_OF_LETTERS
            elif self.options.hostnames == "exact":
                raise UnsupportedSchema("format", path, _NO_HOSTNAMES)
        return g.Format(name, path)

    # Arrays

    def items(self, place: Place, value: JsonObject, word: str) -> Part | None:
        keywords = place.resource.dialect.keywords
        prefix: JsonData = []
        prefix_word = "prefixItems"
        rest = None
        if "prefixItems" in keywords:
            prefix = value.get("prefixItems", [])
            if "items" in value:
                if isinstance(value["items"], list):
                    raise SchemaError(
                        "items must be a schema; a list of them is prefixItems in this draft",
                        f"{place.path}/items",
                    )
                rest = self.below(place, value["items"], "items")
        elif isinstance(value.get("items"), list):
            prefix, prefix_word = value["items"], "items"
            if "additionalItems" in value:
                rest = self.below(place, value["additionalItems"], "additionalItems")
        elif "items" in value:
            rest = self.below(place, value["items"], "items")
        elif "additionalItems" in value:
            self.below(place, value["additionalItems"], "additionalItems")
        if not isinstance(prefix, list):
            raise SchemaError(f"{prefix_word} must be a list of schemas", f"{place.path}/{prefix_word}")
        places = tuple(self.below(place, item, prefix_word, str(i)) for i, item in enumerate(prefix))
        return g.Items(places, rest) if places or rest is not None else None

    def sizes(self, place: Place, value: JsonObject, word: str) -> Part:
        if word.endswith("Items"):
            return g.Size(g.ARRAY, *self.bounds(place, value, "minItems", "maxItems"))
        return g.Size(g.OBJECT, *self.bounds(place, value, "minProperties", "maxProperties"))

    def contains(self, place: Place, value: JsonObject, word: str) -> Part | None:
        draft = place.resource.dialect.draft
        if draft >= 2019:
            low, high = self.bounds(place, value, "minContains", "maxContains", 1)
        else:
            low, high = 1, None
        if "contains" not in value:
            return None
        return g.Contains(self.below(place, value["contains"], "contains"), low, high, draft >= 2020)

    def unique(self, place: Place, value: JsonObject, word: str) -> Part | None:
        return g.Unique(f"{place.path}/uniqueItems") if self.flag(place, value, "uniqueItems") else None

    def unevaluated(self, place: Place, value: JsonObject, word: str) -> Part:
        node = self.below(place, value[word], word)
        return g.UnevaluatedItems(node) if word == "unevaluatedItems" else g.UnevaluatedProperties(node)

    # Objects

    def properties(self, place: Place, value: JsonObject, word: str) -> Part:
        named = self.map(place, value, "properties")
        patterns = self.map(place, value, "patternProperties")
        additional = None
        if "additionalProperties" in value:
            additional = self.below(place, value["additionalProperties"], "additionalProperties")
        return g.Properties(
            tuple((name, self.below(place, inner, "properties", name)) for name, inner in named.items()),
            tuple(
                (
                    pattern,
                    self.below(place, inner, "patternProperties", pattern),
                    f"{place.path}/patternProperties/{escape(pattern)}",
                )
                for pattern, inner in patterns.items()
            ),
            additional,
        )

    def map(self, place: Place, value: JsonObject, word: str) -> JsonObject:
        found = value.get(word, {})
        if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
            raise SchemaError(f"{word} must be an object of schemas", f"{place.path}/{word}")
        return found

    def names(self, place: Place, value: JsonObject, word: str) -> Part:
        return g.Names(
            self.below(place, value["propertyNames"], "propertyNames"), f"{place.path}/propertyNames"
        )

    def required(self, place: Place, value: JsonObject, word: str) -> Part:
        return g.Required(strings(value["required"], f"{place.path}/required"))

    def dependent(self, place: Place, value: JsonObject, word: str) -> list[Part]:
        found = value[word]
        path = f"{place.path}/{word}"
        if not isinstance(found, dict):
            raise SchemaError(f"{word} must be an object", path)
        parts: list[Part] = []
        for name, inner in found.items():
            if word == "dependentRequired" or (word == "dependencies" and not isinstance(inner, dict | bool)):
                parts.append(g.Dependent(name, strings(inner, f"{path}/{escape(name)}"), None))
            else:
                parts.append(g.Dependent(name, (), self.below(place, inner, word, name)))
        return parts

    # Logic

    def several(self, place: Place, value: JsonObject, word: str) -> Part:
        found = value[word]
        if not isinstance(found, list):
            raise SchemaError(f"{word} must be a list of schemas", f"{place.path}/{word}")
        nodes = tuple(self.below(place, item, word, str(index)) for index, item in enumerate(found))
        if not nodes:
            raise SchemaError(f"{word} must have at least one schema", f"{place.path}/{word}")
        return g.All(nodes) if word == "allOf" else g.Any_(nodes) if word == "anyOf" else g.One(nodes)

    def negation(self, place: Place, value: JsonObject, word: str) -> Part:
        return g.Not(self.below(place, value["not"], "not"))

    def conditional(self, place: Place, value: JsonObject, word: str) -> Part | None:
        if "if" not in value:
            for branch in ("then", "else"):
                if branch in value:
                    self.below(place, value[branch], branch)
            return None
        then, otherwise = (
            self.below(place, value[branch], branch) if branch in value else 0 for branch in ("then", "else")
        )
        return g.If(self.below(place, value["if"], "if"), then, otherwise)


_NAMES = {"$id": 6, "$anchor": 2019, "$dynamicAnchor": 2020, "$defs": 2019, "definitions": 4, "$comment": 7}
"""Words that name schemas and places, or explain them, from which draft on."""

_READERS: tuple[tuple[Callable[[_Reader, Place, JsonObject, str], Part | list[Part] | None], str], ...] = (
    (_Reader.types, "type"),
    (_Reader.range, "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
    (_Reader.length, "minLength maxLength"),
    (_Reader.pattern, "pattern"),
    (_Reader.format, "format"),
    (_Reader.items, "prefixItems items additionalItems"),
    (_Reader.sizes, "minItems maxItems"),
    (_Reader.sizes, "minProperties maxProperties"),
    (_Reader.contains, "contains minContains maxContains"),
    (_Reader.unique, "uniqueItems"),
    (_Reader.properties, "properties patternProperties additionalProperties"),
    (_Reader.names, "propertyNames"),
    (_Reader.required, "required"),
    (_Reader.negation, "not"),
    (_Reader.conditional, "if then else"),
    *((_Reader.reference, word) for word in ("$ref", "$dynamicRef", "$recursiveRef")),
    *((_Reader.values, word) for word in ("enum", "const")),
    *((_Reader.unevaluated, word) for word in ("unevaluatedItems", "unevaluatedProperties")),
    *((_Reader.dependent, word) for word in ("dependencies", "dependentRequired", "dependentSchemas")),
    *((_Reader.several, word) for word in ("allOf", "anyOf", "oneOf")),
)
"""What reads keywords, those of a row together."""
_GROUP = {word: row for row, (_, words) in enumerate(_READERS) for word in words.split()}
"""By keyword: its row."""


# Values


def number(value: JsonData, path: str, keyword: str = "") -> Decimal:
    """A JSON number as an exact decimal: a float stands for its shortest spelling.

    One with too many digits is what a `keyword` does not support.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise SchemaError("a number is expected", path)
    if isinstance(value, int):
        if value.bit_length() > 4 * MAX_SIZE:
            raise _too_long(path, keyword)
        return Decimal(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise SchemaError(f"{value} is no JSON number", path)
        value = Decimal(repr(value))
    exact: Decimal = value
    if not exact.is_finite():
        raise SchemaError(f"{exact} is no JSON number", path)
    if len(exact.as_tuple().digits) > MAX_SIZE or abs(int(exact.as_tuple().exponent)) > MAX_SIZE:
        raise _too_long(path, keyword)
    return exact


def _too_long(path: str, keyword: str) -> SchemaFault:
    reason = f"a number of more than {MAX_SIZE} digits"
    return UnsupportedSchema(keyword, path, reason) if keyword else SchemaTooLarge(reason, path)


def size(value: JsonData, path: str) -> int:
    """A whole number that is not negative. Raises SchemaError."""
    found = number(value, path, path.rpartition("/")[2])
    if found < 0 or found != found.to_integral_value():
        raise SchemaError("a whole number that is not negative is expected", path)
    return int(found)


def strings(value: JsonData, path: str) -> tuple[str, ...]:
    """A list of strings, each once. Raises SchemaError."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SchemaError("a list of strings is expected", path)
    return tuple(dict.fromkeys(value))


def freeze(value: JsonData, path: str, written: dict[Decimal, set[str]]) -> Value:
    """A value that can be hashed; in `written` is added how whole numbers with a point are written."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list | tuple):
        return ("array", tuple(freeze(item, path, written) for item in value))
    if isinstance(value, dict):
        return ("object", tuple((str(key), freeze(item, path, written)) for key, item in value.items()))
    found = number(value, path)
    if isinstance(value, float) and value.is_integer():
        written.setdefault(found, set()).add(json.dumps(value))
    return found
