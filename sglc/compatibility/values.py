"""Values of types as plain JSON data: members, and short samples.

Programs that are compared have tables of their own, so values are told apart as a caller sees them: a member
of an enum is its text, a record is its fields, a variant has its name under `type`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from sglc.automata.analysis.emptiness import shortest_words
from sglc.automata.dfa.operations import TooLarge, TooLong
from sglc.automata.work import OutOfWork, WorkAccount, charged
from sglc.types import type as t
from sglc.types.condition import show_condition
from sglc.types.forms.forms import unwritable
from sglc.types.language.json_membership import json_fault
from sglc.types.language.language import language
from sglc.types.language.membership import decimal_fault, float_fault, int_fault, size_fault, str_fault
from sglc.types.type import LanguageError

Plain = Any
"""None, booleans, integers, decimals, texts, lists, and maps of these."""

WORK = 1_000_000
"""Units of work that the samples, or the automata, of one type may take: half a second. With more of it the
answer is "unknown"."""
DEEPEST = 60
"""Parts of parts that a value is looked into: a sample of a recursive type is never nearly as deep."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A type with the declarations that it names."""

    type: t.Type
    table: t.TypeTable
    deciders: Mapping[str, bytes] = field(default_factory=dict)
    """What the functions that decide conditions do, as digests by their names."""

    def at(self, type: t.Type) -> Typed:
        """A part of the type."""
        return replace(self, type=type)

    def opened(self) -> Typed:
        """The type behind aliases."""
        aliases = list(self._aliases())
        return self.at(aliases[-1].type) if aliases else self

    def conditions(self) -> dict[object, str]:
        """What values are held against besides their type: what tells conditions apart, and their texts."""
        found: dict[object, str] = {}
        for alias in self._aliases():
            if alias.where is not None:
                found[alias.where] = f"`{show_condition(alias.where)}`"
            for each in alias.predicates:
                found[self.deciders.get(each.function, each)] = f"`{each.text}`"
        return found

    def is_conditioned(self) -> bool:
        """Whether there are conditions in the type or in what it leads to."""
        waiting: list[object] = [self.type]
        seen: set[str] = set()
        while waiting:
            part = waiting.pop()
            if isinstance(part, t.AliasType) and (part.where is not None or part.predicates):
                return True
            if isinstance(part, t.Named | t.Applied) and part.name not in seen:
                seen.add(part.name)
                waiting.append(self.table.get(part.name))
            if isinstance(part, tuple | list):
                waiting += part
            else:
                waiting += [getattr(part, name) for name in getattr(part, "__dataclass_fields__", ())]
        return False

    def _aliases(self) -> Iterator[t.AliasType]:
        type = self.type
        for _ in range(DEEPEST):
            declared = self.table.get(type.name) if isinstance(type, t.Named) else None
            if not isinstance(declared, t.AliasType):
                return
            yield declared
            type = declared.type

    def declared(self) -> t.DeclaredType | None:
        """The declaration behind a name; None for other types."""
        return self.table.get(self.type.name) if isinstance(self.type, t.Named) else None


def samples(typed: Typed, count: int) -> tuple[Plain, ...]:
    """Up to `count` of the shortest values of a type; fewer where they cannot be found."""
    try:
        with charged(WorkAccount(WORK)):
            words = shortest_words(language(typed.type, typed.table, surface="json"), count)
    except (OutOfWork, TooLarge, TooLong, LanguageError):
        return ()
    return tuple(json.loads(word, parse_float=Decimal) for word in words)


def is_empty(typed: Typed) -> bool:
    """Whether a type surely has no value."""
    try:
        with charged(WorkAccount(WORK)):
            return not shortest_words(language(typed.type, typed.table, surface="json"), 1)
    except (OutOfWork, TooLarge, TooLong, LanguageError):
        return False


def holds(value: Plain, typed: Typed, *, given: bool = False, depth: int = 0) -> bool:
    """Whether a plain value is one of a type, conditions aside. Fields with a default may be left out of what
    is `given`."""
    if depth > DEEPEST:
        return False
    typed = typed.opened()
    type, below = typed.type, depth + 1

    def inner(part: Plain, part_type: t.Type) -> bool:
        return holds(part, typed.at(part_type), given=given, depth=below)

    match type:
        case t.Str():
            return isinstance(value, str) and str_fault(value, type) is None
        case t.Int():
            return _is_whole(value) and int_fault(int(value), type) is None
        case t.Dec():
            return _is_number(value) and decimal_fault(Decimal(value), type) is None
        case t.Float():
            return _is_number(value) and float_fault(float(value), type) is None
        case t.Bool():
            return isinstance(value, bool)
        case t.Null():
            return value is None
        case t.Constant(constant):
            return _same(value, constant)
        case t.Json():
            return not type.schema or json_fault(value, type) is None
        case t.InForm(item, form):
            return inner(value, item) and (form == "json" or unwritable(value, form) is None)
        case t.Optional(item):
            return value is None or inner(value, item)
        case t.Alternatives(arms):
            return any(inner(value, arm) for arm in arms)
        case t.ListOf(item):
            fits = isinstance(value, list) and size_fault(len(value), type, "items") is None
            return fits and all(inner(part, item) for part in value)
        case t.MapOf(key, item):
            fits = isinstance(value, dict) and size_fault(len(value), type, "entries") is None
            return fits and all(inner(name, key) and inner(part, item) for name, part in value.items())
        case t.TupleOf(items):
            fits = isinstance(value, list) and len(value) == len(items)
            return fits and all(inner(part, item) for part, item in zip(value, items, strict=True))
    declared = typed.declared()
    match declared:
        case t.EnumType(_, members):
            return isinstance(value, str) and value in members
        case t.RecordType():
            return isinstance(value, dict) and _fits_record(value, declared, typed, given, below)
        case t.UnionType():
            if not isinstance(value, dict):
                return False
            name = value.get(t.TAG)
            variant = declared.variant(name) if isinstance(name, str) else None
            rest = {key: part for key, part in value.items() if key != t.TAG}
            return variant is not None and _fits_record(rest, variant, typed, given, below)
    return False


def _fits_record(
    value: Mapping[str, Plain], record: t.RecordType, typed: Typed, given: bool, depth: int
) -> bool:
    fields = {each.name: each for each in record.fields}
    if not value.keys() <= fields.keys():
        return False
    for name, each in fields.items():
        if name not in value:
            if not (each.optional or (given and each.has_default)):
                return False
        elif not holds(value[name], typed.at(each.type), given=given, depth=depth):
            return False
    return True


def _is_number(value: Plain) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _is_whole(value: Plain) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _same(value: Plain, constant: str | int | Decimal | bool) -> bool:
    if isinstance(constant, bool) or isinstance(value, bool):
        return value is constant
    if isinstance(constant, str) or not _is_number(value):
        return isinstance(value, str) and value == constant
    return bool(value == constant) and (_is_whole(value) or isinstance(constant, Decimal))


def written(value: Plain) -> str:
    """A plain value as JSON."""
    match value:
        case dict():
            inner = ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {written(v)}" for k, v in value.items())
            return "{" + inner + "}"
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case Decimal():
            return format(value, "f")
    return json.dumps(value, ensure_ascii=False)
