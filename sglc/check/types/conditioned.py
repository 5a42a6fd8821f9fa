"""Types with conditions that no other refinement says: aliases, declared ones or made for the place."""

from __future__ import annotations

import re
from dataclasses import replace

from sglc.check.core.context import ModuleContext, OpenedType
from sglc.check.core.result import Conditions, ExpressionType, Unknown
from sglc.check.types.kinds import conditions
from sglc.types.dependent import erased, given_values, renumbered
from sglc.types.notation.sgl import behind_where, show_type
from sglc.types.type import AliasType, Applied, Named, OpenType, Source, Type

LONGEST_NAME = 48
"""Characters of a made name, which stands in schemas and in declarations of other languages."""


def held_by(module: ModuleContext, type: ExpressionType) -> Conditions:
    """The conditions of the aliases that a type is known by."""
    held = Conditions()
    for alias in conditions(type, module.table):
        held.add(Conditions(() if alias.where is None else (alias.where,), alias.predicates))
    return held


def with_conditions(module: ModuleContext, type: ExpressionType, held: Conditions) -> ExpressionType:
    """The type with conditions, under a name that is made for it."""
    if not held or isinstance(type, Unknown):
        return type
    alias = alias_of("", type, "", held)  # type: ignore[arg-type]
    numbers = set(given_values(alias.type)) | numbers_of(alias)
    if numbers:
        return _opened(module, alias, sorted(numbers))
    stem = made_name(show_type(alias.type) + behind_where(alias))
    name, number = module.qualify(stem), 1
    while name in module.names or (name in module.table and module.table[name] != replace(alias, name=name)):
        number += 1
        name = module.qualify(f"{stem}_{number}")
    module.table[name] = replace(alias, name=name)
    return Named(name)


def _opened(module: ModuleContext, alias: AliasType, numbers: list[int]) -> Applied:
    """A type with conditions that depend on given values: a declaration with a parameter for each of them."""
    from sglc.types.condition import renumbered as renumbered_condition

    places = {number: place for place, number in enumerate(numbers)}
    where = None if alias.where is None else renumbered_condition(alias.where, places)
    stem = made_name(show_type(erased(alias.type)) + behind_where(alias))
    name, number = module.qualify(stem), 1
    while name in module.names or name in module.table:
        number += 1
        name = module.qualify(f"{stem}_{number}")
    declared = replace(alias, name=name, type=renumbered(alias.type, places), where=where)
    names = tuple(f"value{place}" for place in range(len(numbers)))
    opened = OpenType(declared, names, tuple(map(Source, range(len(numbers)))))
    module.program.open_types[name] = OpenedType({}, opened)
    module.table[name] = AliasType(name, erased(alias.type), "", None, alias.predicates)
    return Applied(name, tuple(numbers))


def numbers_of(alias: AliasType) -> set[int]:
    """Numbers of the given values that the condition of an alias compares with."""
    if alias.where is None:
        return set()
    from sglc.types.condition import given_numbers  # loads all of regular expressions

    return given_numbers(alias.where)


def alias_of(name: str, type: Type, doc: str, held: Conditions) -> AliasType:
    """The declared type of that name with conditions."""
    where = None
    if len(held.where) == 1:
        (where,) = held.where
    elif held.where:
        from sglc.types.condition import All  # loads all of regular expressions

        where = All(held.where)
    return AliasType(name, type, doc, where, held.predicates)


def made_name(text: str) -> str:
    """A name that tells a type: `int_where_it_2_1`."""
    return re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_")[:LONGEST_NAME].rstrip("_") or "where"
