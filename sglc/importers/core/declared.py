"""What a source declares, as types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sglc.types.type import (
    AliasType,
    Alternatives,
    DeclaredType,
    EnumType,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    TupleOf,
    Type,
)


@dataclass(frozen=True, slots=True)
class Declared:
    """The type that was asked for, and the types that it is made of, by names of their own.

    `root` is one of the names. A name with points belongs to the declaration before the first point
    (`Order.address` is the object written in the interface `Order`).
    """

    root: str
    types: Mapping[str, DeclaredType]


def reachable(root: str, types: Mapping[str, DeclaredType]) -> dict[str, DeclaredType]:
    """The types that one consists of, itself first, the others in the order they are met."""
    found: dict[str, DeclaredType] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = types[name]
            waiting += reversed([named for part in parts_of(types[name]) for named in names_in(part)])
    return found


def parts_of(declared: DeclaredType) -> list[Type]:
    """The types of the fields of a declaration, or the one that an alias stands for."""
    match declared:
        case RecordType(fields=fields):
            return [field.type for field in fields]
        case AliasType(type=type):
            return [type]
        case EnumType():
            return []
    return [field.type for variant in declared.variants for field in variant.fields]


def names_in(type: Type) -> list[str]:
    """Names of the declared types in a type, as they are met."""
    match type:
        case Named(name):
            return [name]
        case ListOf(item=item) | Optional(item=item):
            return names_in(item)
        case MapOf(key=key, value=value):
            return [*names_in(key), *names_in(value)]
        case TupleOf(items=items) | Alternatives(arms=items):
            return [name for item in items for name in names_in(item)]
    return []


def renamed(type: Type, names: Mapping[str, str]) -> Type:
    """A type with the declared types in it called by other names."""
    match type:
        case Named(name):
            return Named(names[name])
        case ListOf(item, low, high):
            return ListOf(renamed(item, names), low, high)
        case Optional(item):
            return Optional(renamed(item, names))
        case MapOf(key, value, low, high):
            return MapOf(renamed(key, names), renamed(value, names), low, high)
        case TupleOf(items):
            return TupleOf(tuple(renamed(item, names) for item in items))
        case Alternatives(arms):
            return Alternatives(tuple(renamed(arm, names) for arm in arms))
    return type


def renamed_declaration(declared: DeclaredType, names: Mapping[str, str]) -> DeclaredType:
    """The same of a declaration, its own name too."""
    name = names[declared.name]
    match declared:
        case RecordType(fields=fields):
            changed = tuple(replace(field, type=renamed(field.type, names)) for field in fields)
            return replace(declared, name=name, fields=changed)
        case AliasType(type=type):
            return replace(declared, name=name, type=renamed(type, names))
    return replace(declared, name=name)
