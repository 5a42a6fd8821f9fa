"""Sets of JSON numbers against exact arithmetic on the parsed text, and their algebra."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction
from math import lcm, prod

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.dfa import operations as dfa
from sglc.automata.number.number_set import NumberError, NumberSet, number_text
from sglc.automata.number.remainder import divisor

SIMPLE = (
    "0",
    "1",
    "2",
    "5",
    "7",
    "10",
    "12",
    "99",
    "100",
    "0.5",
    "0.05",
    "1.25",
    "1e3",
    "1.50",
    "3e-7",
    "2e20",
)
DECIMALS = st.one_of(
    st.sampled_from(SIMPLE),
    st.sampled_from(SIMPLE).map("-".__add__),
    st.builds("{}e{}".format, st.integers(-2000, 2000), st.integers(-5, 5)),
).map(Decimal)
STEPS = st.sampled_from(
    ("1", "2", "3", "5", "7", "10", "12", "64", "1000", "0.5", "0.01", "0.3", "0.0025", "1.5")
)
SPELLINGS = st.sampled_from(("canonical", "any"))


@st.composite
def number_sets(draw: st.DrawFn) -> NumberSet:
    bounds = st.none() | DECIMALS
    few = st.lists(STEPS.map(Decimal), max_size=2).map(tuple)
    return NumberSet(
        draw(bounds),
        draw(st.booleans()),
        draw(bounds),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.just(()) | few),
        draw(st.just(()) | few),
        draw(st.just(()) | st.lists(DECIMALS, max_size=3).map(tuple)),
    )


@st.composite
def number_texts(draw: st.DrawFn, numbers: NumberSet) -> str:
    """JSON numbers of all kinds; many of them spell a value that the set mentions."""
    mentioned = [v for v in (numbers.low, numbers.high, *numbers.excluded) if v is not None]
    if mentioned and draw(st.booleans()):
        value = Fraction(draw(st.sampled_from(mentioned))) + draw(
            st.sampled_from((0, 0, 0, 1, Fraction(1, 10)))
        )
        power = draw(st.integers(-5, 5) | st.integers(-30, 30))
        scaled = value / Fraction(10) ** power
        places = 0
        while (scaled * 10**places).denominator != 1 and places < 60:
            places += 1
        digits = str(abs(int(scaled * 10**places))).zfill(places + 1)
        text = "-" if value < 0 else ""
        text += digits[: len(digits) - places]
        fraction = digits[len(digits) - places :] + draw(st.sampled_from(("", "", "0", "00", "1")))
        text += "." + fraction if fraction else ""
        return text + (draw(exponents(power)) if power or draw(st.booleans()) else "")
    text = draw(st.sampled_from(("", "-"))) + str(draw(st.integers(0, 130) | st.integers(0, 10**25)))
    if draw(st.booleans()):
        text += "." + draw(
            st.text("0123456789", min_size=1, max_size=3) | st.text("05", min_size=1, max_size=25)
        )
    if draw(st.booleans()):
        text += draw(exponents(draw(st.integers(-9, 9) | st.integers(-400, 400))))
    return text


@st.composite
def exponents(draw: st.DrawFn, power: int) -> str:
    signs = ("-",) if power < 0 else ("+", "+", "") if power else ("+", "-", "")
    size = draw(st.integers(1, 3))
    return draw(st.sampled_from("eeE")) + draw(st.sampled_from(signs)) + str(abs(power)).zfill(size)


def number_of_classes(numbers: NumberSet) -> int:
    """In how many ways strings of digits differ to the steps."""
    wanted = [*([Decimal(1)] if numbers.integer else []), *numbers.multiples]
    places = max(
        (max(-int(d.normalize().as_tuple().exponent), 0) for d in (*wanted, *numbers.avoided)), default=0
    )
    scaled = [int(step * 10**places) for step in (*wanted, *numbers.avoided)]
    divisors = [lcm(*scaled[: len(wanted)])] if wanted else []
    return prod(len(divisor(number).following) for number in divisors + sorted(set(scaled[len(wanted) :])))


def is_spelling(text: str, numbers: NumberSet, spelling: str) -> bool:
    """What the documentation says of the spellings of sets, in other words."""
    parts = re.fullmatch(r"-?(0|[1-9]\d*)(?:\.(\d+))?(?:([eE])([+-]?)(\d+))?", text)
    if not parts:
        return False
    whole, fraction, letter, sign, power = parts.groups()
    fraction = fraction or ""
    mantissa = Fraction(text.partition("e")[0].partition("E")[0])
    if letter is None:
        if spelling == "canonical" and numbers.integer:
            return not fraction and text != "-0"
        return True
    if spelling == "any" and numbers == NumberSet():
        return len(power) <= 3
    if spelling == "canonical":
        if letter != "e" or not sign or not re.fullmatch(r"\d\d|[1-9]\d\d", power) or numbers.integer:
            return False
    elif len(power) > 3:
        return False
    value = abs(mantissa) * Fraction(10) ** int(sign + power)
    classes = number_of_classes(numbers)
    stepped = numbers.integer or numbers.multiples or numbers.avoided
    if (
        stepped
        and mantissa
        and (
            fraction.endswith("0")
            or (not fraction and whole != "0" and whole[-1] == "0" and sign == "-" and int(power))
        )
    ):
        return False
    if stepped and (classes > 1 or numbers.low is not None or numbers.high is not None):
        written_so = value >= Fraction(10) ** 16 or value < Fraction(1, 10_000)
        if classes > 4 or not written_so or len(whole) > 1 or whole == "0":
            return False
    if len(whole) == 1 and whole != "0":
        least, greatest = Fraction(Decimal("5e-324")), Fraction(Decimal("1.7976931348623157e308"))
        return least <= value <= greatest and not (stepped and len(fraction) > 16)
    if spelling == "canonical" or len(whole) > 4 or (stepped and len(fraction) > 4):
        return False
    zeros = len(fraction) - len(fraction.lstrip("0")) if whole == "0" else 0
    return zeros <= 4 and (not mantissa or Fraction(Decimal("1e-307")) <= value <= Fraction(Decimal("1e308")))


@pytest.mark.slow
@settings(max_examples=examples(24))
@given(st.data(), number_sets(), SPELLINGS)
def test_automata_hold_the_spellings_of_the_members(data, numbers, spelling):
    automaton = numbers.text(spelling)
    for _ in range(10):
        text = data.draw(number_texts(numbers))
        expected = is_spelling(text, numbers, spelling) and numbers.contains(Fraction(text))
        assert dfa.accepts(automaton, text) == expected, text


@settings(max_examples=examples(60))
@given(number_sets(), SPELLINGS)
def test_empty_sets_are_known(numbers, spelling):
    assert numbers.is_empty() == dfa.is_empty(numbers.text(spelling))


@given(number_sets(), number_sets(), DECIMALS)
def test_the_algebra_is_that_of_sets(left, right, value):
    assert left.intersect(right).contains(value) == (left.contains(value) and right.contains(value))
    parts = left.complement()
    assert sum(part.contains(value) for part in parts) == (not left.contains(value))


@given(number_sets())
def test_finite_sets_list_their_members(numbers):
    values = numbers.values(50)
    if values is not None:
        automaton = numbers.text("any")
        assert values == sorted(values)
        assert all(numbers.contains(value) and dfa.accepts(automaton, f"{value:f}") for value in values)


@settings(max_examples=examples(30))
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@example(1.7976931348623157e308, 5e-324)
@example(-0.0, 1e16)
def test_whatever_json_dumps_writes_is_spelled(value, bound):
    text = json.dumps(value)
    assert dfa.accepts(number_text(), text)
    assert dfa.accepts(number_text(spelling="any"), text)
    exact = Decimal(json.dumps(bound))
    for spelling in ("canonical", "any"):
        above = number_text(low=exact, spelling=spelling)
        assert dfa.accepts(above, text) == (Decimal(text) >= exact)


def test_integers_have_one_canonical_spelling_and_many_others():
    whole = NumberSet(integer=True)
    for text in ("0", "-12", "1" * 60):
        assert dfa.accepts(whole.text(), text) and dfa.accepts(whole.text("any"), text)
    for text in ("1.0", "1e2", "1E+2", "1.5e1", "10e-0", "-0", "2.5e1", "1e308", "12.5e1"):
        assert not dfa.accepts(whole.text(), text) and dfa.accepts(whole.text("any"), text), text
    for text in ("1.5", "15e-1", "1e-1", "01", "1.", "+1", ".5", "1e", "1e0000", ""):
        assert not dfa.accepts(whole.text("any"), text), text


def test_powers_of_ten_need_few_states():
    assert len(divisor(10**6).following) == 7
    assert len(divisor(7).following) == 7
    assert len(number_text(integer=True, multiples=(Decimal(10**12),)).edges) < 20


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (lambda: NumberSet(multiples=(Decimal(0),)), "more than zero"),
        (lambda: NumberSet(multiples=(Decimal(-2),)), "more than zero"),
        (lambda: NumberSet(low=Decimal("inf")), "no JSON number"),
        (lambda: NumberSet(low=Decimal("1e5000")), "1000 digits"),
        (lambda: NumberSet(multiples=(Decimal(1_000_003),)).text(), "more than 5000 states"),
    ],
)
def test_what_has_no_automaton_is_refused(numbers, reason):
    with pytest.raises(NumberError, match=reason):
        numbers()
