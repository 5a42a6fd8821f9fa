"""A type as a JSON Schema of exactly its values, in the part of JSON Schema that a backend enforces.

record Crew:             {"type": "object", "properties": {"age": {"type": "integer", "minimum": 18, …}},
    age: int in 18..  →   "required": ["age"], "additionalProperties": false}

What a dialect says in another way is undone when the answer is read (`canonical`): an object around a value
that is no record, null for a field that is absent, an object for a tuple. What it cannot say is a loss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sglc.cfg.notation.print_lark import fresh_name
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.schemas.dialects import MOST_ENUM_VALUES, Rules, Schema, excess
from sglc.targets.projection.schemas.narrowed_types import (
    ALWAYS,
    NEVER,
    both,
    conditions_of_fields,
    kept_values,
    number_limits,
    values_of_range,
)
from sglc.targets.projection.schemas.number_bounds import written_bounds
from sglc.targets.projection.schemas.texts import Empty, TextSchemas, constants
from sglc.types.condition import Condition, holds
from sglc.types.language.condition_parts import lengths, settled
from sglc.types.notation.json_schema import embedded_schema, unsaid
from sglc.types.notation.text_rules import float_bounds
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
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
    types_in,
    uses_of,
)
from sglc.types.values import GivenError

ROOT = "value"
"""The field of the object around a value that is no record."""
PLACE = "item_{}"
"""The field of an object around a tuple, with its number from 1."""
MOST_LISTED = 250
"""Numbers of a range that are listed one by one where a dialect has no bounds: a schema of some 2,000
characters, which a prompt still holds."""


@dataclass(frozen=True, slots=True)
class ValueSchema:
    """A schema, and what it says in another way than the type.

    `wrapped`: the value is the field `value` of the object that it asks for. `absent`: the fields that are
    null where they are absent. `tuples`: whether tuples are objects. A loss without `instead` makes the
    schema useless.
    """

    schema: Schema
    wrapped: bool
    absent: tuple[str, ...]
    tuples: bool
    lost: tuple[Loss, ...]


def value_schema(
    type: Type,
    table: TypeTable,
    rules: Rules,
    *,
    place: str = "",
    condition: Condition | None = None,
    written: bool = True,
) -> ValueSchema:
    """The schema of a type's values for which a bound condition holds.

    With `written` only those that a hole writes: text at the top is one line, numbers have so many digits.
    """
    writer = _Writer(table, rules, place, written)
    schema = writer.root(type, ALWAYS if condition is None else condition)
    if rules.limited and (beyond := excess(schema)) is not None:
        writer.lose(beyond)
    return ValueSchema(schema, writer.wrapped, tuple(writer.absent), writer.tuples, tuple(writer.losses))


class _Writer:
    def __init__(self, table: TypeTable, rules: Rules, place: str, written: bool) -> None:
        self.table = table
        self.rules = rules
        self.place = place
        self.written = written
        self.texts = TextSchemas(table, rules, written, self.lose)
        self.wrapped = self.tuples = False
        self.absent: dict[str, None] = {}
        self.losses: dict[Loss, None] = {}
        self.names: dict[str, str] = {}
        """The declared types that are referred to, with their names in the schema."""
        self.taken: set[str] = set()
        self.bound: dict[str, DeclaredType] = {}
        """Types with values of the run, by the names that they are referred to by."""
        self.open: list[str] = []

    def lose(self, construct: str, instead: str = "", place: str = "") -> None:
        self.losses[Loss(construct, place or self.place, instead)] = None

    # -- the whole -------------------------------------------------------------------------------------

    def root(self, type: Type, condition: Condition) -> Schema:
        """The schema with its definitions."""
        schema: Schema
        try:
            schema = self.top(type, condition, self.written, False)
        except Empty:
            self.lose("a type without values")
            schema = self.object({})
        if self.rules.only_objects and not _is_object(schema):
            self.wrapped = True
            schema = self.object({ROOT: schema})
        definitions: Schema = {}
        while len(definitions) < len(self.names):
            for name, shown in [*self.names.items()]:
                if shown not in definitions:
                    self.open = [name]
                    definitions[shown] = self.definition(name)
        return {**schema, "$defs": definitions} if definitions else schema

    def top(self, type: Type, condition: Condition, raw: bool, beside_null: bool) -> Schema:
        """What stands outside of JSON in a hole: text there is written raw. A record is written out."""
        match type:
            case InForm(item, form):
                if raw and form != "json":
                    self.texts.form = form
                return self.top(item, condition, False, False)
            case Optional(item):
                arms = [lambda: self.top(item, condition, raw, True)]
                return self.any_of([*arms, lambda: self.null(condition)])
            case Alternatives(arms) if not _are_constants(arms):
                null = beside_null or any(isinstance(arm, Null) for arm in arms)
                return self.any_of([lambda arm=arm: self.top(arm, condition, raw, null) for arm in arms])
            case Named() | Applied():
                declared = self.declaration(type)
                if isinstance(declared, AliasType):
                    self.predicates(declared)
                    return self.top(declared.type, both(condition, declared.where), raw, beside_null)
                if isinstance(declared, RecordType):
                    return _described(self.record(declared, condition), declared.doc)
            case Str() | SpanOf() | OneOf():
                return self.texts.text(type, condition, raw, beside_null)
        return self.schema(type, condition)

    def declaration(self, type: Named | Applied) -> DeclaredType:
        if isinstance(type, Applied) and type.instance is not None:
            return type.instance.declared
        return declared_type(type.name, self.table)

    def predicates(self, declared: AliasType) -> None:
        for predicate in declared.predicates:
            self.lose(f"the condition `{predicate.text}`", "every value of the type", declared.name)

    def any_of(self, arms: Sequence[Callable[..., Schema]]) -> Schema:
        """One of some schemas, without those that have no value."""
        found = []
        for arm in arms:
            try:
                found.append(arm())
            except Empty:
                continue
        if not found:
            raise Empty
        return found[0] if len(found) == 1 else {"anyOf": found}

    def null(self, condition: Condition) -> Schema:
        if not holds(condition, None):
            raise Empty
        return {"type": "null"}

    # -- declared types --------------------------------------------------------------------------------

    def object(self, properties: Schema, required: list[str] | None = None) -> Schema:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties) if required is None else required,
            "additionalProperties": False,
        }

    def reference(self, name: str, declared: DeclaredType) -> Schema:
        if name not in self.names:
            plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
            self.names[name] = fresh_name(plain, "_", self.taken)
            self.bound[name] = declared
        if not self.rules.recursion and self.contains_itself(declared):
            self.lose("a type that contains itself")
        return {"$ref": f"#/$defs/{self.names[name]}"}

    def contains_itself(self, declared: DeclaredType) -> bool:
        return any(declared.name in uses_of(part, self.table) for part in types_in(declared))

    def definition(self, name: str) -> Schema:
        declared = self.bound[name]
        doc = {"description": declared.doc} if declared.doc else {}
        match declared:
            case RecordType():
                return {**self.record(declared, ALWAYS), **doc}
            case EnumType():
                return {"type": "string", "enum": list(declared.members), **doc}
            case AliasType():
                self.predicates(declared)
                return _described(self.schema(declared.type, both(ALWAYS, declared.where)), declared.doc)
            case UnionType():
                arms = [self.variant(f"{declared.name}.{each.name}", each) for each in declared.variants]
                return {"anyOf": arms, **doc}

    def variant(self, place: str, variant: RecordType) -> Schema:
        tag = {TAG: {"type": "string", "const": variant.name}}
        return _described(self.fields(place, variant, ALWAYS, tag), variant.doc)

    def record(self, declared: RecordType, condition: Condition) -> Schema:
        return self.fields(declared.name, declared, condition, {})

    def fields(self, place: str, shape: RecordType, condition: Condition, before: Schema) -> Schema:
        """All fields in their order, behind those of `before`."""
        try:
            parts = conditions_of_fields(condition)
        except ValueError:
            self.lose("a condition on several fields", "every value of the type", place)
            parts = {}
        properties = {**before}
        required = [*before]
        for field in shape.fields:
            asked = parts.get(field.name, ALWAYS)
            schema, needed = self.field(f"{place}.{field.name}", field, asked)
            if schema is not None:
                properties[field.name] = _described(schema, field.doc)
                if needed:
                    required.append(field.name)
        if self.tuples and _is_like_tuple(properties):
            self.lose("a record with the fields of a tuple")
        return self.object(properties, required)

    def field(self, place: str, field: FieldType, condition: Condition) -> tuple[Schema | None, bool]:
        """Its schema, None where it is never there; whether it must be there."""
        may_be_absent = field.optional or field.has_default
        absent = may_be_absent and holds(condition, field.default if field.has_default else None)
        try:
            schema = self.schema(field.type, condition)
        except Empty:
            if not absent:
                raise
            return ({"type": "null"}, True) if self.rules.only_objects else (None, False)
        if not absent:
            return schema, True
        if not self.rules.only_objects:
            return schema, False
        self.absent[place] = None
        if isinstance(field.type, Optional | Null):
            return schema, True
        return {"anyOf": [schema, {"type": "null"}]}, True

    # -- types -----------------------------------------------------------------------------------------

    def schema(self, type: Type, condition: Condition = ALWAYS) -> Schema:
        """The values of a type inside of JSON for which a condition holds. Raises Empty."""
        condition = settled(condition)
        if condition == NEVER:
            raise Empty
        match type:
            case Str() | SpanOf() | OneOf():
                return self.texts.text(type, condition, False, False)
            case Int() | Dec() | Float():
                return self.number(type, condition)
            case Bool() | Null() | Constant():
                return constants(kept_values(type, condition))
            case InForm(item):
                return self.schema(item, condition)
            case Optional(item):
                return self.any_of([lambda: self.schema(item, condition), lambda: self.null(condition)])
            case Alternatives(arms) if _are_constants(arms):
                return constants([v for arm in arms for v in kept_values(arm, condition)])
            case Alternatives(arms):
                return self.any_of([lambda arm=arm: self.schema(arm, condition) for arm in arms])
            case ListOf(item):
                return self.sized(type, condition, lambda: self.schema(item))
            case TupleOf(items):
                return self.tuple(items)
            case MapOf():
                return self.map(type, condition)
            case Json():
                return self.json(type)
            case Named() | Applied():
                return self.named(type, condition)

    def named(self, type: Named | Applied, condition: Condition) -> Schema:
        declared = self.declaration(type)
        name = type.name
        if isinstance(type, Applied) and type.instance is not None:
            name = f"{type.name}_{type.instance.number}"
        if condition == ALWAYS:
            return self.reference(name, declared)
        match declared:
            case AliasType():
                self.predicates(declared)
                return self.schema(declared.type, both(condition, declared.where))
            case EnumType():
                return constants(kept_values(declared, condition))
            case RecordType():
                return self.record(declared, condition)
        self.lose("a condition on a union", "every value of the type")
        return self.reference(name, declared)

    def number(self, type: Int | Dec | Float, condition: Condition) -> Schema:
        kind = "integer" if isinstance(type, Int) else "number"
        limits = number_limits(type, condition)
        if limits is None:
            values = values_of_range(type, condition, MOST_ENUM_VALUES)
            if values is not None:
                return constants(values)
            self.lose("a condition on a number", "every value of the type")
            limits = type
        if isinstance(limits, Int | Dec) and limits.minimum is not None and limits.maximum is not None:
            if limits.minimum > limits.maximum:
                raise Empty
        if not self.rules.bounds:
            values = values_of_range(limits, ALWAYS, MOST_LISTED)
            if values is not None:
                return constants(values)
            self.lose(*_unbounded(limits))
            return {"type": kind}
        if self.written:
            low, high = written_bounds(limits)
        else:
            low, high = (
                float_bounds(limits) if isinstance(limits, Float) else (limits.minimum, limits.maximum)
            )
        step = None if isinstance(limits, Float) else limits.multiple_of
        bounds = {"minimum": low, "maximum": high, "multipleOf": step}
        return {"type": kind, **{key: bound for key, bound in bounds.items() if bound is not None}}

    def sized(self, type: ListOf, condition: Condition, item: Callable[[], Schema]) -> Schema:
        try:
            ranges = lengths(type.minimum, type.maximum, condition)
        except GivenError:
            self.lose("a condition on a length", "every value of the type")
            ranges = [(type.minimum, type.maximum)]
        return self.any_of([lambda low=low, high=high: self.array(item, low, high) for low, high in ranges])

    def array(self, item: Callable[[], Schema], low: int, high: int | None) -> Schema:
        try:
            schema: Schema = {"type": "array", "items": item()}
        except Empty:
            if low:
                raise
            schema, high = {"type": "array", "items": {"type": "null"}}, 0
        if not self.rules.sizes and (low > 1 or high is not None):
            self.lose("a number of items", "a list of any length")
            low, high = min(low, 1), None
        if low:
            schema["minItems"] = low
        return schema if high is None else {**schema, "maxItems": high}

    def tuple(self, items: tuple[Type, ...]) -> Schema:
        size = len(items)
        schemas = [self.schema(item) for item in items]
        different = [schema for at, schema in enumerate(schemas) if schema not in schemas[:at]]
        if self.rules.tuples == "prefix":
            out: Schema = {"type": "array", "minItems": size, "maxItems": size}
            return {**out, "prefixItems": schemas, "items": False} if items else out
        if self.rules.tuples == "objects" and items and (len(different) > 1 or not self.rules.sizes):
            self.tuples = True
            return self.object({PLACE.format(at): schema for at, schema in enumerate(schemas, 1)})
        if len(different) > 1:
            self.lose("a tuple", "a list of as many items, each of any of their types")
        any_of = different[0] if len(different) == 1 else {"anyOf": different or [{"type": "null"}]}
        return self.array(lambda: any_of, size, size)

    def map(self, type: MapOf, condition: Condition) -> Schema:
        if not self.rules.maps:
            self.lose("a map")
            return {}
        self.lose("keys that occur once", "keys that may occur again")

        def entries(low: int, high: int | None) -> Schema:
            schema: Schema = {
                "type": "object",
                "propertyNames": self.schema(type.key),
                "additionalProperties": self.schema(type.value),
            }
            if low:
                schema["minProperties"] = low
            return schema if high is None else {**schema, "maxProperties": high}

        ranges = lengths(type.minimum, type.maximum, condition)
        return self.any_of([lambda low=low, high=high: entries(low, high) for low, high in ranges])

    def json(self, type: Json) -> Schema:
        if not self.rules.maps:
            self.lose("any JSON" if not type.schema else "a JSON Schema")
            return {}
        self.lose("keys that occur once", "keys that may occur again")
        if (lost := unsaid(type)) is not None:
            self.lose(*lost)
        return {} if lost is not None and lost[1] == "any JSON value" else embedded_schema(type.schema)


def _are_constants(arms: tuple[Type, ...]) -> bool:
    return all(isinstance(arm, Constant) for arm in arms)


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" and "properties" in schema


def _is_like_tuple(properties: Schema) -> bool:
    """Whether an answer with these fields would be taken for a tuple."""
    return list(properties) == [PLACE.format(at) for at in range(1, len(properties) + 1)]


def _unbounded(type: Int | Dec | Float) -> tuple[str, str]:
    step = None if isinstance(type, Float) else type.multiple_of
    if type.minimum is None and type.maximum is None and step is None:
        return "the number of digits", "a number of any length"
    return "the bounds of a number", "any number"


def _described(schema: Schema, doc: str) -> Schema:
    """A schema with a description; a reference has none beside it."""
    if not doc:
        return schema
    return {"anyOf": [schema], "description": doc} if "$ref" in schema else {**schema, "description": doc}
