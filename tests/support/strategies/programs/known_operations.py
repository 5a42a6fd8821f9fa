"""Random operations on random values of the language, for the machine and the compiler."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from sglc.ir import ops, terminators
from sglc.ir.module import Block, Function, Module
from sglc.ir.verify import BINARY_OPERATORS
from sglc.types.type import Bool, Dec, Float, InForm, Int, ListOf, Str
from sglc.types.values import EnumValue, RecordValue
from sglc.values.builtins import FUNCTIONS, LIST, MAP, STRING
from strategies.typed_values import types, values_of

PLAIN = st.one_of(
    st.integers(-4, 40),
    st.integers(-(10**40), 10**40),
    st.booleans(),
    st.none(),
    st.decimals(-1000, 1000, places=2),
    st.floats(-100, 100, width=32),
    st.sampled_from(["", "a", "b", "a b", "A1", " 12 ", "x,y,z", "two\nlines", "é", "[a-z]+", "n", "top"]),
    st.sampled_from([EnumValue("Mood", "calm"), EnumValue("Mood", "loud")]),
)
LISTS = st.lists(st.integers(-3, 9), max_size=5) | st.lists(st.sampled_from(["a", "b", "cc"]), max_size=4)
MAPS = st.dictionaries(st.sampled_from(["a", "b", "cc"]), st.integers(0, 5), max_size=3)


@st.composite
def operations(draw: Any) -> Module:
    """A module whose only function computes one operation on constants."""
    type_, table = draw(types())
    anything = st.one_of(values_of(type_, table), PLAIN, LISTS, MAPS)
    values = [draw(anything) for _ in range(3)]
    if draw(st.booleans()):  # of one kind, so that operators mostly have results
        values[1] = draw(values_of(type_, table) if draw(st.booleans()) else st.just(values[0]))
    if draw(st.booleans()):
        values[2] = draw(st.integers(-2, 4))
    count = draw(st.integers(1, 3))
    some = tuple(range(count))
    names = [name for value in values if isinstance(value, RecordValue) for name in value.fields] or ["name"]
    variants = [f"{v.type}.{v.variant}" for v in values if isinstance(v, RecordValue) and v.variant] or [
        "A.B"
    ]
    of = draw(st.sampled_from([type_, Int(0, 5), Dec(), Float(), Str(max_chars=3), Bool(), ListOf(Dec())]))
    methods = sorted({*STRING, *LIST, *MAP})
    made: Callable[[], ops.Op] = draw(
        st.sampled_from(
            [
                lambda: ops.Unary(9, draw(st.sampled_from(["-", "not"])), 0),
                *[lambda: ops.Binary(9, draw(st.sampled_from(sorted(BINARY_OPERATORS))), 0, 1)] * 5,
                lambda: ops.Concat(9, some),
                lambda: ops.MakeList(9, some),
                lambda: ops.MakeTuple(9, some),
                lambda: ops.MakeMap(9, (0, 2)),
                lambda: ops.Append(9, 0, 1),
                lambda: ops.MakeRange(9, 2, 0, draw(st.booleans())),
                lambda: ops.GetField(9, 0, draw(st.sampled_from(names))),
                lambda: ops.GetItem(9, 0, 2),
                lambda: ops.GetSlice(9, 0, 2, 1),
                lambda: ops.WithItem(9, 0, 2, 1),
                lambda: ops.WithField(9, 0, 1, draw(st.sampled_from(names))),
                *[lambda: ops.CallBuiltin(9, draw(st.sampled_from(sorted(FUNCTIONS))), some)] * 3,
                *[lambda: ops.CallMethod(9, draw(st.sampled_from(methods)), some)] * 4,
                lambda: ops.CheckType(9, 0, of),
                lambda: ops.IsType(9, 0, of),
                lambda: ops.WriteAs(9, 0, InForm(of, draw(st.sampled_from(("json", "yaml", "xml"))))),
                lambda: ops.IsVariant(9, 0, draw(st.sampled_from(variants))),
                lambda: ops.Limit(9, 0, "the loop"),
            ]
        )
    )
    op = made()
    constants = tuple(ops.Const(index, value) for index, value in enumerate(values))
    body: tuple[ops.Op, ...] = (*constants, op)
    if draw(st.booleans()):
        body = (*body, ops.Concat(10, (9,)))
    end = terminators.Return(len(body) - 4 + 9)
    return Module("one", (Function("f", "fn", (), (Block("entry", body, end),)),), table=table)


def kind_of(value: object) -> object:
    """A value with the kinds of all its parts: 1, 1.0 and true differ."""
    if isinstance(value, list | tuple):
        return type(value), [kind_of(part) for part in value]
    if isinstance(value, dict):
        return dict, [(kind_of(key), kind_of(part)) for key, part in value.items()]
    if isinstance(value, RecordValue):
        return value.type, value.variant, kind_of(dict(value.fields))
    return type(value), str(value) if isinstance(value, Decimal | float) else value
