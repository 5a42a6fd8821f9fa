"""Missing and unreachable cases against trying every value.

The oracle lists all values of a small type and matches them one by one, by the definition of patterns.
"""

from __future__ import annotations

import random
import re
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.check.patterns.case_forms import WILD, AnyOf, Constructed, NumberRange, OfType, Wild
from sglc.check.patterns.constructors import RecordKey
from sglc.check.patterns.exhaustive import TooComplex, judge
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Int,
    Named,
    Optional,
    RecordType,
    TupleOf,
    UnionType,
)

R = RecordKey("R")
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
            return [(TupleOf, parts) for parts in product(*map(values, items))]
        case Named("E"):
            return [(("E", member), ()) for member in "abc"]
        case Named("R"):
            return [(R, parts) for parts in product(values(Bool()), values(Optional(Named("E"))))]
        case Named("U"):
            return [*((("U", "V"), (n,)) for n in range(3)), (("U", "W"), ())]


def _type_of(value) -> object:
    """Name of the declared type that a value is of."""
    key = None if isinstance(value, int) else value[0]
    return key[0] if isinstance(key, tuple) else key.name if isinstance(key, RecordKey) else key


def missing(forms, type):
    return judge([(form, True) for form in forms], type, TABLE).missing


def matches(form, value) -> bool:
    match form:
        case Wild():
            return True
        case AnyOf(forms):
            return any(matches(part, value) for part in forms)
        case NumberRange(low, high, below):
            if not isinstance(value, int) or (low is not None and value < low):
                return False
            return high is None or (value < high if below else value <= high)
        case OfType(kind):
            return isinstance(value, int) if kind is Int else _type_of(value) == kind
        case Constructed(key, parts):
            if isinstance(value, int):
                return value == key and not isinstance(key, bool)
            same = value[0] is key or (value[0].__class__ is key.__class__ and value[0] == key)
            return same and all(map(matches, parts or [WILD] * len(value[1]), value[1]))


def forms(type):
    """Patterns that could stand against a type."""
    match type:
        case Bool():
            some = st.sampled_from([Constructed(True), Constructed(False)])
        case Int(low, high):
            ends = st.integers(low - 1, high + 1)
            some = st.one_of(
                st.builds(Constructed, ends),
                st.builds(NumberRange, st.none() | ends, st.none() | ends, st.booleans()),
                st.just(OfType(Int)),
            )
        case Constant(value):
            some = st.just(Constructed(value))
        case Optional(item):
            some = st.just(Constructed(None)) | forms(item)
        case Alternatives(arms):
            some = st.one_of(*map(forms, arms))
        case TupleOf(items):
            some = st.tuples(*map(forms, items)).map(lambda parts: Constructed(TupleOf, parts))
        case Named("E"):
            some = st.sampled_from([*(Constructed(("E", member)) for member in "abc"), OfType("E")])
        case Named("R"):
            some = st.tuples(forms(Bool()), forms(Optional(Named("E")))).map(lambda p: Constructed(R, p))
        case Named("U"):
            inner = forms(Int(0, 2)).map(lambda part: Constructed(("U", "V"), (part,)))
            some = st.one_of(
                inner,
                st.just(Constructed(("U", "V"))),
                st.just(Constructed(("U", "W"))),
                st.just(OfType("U")),
            )
    alternatives = st.lists(some, min_size=2, max_size=3).map(lambda parts: AnyOf(tuple(parts)))
    return st.one_of(st.just(WILD), some, some, alternatives)


TYPES = st.sampled_from(
    [
        Bool(),
        Int(0, 3),
        Named("E"),
        Named("R"),
        Named("U"),
        Optional(Named("U")),
        Optional(Bool()),
        TupleOf((Bool(), Named("E"))),
        Alternatives((Constant("p"), Constant("q"))),
        TupleOf((Bool(),) * 4),
        TupleOf((Bool(), Named("E"), Int(0, 2), Optional(Bool()))),
        Alternatives((Int(0, 2), Named("R"))),
        TupleOf((Named("U"), Optional(Int(1, 2)))),
    ]
)


def is_written(value, witness: str) -> bool:
    """Whether a witness, a pattern as text, matches a value."""
    found, rest = _pattern(witness)
    assert not rest, witness
    return _fits(value, found)


def _pattern(text: str):
    """`V(f = 2)` as ("V", {"f": "2"}), `(a, _)` as ("", [...]), a word as itself; and what follows it."""
    word = re.match(r'"[^"]*"|[-\w.]*', text).group()
    text = text[len(word) :]
    if not text.startswith("("):
        return word, text
    parts, text = [], text[1:]
    while not text.startswith(")"):
        name = re.match(r"(\w+) = ", text)
        inner, text = _pattern(text[name.end() :] if name else text)
        parts.append((name.group(1) if name else None, inner))
        text = text.removeprefix(",").removeprefix(" ")
    return (word, parts), text[1:]


FIELDS = {"R": ("x", "y"), "V": ("f",), "W": ()}


def _fits(value, pattern) -> bool:
    if pattern == "_":
        return True
    if isinstance(value, int):
        return pattern == str(value)
    key, inner = value
    word, parts = pattern if isinstance(pattern, tuple) else (pattern, [])
    if key is TupleOf:
        return not word and all(_fits(v, p) for v, (_, p) in zip(inner, parts, strict=True))
    if isinstance(key, RecordKey) or (isinstance(key, tuple) and key[0] == "U"):
        name = key.name if isinstance(key, RecordKey) else key[1]
        return word == name and all(_fits(inner[FIELDS[name].index(f)], p) for f, p in parts)
    if isinstance(key, tuple):
        return word == key[1]
    return word == {None: "null", True: "true", False: "false"}.get(key, f'"{key}"')


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_a_match_is_judged_as_by_trying_every_value(data):
    """Which cases are reached, guards among them, whether a value is missing, and which."""
    type = data.draw(TYPES)
    rows = data.draw(st.lists(st.tuples(forms(type), st.booleans() | st.just(True)), max_size=6))
    open_, reached = [], set()
    for value in values(type):
        for place, (form, firm) in enumerate(rows):
            if matches(form, value):
                reached.add(place)
                if firm:
                    break
        else:
            open_.append(value)
    found = judge(rows, type, TABLE)
    assert set(found.unreached) == set(range(len(rows))) - reached
    assert (found.missing is None) == (not open_)
    if found.missing is not None:
        shown = [value for value in values(type) if is_written(value, found.missing)]
        assert shown and all(value in open_ for value in shown)


def test_the_missing_case_is_written_as_a_pattern():
    assert missing([Constructed(("E", "a")), Constructed(("E", "c"))], Named("E")) == "b"
    assert (
        missing([Constructed(("U", "V"), (NumberRange(0, 1),)), Constructed(("U", "W"))], Named("U"))
        == "V(f = 2)"
    )
    assert missing([Constructed(R, (Constructed(True), WILD))], Named("R")) == "R(x = false)"
    assert (
        missing([Constructed(TupleOf, (Constructed(True), WILD))], TupleOf((Bool(), Bool()))) == "(false, _)"
    )
    assert missing([Constructed(TupleOf, (Constructed(True),))], TupleOf((Bool(),))) == "(false,)"
    assert missing([Constructed(None)], Optional(Bool())) == "true"


def test_the_missing_case_says_no_more_than_it_must():
    """Of several that are missing, the one that tells the fewest parts."""
    pair = TupleOf((Bool(), Bool(), Bool()))
    true, false = Constructed(True), Constructed(False)
    rows = [Constructed(TupleOf, (true, true, true)), Constructed(TupleOf, (true, true, false))]
    assert missing(rows, pair) == "(false, _, _)"
    rows = [Constructed(TupleOf, (true, true, WILD)), Constructed(TupleOf, (false, WILD, WILD))]
    assert missing(rows, pair) == "(true, false, _)"


def test_numbers_are_cut_where_patterns_end():
    assert missing([NumberRange(None, 4), NumberRange(6, None)], Int()) == "5"
    assert (
        missing([NumberRange(Decimal(0), Decimal(4)), NumberRange(Decimal(6), Decimal(10))], Dec(0, 10))
        == "5"
    )
    assert missing([NumberRange(0, 5), NumberRange(5, 10)], Dec(Decimal(0), Decimal(10))) is None
    assert missing([NumberRange(0, 5, True), NumberRange(5, 10)], Dec(Decimal(0), Decimal(10))) is None
    assert missing([NumberRange(0, 5, True), NumberRange(6, 10)], Dec(Decimal(0), Decimal(10))) == "5"
    assert missing([NumberRange(0, 5, True), NumberRange(6, 10)], Int(0, 10)) == "5"
    assert missing([Constructed(Decimal("0.5"))], Dec()) == "_"
    assert missing([Constructed(n) for n in (0, 5, 10)], Int(0, 10, 5)) is None
    assert missing([NumberRange(-(10**30), Decimal(10**40))], Int()) == str(-(10**30) - 1)
    assert missing([NumberRange(None, Decimal("10.5"))], Int(None, None, 4)) == "12"
    assert missing([NumberRange(-3, None)], Int(None, None, 4)) == "-4"
    assert (
        missing([NumberRange(1, 2), Constructed(3)], Alternatives((Constant(1), Constant(2), Constant(3))))
        is None
    )


def test_true_is_not_one_and_a_literal_is_no_record():
    both = Alternatives((Constant(1), Constant(True)))
    assert missing([Constructed(1)], both) == "true"
    assert missing([Constructed(True)], both) == "1"
    assert missing([Constructed(True)], Alternatives((Int(0, 1), Bool()))) == "false"
    assert missing([Constructed("R")], Alternatives((Constant("R"), Named("R")))) == "R"


def entangled(width: int, count: int, seed: int) -> list[Constructed]:
    """Cases over booleans of which each looks at three parts: a random 3-SAT formula."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        parts = [WILD] * width
        for place in draw.sample(range(width), 3):
            parts[place] = Constructed(draw.random() < 0.5)
        rows.append(Constructed(TupleOf, tuple(parts)))
    return rows


def test_columns_do_not_multiply():
    """Cases that each look at another part need as many steps as there are parts, in whatever order."""
    width = 200
    type = TupleOf((Bool(),) * width)
    alone = [
        Constructed(TupleOf, tuple(Constructed(True) if place == row else WILD for place in range(width)))
        for row in range(width)
    ]
    assert missing(alone, type) == "(" + ", ".join(["false"] * width) + ")"
    assert missing([*reversed(alone), Constructed(TupleOf, (Constructed(False),) * width)], type) is None


@pytest.mark.slow
def test_work_is_bounded():
    type = TupleOf((Bool(),) * 150)
    with pytest.raises(TooComplex):
        missing(entangled(150, 640, 1), type)


@pytest.mark.slow
def test_work_grows_with_the_cases():
    members = tuple(f"m{n}" for n in range(10_000))
    table = {"E": EnumType("E", members)}
    rows = [(Constructed(("E", member)), True) for member in members]
    found = judge(rows, Named("E"), table)
    assert not found.unreached and found.missing is None and found.work <= 20_000
    assert judge(rows[:-1], Named("E"), table).missing == members[-1]
    found = judge([*rows, (WILD, True)], Named("E"), table)
    assert found.unreached == (10_000,) and found.work <= 30_000
