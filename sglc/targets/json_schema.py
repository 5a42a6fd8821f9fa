"""The declared types of a program as one JSON Schema 2020-12: a definition each, `##` as description.

record Crew:  ## One member.          {"$schema": "…/2020-12/schema",
    name: str max 20 chars      →      "$defs": {"Crew": {"description": "One member.", …}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from sglc.targets.target import Loss, Subject, Written
from sglc.types.notation.json_schema import definitions
from sglc.types.text.plain_json import write_json
from sglc.types.type import (
    AliasType,
    Alternatives,
    DeclaredType,
    EnumType,
    ListOf,
    MapOf,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)


def write(subject: Subject) -> Written:
    """A schema with all declared types in `$defs`, in the order of the program."""
    table = subject.checked.table
    schema = definitions(tuple(table), table)
    losses = [loss for name, declared in table.items() for loss in _losses(name, declared)]
    return Written(write_json(schema, indent=2) + "\n", tuple(losses))


def _losses(name: str, declared: DeclaredType) -> Iterator[Loss]:
    match declared:
        case RecordType(fields=fields):
            for field in fields:
                yield from _of_type(field.type, f"{name}.{field.name}")
        case UnionType(variants=variants):
            for variant in variants:
                for field in variant.fields:
                    yield from _of_type(field.type, f"{name}.{variant.name}.{field.name}")
        case AliasType(type=type):
            yield from _of_type(type, name)
        case EnumType():
            return


def _of_type(type: Type, place: str) -> Iterator[Loss]:
    match type:
        case Str(grammar=grammar, patterns=patterns):
            if grammar:
                yield Loss("a grammar", place, "any string, with the rules as `x-grammar`")
            for pattern in patterns:
                if pattern.startswith("(?i)"):
                    yield Loss("`matching` in any case", place, "a string without this pattern")
        case Optional(item=item) | ListOf(item=item):
            yield from _of_type(item, place)
        case TupleOf(items=items):
            for item in items:
                yield from _of_type(item, place)
        case Alternatives(arms=arms):
            for arm in arms:
                yield from _of_type(arm, place)
        case MapOf(key=key, value=value):
            yield from _of_type(key, place)
            yield from _of_type(value, place)
