"""One notion of equality: booleans and numbers are different values everywhere."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.condition import Among, Compared, Known, Listed, Subject, holds
from sglc.types.equality import equal, key_of, position
from sglc.types.language.language import language
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import from_json
from sglc.types.type import Alternatives, Constant, ListOf
from sglc.types.values import EnumValue, RecordValue
from sglc.values.builtins import call_method
from sglc.values.operators import BINARY

SCALARS = st.sampled_from(
    (
        True,
        False,
        1,
        0,
        2,
        Decimal(1),
        Decimal("1.0"),
        Decimal("0.1"),
        1.0,
        0.0,
        0.1,
        "1",
        "",
        "a",
        None,
        EnumValue("E", "a"),
        EnumValue("F", "a"),
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        | st.builds(lambda x, y: RecordValue("R", {"x": x, "y": y}), inner, inner)
        | st.integers(0, 3).map(range)
    ),
    max_leaves=6,
)


def alike(a: Any, b: Any) -> bool:
    """Equality said plainly, apart from the code under test."""
    kinds = [
        next(
            name
            for name, classes in (
                ("bool", bool),
                ("number", (int, Decimal, float)),
                ("text", str),
                ("null", type(None)),
                ("list", (list, range)),
                ("tuple", tuple),
                ("map", dict),
                ("record", RecordValue),
                ("member", EnumValue),
            )
            if isinstance(value, classes)
        )
        for value in (a, b)
    ]
    if kinds[0] != kinds[1]:
        return False
    match kinds[0]:
        case "number":
            return Fraction(a) == Fraction(b)
        case "list" | "tuple":
            return len(a) == len(b) and all(map(alike, a, b))
        case "map":
            return set(a) == set(b) and all(alike(a[key], b[key]) for key in a)
        case "record":
            return a.type == b.type and all(alike(a.fields[name], b.fields[name]) for name in a.fields)
        case "member":
            return (a.enum, a.name) == (b.enum, b.name)
    return bool(a == b)


@given(VALUES, VALUES)
def test_equality_is_what_it_means_and_one_everywhere(a: Any, b: Any) -> None:
    wanted = alike(a, b)
    assert equal(a, b) == wanted
    assert (key_of(a) == key_of(b)) == wanted
    assert BINARY["=="](a, b) == wanted and BINARY["!="](a, b) != wanted
    for items in ([b], (b,), [b, b]):
        assert BINARY["in"](a, items) == wanted
        assert call_method("contains", [items, a], {}) == wanted
        assert call_method("count", [items, a], {}) == len(items) * wanted
    assert holds(Compared(Subject(), "==", Known(b)), a) == wanted
    assert holds(Among(Subject(), Known(Listed([b, "zz"]))), a) == wanted


@given(st.lists(VALUES, max_size=8), VALUES)
def test_the_first_place_of_a_value(items: list[Any], item: Any) -> None:
    places = [at for at, each in enumerate(items) if alike(each, item)]
    assert position(items, item) == (places[0] if places else -1)
    assert BINARY["in"](item, tuple(items)) == bool(places)
    assert call_method("count", [items, item], {}) == len(places)


def test_ranges_hold_numbers_only() -> None:
    assert [BINARY["in"](x, range(3)) for x in (1, Decimal("2.0"), True, "1", None, [1])] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_literal_types_that_python_takes_for_one() -> None:
    for one, other in ((1, True), (0, False), (Decimal("1.0"), 1), (Decimal("1.0"), Decimal("1.00"))):
        assert Constant(one) != Constant(other)
        assert language(Constant(one), {}) != language(Constant(other), {})
        assert language(ListOf(Constant(other)), {}) != language(ListOf(Constant(one)), {})
    with pytest.raises(MemberError):
        from_json(True, Constant(1), {})
    both = Alternatives((Constant(1), Constant(True)))
    assert [from_json(x, both, {}) for x in (1, True)] == [1, True]
    assert [type(from_json(x, both, {})) for x in (1, True)] == [int, bool]


def test_values_that_are_nested_deeply_are_refused() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    for compute in (lambda: BINARY["=="](deep, [deep]), lambda: BINARY["in"](deep, [1, deep])):
        with pytest.raises(Exception, match="nested too deeply to be compared"):
            compute()


PROGRAM = """\
type t = 1 | true

pub pure fn told(x: 0 | 1 | true | false) -> str:
    match x:
        case 1: return "one"
        case true: return "yes"
        case 0: return "zero"
        case false: return "no"

pure fn said(x: json) -> str:
    match x:
        case 1: return "one"
        case true: return "yes"
        case 0: return "zero"
        case false: return "no"
        case _: return "else"

pure fn mixed(x: int | bool) -> str:
    match x:
        case 1: return "one"
        case true: return "yes"
        case false: return "no"
        case _: return "else"

pure fn same(x: json, y: json) -> (bool, bool, bool, int, bool):
    return (x == y, x in [y], [x] == [y], [y, y].count(x), x != y)

fn either() -> t:
    | ?{x: t}
    return x

fn like(y: json) -> json:
    | ?{x: t where x == y}
    return x

fn among() -> json:
    | ?{x: t where x in [true]}
    return x

test "true is not 1":
    mock either.x = true
    expect either() == true
    mock either.x = 1
    expect either() == 1
    expect told(true) == "yes" and told(1) == "one" and told(false) == "no" and told(0) == "zero"
    expect said(true) == "yes" and said(1) == "one" and said(1.0) == "one" and said(false) == "no"
    expect mixed(true) == "yes" and mixed(1) == "one" and mixed(false) == "no" and mixed(0) == "else"
    expect same(true, 1) == (false, false, false, 0, true)
    expect same({"a": [false]}, {"a": [0]}) == (false, false, false, 0, true)
    expect same({"a": 1.0}, {"a": 1}) == (true, true, true, 2, false)
    fuzz like(true) times 10:
        expect it == true
    fuzz like(1) times 10:
        expect it == 1
    fuzz among() times 10:
        expect it == true
"""


def test_programs_tell_true_from_1() -> None:
    found = compile_source(Source("p.sgl", PROGRAM), CompileOptions())
    assert found.program is not None, found.diagnostics
    (report,) = run_tests(found.program)
    assert report.passed, report.failures
