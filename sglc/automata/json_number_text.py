"""Automata of the JSON spellings (RFC 8259 section 6) of sets of numbers.

Which spellings there are, for every set alike, and of these exactly the ones whose value is in the set:

* plain: `-?(0|[1-9][0-9]*)(\\.[0-9]+)?` with any number of digits; canonical integers have no point and no
  minus zero;
* with an exponent, canonical: `-?[1-9](\\.[0-9]+)?e[+-]NN` with two digits or three as `json.dumps` writes
  floats, and a value that a double can hold (5e-324 to 1.7976931348623157e308); none for integers;
* with an exponent, any: the same with `[eE][+-]?[0-9]{1,3}` for the exponent; and with up to 4 digits before
  the point or up to 4 zeros behind it, for values of 1e-307 to 1e308, and zero;
* of the numbers with an exponent but zero, where there are steps (integers, multiples): at most 16 digits
  follow the point (at most 4 where the first digit is not before it, alone), the last of them is no zero, no
  negative exponent follows a zero; none at all if the steps have more than 100 classes of digit strings;
* all JSON numbers with exponents of at most three digits, where `any` spelling meets a set of all numbers.

Digits are compared with those of the bounds as they are read. After the digits of a number, all bounds and
steps leave one interval of exponents.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, reduce

from sglc.automata.charset import Ranges
from sglc.automata.dfa import difference, union
from sglc.automata.minimal import minimal_dfa
from sglc.automata.regex import compile_regex
from sglc.automata.remainder import NumberError, divisor
from sglc.automata.term import CharDfa

MAX_STATES = 50_000
LONG_PLACES = 16
"""Digits behind the point, where there are steps, if one digit is before it: a double has 17."""
SHORT_SIZE = 4
"""Digits before the point, zeros behind it, and digits behind it where there are steps, otherwise."""
EXPONENT_CLASSES = 100
GREATEST_DOUBLE = Decimal("1.7976931348623157e308")
LEAST_DOUBLE = Decimal("5e-324")
GREATEST = Decimal("1e308")
LEAST = Decimal("1e-307")

_BLOCKS: tuple[Ranges, ...] = (
    *(((0x30 + digit, 0x30 + digit),) for digit in range(10)),
    ((0x2D, 0x2D),),
    ((0x2E, 0x2E),),
    ((0x65, 0x65),),
    ((0x45, 0x45),),
    ((0x2B, 0x2B),),
)
_MINUS, _POINT, _E, _CAPITAL_E, _PLUS = range(10, 15)

_LESS, _EQUAL, _MORE = -1, 0, 1
"""How the digits read so far compare with as many of a bound."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: Decimal | None
    low_open: bool
    high: Decimal | None
    high_open: bool

    @property
    def everything(self) -> bool:
        return self.low is None and self.high is None

    @property
    def zero(self) -> bool:
        below = self.low is None or self.low < 0 or (self.low == 0 and not self.low_open)
        above = self.high is None or self.high > 0 or (self.high == 0 and not self.high_open)
        return below and above

    def mirrored(self) -> Interval:
        low = None if self.high is None else self.high.copy_negate()
        high = None if self.low is None else self.low.copy_negate()
        return Interval(low, self.high_open, high, self.low_open)


@dataclass(frozen=True, slots=True)
class Steps:
    """Multiples of `multiple` and of none of `avoided`, all counts of 10**-places."""

    places: int
    multiple: int | None
    avoided: tuple[int, ...]

    @property
    def none(self) -> bool:
        return self.multiple is None and not self.avoided


def spell(
    interval: Interval, steps: Steps, excluded: tuple[Decimal, ...], *, integer: bool, canonical: bool
) -> CharDfa:
    if interval.everything and steps.none and not excluded and not canonical:
        return compile_regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
    whole = integer and canonical
    found = _plain(interval, steps, whole)
    if not whole:
        found = union(found, _with_exponent(interval, steps, normal=True, canonical=canonical))
        if not canonical:
            found = union(found, _with_exponent(interval, steps, normal=False, canonical=False))
    if excluded:
        points = []
        for value in excluded:
            point = Interval(value, False, value, False)
            points.append(spell(point, Steps(0, None, ()), (), integer=False, canonical=canonical))
        found = difference(found, _united(points))
    return found


def _united(parts: list[CharDfa]) -> CharDfa:
    while len(parts) > 1:
        parts = [reduce(union, parts[at : at + 2]) for at in range(0, len(parts), 2)]
    return parts[0]


class _Table:
    """The rows of an automaton in the making: states are given as tuples and explored once."""

    def __init__(self) -> None:
        self.rows: list[dict[int, int]] = [{}]
        self.accepting: set[int] = set()
        self.numbers: dict[tuple, int] = {}
        self.queue: list[tuple] = []

    def number(self, state: tuple) -> int:
        found = self.numbers.get(state)
        if found is None:
            if len(self.rows) >= MAX_STATES:
                raise NumberError(f"the set of numbers needs more than {MAX_STATES} states")
            found = self.numbers[state] = len(self.rows)
            self.rows.append({})
            self.queue.append(state)
        return found


class _Divisibility:
    """The steps at work: a state is a class for each divisor, the one of `multiple` first."""

    def __init__(self, steps: Steps) -> None:
        self.places = steps.places
        numbers = (*(() if steps.multiple is None else (steps.multiple,)), *steps.avoided)
        self.wants = steps.multiple is not None
        self.divisors = [divisor(number) for number in numbers]
        self.first = (0,) * len(self.divisors)

    def after(self, classes: tuple[int, ...], digit: int) -> tuple[int, ...]:
        return tuple(each.following[at][digit] for each, at in zip(self.divisors, classes, strict=True))

    def exponents(self, classes: tuple[int, ...]) -> tuple[int | None, int | None] | None:
        """The powers of ten (lowest, highest) that take a digit string into the set; None if none does."""
        lowest = highest = None
        for index, (each, at) in enumerate(zip(self.divisors, classes, strict=True)):
            zeros = each.zeros[at]
            if index == 0 and self.wants:
                if zeros is None:
                    return None
                lowest = zeros
            elif zeros is not None:
                highest = zeros - 1 if highest is None else min(highest, zeros - 1)
        return lowest, highest

    def allows(self, classes: tuple[int, ...], power: int) -> bool:
        powers = self.exponents(classes)
        if powers is None:
            return False
        lowest, highest = powers
        return (lowest is None or power >= lowest) and (highest is None or power <= highest)


# --- plain spellings ------------------------------------------------------------------------------------


def _plain(interval: Interval, steps: Steps, whole: bool) -> CharDfa:
    table = _Table()
    divisibility = _Divisibility(steps)
    _Plain(table, interval, divisibility, whole=whole, minus=False).add(table.rows[0])
    negative: dict[int, int] = {}
    table.numbers.clear()
    _Plain(table, interval.mirrored(), divisibility, whole=whole, minus=True).add(negative)
    if negative:
        table.rows[0][_MINUS] = len(table.rows)
        table.rows.append(negative)
    return minimal_dfa(table.rows, table.accepting, _BLOCKS)


class _PlainBound:
    def __init__(self, value: Decimal, is_open: bool) -> None:
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        text = "".join(map(str, digits)) + "0" * max(exponent, 0)
        places = max(-exponent, 0)
        text = text.zfill(places + 1)
        self.whole = text[: len(text) - places].lstrip("0") or "0"
        self.fraction = text[len(text) - places :].rstrip("0")
        self.open = is_open

    def after_whole(self, size: int, sofar: int) -> int:
        """How a complete whole part of `size` digits compares."""
        return _LESS if size < len(self.whole) else _MORE if size > len(self.whole) else sofar


_ZERO, _WHOLE, _FRACTION = range(3)


class _Plain:
    """Spellings of the members from zero up, behind a row.

    States: where we are, digits read there, how they compare with low and high, and the divisibility (None
    once a digit after the last place of the steps has decided).
    """

    def __init__(
        self, table: _Table, interval: Interval, divisibility: _Divisibility, *, whole: bool, minus: bool
    ) -> None:
        self.table = table
        self.divisibility = divisibility
        self.whole = whole
        self.possible = interval.high is None or interval.high >= 0
        self.low: _PlainBound | None = None
        self.high: _PlainBound | None = None
        if whole and minus and (interval.low is None or interval.low <= 0):
            self.low = _PlainBound(Decimal(0), True)
        elif interval.low is not None and interval.low >= 0:
            self.low = _PlainBound(interval.low, interval.low_open)
        if interval.high is not None and self.possible:
            self.high = _PlainBound(interval.high, interval.high_open)
        bounds = [bound for bound in (self.low, self.high) if bound]
        self.longest = max((len(bound.whole) for bound in bounds), default=0)

    def add(self, row: dict[int, int]) -> None:
        if not self.possible:
            return
        start = (_WHOLE, 0, _EQUAL, _EQUAL, self.divisibility.first)
        for digit in range(10):
            self.whole_digit(row, start, digit)
        for state in self.table.queue:
            self.expand(state)
        self.table.queue.clear()

    def whole_digit(self, row: dict[int, int], state: tuple, digit: int) -> None:
        _, size, with_low, with_high, classes = state
        if size < self.longest:
            with_low = _compared(with_low, digit, self.low.whole if self.low else "", size)
            with_high = _compared(with_high, digit, self.high.whole if self.high else "", size)
        elif self.high:
            return
        else:
            with_low = with_high = _MORE
        kind = _WHOLE if size or digit else _ZERO
        size = min(size, self.longest) + 1
        row[digit] = self.table.number(
            (kind, size, with_low, with_high, self.divisibility.after(classes, digit))
        )

    def expand(self, state: tuple) -> None:
        number = self.table.numbers[state]
        row = self.table.rows[number]
        kind, size, with_low, with_high, classes = state
        if kind == _FRACTION:
            if size and self.fits(state):
                self.table.accepting.add(number)
            for digit in range(10):
                self.fraction_digit(row, state, digit)
            return
        if kind == _WHOLE:
            for digit in range(10):
                self.whole_digit(row, state, digit)
        with_low = self.low.after_whole(size, with_low) if self.low else _MORE
        with_high = self.high.after_whole(size, with_high) if self.high else _LESS
        pointed = (_FRACTION, 0, with_low, with_high, classes)
        if self.fits(pointed):
            self.table.accepting.add(number)
        if not self.whole and with_low != _LESS and with_high != _MORE:
            row[_POINT] = self.table.number(pointed)

    def fraction_digit(self, row: dict[int, int], state: tuple, digit: int) -> None:
        _, size, with_low, with_high, classes = state
        with_low = _compared(with_low, digit, self.low.fraction if self.low else "", size)
        with_high = _compared(with_high, digit, self.high.fraction if self.high else "", size)
        if with_low == _LESS or with_high == _MORE:
            return
        if classes is not None:
            if size < self.divisibility.places:
                classes = self.divisibility.after(classes, digit)
            elif digit and self.divisibility.wants:
                return
            elif digit:
                classes = None
        matters = 1 if classes is None else max(1, self.divisibility.places)
        if with_low == _EQUAL and self.low:
            matters = max(matters, len(self.low.fraction))
        if with_high == _EQUAL and self.high:
            matters = max(matters, len(self.high.fraction))
        row[digit] = self.table.number((_FRACTION, min(size + 1, matters), with_low, with_high, classes))

    def fits(self, state: tuple) -> bool:
        """Whether the number may end here; missing digits of the fraction are zeros."""
        _, size, with_low, with_high, classes = state
        if with_low == _LESS or with_high == _MORE:
            return False
        if with_low == _EQUAL and self.low and (self.low.open or size < len(self.low.fraction)):
            return False
        if with_high == _EQUAL and self.high and self.high.open and size >= len(self.high.fraction):
            return False
        if classes is None:
            return True
        return self.divisibility.allows(classes, max(self.divisibility.places - size, 0))


def _compared(sofar: int, digit: int, bound: str, at: int) -> int:
    if sofar != _EQUAL:
        return sofar
    other = ord(bound[at]) - 0x30 if at < len(bound) else 0
    return _LESS if digit < other else _MORE if digit > other else _EQUAL


# --- spellings with an exponent -------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _with_exponent(interval: Interval, steps: Steps, *, normal: bool, canonical: bool) -> CharDfa:
    """`normal`: one digit other than zero before the point."""
    table = _Table()
    divisibility = _Divisibility(steps)
    if any(len(each.following) > EXPONENT_CLASSES for each in divisibility.divisors):
        return CharDfa((), frozenset())
    exponents = _Exponents(table, canonical=canonical)
    _Mantissas(interval, divisibility, exponents, normal=normal).add(table.rows[0])
    negative = dict(table.rows[0])
    if interval.mirrored() != interval:
        negative = {}
        _Mantissas(interval.mirrored(), divisibility, exponents, normal=normal).add(negative)
    if negative:
        table.rows[0][_MINUS] = len(table.rows)
        table.rows.append(negative)
    return minimal_dfa(table.rows, table.accepting, _BLOCKS)


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

    def __init__(self, table: _Table, *, canonical: bool) -> None:
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
            row[_PLUS] = self.digits(self.sizes(max(lowest, 0), key[2]))
            if not self.canonical:
                row.update(self.table.rows[row[_PLUS]])
        if lowest <= 0:
            row[_MINUS] = self.digits(self.sizes(max(-highest, 0), -key[1]))
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
        self, interval: Interval, divisibility: _Divisibility, exponents: _Exponents, *, normal: bool
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
        start = (self, _INTEGER, -1, 0, _EQUAL, _EQUAL, 0, False, first)
        if self.possible:
            for digit in range(1, 10):
                row[digit] = self.table.number(self.significant(start, digit))
        if not self.normal and (self.possible or self.zero):
            row[0] = self.table.number((self, _LEADING, 0, 0, _EQUAL, _EQUAL, 0, True, first))
        for state in self.table.queue:
            self.expand(state)
        self.table.queue.clear()

    def significant(self, state: tuple, digit: int) -> tuple:
        _, kind, magnitude, size, with_low, with_high, places, _, classes = state
        if with_low == _EQUAL or with_high == _EQUAL:
            with_low = _compared(with_low, digit, self.low.digits, size)
            with_high = _compared(with_high, digit, self.high.digits, size)
            longest = max(
                len(self.low.digits) if with_low == _EQUAL else 0,
                len(self.high.digits) if with_high == _EQUAL else 0,
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
            row[_POINT] = self.table.number(
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
            row[_E] = row[_CAPITAL_E] = target
        if magnitude == 0:
            row[_POINT] = self.table.number((self, _LEADING, 1, *state[3:]))
            return
        below = min(magnitude, 0) - 1
        if self.possible and not (self.stepped and places >= self.places):
            first = (self, _BEHIND_POINT, below, 0, _EQUAL, _EQUAL, places, False, classes)
            for digit in range(1, 10):
                row[digit] = self.table.number(self.significant(first, digit))
        if -below <= SHORT_SIZE:
            row[0] = self.table.number(
                (self, _LEADING, below, 0, _EQUAL, _EQUAL, places + self.stepped, True, classes)
            )

    def exponent(self, state: tuple, row: dict[int, int]) -> None:
        _, _, magnitude, size, with_low, with_high, places, last, classes = state
        below = with_low == _LESS or (with_low == _EQUAL and (size < len(self.low.digits) or self.low.open))
        above = with_high == _MORE or (
            with_high == _EQUAL and size >= len(self.high.digits) and self.high.open
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
            row[_E] = target
            if not self.exponents.canonical:
                row[_CAPITAL_E] = target
