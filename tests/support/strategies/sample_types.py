"""Types of holes, of all kinds, for tests that fill many."""

from __future__ import annotations

from sglc.types.type import (
    Bool,
    EnumType,
    FieldType,
    Int,
    ListOf,
    Named,
    Optional,
    RecordType,
    Str,
    Type,
    UnionType,
)

TABLE = {
    "Mood": EnumType("Mood", ("calm", "annoyed", "answer", "another")),
    "Pet": RecordType(
        "Pet",
        (
            FieldType("name", Str(max_chars=12)),
            FieldType("mood", Named("Mood")),
            FieldType("age", Int(0, 30)),
            FieldType("tag", Bool(), True),
        ),
    ),
    "Long": RecordType("Long", tuple(FieldType(name * 9, Named("Mood")) for name in "abc")),
    "Shape": UnionType(
        "Shape", (RecordType("Dot", ()), RecordType("Square", (FieldType("side", Int(1, 9)),)))
    ),
}
TYPES: list[Type] = [
    Str(max_chars=30),
    Str(min_chars=3, max_chars=40, until=("<<",)),
    Int(-50, 1000),
    Named("Mood"),
    Named("Pet"),
    Named("Shape"),
    ListOf(Named("Pet"), 1, 3),
    ListOf(Str(max_chars=8), 1, 6),
    Optional(Int(5, 99)),
]
