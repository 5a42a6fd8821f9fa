"""A type as a JSON Schema of OpenAI's strict mode, as a request of the program has it.

What the schema says in another way than the type (an object around a value, null for what is absent) is a
loss here: whoever sends the request reads the answer alone.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.targets.core.type_parts import form_lost
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.schemas.dialects import DIALECTS, Schema
from sglc.targets.projection.schemas.value_schema import ROOT, value_schema
from sglc.types.type import AliasType, Named, Type, TypeTable, declared_type, form_of

_RULES = replace(DIALECTS["openai"], tuples="lists")


def strict_schema(type: Type, table: TypeTable, place: str) -> tuple[Schema, tuple[Loss, ...]]:
    """The schema of a hole's type, and what it could not say. A loss without `instead` makes it useless."""
    found = value_schema(type, table, _RULES, place=place, written=False)
    losses: list[Loss] = []
    if (formed := form_of(type, table)) is not None and (lost := form_lost(formed)) is not None:
        losses.append(Loss(lost[0], place, lost[1]))
    if found.wrapped:
        losses.append(Loss("an answer that is no record", place, f"an object with the value as `{ROOT}`"))
    losses += (Loss("a field that may be absent", at, "a field that may be null") for at in found.absent)
    return found.schema, (*losses, *found.lost)


def without_aliases(type: Type, table: TypeTable) -> Type:
    """The type that an alias, and what that is an alias of, stands for."""
    while isinstance(type, Named) and isinstance(declared := declared_type(type.name, table), AliasType):
        type = declared.type
    return type
