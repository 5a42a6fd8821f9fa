"""Widening of values where a wider number is due: int to decimal and float, decimal to float, inside too."""

from __future__ import annotations

from decimal import Decimal

from sglc.types.language.membership import MemberError, check_member, is_member
from sglc.types.text.plain_json import from_json
from sglc.types.type import (
    AliasType,
    Alternatives,
    Dec,
    Float,
    InForm,
    Json,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)
from sglc.types.values import RecordValue, Value
from sglc.values.kinds import ValueFault, is_value


def checked(value: object, type: Type, table: TypeTable) -> object:
    """The value as the type has it: numbers widened, plain JSON read. Raises ValueFault with the place inside
    the value that does not fit."""
    found = coerce(value, type, table)
    try:
        check_member(found, type, table)
    except MemberError as fault:
        why = fault_of(value, type, table, fault)
        raise ValueFault(f"a value is outside of its type: {why}") from None
    return found


def coerce(value: object, type: Type, table: TypeTable) -> object:
    """The value as the type has it. A value that does not fit is returned as it is: a check follows."""
    if isinstance(value, bool) or value is None:
        return value
    match type:
        case Json() if is_value(value):
            from sglc.types.language.json_membership import ordered_json  # loads all of JSON Schema

            return ordered_json(value, type)
        case Alternatives(arms=arms):
            return _fitting(value, arms, table)
        case TupleOf() if isinstance(value, list) and len(type.items) == len(value):
            return tuple(coerce(each, item, table) for each, item in zip(value, type.items, strict=True))
        case Dec() if isinstance(value, int):
            return Decimal(value)
        case Float() if isinstance(value, int | Decimal):
            try:
                return float(value)
            except OverflowError:
                return value
        case ListOf(item=item) if isinstance(value, list | range):
            return [coerce(each, item, table) for each in value]
        case MapOf(key=key_type, value=item) if isinstance(value, dict):
            return {coerce(key, key_type, table): coerce(each, item, table) for key, each in value.items()}
        case TupleOf(items=items) if isinstance(value, tuple) and len(items) == len(value):
            return tuple(coerce(each, item, table) for each, item in zip(value, items, strict=True))
        case Optional(item=item) | InForm(item=item):
            return coerce(value, item, table)
        case Named(name=name):
            declared = table.get(name)
            if isinstance(declared, AliasType):
                return coerce(value, declared.type, table)
            if isinstance(value, dict | str):
                return _from_plain(value, type, table)
            if isinstance(value, RecordValue) and isinstance(declared, RecordType | UnionType):
                return _record(value, declared, table)
    return value


def _from_plain(value: dict[str, Value] | str, type: Type, table: TypeTable) -> object:
    """A record, variant or enum member from a plain JSON value. A value that stands for none is returned as
    it is."""
    try:
        return from_json(value, type, table)
    except MemberError:
        return value


def fault_of(value: object, type: Type, table: TypeTable, found: MemberError) -> MemberError:
    """Why a value could not be coerced. For plain JSON data the fault has the path inside the value."""
    if isinstance(value, dict | list):
        try:
            from_json(value, type, table)
        except MemberError as fault:
            return fault
    return found


def _fitting(value: object, arms: tuple[Type, ...], table: TypeTable) -> object:
    """The value as the first arm has it that it belongs to."""
    if any(is_member(value, arm, table) for arm in arms):
        return value
    for arm in arms:
        found = coerce(value, arm, table)
        if is_member(found, arm, table):
            return found
    return value


def _record(value: RecordValue, declared: RecordType | UnionType, table: TypeTable) -> RecordValue:
    shape: RecordType | None = declared if isinstance(declared, RecordType) else None
    if isinstance(declared, UnionType):
        shape = declared.variant(value.variant)
    if shape is None or tuple(value.fields) != tuple(field.name for field in shape.fields):
        return value
    fields = {field.name: coerce(value.fields[field.name], field.type, table) for field in shape.fields}
    return RecordValue(value.type, fields, value.variant)
