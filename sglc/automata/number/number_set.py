"""Sets of numbers as JSON Schema describes them: an interval, steps, and finitely many values left out.

A `NumberSet` is a set of exact values. Its automaton (`text`) holds their spellings as JSON numbers;
`json_number_text` says which.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Literal

from sglc.automata.caches import remembered
from sglc.automata.number.digits import Interval, Steps
from sglc.automata.number.remainder import NumberError
from sglc.automata.number.spelling import spell
from sglc.automata.term import CharDfa

__all__ = ["MAX_EXCLUDED", "MAX_SIZE", "NumberError", "NumberSet", "number_text"]

Spelling = Literal["canonical", "any", "plain"]
"""`plain`: any, without an exponent."""

MAX_SIZE = 1_000
"""Digits and powers of ten that a bound, step or excluded value may have."""
MAX_EXCLUDED = 1_000
"""Numbers that are left out one by one; an automaton tells each from all others."""


@dataclass(frozen=True, slots=True)
class NumberSet:
    """Numbers from `low` to `high` (None: no bound), multiples of all `multiples` and of none of `avoided`.

    `integer` asks for a multiple of 1 and, in the canonical spelling, for one without a point. Raises
    NumberError for a step that is not above zero and for numbers of more than MAX_SIZE digits.
    """

    low: Decimal | None = None
    low_open: bool = False
    high: Decimal | None = None
    high_open: bool = False
    integer: bool = False
    multiples: tuple[Decimal, ...] = ()
    avoided: tuple[Decimal, ...] = ()
    excluded: tuple[Decimal, ...] = ()

    def __post_init__(self) -> None:
        # A missing bound is not open either, so that equal sets are more often equal.
        object.__setattr__(self, "low_open", self.low_open and self.low is not None)
        object.__setattr__(self, "high_open", self.high_open and self.high is not None)
        for bound in (self.low, self.high, *self.excluded):
            if bound is not None:
                _checked(bound)
        for step in (*self.multiples, *self.avoided):
            if _checked(step) <= 0:
                raise NumberError(f"multiple of {step}: the step must be more than zero")
        if len(self.excluded) > MAX_EXCLUDED:
            raise NumberError(f"more than {MAX_EXCLUDED} numbers are excluded")

    def contains(self, value: Decimal | Fraction | int) -> bool:
        """Whether a number is in the set, by exact arithmetic."""
        exact = Fraction(value)
        if self.low is not None and (exact < self.low or (self.low_open and exact == self.low)):
            return False
        if self.high is not None and (exact > self.high or (self.high_open and exact == self.high)):
            return False
        if self.integer and exact.denominator != 1:
            return False
        return (
            all((exact / Fraction(step)).denominator == 1 for step in self.multiples)
            and all((exact / Fraction(step)).denominator != 1 for step in self.avoided)
            and all(exact != Fraction(other) for other in self.excluded)
        )

    def intersect(self, other: NumberSet) -> NumberSet:
        """The numbers that are in both sets."""
        low, low_open = _tighter(self.low, self.low_open, other.low, other.low_open, 1)
        high, high_open = _tighter(self.high, self.high_open, other.high, other.high_open, -1)
        return NumberSet(
            low,
            low_open,
            high,
            high_open,
            self.integer or other.integer,
            tuple(dict.fromkeys(self.multiples + other.multiples)),
            tuple(dict.fromkeys(self.avoided + other.avoided)),
            tuple(dict.fromkeys(self.excluded + other.excluded)),
        )

    def complement(self) -> list[NumberSet]:
        """Disjoint sets that together hold all other numbers."""
        if self.low is not None and self.high is not None:
            is_open = self.low_open or self.high_open
            if self.low > self.high or (self.low == self.high and is_open):
                return [NumberSet()]
        parts = []
        if self.low is not None:
            parts.append(NumberSet(high=self.low, high_open=not self.low_open))
        if self.high is not None:
            parts.append(NumberSet(low=self.high, low_open=not self.high_open))
        within = NumberSet(self.low, self.low_open, self.high, self.high_open)
        multiples: tuple[Decimal, ...] = ()
        # A number outside misses a first step, or else meets a first one that it should not.
        for step in (*((Decimal(1),) if self.integer else ()), *self.multiples):
            parts.append(replace(within, multiples=multiples, avoided=(step,)))
            multiples += (step,)
        for index, step in enumerate(self.avoided):
            parts.append(replace(within, multiples=(*multiples, step), avoided=self.avoided[:index]))
        base = replace(self, excluded=())
        for value in dict.fromkeys(self.excluded):
            if base.contains(value):
                parts.append(NumberSet(value, False, value, False))
        return [part for part in parts if not part.is_empty()]

    def is_empty(self) -> bool:
        """Whether no number is in the set."""
        return self._first(1) == []

    def values(self, limit: int) -> list[Decimal] | None:
        """All members in rising order, or None if they are more than `limit`."""
        found = self._first(limit + 1)
        return None if found is None or len(found) > limit else found

    def _first(self, count: int) -> list[Decimal] | None:
        """The lowest `count` members or all of fewer; None where there is no lowest (and there are many)."""
        if self.low is not None and self.high is not None:
            low, high = Fraction(self.low), Fraction(self.high)
            if low > high:
                return []
            if low == high:
                return [self.low] if self.contains(self.low) else []
        step = _common_multiple((*((Decimal(1),) if self.integer else ()), *self.multiples))
        if step is None:
            return None
        for other in self.avoided:
            if (step / Fraction(other)).denominator == 1:
                return []
        if self.low is None or self.high is None:
            return None
        found: list[Decimal] = []
        index = ceil(Fraction(self.low) / step)
        last = floor(Fraction(self.high) / step)
        while index <= last and len(found) < count:
            if self.contains(index * step):
                found.append(_decimal(index * step))
            index += 1
        return found

    def text(self, spelling: Spelling = "canonical") -> CharDfa:
        """The spellings of the members; NumberError where the steps need too many states."""
        return _text(self, spelling)


def number_text(
    low: Decimal | None = None,
    low_open: bool = False,
    high: Decimal | None = None,
    high_open: bool = False,
    integer: bool = False,
    multiples: tuple[Decimal, ...] = (),
    excluded: tuple[Decimal, ...] = (),
    spelling: Spelling = "canonical",
) -> CharDfa:
    """`NumberSet(...).text(spelling)`."""
    numbers = NumberSet(low, low_open, high, high_open, integer, multiples, excluded=excluded)
    return numbers.text(spelling)


@remembered
def _text(numbers: NumberSet, spelling: Spelling) -> CharDfa:
    wanted = (*((Decimal(1),) if numbers.integer else ()), *numbers.multiples)
    fractions = [Fraction(step) for step in (*wanted, *numbers.avoided)]
    places = max((_places(step) for step in fractions), default=0)
    scaled = [int(step * 10**places) for step in fractions]
    steps = Steps(
        places, lcm(*scaled[: len(wanted)]) if wanted else None, tuple(sorted(set(scaled[len(wanted) :])))
    )
    if steps.multiple is not None and any(steps.multiple % avoided == 0 for avoided in steps.avoided):
        return CharDfa((), frozenset())
    interval = Interval(numbers.low, numbers.low_open, numbers.high, numbers.high_open)
    base = replace(numbers, excluded=())
    excluded = tuple(value for value in numbers.excluded if base.contains(value))
    return spell(interval, steps, excluded, integer=numbers.integer, spelling=spelling)


def _checked(value: Decimal) -> Decimal:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise NumberError(f"{value} is no JSON number")
    if len(digits) > MAX_SIZE or abs(exponent) > MAX_SIZE:
        raise NumberError(f"a number of more than {MAX_SIZE} digits")
    return value


def _tighter(
    left: Decimal | None, left_open: bool, right: Decimal | None, right_open: bool, sign: int
) -> tuple[Decimal | None, bool]:
    if left is None or right is None:
        return (right, right_open) if left is None else (left, left_open)
    if left == right:
        return left, left_open or right_open
    return (left, left_open) if (left > right) == (sign > 0) else (right, right_open)


def _common_multiple(steps: tuple[Decimal, ...]) -> Fraction | None:
    """The least number that all steps divide."""
    common: Fraction | None = None
    for step in map(Fraction, steps):
        if common is None:
            common = step
        else:
            top = lcm(common.numerator * step.denominator, step.numerator * common.denominator)
            common = Fraction(top, common.denominator * step.denominator)
    return common


def _places(step: Fraction) -> int:
    """Decimal places of a terminating decimal fraction."""
    places = 0
    while 10**places % step.denominator:
        places += 1
    return places


def _decimal(value: Fraction) -> Decimal:
    places = _places(value)
    scaled = int(value * 10**places)
    return Decimal((scaled < 0, tuple(map(int, str(abs(scaled)))), -places))
