"""Arithmetic gives numbers of its kind or says why there is none, at run time and before it."""

from __future__ import annotations

import operator
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sglc
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.arithmetic import ARITHMETIC, NUMBER_DIGITS, ArithmeticFault, compute, number_fault
from sglc.types.language.membership import is_member
from sglc.types.text.decode import decode
from sglc.types.text.printer import print_value
from sglc.types.type import Dec, Float, Int, Type
from sglc.values.builtins import call_function
from sglc.values.kinds import ValueFault
from sglc.values.operators import BINARY, UNARY

LARGE = 10**NUMBER_DIGITS - 1
INTEGERS = st.integers(-30, 30) | st.sampled_from((LARGE, -LARGE, 10**40, 2**63))
EXACT = st.decimals(-1000, 1000, places=3) | st.sampled_from(
    [Decimal(x) for x in ("0", "0.0", "-0.5", "1E+999", "1E-1000", "9.99E+998", "0.1", "1E+30")]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = INTEGERS | EXACT | FLOATS


def kind_of(number: Any) -> Type:
    return {int: Int(), Decimal: Dec(), float: Float()}[type(number)]


@given(st.sampled_from(sorted(ARITHMETIC)), NUMBERS, NUMBERS)
def test_every_result_is_a_value_of_its_type(symbol: str, a: Any, b: Any) -> None:
    try:
        found = compute(symbol, a, b)
    except ArithmeticFault as fault:
        assert str(fault)
        with pytest.raises(ValueFault, match=r"\w+"):
            BINARY[symbol](a, b)
        return
    wanted = float if float in (type(a), type(b)) else Decimal if Decimal in (type(a), type(b)) else int
    assert type(found) is (Decimal if symbol == "/" and wanted is int else wanted)
    type_ = kind_of(found)
    assert is_member(found, type_, {}), found
    assert decode(print_value(found, type_, {}), type_, {}) == found
    assert BINARY[symbol](a, b) == found


@given(st.sampled_from("+-*"), INTEGERS | EXACT, INTEGERS | EXACT)
def test_exact_results_are_exact(symbol: str, a: Any, b: Any) -> None:
    plain = {"+": operator.add, "-": operator.sub, "*": operator.mul}
    exact = plain[symbol](Fraction(a), Fraction(b))
    try:
        found = Fraction(compute(symbol, a, b))
    except ArithmeticFault:
        assert abs(exact) + abs(exact) / 10**49 >= 10**NUMBER_DIGITS
        return
    if found != exact:
        # Rounded to 50 digits, or to the last place that a number may have.
        assert Decimal in (type(a), type(b))
        assert abs(found - exact) <= max(abs(exact) / 10**49, Fraction(1, 10 ** (NUMBER_DIGITS - 1)))


@given(NUMBERS)
def test_signs_lose_no_digits(number: Any) -> None:
    assert Fraction(UNARY["-"](number)) == -Fraction(number)
    assert Fraction(call_function("abs", [number], {})) == abs(Fraction(number))


@pytest.mark.parametrize(
    ("a", "symbol", "b", "reason"),
    [
        (2, "**", -1, "a negative power of an integer is no integer"),
        (0, "**", -1, "division by zero"),
        (Decimal(0), "**", -1, "division by zero"),
        (0.0, "**", -1.0, "division by zero"),
        (-2, "**", Decimal("0.5"), "a negative number has no power that is a fraction"),
        (-2.0, "**", 0.5, "a negative number has no power that is a fraction"),
        (1e308, "*", Decimal(10), "too large for a float"),
        (1e308, "+", 1e308, "too large for a float"),
        (1e308, "/", 1e-308, "too large for a float"),
        (Decimal("1E+999"), "*", 1.0, "a number is too large for a float"),
        (10, "**", 10**9, "has more than 1,000 digits"),
        (10, "**", 1000, "has more than 1,000 digits"),
        (LARGE, "+", 1, "has more than 1,000 digits"),
        (Decimal("1E+999"), "*", 10, "is too large"),
        (Decimal(1), "/", 0, "division by zero"),
        (1, "/", 0, "division by zero"),
        (1, "//", 0, "division by zero"),
        (1.0, "%", 0.0, "division by zero"),
    ],
)
def test_what_has_no_result_says_why(a: Any, symbol: str, b: Any, reason: str) -> None:
    with pytest.raises(ValueFault, match=reason):
        BINARY[symbol](a, b)


def test_powers_that_exist() -> None:
    assert [compute("**", *pair) for pair in ((1, -3), (-1, -3), (-1, -2), (0, 0), (2, 10), (10, 999))] == [
        1,
        -1,
        1,
        1,
        1024,
        10**999,
    ]
    assert compute("**", Decimal(2), -1) == Decimal("0.5")
    assert compute("**", Decimal(0), 0) == 1
    assert compute("**", Decimal(-2), 3) == -8
    assert compute("//", Decimal("1E+49"), Decimal("-3")) == -(10**49) // 3


def test_work_is_bounded() -> None:
    started = time.process_time()
    for a, symbol, b in ((10, "**", 10**9), (LARGE, "**", LARGE), (Decimal("1.1"), "**", Decimal("1E+900"))):
        with pytest.raises(ArithmeticFault):
            compute(symbol, a, b)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("text", ["1E+1000000", "1E+1000", "1E-1001", "9" * 1001])
def test_numbers_that_are_too_long_are_refused_where_they_come_in(text: str) -> None:
    number = Decimal(text)
    assert number_fault(number) is not None
    assert not is_member(number, Dec(), {}) and not is_member(number, Dec(Decimal(0), Decimal(1)), {})
    with pytest.raises(ValueFault, match="more than 1,000 digits"):
        call_function("decimal", [text], {})


PROGRAM = """\
pub pure fn power(a: int, b: int) -> int:
    return a ** b

pub pure fn third(a: int) -> decimal:
    return a / 3

pub pure fn same(a: int, b: decimal, c: float) -> (int, decimal, float):
    return (a, b, c)

pub pure fn shown(b: decimal) -> str:
    return "${b}"
"""


def test_what_a_function_returns_is_taken_back(tmp_path: Any) -> None:
    path = tmp_path / "n.sgl"
    path.write_text(PROGRAM)
    module = sglc.load(path)
    values = (module.power(10, 40), module.third(1), 1e200)
    assert values[0] == 10**40 and len(str(values[1])) == 52
    assert module.same(*values) == values
    assert module.shown(values[1]) == "0.3333333333"
    with pytest.raises(sglc.RunError, match="no integer") as caught:
        module.power(2, -1)
    assert "2:12" in str(caught.value)
    with pytest.raises(TypeError, match="more than 1,000 digits"):
        module.power(10**1000, 1)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("2 ** -1", "a negative power of an integer"),
        ("n ** -1", "a negative power of an integer"),
        ("10 ** 5000", "more than 1,000 digits"),
        ("0.0 ** -1", "division by zero"),
        ("-2.0 ** 0.5", ""),
        ("(0 - 2) ** 0.5", "a negative number has no power"),
        ("n % 0", ""),
        ("1 ** -1", None),
        ("n ** 2", None),
        ("2 ** 100 + 7 // 2 * 3 % 5", None),
    ],
)
def test_constants_without_a_result_are_refused_before_a_run(written: str, reason: str | None) -> None:
    source = Source("p.sgl", f"pub pure fn f(n: int) -> json:\n    return {written}\n")
    codes = [
        (d.code, d.reason) for d in compile_source(source, CompileOptions()).diagnostics if d.code[0] == "E"
    ]
    if reason is None:
        assert codes == []
    else:
        assert [code for code, _ in codes] == ["E0321"] or written == "-2.0 ** 0.5"
        assert all(reason in said for _, said in codes)


def test_constants_are_computed_as_at_run_time() -> None:
    source = "const x = 1 / 3 * 0.1\nconst y = 7 // 2 + 2 ** 70 % 10\nconst z = -7.5 % 2\n\n"
    source += "pub pure fn f() -> (decimal, int, decimal):\n    return (x, y, z)\n"
    found = compile_source(Source("p.sgl", source), CompileOptions())
    assert found.program is not None, found.diagnostics
    wanted = (
        compute("*", compute("/", 1, 3), Decimal("0.1")),
        3 + 2**70 % 10,
        compute("%", Decimal("-7.5"), 2),
    )
    assert any(constant == wanted for constant in found.program.constants)


LARGE_BOUNDS = """\
fn chars(a: str) -> str:
    | ${a}?{x: str max 9223372036854775808 chars}
    return x

fn items(a: str) -> [int]:
    | ${a}?{x: [int; ..9223372036854775808]}
    return x

fn keys(a: str) -> {str: int}:
    | ${a}?{x: {str max 9223372036854775808 chars: int; 1..9223372036854775808}}
    return x

fn piece(a: str) -> str:
    | ${a}?{x: span of a max 9223372036854775808 chars}
    return x

fn shorter(a: str, most: int) -> str:
    | ${a}?{x: str max 99 tok where len(x) < most}
    return x

fn above(a: int) -> int:
    | ?{x: int in 0..99999999999999999999999999999999999999 where x > a}
    return x

test "bounds beyond all that is written":
    fuzz chars("a") times 3:
        expect len(it) >= 0
    fuzz items("a") times 3:
        expect len(it) >= 0
    fuzz keys("a") times 3:
        expect len(it) >= 1
    fuzz piece("abc") times 3:
        expect it in "abc"
    fuzz shorter("a", 2 ** 64) times 3:
        expect len(it) >= 0
    fuzz above(10 ** 30) times 3:
        expect it > 10 ** 30
    expect raises Unsatisfiable: above(10 ** 900)
"""


def test_bounds_may_be_larger_than_any_value() -> None:
    found = compile_source(Source("p.sgl", LARGE_BOUNDS), CompileOptions())
    assert found.program is not None, found.diagnostics
    (report,) = run_tests(found.program)
    assert report.passed, report.failures


@pytest.mark.parametrize(
    ("count", "said"), [("0", "at least 1"), ("9223372036854775808", "at most 1,000,000")]
)
def test_a_token_budget_has_bounds(count: str, said: str) -> None:
    source = Source("p.sgl", f"fn f() -> str:\n    | ?{{x: str max {count} tok}}\n    return x\n")
    messages = [d.message for d in compile_source(source, CompileOptions()).diagnostics if d.code == "E0330"]
    assert messages == [f"a token budget is {said}"]
