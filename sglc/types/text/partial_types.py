"""`T.Partial`: the type of what is there of a value while it is written.

What a partial value holds is exact, for the end of each part is known from the text alone
(`sglc.types.text.decode`). Of a text there is what is written so far; of a list, tuple or map its finished
items and at most one that grows; of a record or variant its finished fields, at most one that grows, and null
for the others. Numbers, members of enums and other scalars are there only when they are complete.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from sglc.types.dependent import erased
from sglc.types.type import (
    AliasType,
    Alternatives,
    DeclaredType,
    EnumType,
    FieldType,
    InForm,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)

PARTIAL = "Partial"
"""The name of the part of a type. No declared type is called so."""


def partial_name(name: str) -> str:
    """The name of what is there of a declared type."""
    return f"{name}.{PARTIAL}"


def partial_type(type: Type, table: MutableMapping[str, DeclaredType]) -> Type:
    """What is there of a type. The partial types of the names in it are entered into the table."""
    match erased(type):
        case Str():
            return Str()
        case ListOf(item=item):
            return ListOf(partial_type(item, table))
        case MapOf(key=_, value=value):
            return MapOf(Str(), partial_type(value, table))
        case TupleOf(items=items):
            return TupleOf(tuple(_maybe(partial_type(item, table)) for item in items))
        case InForm(item=item):
            return partial_type(item, table)
        case Optional(item=item):
            return _maybe(partial_type(item, table))
        case Alternatives(arms=arms):
            return Alternatives(tuple(dict.fromkeys(partial_type(arm, table) for arm in arms)))
        case Named(name=name):
            return _named(name, table)
        case plain:
            return plain


def _maybe(type: Type) -> Type:
    return type if isinstance(type, Optional | Null | Json) else Optional(type)


def _named(name: str, table: MutableMapping[str, DeclaredType]) -> Type:
    declared = table[name]
    if isinstance(declared, EnumType):
        return Named(name)
    partial = partial_name(name)
    if partial in table:
        return Named(partial)
    short = partial_name(declared.name)
    match declared:
        case AliasType(type=type):
            table[partial] = AliasType(short, Null())  # a type that contains itself finds its name
            table[partial] = AliasType(short, partial_type(type, table))
        case RecordType(fields=fields, doc=doc):
            table[partial] = RecordType(short, ())
            table[partial] = RecordType(short, _fields(fields, table), doc)
        case UnionType(variants=variants, doc=doc):
            table[partial] = UnionType(short, ())
            made = tuple(RecordType(v.name, _fields(v.fields, table), v.doc) for v in variants)
            table[partial] = UnionType(short, made, doc)
    return Named(partial)


def _fields(fields: tuple[FieldType, ...], table: MutableMapping[str, DeclaredType]) -> tuple[FieldType, ...]:
    return tuple(FieldType(f.name, partial_type(f.type, table), optional=True, doc=f.doc) for f in fields)
