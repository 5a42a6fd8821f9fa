"""JSON numbers with an exponent: after the mantissa, all bounds and steps leave one interval of exponents."""

from __future__ import annotations

from decimal import Decimal

from sglc.automata.caches import small_cache
from sglc.automata.number import digits as d

LONG_PLACES = 16
"""Digits behind the point, where there are steps, if one digit is before it: a double has 17."""
SHORT_SIZE = 4
"""Digits before the point, zeros behind it, and digits behind it where there are steps, otherwise."""
GREATEST_DOUBLE = Decimal("1.7976931348623157e308")
LEAST_DOUBLE = Decimal("5e-324")
GREATEST = Decimal("1e308")
LEAST = Decimal("1e-307")


def add_exponents(
    table: d.Table, interval: d.Interval, steps: d.Steps, *, canonical: bool, short: bool
) -> None:
    """The spellings with an exponent and one digit other than zero before the point; if `short` also those
    with a few digits there or a few zeros behind it."""
    divisibility = d.Divisibility(steps)
    exponents = _Exponents(table, canonical=canonical)
    for normal in (True, False) if short else (True,):
        row = table.begin()
        _Mantissas(interval, divisibility, exponents, normal=normal).add(row)
        mirrored = interval.mirrored()
        negative = dict(row)
        if mirrored != interval:
            negative = {}
            _Mantissas(mirrored, divisibility, exponents, normal=normal).add(negative)
        if negative:
            row[d.MINUS] = table.add()
            table.rows[row[d.MINUS]] = negative


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
    """Automata of exponents in an interval, shared by all mantissas of a table."""

    def __init__(self, table: d.Table, *, canonical: bool) -> None:
        self.table = table
        self.canonical = canonical
        self.intervals: dict[tuple[int, int], int] = {}
        self.numbers: dict[_Rest, int] = {}

    def after_e(self, lowest: int, highest: int) -> int | None:
        """The state behind the `e` of an exponent from `lowest` to `highest`; None if there is none."""
        lowest, highest = max(lowest, -999), min(highest, 999)
        if lowest > highest:
            return None
        found = self.intervals.get((lowest, highest))
        if found is None:
            found = self.intervals[lowest, highest] = self.table.add()
            row = self.table.rows[found]
            if highest >= 0:
                row[d.PLUS] = self.digits(self.sizes(max(lowest, 0), highest))
                if not self.canonical:
                    row.update(self.table.rows[row[d.PLUS]])
            if lowest <= 0:
                row[d.MINUS] = self.digits(self.sizes(max(-highest, 0), -lowest))
        return found

    def sizes(self, lowest: int, highest: int) -> _Rest:
        if self.canonical:
            return (None, None, _clipped(lowest, highest, 0, 99), _clipped(lowest, highest, 100, 999))
        return (None, *(_clipped(lowest, highest, 0, 10**size - 1) for size in (1, 2, 3)))

    def digits(self, rest: _Rest) -> int:
        found = self.numbers.get(rest)
        if found is None:
            found = self.numbers[rest] = self.table.add()
            if rest[0] is not None:
                self.table.accepting.add(found)
            row = self.table.rows[found]
            for digit, after in _after_digits(rest):
                row[digit] = self.digits(after)
        return found


_Rest = tuple[tuple[int, int] | None, ...]
"""For each number of digits that may follow, the interval in which their value may lie."""


@small_cache(8192)
def _after_digits(rest: _Rest) -> tuple[tuple[int, _Rest], ...]:
    found = []
    for digit in range(10):
        after = []
        for size, bounds in enumerate(rest[1:]):
            here = digit * 10**size
            after.append(bounds and _clipped(bounds[0] - here, bounds[1] - here, 0, 10**size - 1))
        if any(after):
            found.append((digit, tuple(after)))
    return tuple(found)


def _clipped(low: int, high: int, least: int, most: int) -> tuple[int, int] | None:
    low, high = max(low, least), min(high, most)
    return (low, high) if low <= high else None


_LEADING, _INTEGER, _BEHIND_POINT = range(3)


_State = tuple[int | None, int, int, int, int, int, bool, tuple[int, ...]]


class _Mantissas(d.Explorer[_State]):
    """Mantissas of the positive members (and of zero), behind a row.

    States: where we are; the power of ten of the first digit (of the last one read, before there is a first);
    significant digits read while a comparison is open; how they compare with low and high; digits behind the
    point if there are steps; whether the last digit is a zero; divisibility.
    """

    def __init__(
        self, interval: d.Interval, divisibility: d.Divisibility, exponents: _Exponents, *, normal: bool
    ) -> None:
        super().__init__(exponents.table)
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
        first = self.divisibility.first
        if self.possible:
            self.significant((_INTEGER, -1, 0, d.EQUAL, d.EQUAL, 0, False, first), row, 1)
        if not self.normal and (self.possible or self.zero):
            row[0] = self.number((_LEADING, 0, 0, d.EQUAL, d.EQUAL, 0, True, first))
        self.explore(self.expand)

    def significant(self, state: _State, row: dict[int, int], first: int = 0) -> None:
        """The states behind the digits from `first` on."""
        kind, magnitude, size, with_low, with_high, places, _, classes = state
        if kind == _INTEGER:
            magnitude += 1
        elif self.stepped:
            places += 1
        lows = d.compared(with_low, self.low.digits, size)
        highs = d.compared(with_high, self.high.digits, size)
        following = self.divisibility.after(classes)
        known: dict[tuple[int, int], int] = {}
        for digit in range(first, 10):
            low, high = lows[digit], highs[digit]
            found = known.get((low, high)) if not self.stepped else None
            if found is None:
                longest = max(
                    len(self.low.digits) if low == d.EQUAL else 0,
                    len(self.high.digits) if high == d.EQUAL else 0,
                )
                found = known[low, high] = self.number(
                    (
                        kind,
                        magnitude,
                        min(size + 1, longest),
                        low,
                        high,
                        places,
                        self.stepped and digit == 0,
                        following[digit],
                    )
                )
            row[digit] = found

    def expand(self, number: int, state: _State) -> None:
        row = self.table.rows[number]
        kind, magnitude, size, with_low, with_high, places, last, classes = state
        if kind == _LEADING:
            self.expand_leading(state, row)
            return
        if kind == _INTEGER:
            if not self.normal and magnitude + 1 < SHORT_SIZE:
                self.significant(state, row)
            # No e follows the point itself.
            row[d.POINT] = self.number((None, magnitude, size, with_low, with_high, places, last, classes))
        elif not self.stepped or places < self.places:
            self.significant((_BEHIND_POINT, *state[1:]), row)
        if kind is not None and not (kind == _BEHIND_POINT and last):
            self.exponent(state, row)

    def expand_leading(self, state: _State, row: dict[int, int]) -> None:
        """`0`, `0.`, `0.0` and so on: the magnitude counts down, from 1 behind the point itself."""
        _, magnitude, *_, places, _, classes = state
        if self.zero and magnitude != 1:
            target = self.exponents.after_e(-999, 999)
            assert target is not None
            row[d.SMALL_E] = row[d.CAPITAL_E] = target
        if magnitude == 0:
            row[d.POINT] = self.number((_LEADING, 1, *state[2:]))
            return
        below = min(magnitude, 0) - 1
        if self.possible and not (self.stepped and places >= self.places):
            self.significant((_BEHIND_POINT, below, 0, d.EQUAL, d.EQUAL, places, False, classes), row, 1)
        if -below <= SHORT_SIZE:
            row[0] = self.number((_LEADING, below, 0, d.EQUAL, d.EQUAL, places + self.stepped, True, classes))

    def exponent(self, state: _State, row: dict[int, int]) -> None:
        _, magnitude, size, with_low, with_high, places, last, classes = state
        below = with_low == d.LESS or (with_low == d.EQUAL and (size < len(self.low.digits) or self.low.open))
        above = with_high == d.MORE or (
            with_high == d.EQUAL and size >= len(self.high.digits) and self.high.open
        )
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
            row[d.SMALL_E] = target
            if not self.exponents.canonical:
                row[d.CAPITAL_E] = target
