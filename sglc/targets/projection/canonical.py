"""The answer of a backend as the text of its value in the one spelling of the language.

{"post": {"item_2": 3, "item_1": "pilot"}, "age":  41.0, "nick": null}   →   {"age": 41, "post": ["pilot", 3]}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from sglc.targets.projection.core.enforcement import Enforcement
from sglc.targets.projection.schemas.value_schema import PLACE, ROOT
from sglc.types.arithmetic import NUMBER_DIGITS
from sglc.types.dependent import erased
from sglc.types.language.membership import MemberError, arm_of, describe
from sglc.types.number_text import decimal_text
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.plain_json import from_json, parse_json
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Dec,
    DeclaredType,
    FieldType,
    Float,
    InForm,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declared_type,
    types_in,
    uses_of,
)
from sglc.types.values import MAX_DEPTH, RecordValue

LONGEST_ANSWER = 10_000_000
"""Characters of an answer: more than any model writes, and read within a second or two."""


class AnswerError(ValueError):
    """An answer that is no value of its hole. `path` leads to the part at fault, as of a MemberError."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


def canonical_text(answer: str, enforcement: Enforcement, type: Type | None, table: TypeTable) -> str:
    """The text of an answer's value as the hole writes it. Raises AnswerError.

    type  of the value, bound to the values of the run; None for options of the run, whose text is the answer
    table the declared types

    A number with more digits behind the point than its language has is rounded. What an enforcement has
    lost, conditions of the hole and computations are not asked.
    """
    if len(answer) > LONGEST_ANSWER:
        raise AnswerError(f"an answer of {len(answer):,} characters, at most {LONGEST_ANSWER:,} are read")
    if enforcement.reading == "text":
        return _checked(answer, enforcement, type, table)
    try:
        data: object = parse_json(answer)
        if enforcement.reading == "wrapped":
            data = _unwrapped(data)
        if type is None:
            if not isinstance(data, str):
                raise AnswerError(f"expected one of the options, found {describe(data)}")
            return _checked(data, enforcement, type, table)
        text = _text_of(data, enforcement, type, table)
    except MemberError as fault:
        raise AnswerError(fault.reason, fault.path) from None
    except (PrintError, RecursionError, OverflowError) as fault:
        raise AnswerError(str(fault) or "nested too deeply") from None
    return _checked(text, enforcement, type, table)


def _checked(text: str, enforcement: Enforcement, type: Type | None, table: TypeTable) -> str:
    """A text that is one of the hole's."""
    if type is None:
        if enforcement.options and text not in enforcement.options:
            raise AnswerError(f"{describe(text)} is none of the options")
        return text
    try:
        decode(text, type, table)
    except DecodeError as fault:
        raise AnswerError(f"no text of the hole: {fault}") from None
    return text


def _unwrapped(data: object) -> object:
    if not isinstance(data, dict) or list(data) != [ROOT]:
        raise AnswerError(f"expected an object with the one key `{ROOT}`, found {describe(data)}")
    return data[ROOT]


def _text_of(data: object, enforcement: Enforcement, type: Type, table: TypeTable) -> str:
    shown = erased(type)
    names = uses_of(shown, table)
    kinds = [shown, *(part for name in names for part in types_in(table[name]))]
    whole = not any(map(_has_json, kinds))
    printed = {**table}
    if enforcement.absent_as_null:
        printed |= {name: _with_null(table[name]) for name in names}
    read = {**printed, **{name: _of_all_floats(printed[name]) for name in names}}
    plain = _plain(data, enforcement.tuples_as_objects, whole, 0)
    value = from_json(plain, _loose(shown), read)  # type: ignore[arg-type]
    return print_value(_of_places(value, shown, printed), shown, printed)


def _plain(data: object, tuples: bool, whole: bool, depth: int) -> object:
    """Data with lists for tuples and integers for whole numbers, which JSON Schema does not tell apart."""
    if depth > MAX_DEPTH:
        raise AnswerError(f"nested deeper than {MAX_DEPTH}")
    match data:
        case dict():
            items = {key: _plain(item, tuples, whole, depth + 1) for key, item in data.items()}
            places = [PLACE.format(number) for number in range(1, len(items) + 1)]
            return (
                [items[place] for place in places]
                if tuples and places and set(places) == set(items)
                else items
            )
        case list():
            return [_plain(item, tuples, whole, depth + 1) for item in data]
        case Decimal() if whole and abs(data.adjusted()) < NUMBER_DIGITS and data == data.to_integral_value():
            return int(data)
    return data


def _of_places(value: object, type: Type, table: TypeTable) -> object:
    """The value with decimals of as many places as holes write; steps are kept, which say it themselves."""
    match value, type:
        case Decimal(), Dec(multiple_of=None):
            return Decimal(decimal_text(value))
        case list(), ListOf(item):
            return [_of_places(each, item, table) for each in value]
        case tuple(), TupleOf(items):
            return tuple(_of_places(each, item, table) for each, item in zip(value, items, strict=True))
        case dict(), MapOf(value=item):
            return {key: _of_places(each, item, table) for key, each in value.items()}
        case _, Optional(item) | InForm(item):
            return _of_places(value, item, table)
        case _, Alternatives():
            return _of_places(value, arm_of(value, type, table), table)
        case _, Named(name) | Applied(name):
            return _of_declared_places(value, declared_type(name, table), table)
    return value


def _of_declared_places(value: object, declared: DeclaredType, table: TypeTable) -> object:
    if isinstance(declared, AliasType):
        return _of_places(value, declared.type, table)
    if not isinstance(value, RecordValue):
        return value
    record = declared.variant(value.variant or "") if isinstance(declared, UnionType) else declared
    assert isinstance(record, RecordType), "the value is of this kind"
    types = {field.name: field.type for field in record.fields}
    return replace(
        value, fields={name: _of_places(each, types[name], table) for name, each in value.fields.items()}
    )


# -- types as answers are read ---------------------------------------------------------------------------


def _has_json(type: Type) -> bool:
    match type:
        case Json():
            return True
        case ListOf(item) | Optional(item) | InForm(item) | MapOf(value=item):
            return _has_json(item)
        case TupleOf(parts) | Alternatives(parts):
            return any(map(_has_json, parts))
    return False


def _with_null(declared: DeclaredType) -> DeclaredType:
    """A declaration whose fields with a default may be null, which is none of their values, for it."""

    def field(each: FieldType) -> FieldType:
        if not each.has_default or isinstance(each.type, Optional | Null):
            return each
        return replace(each, optional=True, has_default=False, default=None)

    return _with_fields(declared, field)


def _of_all_floats(declared: DeclaredType) -> DeclaredType:
    """A declaration without bounds of floats: printing rounds to what lies between them."""
    if isinstance(declared, AliasType):
        return AliasType(declared.name, _loose(declared.type))
    return _with_fields(declared, lambda field: replace(field, type=_loose(field.type)))


def _with_fields(declared: DeclaredType, change: Callable[[FieldType], FieldType]) -> DeclaredType:
    match declared:
        case RecordType(fields=fields):
            return replace(declared, fields=tuple(map(change, fields)))
        case UnionType(variants=variants):
            changed = (replace(each, fields=tuple(map(change, each.fields))) for each in variants)
            return UnionType(declared.name, tuple(changed), declared.doc)
    return declared


def _loose(type: Type) -> Type:
    match type:
        case Float():
            return Float()
        case ListOf(item) | Optional(item) | InForm(item):
            return replace(type, item=_loose(item))
        case MapOf(value=item):
            return replace(type, value=_loose(item))
        case TupleOf(parts):
            return TupleOf(tuple(map(_loose, parts)))
        case Alternatives(parts):
            return Alternatives(tuple(map(_loose, parts)))
    return type
