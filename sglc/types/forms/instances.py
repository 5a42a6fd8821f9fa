"""Declared types with values for their parameters, under names of their own: shapes know types by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sglc.types.dependent import replaced
from sglc.types.type import (
    AliasType,
    Applied,
    DeclaredType,
    EnumType,
    Named,
    OpenType,
    RecordType,
    Type,
    TypeTable,
    UnionType,
)


def with_names(type: Type, table: TypeTable) -> tuple[Type, dict[str, DeclaredType]]:
    """The type and the declared types with a name in the place of each `Applied` in what they reach.

    Where the values are not known yet, the declaration is taken as it is written.
    """
    names = _Names(table)
    return names.type(type, {}), names.table


class _Names:
    def __init__(self, table: TypeTable) -> None:
        self.table = dict(table)

    def type(self, type: Type, opened: Mapping[str, OpenType]) -> Type:
        """`opened` are the declarations that stand beside a type whose values are not known."""

        def named(part: Type) -> Type:
            if not isinstance(part, Applied):
                return part
            if part.instance is not None:
                return self.named(f"{part.name}({part.instance.number})", part.instance.declared, {})
            beside = {**opened, **{each.declared.name: each for each in part.declarations}}
            found = beside.get(part.name)
            return Named(part.name) if found is None else self.named(f"{part.name}()", found.declared, beside)

        return replaced(type, named)

    def named(self, name: str, declared: DeclaredType, opened: Mapping[str, OpenType]) -> Named:
        if name not in self.table:
            self.table[name] = declared  # while its parts, in which it may stand again, are made
            self.table[name] = self.declared(declared, opened)
        return Named(name)

    def declared(self, declared: DeclaredType, opened: Mapping[str, OpenType]) -> DeclaredType:
        match declared:
            case RecordType():
                return self.record(declared, opened)
            case UnionType(variants=variants):
                return replace(declared, variants=tuple(self.record(each, opened) for each in variants))
            case AliasType(type=inner):
                return replace(declared, type=self.type(inner, opened))
            case EnumType():
                return declared

    def record(self, record: RecordType, opened: Mapping[str, OpenType]) -> RecordType:
        fields = (replace(field, type=self.type(field.type, opened)) for field in record.fields)
        return replace(record, fields=tuple(fields))
