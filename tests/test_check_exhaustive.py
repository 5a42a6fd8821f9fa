"""Missing and unreachable cases against trying every value.

The oracle lists all values of a small type and matches them one by one, by the definition of patterns.
"""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.check.exhaustive import WILD, AnyOf, Cases, OfType, Shape, Span, Wild
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    EnumType,
    FieldType,
    Int,
    Named,
    Optional,
    RecordType,
    TupleOf,
    UnionType,
)

TABLE = {
    "E": EnumType("E", ("a", "b", "c")),
    "R": RecordType("R", (FieldType("x", Bool()), FieldType("y", Named("E"), optional=True))),
    "U": UnionType("U", (RecordType("V", (FieldType("f", Int(0, 2)),)), RecordType("W", ()))),
}


def values(type):
    """Every value of a small type: constructors as (key, parts), numbers as they are."""
    match type:
        case Bool():
            return [(True, ()), (False, ())]
        case Int(low, high):
            return list(range(low, high + 1))
        case Constant(value):
            return [(value, ())]
        case Optional(item):
            return [(None, ()), *values(item)]
        case Alternatives(arms):
            return [value for arm in arms for value in values(arm)]
        case TupleOf(items):
            return [("tuple", parts) for parts in product(*map(values, items))]
        case Named("E"):
            return [(("E", member), ()) for member in "abc"]
        case Named("R"):
            return [("R", parts) for parts in product(values(Bool()), values(Optional(Named("E"))))]
        case Named("U"):
            return [*((("U", "V"), (n,)) for n in range(3)), (("U", "W"), ())]


def _type_of(value) -> object:
    """Name of the declared type that a value is of."""
    key = None if isinstance(value, int) else value[0]
    return key[0] if isinstance(key, tuple) else key


def matches(form, value) -> bool:
    match form:
        case Wild():
            return True
        case AnyOf(forms):
            return any(matches(part, value) for part in forms)
        case Span(low, high):
            number = isinstance(value, int)
            return number and (low is None or low <= value) and (high is None or value <= high)
        case OfType(kind):
            return isinstance(value, int) if kind is Int else _type_of(value) == kind
        case Shape(key, parts):
            if isinstance(value, int):
                return value == key and not isinstance(key, bool)
            same = value[0] is key or (value[0].__class__ is key.__class__ and value[0] == key)
            return same and all(map(matches, parts or [WILD] * len(value[1]), value[1]))


def forms(type):
    """Patterns that could stand against a type."""
    match type:
        case Bool():
            some = st.sampled_from([Shape(True), Shape(False)])
        case Int(low, high):
            ends = st.integers(low - 1, high + 1)
            some = st.one_of(
                st.builds(Shape, ends),
                st.builds(Span, st.none() | ends, st.none() | ends),
                st.just(OfType(Int)),
            )
        case Constant(value):
            some = st.just(Shape(value))
        case Optional(item):
            some = st.just(Shape(None)) | forms(item)
        case Alternatives(arms):
            some = st.one_of(*map(forms, arms))
        case TupleOf(items):
            some = st.tuples(*map(forms, items)).map(lambda parts: Shape("tuple", parts))
        case Named("E"):
            some = st.sampled_from([*(Shape(("E", member)) for member in "abc"), OfType("E")])
        case Named("R"):
            some = st.tuples(forms(Bool()), forms(Optional(Named("E")))).map(lambda p: Shape("R", p))
        case Named("U"):
            inner = forms(Int(0, 2)).map(lambda part: Shape(("U", "V"), (part,)))
            some = st.one_of(
                inner, st.just(Shape(("U", "V"))), st.just(Shape(("U", "W"))), st.just(OfType("U"))
            )
    alternatives = st.lists(some, min_size=2, max_size=3).map(lambda parts: AnyOf(tuple(parts)))
    return st.one_of(st.just(WILD), some, some, alternatives)


TYPES = st.sampled_from(
    [
        Bool(), Int(0, 3), Named("E"), Named("R"), Named("U"), Optional(Named("U")), Optional(Bool()),
        TupleOf((Bool(), Named("E"))), Alternatives((Constant("p"), Constant("q"))),
        Alternatives((Int(0, 2), Named("R"))), TupleOf((Named("U"), Optional(Int(1, 2)))),
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_case_is_missing_exactly_if_some_value_matches_none(data):
    type = data.draw(TYPES)
    rows = data.draw(st.lists(forms(type), max_size=5))
    open_ = [value for value in values(type) if not any(matches(row, value) for row in rows)]
    assert (Cases(TABLE).missing(rows, type) is None) == (not open_)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_case_is_reachable_exactly_if_some_value_comes_to_it(data):
    type = data.draw(TYPES)
    rows = data.draw(st.lists(forms(type), max_size=4))
    last = data.draw(forms(type))
    left = [v for v in values(type) if matches(last, v) and not any(matches(row, v) for row in rows)]
    assert Cases(TABLE).reachable(rows, last, type) == bool(left)


def test_the_missing_case_is_written_as_a_pattern():
    cases = Cases(TABLE)
    assert cases.missing([Shape(("E", "a")), Shape(("E", "c"))], Named("E")) == "b"
    assert cases.missing([Shape(("U", "V"), (Span(0, 1),)), Shape(("U", "W"))], Named("U")) == "V(f = 2)"
    assert cases.missing([Shape("R", (Shape(True), WILD))], Named("R")) == "R(x = false)"
    assert cases.missing([Shape("tuple", (Shape(True), WILD))], TupleOf((Bool(), Bool()))) == "(false, _)"
    assert cases.missing([Shape(None)], Optional(Bool())) == "true"
