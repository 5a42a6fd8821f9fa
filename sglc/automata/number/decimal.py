"""Automata of numbers written in their canonical spelling and lying in a range.

Integers are `-?(0|[1-9][0-9]*)` without `-0`. Decimals may add a point and 1 to 10 digits, floats 1 to 20
(so that the shortest exact spelling of a float fits); floats without bounds may add an exponent `e[+-]?` of
one or two digits as well. Minus zero is never spelled. Bounds are compared digit by digit: the state is how
many digits were read, how they compare with the first digits of each bound, and a remainder; so the
automaton of 1..10**18 is built as fast as that of 1..9.
"""

from __future__ import annotations

from decimal import Decimal
from math import gcd, lcm

from sglc.automata.caches import remembered
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.operations import TooLarge, union
from sglc.automata.term import CharDfa

INTEGER_DIGITS = 18
"""Digits before the point where no bound asks for more."""
DECIMAL_PLACES = 10
FLOAT_PLACES = 20
"""Python's repr of a float needs up to 20 where it uses no exponent."""
MAX_DIVISOR = 10_000
"""Largest numerator of a multiple_of in lowest decimal terms (`0.05` counts as 5)."""

_BLOCKS = (*(((0x30 + digit, 0x30 + digit),) for digit in range(10)), ((0x2D, 0x2D),), ((0x2E, 0x2E),))
_MINUS, _POINT = 10, 11

# How the digits read so far compare with those of a bound.
_LESS, _EQUAL, _MORE = -1, 0, 1


class NumberError(ValueError):
    """A range or divisor that no automaton is made for."""


@remembered
def integer_range(
    minimum: int | None = None, maximum: int | None = None, multiple_of: int | None = None
) -> CharDfa:
    """Integers in the bounds, both included; a missing bound is the widest number of 18 digits."""
    low = None if minimum is None else Decimal(minimum)
    high = None if maximum is None else Decimal(maximum)
    step = None if multiple_of is None else Decimal(multiple_of)
    return _range(low, high, step, 0)


@remembered
def decimal_range(
    minimum: Decimal | None = None,
    maximum: Decimal | None = None,
    multiple_of: Decimal | None = None,
    places: int = DECIMAL_PLACES,
) -> CharDfa:
    """Decimals in the range with at most `places` digits after the point; trailing zeros are allowed."""
    return _range(minimum, maximum, multiple_of, places)


@remembered
def float_range(minimum: Decimal | None = None, maximum: Decimal | None = None) -> CharDfa:
    """Floats: with an exponent where there are no bounds, with up to 20 decimal places where there are."""
    if minimum is None and maximum is None:
        return _free_float()
    return _range(minimum, maximum, None, FLOAT_PLACES)


def whole_digits(*bounds: int | Decimal | None) -> int:
    """Digits before the point that a number may have: 18, or as many as a bound has."""
    sizes = [len(str(abs(_scaled(Decimal(bound), 0, up=bound < 0)))) for bound in bounds if bound is not None]
    return max([INTEGER_DIGITS, *sizes])


def _scaled(value: Decimal, places: int, *, up: bool) -> int:
    """The nearest multiple of 10**-places at or above (below) `value`, as a count of them."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise NumberError(f"{value} is no bound")
    if abs(exponent) > 10_000 or len(digits) > 10_000:
        raise NumberError("a bound has too many digits")
    number = int("".join(map(str, digits))) * (-1 if sign else 1)
    shift = places + exponent
    power: int = 10 ** abs(shift)
    if shift >= 0:
        return number * power
    return -(-number // power) if up else number // power


def common_step(first: Decimal, second: Decimal) -> Decimal:
    """The least positive multiple of two steps: 0.2 and 0.5 have 1."""
    (number, below), (other, other_below) = first.as_integer_ratio(), second.as_integer_ratio()
    return Decimal(lcm(number * other_below, other * below)) / (below * other_below)


def step_is_possible(step: Decimal) -> bool:
    """Whether multiples of a positive step can be told: automata keep a remainder for each number below its
    numerator in lowest terms, at most `MAX_DIVISOR`."""
    try:
        return _divisor(step)[0] <= MAX_DIVISOR
    except NumberError:
        return False


def _divisor(step: Decimal) -> tuple[int, int]:
    """(numerator, places) of a positive step in lowest terms: 0.05 is (5, 2)."""
    sign, digits, exponent = step.as_tuple()
    if not isinstance(exponent, int) or sign or not any(digits) or abs(exponent) > 10_000:
        raise NumberError(f"multiple of {step}: the step must be more than zero")
    number = int("".join(map(str, digits)))
    while exponent < 0 and number % 10 == 0:
        number //= 10
        exponent += 1
    if exponent > 0:
        number *= 10**exponent
        exponent = 0
    if number > MAX_DIVISOR:
        raise NumberError(f"multiple of {step}: the step has a numerator above {MAX_DIVISOR}")
    return number, -exponent


def _range(minimum: Decimal | None, maximum: Decimal | None, step: Decimal | None, places: int) -> CharDfa:
    width = whole_digits(minimum, maximum)
    widest = 10 ** (width + places) - 1
    low = -widest if minimum is None else _scaled(minimum, places, up=True)
    high = widest if maximum is None else _scaled(maximum, places, up=False)
    divisor, divisor_places = (1, places) if step is None else _divisor(step)
    if divisor_places > places:
        # Only multiples with few enough places can be written: 0.0025 in 2 places goes in steps of 0.01.
        divisor = divisor // gcd(divisor, 10 ** (divisor_places - places))
        divisor_places = places
    rows: list[dict[int, int]] = [{}]
    accepting: set[int] = set()
    digits = _Digits(rows, accepting, places, divisor, divisor_places)
    if high >= 0:
        digits.add(max(low, 0), high, rows[0])
    if low < 0:
        rows.append({})
        rows[0][_MINUS] = len(rows) - 1
        digits.add(max(1, -high), -low, rows[len(rows) - 1])
    return minimal_dfa(rows, accepting, _BLOCKS)


class _Digits:
    """Adds the spellings of the magnitudes low..high (counts of 10**-places) behind a row."""

    def __init__(
        self, rows: list[dict[int, int]], accepting: set[int], places: int, divisor: int, divisor_places: int
    ) -> None:
        self.rows = rows
        self.accepting = accepting
        self.places = places
        self.divisor = divisor
        self.divisor_places = divisor_places

    def add(self, low: int, high: int, row: dict[int, int]) -> None:
        if low > high:
            return
        self.low = str(low).zfill(self.places + 1)
        self.high = str(high).zfill(self.places + 1)
        self.low_size = len(self.low) - self.places
        self.high_size = len(self.high) - self.places
        self.numbers: dict[tuple[int, ...], int] = {}
        self.queue: list[tuple[int, ...]] = []
        for digit in range(10):
            self.edge(row, digit, (0, 0, _EQUAL, _EQUAL, 0))
        # The queue grows while it is read.
        for state in self.queue:
            self.expand(state)

    def number(self, state: tuple[int, ...]) -> int:
        if state not in self.numbers:
            if len(self.rows) > 400_000:
                raise TooLarge("the number range needs too many states")
            self.numbers[state] = len(self.rows)
            self.rows.append({})
            self.queue.append(state)
        return self.numbers[state]

    def edge(self, row: dict[int, int], digit: int, state: tuple[int, ...]) -> None:
        """Whole digits: state (0, digits read, compared with low, with high, remainder)."""
        _, size, with_low, with_high, remainder = state
        if size >= self.high_size:
            return
        with_low = self.compare(with_low, digit, self.low, size, self.low_size)
        with_high = self.compare(with_high, digit, self.high, size, self.high_size)
        target = (0, size + 1, with_low, with_high, (remainder * 10 + digit) % self.divisor)
        if size == 0 and digit == 0:
            target = (2, 1, with_low, with_high, 0)
        row[digit] = self.number(target)

    def compare(self, sofar: int, digit: int, bound: str, at: int, size: int) -> int:
        if at >= size:
            return _MORE
        if sofar != _EQUAL:
            return sofar
        other = ord(bound[at]) - 0x30
        return _LESS if digit < other else _MORE if digit > other else _EQUAL

    def whole(self, state: tuple[int, ...]) -> tuple[int, int]:
        """How the whole part, complete now, compares with that of both bounds: fewer digits are less."""
        _, size, with_low, with_high, _ = state
        return (
            _LESS if size < self.low_size else with_low,
            _LESS if size < self.high_size else with_high,
        )

    def expand(self, state: tuple[int, ...]) -> None:
        kind, _, with_low, with_high, remainder = state
        number = self.numbers[state]
        row = self.rows[number]
        if kind == 1:
            self.expand_fraction(state, number, row)
            return
        if kind == 0:
            for digit in range(10):
                self.edge(row, digit, state)
        with_low, with_high = self.whole(state)
        if self.fits(with_low, with_high, 0, remainder):
            self.accepting.add(number)
        if self.places and with_low != _LESS and with_high != _MORE:
            row[_POINT] = self.number((1, 0, with_low, with_high, remainder))

    def expand_fraction(self, state: tuple[int, ...], number: int, row: dict[int, int]) -> None:
        _, size, with_low, with_high, remainder = state
        if size and self.fits(with_low, with_high, size, remainder):
            self.accepting.add(number)
        if size == self.places:
            return
        for digit in range(10):
            rest = remainder
            if size < self.divisor_places:
                rest = (remainder * 10 + digit) % self.divisor
            elif digit:
                continue
            low = self.compare(with_low, digit, self.low, self.low_size + size, len(self.low))
            high = self.compare(with_high, digit, self.high, self.high_size + size, len(self.high))
            if low != _LESS and high != _MORE:
                row[digit] = self.number((1, size + 1, low, high, rest))

    def fits(self, with_low: int, with_high: int, size: int, remainder: int) -> bool:
        """Whether the number may end after `size` digits of its fraction; missing digits are zeros."""
        if with_low == _EQUAL and self.low[self.low_size + size :].strip("0"):
            return False
        missing = max(0, self.divisor_places - size)
        return (
            with_low != _LESS
            and with_high != _MORE
            and (remainder * pow(10, missing, self.divisor)) % self.divisor == 0
        )


def _free_float() -> CharDfa:
    """`-?(0|[1-9][0-9]{0,17})(.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?` without the spellings of minus zero."""
    from sglc.automata.regex.compile import compile_regex

    tail = r"(e[+-]?[0-9]{1,2})?"
    fraction = rf"(\.[0-9]{{1,{FLOAT_PLACES}}})?"
    positive = compile_regex(rf"-?[1-9][0-9]{{0,{INTEGER_DIGITS - 1}}}{fraction}{tail}")
    zero = compile_regex(rf"0{fraction}{tail}")
    arms = "|".join(
        rf"0{{{zeros}}}[1-9][0-9]{{0,{FLOAT_PLACES - zeros - 1}}}" for zeros in range(FLOAT_PLACES)
    )
    return union(union(positive, zero), compile_regex(rf"-0\.({arms})" + tail))
