"""Widening of values where a wider number is due: int to decimal and float, decimal to float, inside too."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sglc.types.type import (
    AliasType,
    Dec,
    Float,
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
from sglc.types.values import RecordValue


def coerce(value: Any, type: Type, table: TypeTable) -> Any:
    """The value as the type has it; what does not fit is returned as it is, for the check that follows."""
    if isinstance(value, bool) or value is None:
        return value
    match type:
        case Dec() if isinstance(value, int):
            return Decimal(value)
        case Float() if isinstance(value, int | Decimal):
            try:
                return float(value)
            except OverflowError:
                return value
        case ListOf(item=item) if isinstance(value, list | range):
            return [coerce(each, item, table) for each in value]
        case MapOf(value=item) if isinstance(value, dict):
            return {key: coerce(each, item, table) for key, each in value.items()}
        case TupleOf(items=items) if isinstance(value, tuple) and len(items) == len(value):
            return tuple(coerce(each, item, table) for each, item in zip(value, items, strict=True))
        case Optional(item=item):
            return coerce(value, item, table)
        case Named(name=name):
            declared = table.get(name)
            if isinstance(declared, AliasType):
                return coerce(value, declared.type, table)
            if isinstance(value, RecordValue) and isinstance(declared, RecordType | UnionType):
                return _record(value, declared, table)
    return value


def _record(value: RecordValue, declared: RecordType | UnionType, table: TypeTable) -> RecordValue:
    shape: RecordType | None = declared if isinstance(declared, RecordType) else None
    if isinstance(declared, UnionType):
        shape = next((v for v in declared.variants if v.name == value.variant), None)
    if shape is None or tuple(value.fields) != tuple(field.name for field in shape.fields):
        return value
    fields = {field.name: coerce(value.fields[field.name], field.type, table) for field in shape.fields}
    return RecordValue(value.type, fields, value.variant)
