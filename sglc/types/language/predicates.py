"""Predicates of types: conditions that no mask keeps, and of which values they are asked.

A predicate is a pure function of the program. Membership, languages and decoders leave it out; who can call
functions asks it of the parts of a value that `asked` gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sglc.types.language.membership import arm_of
from sglc.types.type import (
    AliasType,
    Alternatives,
    EnumType,
    FieldType,
    InForm,
    ListOf,
    MapOf,
    Named,
    Optional,
    Predicate,
    RecordType,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)
from sglc.types.values import RecordValue


def predicates_of(type: Type, table: TypeTable) -> list[Predicate]:
    """All predicates that may be asked of a value of the type or of its parts, each once."""
    found: dict[Predicate, None] = {}
    seen: set[str] = set()
    work = [type]
    while work:
        match work.pop(0):
            case ListOf(item=item) | Optional(item=item) | InForm(item=item):
                work.append(item)
            case MapOf(key=key, value=value):
                work += (key, value)
            case TupleOf(items=items) | Alternatives(arms=items):
                work += items
            case Named(name=name) if name not in seen and name in table:
                seen.add(name)
                match table[name]:
                    case AliasType(type=inner, predicates=predicates):
                        found.update(dict.fromkeys(predicates))
                        work.append(inner)
                    case RecordType(fields=fields):
                        work += [field.type for field in fields]
                    case UnionType(variants=variants):
                        work += [field.type for one in variants for field in one.fields]
    return list(found)


def asked(
    value: object, type: Type, table: TypeTable, path: str = ""
) -> Iterator[tuple[str, Predicate, object]]:
    """The predicates to ask of a member of the type: the place in it, the predicate, the part.

    Those of parts come before those of what contains them.
    """
    match type:
        case Optional(item=item):
            if value is not None:
                yield from asked(value, item, table, path)
        case InForm(item=item):
            yield from asked(value, item, table, path)
        case Alternatives():
            yield from asked(value, arm_of(value, type, table), table, path)
        case ListOf(item=item) if isinstance(value, list):
            for index, each in enumerate(value):
                yield from asked(each, item, table, f"{path}[{index}]")
        case TupleOf(items=items) if isinstance(value, tuple):
            for index, (each, item) in enumerate(zip(value, items, strict=False)):
                yield from asked(each, item, table, f"{path}[{index}]")
        case MapOf(key=key, value=inner) if isinstance(value, Mapping):
            for name, each in value.items():
                yield from asked(name, key, table, f"{path}[{name}]")
                yield from asked(each, inner, table, f"{path}[{name}]")
        case Named(name=name):
            match table.get(name):
                case AliasType(type=inner, predicates=predicates):
                    yield from asked(value, inner, table, path)
                    for predicate in predicates:
                        yield path, predicate, value
                case RecordType(fields=fields) if isinstance(value, RecordValue):
                    yield from _of_fields(value, fields, table, path)
                case UnionType() as union if isinstance(value, RecordValue):
                    variant = union.variant(value.variant)
                    if variant is not None:
                        yield from _of_fields(value, variant.fields, table, path)
                case EnumType() | None:
                    return


def _of_fields(
    value: RecordValue, fields: tuple[FieldType, ...], table: TypeTable, path: str
) -> Iterator[tuple[str, Predicate, object]]:
    for field in fields:
        item = value.fields.get(field.name)
        if item is None and field.optional:
            continue
        yield from asked(item, field.type, table, f"{path}.{field.name}" if path else field.name)
