"""What was read of a text that is not complete, as a value of the type `T.Partial`."""

from __future__ import annotations

from sglc.types.text.partial import MISSING, Growing, Partial, PartialFields
from sglc.types.text.partial_types import partial_name
from sglc.types.type import (
    AliasType,
    Alternatives,
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


def partial_value(found: Partial, type: Type, table: TypeTable) -> object:
    """A value of the partial type `type` that holds what was found; null where nothing is there.

    `type` is what `sglc.types.partial.partial_type` makes of the type that was read. Raises ValueError for
    another one, which no compiler writes.
    """
    if found is MISSING or found is None:
        return None
    if isinstance(found, Growing):
        return partial_value(found.value, type, table)  # type: ignore[arg-type]
    match type:
        case Optional(item=item):
            return partial_value(found, item, table)
        case Alternatives(arms=arms):
            return partial_value(found, _arm(found, arms, table), table)
        case ListOf(item=item) if isinstance(found, list):
            return [partial_value(each, item, table) for each in found]
        case TupleOf(items=items) if isinstance(found, list | tuple) and len(found) <= len(items):
            there = [partial_value(each, item, table) for each, item in zip(found, items, strict=False)]
            return tuple(there + [None] * (len(items) - len(there)))
        case MapOf(value=item) if isinstance(found, dict):
            return {key: partial_value(each, item, table) for key, each in found.items()}
        case Named(name=name) if name in table:
            return _declared(found, name, table)
    if isinstance(found, PartialFields | RecordValue | list | tuple | dict) and not _is_plain(type):
        raise ValueError("a value of another type than the stream's")
    return found


def seen(found: Partial) -> object:
    """What a program can see of a part: two parts that it cannot tell apart give the same."""
    if isinstance(found, Growing):
        return seen(found.value)  # type: ignore[arg-type]
    if isinstance(found, PartialFields | RecordValue):
        fields = {name: seen(each) for name, each in found.fields.items() if each is not None}  # type: ignore[arg-type]
        return [found.type, found.variant, fields]
    if isinstance(found, list | tuple):
        return [seen(each) for each in found]
    if isinstance(found, dict):
        return {key: seen(each) for key, each in found.items()}
    return found


def _is_plain(type: Type) -> bool:
    """Whether values of a type are as they were read: JSON."""
    return not isinstance(type, ListOf | TupleOf | MapOf | Named)


_KINDS: dict[type, tuple[type, ...]] = {list: (ListOf, TupleOf), tuple: (TupleOf,), dict: (MapOf,)}
"""The types that a list, tuple or map in a partial value may have."""


def _arm(found: Partial, arms: tuple[Type, ...], table: TypeTable) -> Type:
    """The arm of a union that has the value: records by name, lists and maps by kind, else a plain one."""
    if isinstance(found, PartialFields | RecordValue):
        wanted = partial_name(found.type)
        kinds: tuple[type, ...] = (Named,)
    else:
        wanted = ""
        kinds = _KINDS.get(type(found), ())
    for arm in arms:
        plain = arm
        while isinstance(plain, Named) and isinstance(declared := table.get(plain.name), AliasType):
            plain = declared.type
        if isinstance(plain, kinds) and (not isinstance(plain, Named) or plain.name == wanted):
            return arm
    return next((arm for arm in arms if _is_plain(arm)), arms[0])


def _declared(found: Partial, name: str, table: TypeTable) -> object:
    declared = table[name]
    if isinstance(declared, AliasType):
        return partial_value(found, declared.type, table)
    if not isinstance(found, PartialFields | RecordValue):
        return found  # a member of an enum
    if isinstance(declared, UnionType):
        shape = declared.variant(found.variant)
    else:
        shape = declared if isinstance(declared, RecordType) else None
    if shape is None:
        raise ValueError("a value of another type than the stream's")
    fields = found.fields
    there = {f.name: partial_value(fields.get(f.name), f.type, table) for f in shape.fields}  # type: ignore[arg-type]
    return RecordValue(name, there, found.variant)
