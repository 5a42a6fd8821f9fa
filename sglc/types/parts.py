"""The parts of a type that stand at a place of its values."""

from __future__ import annotations

from sglc.types.type import (
    AliasType,
    Alternatives,
    InForm,
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


def types_at(type: Type, path: tuple[str | int, ...], table: TypeTable) -> tuple[Type, ...]:
    """The types of what keys and indices lead to in a value of a type, as JSON writes it: several where
    alternatives have such a part, none where nothing has. The tag of a variant has no type of its own."""
    found: dict[Type, None] = {type: None}
    for step in path:
        found = {part: None for each in found for part in _parts(each, step, table, frozenset())}
    return tuple(found)


def _parts(type: Type, step: str | int, table: TypeTable, seen: frozenset[str]) -> list[Type]:
    match type:
        case Optional(item=item) | InForm(item=item):
            return _parts(item, step, table, seen)
        case Alternatives(arms=arms):
            return [part for arm in arms for part in _parts(arm, step, table, seen)]
        case ListOf(item=item) if isinstance(step, int):
            return [item]
        case TupleOf(items=items) if isinstance(step, int):
            return [items[step]] if step < len(items) else []
        case MapOf(value=value) if isinstance(step, str):
            return [value]
        case Named(name=name) if name not in seen and name in table:
            match table[name]:
                case AliasType(type=inner):
                    return _parts(inner, step, table, seen | {name})
                case RecordType(fields=fields):
                    return [field.type for field in fields if field.name == step]
                case UnionType(variants=variants):
                    return [field.type for one in variants for field in one.fields if field.name == step]
    return []
