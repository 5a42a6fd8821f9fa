"""`Decoder`: reads a text of a type from left to right.

The decoder follows the type, not the text, and accepts exactly the type's language: JSON in any other
spelling than the canonical one is refused, with the position.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import assert_never

from sglc.types.dependent import one_of_fault, span_fault
from sglc.types.json_text import json_text
from sglc.types.json_values import number_of
from sglc.types.language.json_membership import json_fault
from sglc.types.language.membership import (
    constant_notation,
    decimal_fault,
    float_fault,
    int_fault,
    size_fault,
    str_fault,
    where_fault,
)
from sglc.types.language.scalars import constant_text
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
    declaration_of,
    declared_type,
    without_form,
)
from sglc.types.values import MAX_DEPTH, EnumValue, Parsed, RecordValue, Value

_INT = re.compile(r"-?(0|[1-9][0-9]*)")
_DEC = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]{1,20})?")
_FREE_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?|-?[1-9](\.[0-9]+)?e[-+]([0-9]{2}|[1-3][0-9]{2})")
_WORDS = {"null": None, "true": True, "false": False}
# Whatever may belong to a number or a word, so that `1` is never taken from the front of `1.5`.
_BARE = re.compile(r"[-+.0-9A-Za-z]*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


class DecodeError(ValueError):
    """`position` counts characters of the text from 0."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"at {position}: {reason}")
        self.position = position
        self.reason = reason


class Decoder:
    """Reads JSON in the canonical spelling; `at` is the place after what was read."""

    def __init__(self, text: str, table: TypeTable) -> None:
        self.text = text
        self.table = table
        self.at = 0
        self.depth = 0
        self.arms = 0
        """Alternatives that are being tried: there a JSON value must be held against its schema."""

    # The top of a hole.

    def raw(self, type: Type, *, beside_null: bool = False) -> Value:
        """The value of the whole text as a hole writes it: text bare, all else as JSON. `beside_null`:
        `null` is not a text here, because it stands for null."""
        text = self.text
        match type:
            case Str():
                if beside_null and text == "null":
                    raise DecodeError(0, "null stands for no value here")
                self.fail_if(0, str_fault(text, type))
                return Parsed(text, type.grammar) if type.grammar else text
            case OneOf() | SpanOf():
                if beside_null and text == "null":
                    raise DecodeError(0, "null stands for no value here")
                self.fail_if(0, _given_fault(text, type))
                return text
            case Constant(value):
                if text != constant_text(value, "hole") or (beside_null and text == "null"):
                    raise DecodeError(0, f"expected {constant_notation(value)}")
                return value
            case Optional():
                item = without_form(type.item, self.table)
                return None if text == "null" else self.raw(item, beside_null=True)
            case Alternatives():
                beside_null = beside_null or _has_null(type, self.table)
                arms = tuple(without_form(arm, self.table) for arm in type.arms)
                return self.first(arms, lambda arm: self.raw(arm, beside_null=beside_null))
            case Applied() if isinstance(declared := declaration_of(type), AliasType):
                return self.met(0, self.raw(declared.type, beside_null=beside_null), declared)
            case Named(name):
                declared = declared_type(name, self.table)
                if isinstance(declared, AliasType):
                    return self.met(0, self.raw(declared.type, beside_null=beside_null), declared)
                if isinstance(declared, EnumType):
                    if text not in declared.members or (beside_null and text == "null"):
                        raise DecodeError(0, f"expected a member of {name}")
                    return EnumValue(name, text)
                return self.whole(type)
            case _:
                return self.whole(type)

    def whole(self, type: Type) -> Value:
        """The value of the whole text as JSON. Raises DecodeError for what follows it too."""
        value = self.value(type)
        if self.at != len(self.text):
            raise DecodeError(self.at, "the value is complete here")
        return value

    def first(self, arms: tuple[Type, ...], read: Callable[[Type], Value]) -> Value:
        """The first arm that reads; else the fault of the one that came furthest."""
        start = self.at
        furthest: DecodeError | None = None
        for arm in arms:
            self.at = start
            depth, tried = self.depth, self.arms
            self.arms += 1
            try:
                return read(arm)
            except DecodeError as error:
                self.depth = depth
                if furthest is None or error.position > furthest.position:
                    furthest = error
            finally:
                self.arms = tried
        raise furthest or DecodeError(start, "nothing is accepted here")

    # JSON.

    def value(self, type: Type) -> Value:
        """The value of the type that stands here, as JSON, refinements checked. Raises DecodeError."""
        start = self.at
        match type:
            case Str():
                text = self.string()
                self.fail_if(start, str_fault(text, type))
                return Parsed(text, type.grammar) if type.grammar else text
            case Json():
                value = self.json()
                if self.arms and type.schema and (fault := json_fault(value, type)) is not None:
                    raise DecodeError(start, f"{fault[0]}: {fault[1]}" if fault[0] else fault[1])
                return value
            case OneOf() | SpanOf():
                text = self.string()
                self.fail_if(start, _given_fault(text, type))
                return text
            case Int():
                number = int(self.number(_INT, "an integer"))
                self.fail_if(start, int_fault(number, type))
                return number
            case Dec():
                value = Decimal(self.number(_DEC, "a decimal"))
                self.fail_if(start, decimal_fault(value, type))
                return value
            case Float():
                return self.float(type)
            case Bool():
                word = self.bare()
                if word not in ("true", "false"):
                    raise DecodeError(start, "expected true or false")
                return word == "true"
            case Null():
                self.expect_bare("null")
                return None
            case Constant(constant):
                if isinstance(constant, str):
                    self.expect(json_text(constant))
                else:
                    self.expect_bare(constant_text(constant, "json"))
                return constant
            case Optional():
                if self.text.startswith("null", start):
                    return self.first((Null(), type.item), self.value)
                return self.value(type.item)
            case Alternatives():
                return self.first(type.arms, self.value)
            case ListOf():
                return self.list(type)
            case TupleOf():
                return self.tuple(type)
            case MapOf():
                return self.map(type)
            case Named(name):
                return self.named(name, declared_type(name, self.table))
            case Applied(name):
                return self.named(name, declaration_of(type))
            case InForm(item=item):
                return self.value(item)
            case _:
                assert_never(type)

    def json(self) -> Value:
        """Any JSON value in the canonical spelling. What a schema asks for is the mask's business."""
        start = self.at
        char = self.text[start : start + 1]
        if char == '"':
            return self.string()
        if char == "[":
            self.enter("[")
            items: list[Value] = []
            while not self.text.startswith("]", self.at):
                if items:
                    self.expect(", ")
                items.append(self.json())
            self.leave("]")
            return items
        if char == "{":
            self.enter()
            entries: dict[str, Value] = {}
            while not self.text.startswith("}", self.at):
                if entries:
                    self.expect(", ")
                place = self.at
                key = self.string()
                if key in entries:
                    raise DecodeError(place, f"the key {json_text(key)} stands twice")
                self.expect(": ")
                entries[key] = self.json()
            self.leave()
            return entries
        word = self.bare()
        if word in _WORDS:
            return _WORDS[word]
        if not _JSON_NUMBER.fullmatch(word):
            raise DecodeError(start, "expected a JSON value")
        return number_of(word)

    def named(self, name: str, declared: DeclaredType) -> Value:
        """A value of a declared type: a member, or an object with its fields in their order."""
        start = self.at
        match declared:
            case AliasType():
                return self.met(start, self.value(declared.type), declared)
            case EnumType():
                member = self.string()
                if member not in declared.members:
                    raise DecodeError(start, f"{json_text(member)} is no member of {name}")
                return EnumValue(name, member)
            case RecordType():
                self.enter()
                return RecordValue(name, self.fields(declared.fields, first=True))
            case UnionType():
                self.enter()
                self.expect(f"{json_text(TAG)}: ")
                start = self.at
                tag = self.string()
                variant = declared.variant(tag)
                if variant is not None:
                    return RecordValue(name, self.fields(variant.fields, first=False), tag)
                raise DecodeError(start, f"{json_text(tag)} is no variant of {name}")
            case _:
                assert_never(declared)

    def met(self, start: int, value: Value, declared: AliasType) -> Value:
        """A value of what an alias stands for, its condition checked. Raises DecodeError."""
        self.fail_if(start, where_fault(value, declared))
        return value

    def enter(self, bracket: str = "{") -> None:
        """An opening bracket; one level deeper."""
        self.expect(bracket)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DecodeError(self.at, f"nested deeper than {MAX_DEPTH}")

    def leave(self, bracket: str = "}") -> None:
        """A closing bracket; one level less deep."""
        self.expect(bracket)
        self.depth -= 1

    def fields(self, fields: tuple[FieldType, ...], *, first: bool) -> dict[str, Value]:
        """The fields up to and with the closing brace; absent ones get their default or None."""
        values: dict[str, Value] = {}
        for field in fields:
            lead = f"{'' if first else ', '}{json_text(field.name)}: "
            if (field.optional or field.has_default) and not self.text.startswith(lead, self.at):
                values[field.name] = field.default if field.has_default else None
                continue
            self.expect(lead)
            values[field.name] = self.value(field.type)
            first = False
        self.leave()
        return values

    def list(self, type: ListOf) -> list[Value]:
        """An array, its number of items checked."""
        start = self.at
        self.enter("[")
        items: list[Value] = []
        while not self.text.startswith("]", self.at):
            if items:
                self.expect(", ")
            items.append(self.value(type.item))
        self.leave("]")
        self.fail_if(start, size_fault(len(items), type, "items"))
        return items

    def tuple(self, type: TupleOf) -> tuple[Value, ...]:
        """An array of exactly the items of the type."""
        self.enter("[")
        items = []
        for index, item in enumerate(type.items):
            if index:
                self.expect(", ")
            items.append(self.value(item))
        self.leave("]")
        return tuple(items)

    def map(self, type: MapOf) -> dict[str, Value]:
        """An object with unique keys, their number checked."""
        start = self.at
        self.enter()
        entries: dict[str, Value] = {}
        while not self.text.startswith("}", self.at):
            if entries:
                self.expect(", ")
            place = self.at
            key = self.value(type.key)
            assert isinstance(key, str), "keys of a map are texts"
            if key in entries:
                raise DecodeError(place, f"the key {json_text(str(key))} stands twice")
            self.expect(": ")
            entries[key] = self.value(type.value)
        self.leave()
        self.fail_if(start, size_fault(len(entries), type, "entries"))
        return entries

    def float(self, type: Float) -> float:
        """A number as the nearest float; bounds are checked on the exact decimal."""
        start = self.at
        if type.minimum is None and type.maximum is None:
            value = float(self.number(_FREE_FLOAT, "a float"))
            self.fail_if(start, float_fault(value, type))
            return value
        exact = Decimal(self.number(_FLOAT, "a float without exponent"))
        if type.minimum is not None and exact < type.minimum:
            raise DecodeError(start, f"{exact} is less than {type.minimum}")
        if type.maximum is not None and exact > type.maximum:
            raise DecodeError(start, f"{exact} is more than {type.maximum}")
        value = float(exact)
        self.fail_if(start, float_fault(value, type))
        return value

    # Tokens.

    def bare(self) -> str:
        """The characters of a number or word here, perhaps none."""
        found = _BARE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found.group()

    def expect_bare(self, word: str) -> None:
        """Exactly this word. Raises DecodeError for a longer one too."""
        start = self.at
        if self.bare() != word:
            raise DecodeError(start, f"expected {word}")

    def number(self, spelling: re.Pattern[str], what: str) -> str:
        """The numeral here if it has the spelling; `what` is due, for the message."""
        start = self.at
        # A number may have as many digits as its bounds; int() refuses thousands of them.
        word = self.bare()
        if len(word) > 4000 or not spelling.fullmatch(word):
            raise DecodeError(start, f"expected {what}")
        if word.startswith("-") and not word.split("e")[0].strip("-0."):
            raise DecodeError(start, "zero has no sign")
        return word

    def string(self) -> str:
        """The characters of a JSON string in its canonical spelling."""
        start = self.at
        found = _STRING.match(self.text, start)
        if found is None:
            raise DecodeError(start, "expected text in quotes")
        try:
            text: str = json.loads(found.group())
        except ValueError:
            raise DecodeError(start, "an escape is not known") from None
        if json_text(text) != found.group():
            raise DecodeError(start, "the text is not written in its canonical spelling")
        self.at = found.end()
        return text

    def expect(self, text: str) -> None:
        """Exactly this text."""
        if not self.text.startswith(text, self.at):
            raise DecodeError(self.at, f"expected {text}")
        self.at += len(text)

    def fail_if(self, position: int, reason: str | None) -> None:
        """Raises DecodeError at a position where there is a reason."""
        if reason is not None:
            raise DecodeError(position, reason)


def _given_fault(text: str, type: OneOf | SpanOf) -> str | None:
    return one_of_fault(text, type) if isinstance(type, OneOf) else span_fault(text, type)


def _has_null(type: Type, table: TypeTable) -> bool:
    match type:
        case Null() | Optional():
            return True
        case Alternatives():
            return any(_has_null(arm, table) for arm in type.arms)
        case InForm(item=item):
            return _has_null(item, table)
        case Named(name):
            declared = declared_type(name, table)
            return isinstance(declared, AliasType) and _has_null(declared.type, table)
        case _:
            return False
