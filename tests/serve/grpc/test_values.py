"""Values as messages: what is written is read as the same value, and as the one that JSON gives."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.bytecode.code import Code, ParameterSpec, Program
from sglc.targets.proto.described import described
from sglc.targets.proto.numbers import Lock, numbered
from sglc.types.equality import equal
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import dumps, from_json, parse_json
from sglc.types.type import (
    AliasType,
    Alternatives,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Float,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)
from sglc.types.values import EnumValue, RecordValue, Value
from strategies.programs.proto_names import named_anyhow
from strategies.typed_values import of_all_values, types, values_of

pytest.importorskip("google.protobuf")
from sglc.runtime.serve.grpc.descriptors import message_class, pool_of
from sglc.runtime.serve.grpc.values import Codec, NotSaid


class Wire:
    """Requests of a function from a type to the same."""

    def __init__(self, type: Type, table: TypeTable) -> None:
        code = Code("same", "pure", (ParameterSpec("x", 0),), 0, ("x",), (), ())
        program = Program("wire.sgl", (code,), {"same": 0}, (), (), (type,), table, ())
        self.type, self.table = type, table
        self.file = numbered(described(program), Lock())[0]
        self.made = message_class(pool_of([self.file]), self.file, "SameRequest")
        self.codec = Codec(self.file, table)
        self.field = next(each for each in self.file.messages if each.name == "SameRequest").fields[0]

    def write(self, value: Value) -> bytes:
        """The bytes of a request."""
        message = self.made()
        self.codec.set(message, self.field, value, self.type)
        return message.SerializeToString()

    def read(self, data: bytes) -> Any:
        """The plain argument of a request."""
        return self.codec.arguments(self.made.FromString(data), "SameRequest")

    def there_and_back(self, value: Value) -> Value:
        return from_json(self.read(self.write(value))["x"], self.type, self.table)


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck), deadline=None)
@given(types(), st.data())
def test_random_values_are_those_of_json(both: tuple[Type, TypeTable], data: st.DataObject) -> None:
    type, table = both
    value = data.draw(values_of(of_all_values(type), of_all_values(table)))
    back = Wire(type, table).there_and_back(value)
    assert equal(back, value), (type, value)
    by_json = from_json(parse_json(dumps(value, type, table)), type, table)
    assert equal(back, by_json)


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck), deadline=None)
@given(named_anyhow(), st.data())
def test_names_that_meet_are_told_apart(both: tuple[Type, TypeTable], data: st.DataObject) -> None:
    type, table = both
    value = data.draw(values_of(type, table))
    by_json = from_json(parse_json(dumps(value, type, table)), type, table)
    assert equal(Wire(type, table).there_and_back(value), by_json)  # empty records are alike in both


TREE = {
    "Tree": RecordType("Tree", (FieldType("next", Optional(Named("Tree"))), FieldType("of", Named("Trees"))))
}
TREE["Trees"] = AliasType("Trees", Optional(ListOf(Named("Tree"))))  # type: ignore[assignment]
LEAF = RecordValue("Tree", {"next": None, "of": None})
MOOD = {"Mood": EnumType("Mood", ("calm", "Calm", "", "unspecified"))}
PAIR = {
    "Pair": RecordType(
        "Pair",
        (
            FieldType("a", Optional(Str()), has_default=True, default="x"),
            FieldType("b", Str(), optional=True),
            FieldType("c", ListOf(Int()), has_default=True, default=[1]),
        ),
    )
}
ANY = {
    "Any": RecordType(
        "Any", (FieldType("a", Json(), has_default=True, default=1), FieldType("b", Json(), optional=True))
    )
}
CASES: list[tuple[Type, TypeTable, Value]] = [
    (Int(), {}, -(2**63)),
    (Int(0, 10**30), {}, 10**30),
    (Dec(), {}, Decimal("0.10000000000000000000000001")),
    (Dec(), {}, Decimal("-12.50")),
    (Float(), {}, 1e-9),
    (Json(), {}, {"a": [1, Decimal("2.50"), None, {"b": "c"}], "": True}),
    (Json(), {}, None),
    (Optional(Json()), {}, None),
    (Named("Any"), ANY, RecordValue("Any", {"a": None, "b": None})),
    (Named("Tree"), TREE, RecordValue("Tree", {"next": LEAF, "of": [LEAF, LEAF]})),
    (ListOf(Named("Trees")), TREE, [None, [], [LEAF]]),
    (ListOf(Named("Mood")), MOOD, [EnumValue("Mood", each) for each in MOOD["Mood"].members]),
    (Named("Pair"), PAIR, RecordValue("Pair", {"a": None, "b": None, "c": []})),
    (Named("Pair"), PAIR, RecordValue("Pair", {"a": "", "b": "", "c": [1, 2]})),
    (ListOf(Null()), {}, [None, None]),
    (TupleOf(()), {}, ()),
    (TupleOf((Null(), Optional(Str()))), {}, (None, None)),
    (Optional(ListOf(Int())), {}, []),
    (Optional(ListOf(Int())), {}, None),
    (MapOf(Str(), ListOf(Int())), {}, {"b": [], "a": [1], "": [2]}),
    (Alternatives((ListOf(Int()), ListOf(Str(min_chars=1)))), {}, ["a"]),
]


@pytest.mark.parametrize(("type", "table", "value"), CASES)
def test_values(type: Type, table: TypeTable, value: Value) -> None:
    back = Wire(type, table).there_and_back(value)
    in_order = dict(sorted(value.items())) if isinstance(type, MapOf) else value  # type: ignore[union-attr]
    assert equal(back, value) and dumps(back, type, table) == dumps(in_order, type, table)


def test_what_is_left_out_is_the_default_or_missing() -> None:
    wire = Wire(Named("Pair"), PAIR)
    message = wire.made()
    assert wire.codec.arguments(message, "SameRequest") == {}
    message.x.SetInParent()
    data = wire.codec.arguments(message, "SameRequest")["x"]
    assert data == {}
    found = from_json(data, Named("Pair"), PAIR)
    assert isinstance(found, RecordValue) and found.fields == {"a": "x", "b": None, "c": [1]}


def chain(levels: int) -> Value:
    value: Value = None
    for _ in range(levels):
        value = RecordValue("Tree", {"next": value, "of": None})
    return value


def test_values_that_are_nested_too_deep() -> None:
    wire = Wire(Named("Tree"), TREE)
    assert equal(wire.there_and_back(chain(98)), chain(98))
    with pytest.raises(NotSaid, match="nested deeper"):
        wire.write(chain(99))
    assert equal(wire.there_and_back(chain(3)), chain(3))


UNION = UnionType("U", (RecordType("A", (FieldType("of", Optional(Named("U"))),)),))
MAPS = RecordType("U", (FieldType("of", Optional(MapOf(Str(), Named("U")))),))


@pytest.mark.parametrize("declared", [UNION, MAPS], ids=["union", "map"])
def test_whatever_is_written_can_be_read(declared: DeclaredType) -> None:
    """Variants and entries of maps are messages, too: up to the last depth that is written all is read."""
    wire = Wire(Named("U"), {"U": declared})
    value: Value = None
    for depth in range(60):
        inner: Value = {"k": value} if declared is MAPS and value is not None else value
        value = RecordValue("U", {"of": inner}, "A" if declared is UNION else None)
        try:
            data = wire.write(value)
        except NotSaid:
            assert depth > 20
            return
        assert equal(wire.there_and_back(value), value) and data
    raise AssertionError("the depth has no end")


def test_an_integer_that_does_not_fit() -> None:
    with pytest.raises(NotSaid, match="9223372036854775808 does not fit an int64"):
        Wire(Int(), {}).write(2**63)


WRONG: list[tuple[Type, TypeTable, dict[str, Any], str]] = [
    (Named("Mood"), MOOD, {"x": 0}, "x: expected a member of Mood, found 0"),
    (Named("Mood"), MOOD, {"x": 77}, "x: expected a member of Mood, found 77"),
    (Dec(), {}, {"x": "1e5"}, 'x: expected a number, found "1e5"'),
    (Int(0, 10**30), {}, {"x": "1.0"}, 'x: expected an integer as text, found "1.0"'),
    (Int(0, 10**30), {}, {"x": "9" * 1001}, "x: expected an integer as text"),
    (Float(), {}, {"x": float("nan")}, "x: nan is no number"),
    (Json(), {}, {"x": "{"}, "x: no JSON"),
    (Alternatives((Int(), Str())), {}, {"x": {}}, "x: one of integer, text must be there"),
    (TupleOf((Named("Pair"), Int())), PAIR, {"x": {}}, "x[0]: the message has no `item1`"),
]


@pytest.mark.parametrize(("type", "table", "fields", "said"), WRONG)
def test_messages_that_are_no_values(type: Type, table: TypeTable, fields: dict[str, Any], said: str) -> None:
    wire = Wire(type, table)
    with pytest.raises(MemberError) as wrong:
        wire.read(wire.made(**fields).SerializeToString())
    assert said in str(wrong.value)
