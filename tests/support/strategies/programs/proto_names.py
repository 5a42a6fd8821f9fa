"""Types whose names meet each other, and words of protocol buffers, in every way."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    EnumType,
    FieldType,
    Int,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    Type,
    TypeTable,
)

NAMES = st.sampled_from(
    ("name", "Name", "na_me", "_name", "__", "é", "größe", "content-type", "1st", "message", "oneof", "x y")
    + ("options", "value", "Value", "id", "ValueList", "value_list", "optional", "Entries", "a\nb", 'a "b"')
    + ("SglOptions", "unspecified", "MOOD", "*/", "//", "\\", "string", "google", "item1", "nameEntry", "_Na")
)
DOC = "a\n*/ b \u2028 \\"


@st.composite
def named_anyhow(draw: st.DrawFn) -> tuple[Type, TypeTable]:
    """Records and enums whose names meet each other and words of the notation in every way."""
    names = draw(st.lists(NAMES, unique=True, min_size=2, max_size=8))
    table: dict[str, Any] = {}
    inner = [Str(), Int(), ListOf(ListOf(Bool())), MapOf(Str(), ListOf(Int())), Optional(ListOf(Int()))]
    inner.append(Alternatives((Int(), Str(), ListOf(Int()), ListOf(Str()))))
    for name in names[1:]:
        if draw(st.booleans()):
            table[name] = EnumType(name, tuple(draw(st.lists(NAMES, unique=True, min_size=1, max_size=6))))
        else:
            parts = st.sampled_from([*inner, *map(Named, table)])
            fields = draw(st.lists(NAMES, unique=True, max_size=6))
            made = tuple(FieldType(each, draw(parts), draw(st.booleans()), doc=DOC) for each in fields)
            table[name] = RecordType(name, made, doc=DOC)
    table[names[0]] = AliasType(names[0], Alternatives((Int(), ListOf(Int()))))
    return ListOf(Alternatives((*map(Named, table), Str()))), table
