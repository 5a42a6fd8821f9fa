"""JSON numbers with an exponent: after the mantissa, all bounds and steps leave one interval of exponents."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from sglc.automata.json_number_digits import (
    BLOCKS,
    CAPITAL_E,
    EQUAL,
    LESS,
    MINUS,
    MORE,
    PLUS,
    POINT,
    SMALL_E,
    Divisibility,
    Interval,
    Steps,
    Table,
    compared,
)
from sglc.automata.minimal import minimal_dfa
from sglc.automata.term import CharDfa

LONG_PLACES = 16
"""Digits behind the point, where there are steps, if one digit is before it: a double has 17."""
SHORT_SIZE = 4
"""Digits before the point, zeros behind it, and digits behind it where there are steps, otherwise."""
GREATEST_DOUBLE = Decimal("1.7976931348623157e308")
LEAST_DOUBLE = Decimal("5e-324")
GREATEST = Decimal("1e308")
LEAST = Decimal("1e-307")


@lru_cache(maxsize=1024)
def exponent_spellings(interval: Interval, steps: Steps, *, normal: bool, canonical: bool) -> CharDfa:
    """`normal`: one digit other than zero before the point."""
    table = Table()
    divisibility = Divisibility(steps)
    exponents = _Exponents(table, canonical=canonical)
    _Mantissas(interval, divisibility, exponents, normal=normal).add(table.rows[0])
    negative = dict(table.rows[0])
    if interval.mirrored() != interval:
        negative = {}
        _Mantissas(interval.mirrored(), divisibility, exponents, normal=normal).add(negative)
    if negative:
        table.rows[0][MINUS] = len(table.rows)
        table.rows.append(negative)
    return minimal_dfa(table.rows, table.accepting, BLOCKS)


class _MagnitudeBound:
    """A positive number as significant digits d.ddd and a power of ten."""

    def __init__(self, value: Decimal, is_open: bool) -> None:
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        text = "".join(map(str, digits)).lstrip("0")
        self.magnitude = len(text) - 1 + exponent
        self.digits = text.rstrip("0")
        self.open = is_open


class _Exponents:
    """Automata of exponents in an interval, shared by all mantissas of a table.

    A state is, for each number of digits that may follow, the interval in which their value may lie.
    """

    def __init__(self, table: Table, *, canonical: bool) -> None:
        self.table = table
        self.canonical = canonical

    def after_e(self, lowest: int, highest: int) -> int | None:
        """The state behind the `e` of an exponent from `lowest` to `highest`; None if there is none."""
        key = ("e", max(lowest, -999), min(highest, 999))
        if key[1] > key[2]:
            return None
        if key in self.table.numbers:
            return self.table.numbers[key]
        number = self.table.number(key)
        self.table.queue.pop()
        row = self.table.rows[number]
        if highest >= 0:
            row[PLUS] = self.digits(self.sizes(max(lowest, 0), key[2]))
            if not self.canonical:
                row.update(self.table.rows[row[PLUS]])
        if lowest <= 0:
            row[MINUS] = self.digits(self.sizes(max(-highest, 0), -key[1]))
        return number

    def sizes(self, lowest: int, highest: int) -> tuple:
        if self.canonical:
            return (None, None, _clipped(lowest, highest, 0, 99), _clipped(lowest, highest, 100, 999))
        return (None, *(_clipped(lowest, highest, 0, 10**size - 1) for size in (1, 2, 3)))

    def digits(self, key: tuple) -> int:
        if key in self.table.numbers:
            return self.table.numbers[key]
        number = self.table.number(key)
        self.table.queue.pop()
        if key[0] is not None:
            self.table.accepting.add(number)
        for digit in range(10):
            after = []
            for size, bounds in enumerate(key[1:]):
                here = digit * 10**size
                after.append(bounds and _clipped(bounds[0] - here, bounds[1] - here, 0, 10**size - 1))
            if any(after):
                self.table.rows[number][digit] = self.digits(tuple(after))
        return number


def _clipped(low: int, high: int, least: int, most: int) -> tuple[int, int] | None:
    low, high = max(low, least), min(high, most)
    return (low, high) if low <= high else None


_LEADING, _INTEGER, _BEHIND_POINT = range(3)


class _Mantissas:
    """Mantissas of the positive members (and of zero), behind a row.

    States: where we are; the power of ten of the first digit (of the last one read, before there is a first);
    significant digits read while a comparison is open; how they compare with low and high; digits behind the
    point if there are steps; whether the last digit is a zero; divisibility.
    """

    def __init__(
        self, interval: Interval, divisibility: Divisibility, exponents: _Exponents, *, normal: bool
    ) -> None:
        self.table = exponents.table
        self.exponents = exponents
        self.divisibility = divisibility
        self.stepped = bool(divisibility.divisors)
        self.normal = normal
        self.places = LONG_PLACES if normal else SHORT_SIZE
        least, greatest = (LEAST_DOUBLE, GREATEST_DOUBLE) if normal else (LEAST, GREATEST)
        self.zero = interval.zero and divisibility.allows(divisibility.first, 0)
        self.low = _MagnitudeBound(least, False)
        self.high = _MagnitudeBound(greatest, False)
        if interval.low is not None and interval.low >= least:
            self.low = _MagnitudeBound(interval.low, interval.low_open)
        self.possible = interval.high is None or interval.high > 0
        if interval.high is not None and self.possible and interval.high <= greatest:
            self.high = _MagnitudeBound(interval.high, interval.high_open)

    def add(self, row: dict[int, int]) -> None:
        self.table.queue.clear()
        first = self.divisibility.first
        start = (self, _INTEGER, -1, 0, EQUAL, EQUAL, 0, False, first)
        if self.possible:
            for digit in range(1, 10):
                row[digit] = self.table.number(self.significant(start, digit))
        if not self.normal and (self.possible or self.zero):
            row[0] = self.table.number((self, _LEADING, 0, 0, EQUAL, EQUAL, 0, True, first))
        for state in self.table.queue:
            self.expand(state)
        self.table.queue.clear()

    def significant(self, state: tuple, digit: int) -> tuple:
        _, kind, magnitude, size, with_low, with_high, places, _, classes = state
        if with_low == EQUAL or with_high == EQUAL:
            with_low = compared(with_low, digit, self.low.digits, size)
            with_high = compared(with_high, digit, self.high.digits, size)
            longest = max(
                len(self.low.digits) if with_low == EQUAL else 0,
                len(self.high.digits) if with_high == EQUAL else 0,
            )
            size = min(size + 1, longest)
        if kind == _INTEGER:
            magnitude += 1
        elif self.stepped:
            places += 1
        last = self.stepped and digit == 0
        return (
            self, kind, magnitude, size, with_low, with_high, places, last,
            self.divisibility.after(classes, digit),
        )  # fmt: skip

    def expand(self, state: tuple) -> None:
        row = self.table.rows[self.table.numbers[state]]
        _, kind, magnitude, size, with_low, with_high, places, last, classes = state
        if kind == _LEADING:
            self.expand_leading(state, row)
            return
        if kind == _INTEGER:
            if not self.normal and magnitude + 1 < SHORT_SIZE:
                for digit in range(10):
                    row[digit] = self.table.number(self.significant(state, digit))
            # No e follows the point itself.
            row[POINT] = self.table.number(
                (self, None, magnitude, size, with_low, with_high, places, last, classes)
            )
        elif not self.stepped or places < self.places:
            inside = (self, _BEHIND_POINT, *state[2:])
            for digit in range(10):
                row[digit] = self.table.number(self.significant(inside, digit))
        if kind is not None and not (kind == _BEHIND_POINT and last):
            self.exponent(state, row)

    def expand_leading(self, state: tuple, row: dict[int, int]) -> None:
        """`0`, `0.`, `0.0` and so on: the magnitude counts down, from 1 behind the point itself."""
        _, _, magnitude, *_, places, _, classes = state
        if self.zero and magnitude != 1:
            target = self.exponents.after_e(-999, 999)
            assert target is not None
            row[SMALL_E] = row[CAPITAL_E] = target
        if magnitude == 0:
            row[POINT] = self.table.number((self, _LEADING, 1, *state[3:]))
            return
        below = min(magnitude, 0) - 1
        if self.possible and not (self.stepped and places >= self.places):
            first = (self, _BEHIND_POINT, below, 0, EQUAL, EQUAL, places, False, classes)
            for digit in range(1, 10):
                row[digit] = self.table.number(self.significant(first, digit))
        if -below <= SHORT_SIZE:
            row[0] = self.table.number(
                (self, _LEADING, below, 0, EQUAL, EQUAL, places + self.stepped, True, classes)
            )

    def exponent(self, state: tuple, row: dict[int, int]) -> None:
        _, _, magnitude, size, with_low, with_high, places, last, classes = state
        below = with_low == LESS or (with_low == EQUAL and (size < len(self.low.digits) or self.low.open))
        above = with_high == MORE or (with_high == EQUAL and size >= len(self.high.digits) and self.high.open)
        lowest = self.low.magnitude - magnitude + below
        highest = self.high.magnitude - magnitude - above
        powers = self.divisibility.exponents(classes)
        if powers is None:
            return
        shift = places - self.divisibility.places
        if powers[0] is not None:
            lowest = max(lowest, powers[0] + shift)
        if powers[1] is not None:
            highest = min(highest, powers[1] + shift)
        if last:
            lowest = max(lowest, 0)
        target = self.exponents.after_e(lowest, highest)
        if target is not None:
            row[SMALL_E] = target
            if not self.exponents.canonical:
                row[CAPITAL_E] = target
