"""A type as a JSON Schema of OpenAI's strict mode.

record Crew:             {"type": "object", "properties": {"age": {"type": "integer", "minimum": 18}},
    age: int in 18..  →   "required": ["age"], "additionalProperties": false}

The root is an object, every object has all of its fields and no others, and few keywords are known
(`strict_rules`). What that cannot say is a loss.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.regex.portable import looks
from sglc.automata.work import OutOfWork
from sglc.cfg.model.errors import GrammarError
from sglc.targets.core.names import distinct
from sglc.targets.core.type_parts import CONDITION, WIDER, form_lost, has_conditions
from sglc.targets.grammars.regex import to_regex
from sglc.targets.grammars.term_grammar import Refused, TermGrammar
from sglc.targets.projection.loss import Loss
from sglc.targets.requests.strict_rules import excess
from sglc.types.language.language import language
from sglc.types.notation.text_rules import float_bounds, text_rules
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
    LanguageError,
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
    form_of,
)

ROOT = "value"
"""The field of the object around a value that is no record."""
LONGEST_PATTERN = 4_000
"""Characters of a pattern that several conditions on a text are made into; some engines refuse long ones."""

Schema = dict[str, Any]


def strict_schema(type: Type, table: TypeTable, place: str) -> tuple[Schema, tuple[Loss, ...]]:
    """The schema of a hole's type, and what it could not say. A loss without `instead` makes it useless."""
    writer = _Writer(table, place)
    schema = writer.root(type)
    if (beyond := excess(schema)) is not None:
        writer.lose(beyond)
    return schema, tuple(writer.losses)


class _Writer:
    def __init__(self, table: TypeTable, place: str) -> None:
        self.table = table
        self.place = place
        self.losses: dict[Loss, None] = {}
        self.names: dict[str, str] = {}
        """The declared types that are referred to, with their names in the schema."""

    def lose(self, construct: str, instead: str = "", place: str = "") -> None:
        self.losses[Loss(construct, place or self.place, instead)] = None

    def root(self, type: Type) -> Schema:
        """The schema with its definitions; an object, whatever the type is."""
        if (formed := form_of(type, self.table)) is not None and (lost := form_lost(formed)) is not None:
            self.lose(*lost)
        while True:
            if isinstance(type, InForm):
                type = type.item
            elif isinstance(type, Named) and isinstance(
                declared := declared_type(type.name, self.table), AliasType
            ):
                self._alias(declared)
                type = declared.type
            else:
                break
        if isinstance(type, Named) and isinstance(declared_type(type.name, self.table), RecordType):
            schema = self.declared(type.name)
        else:
            self.lose("an answer that is no record", f"an object with the value as `{ROOT}`")
            schema = self.object({ROOT: self.schema(type)})
        definitions: Schema = {}
        done: list[str] = []
        while len(done) < len(self.names):
            for name in [name for name in self.names if name not in done]:
                definitions[self.names[name]] = self.declared(name)
                done.append(name)
        return {**schema, "$defs": definitions} if definitions else schema

    def _alias(self, declared: AliasType) -> None:
        if has_conditions(declared):
            self.lose(CONDITION, WIDER, declared.name)

    def object(self, properties: Schema) -> Schema:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def reference(self, name: str) -> Schema:
        if name not in self.names:
            plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
            self.names[name] = distinct(plain, lambda each: each in self.names.values())
        return {"$ref": f"#/$defs/{self.names[name]}"}

    def declared(self, name: str) -> Schema:
        declared = declared_type(name, self.table)
        doc = {"description": declared.doc} if declared.doc else {}
        match declared:
            case RecordType():
                return {**self.fields(name, declared), **doc}
            case EnumType():
                return {"type": "string", "enum": list(declared.members), **doc}
            case AliasType():
                self._alias(declared)
                return _described(self.schema(declared.type), declared.doc)
            case UnionType():
                arms = [self.variant(f"{name}.{variant.name}", variant) for variant in declared.variants]
                return {"anyOf": arms, **doc}

    def variant(self, place: str, variant: RecordType) -> Schema:
        schema = self.fields(place, variant, {TAG: {"type": "string", "const": variant.name}})
        return _described(schema, variant.doc)

    def fields(self, place: str, shape: RecordType, before: Schema | None = None) -> Schema:
        """All fields in their order, behind those of `before`."""
        properties = {**(before or {})}
        for field in shape.fields:
            properties[field.name] = _described(self.field(f"{place}.{field.name}", field), field.doc)
        return self.object(properties)

    def field(self, place: str, field: FieldType) -> Schema:
        schema = self.schema(field.type)
        if field.optional or field.has_default:
            self.lose("a field that may be absent", "a field that may be null", place)
            if not isinstance(field.type, Optional | Null):
                return {"anyOf": [schema, {"type": "null"}]}
        return schema

    def schema(self, type: Type) -> Schema:
        match type:
            case Str():
                return self.text(type)
            case OneOf() | SpanOf() | Applied():
                self.lose("what depends on values of the run", "any text")
                return {"type": "string"}
            case Int():
                return _number("integer", type.minimum, type.maximum, type.multiple_of)
            case Dec():
                return _number("number", type.minimum, type.maximum, type.multiple_of)
            case Float():
                return _number("number", *float_bounds(type), None)
            case Bool():
                return {"type": "boolean"}
            case Null():
                return {"type": "null"}
            case Constant(value):
                return {"type": _kind(value), "const": value}
            case InForm(item):
                if (lost := form_lost(type)) is not None:
                    self.lose(*lost)
                return self.schema(item)
            case Optional(item):
                return {"anyOf": [self.schema(item), {"type": "null"}]}
            case Alternatives(arms) if all(isinstance(arm, Constant) for arm in arms):
                return self.constants([arm.value for arm in arms if isinstance(arm, Constant)])
            case Alternatives(arms):
                return {"anyOf": [self.schema(arm) for arm in arms]}
            case ListOf(item, low, high):
                return _array(self.schema(item), low, high)
            case TupleOf(items):
                self.lose("a tuple", "a list of as many items, each of any of their types")
                schemas = [self.schema(item) for item in items]
                different = [schema for at, schema in enumerate(schemas) if schema not in schemas[:at]]
                any_of = different[0] if len(different) == 1 else {"anyOf": different or [{"type": "null"}]}
                return _array(any_of, len(items), len(items))
            case MapOf():
                self.lose("a map")
            case Json():
                self.lose("any JSON" if not type.schema else "a JSON Schema")
            case Named(name):
                return self.reference(name)
        return {}

    def constants(self, values: list[Any]) -> Schema:
        """One of some constants, an enum for those of each kind."""
        kinds = dict.fromkeys(map(_kind, values))
        enums = [
            {"type": kind, "enum": [value for value in values if _kind(value) == kind]} for kind in kinds
        ]
        return enums[0] if len(enums) == 1 else {"anyOf": enums}

    def text(self, type: Str) -> Schema:
        """A text; all that is asked of it is one pattern, for there are no lengths and no `not`."""
        if type.grammar:
            self.lose("a grammar", "any text")
            return {"type": "string"}
        rules = text_rules(type)
        low, high = rules.min_chars, rules.max_chars
        plain = not rules.banned and not rules.looks
        if plain and not rules.whole:
            if not low and high is None:
                return {"type": "string"}
            return {"type": "string", "pattern": rf"^[\s\S]{{{low},{'' if high is None else high}}}$"}
        if plain and len(rules.whole) == 1 and not low and high is None:
            return {"type": "string", "pattern": f"^(?:{rules.whole[0]})$"}
        if (pattern := self.together(type)) is not None:
            return {"type": "string", "pattern": f"^(?:{pattern})$"}
        kept = [pattern for pattern in type.patterns if not looks(pattern)][:1]
        self.lose("several conditions on a text", "one pattern" if kept else "any text")
        return self.text(Str(patterns=tuple(kept), layout="free" if kept else ""))

    def together(self, type: Str) -> str | None:
        """The conditions on a text as one pattern, from their automaton; None where that is large."""
        try:
            layout = type.layout if type.layout == "line" else "free"
            writer = TermGrammar(language(replace(type, layout=layout), self.table, surface="hole"))
            writer.write()
            pattern = to_regex(writer.grammar())
        except (LanguageError, TooLarge, OutOfWork, Refused, GrammarError):
            return None
        return None if writer.lost or len(pattern) > LONGEST_PATTERN else pattern


def without_aliases(type: Type, table: TypeTable) -> Type:
    """The type that an alias, and what that is an alias of, stands for."""
    while isinstance(type, Named) and isinstance(declared := declared_type(type.name, table), AliasType):
        type = declared.type
    return type


def _described(schema: Schema, doc: str) -> Schema:
    """A schema with a description; a reference has none beside it."""
    if not doc:
        return schema
    return {"anyOf": [schema], "description": doc} if "$ref" in schema else {**schema, "description": doc}


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, Decimal) else "string"


def _number(kind: str, low: Any, high: Any, step: Any) -> Schema:
    bounds = {"minimum": low, "maximum": high, "multipleOf": step}
    return {"type": kind, **{key: bound for key, bound in bounds.items() if bound is not None}}


def _array(item: Schema, low: int, high: int | None) -> Schema:
    schema: Schema = {"type": "array", "items": item}
    if low:
        schema["minItems"] = low
    return schema if high is None else {**schema, "maxItems": high}
