"""What automata of JSON numbers are made of: bounds, steps, and tables that are explored state by state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Generic, TypeVar

from sglc.automata import work
from sglc.automata.charset import Ranges
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.nfa_union import MAX_STATES
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.number.remainder import NumberError, divisor
from sglc.automata.term import CharDfa

S = TypeVar("S")
"""A state of an automaton that is explored."""

BLOCKS: tuple[Ranges, ...] = (
    *(((0x30 + digit, 0x30 + digit),) for digit in range(10)),
    ((0x2D, 0x2D),),
    ((0x2E, 0x2E),),
    ((0x65, 0x65),),
    ((0x45, 0x45),),
    ((0x2B, 0x2B),),
)
MINUS, POINT, SMALL_E, CAPITAL_E, PLUS = range(10, 15)

LESS, EQUAL, MORE = -1, 0, 1
"""How the digits read so far compare with as many of a bound."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: Decimal | None
    low_open: bool
    high: Decimal | None
    high_open: bool

    @property
    def everything(self) -> bool:
        """Whether there is no bound."""
        return self.low is None and self.high is None

    @property
    def zero(self) -> bool:
        """Whether zero lies within."""
        below = self.low is None or self.low < 0 or (self.low == 0 and not self.low_open)
        above = self.high is None or self.high > 0 or (self.high == 0 and not self.high_open)
        return below and above

    def mirrored(self) -> Interval:
        """The interval of the negated numbers."""
        low = None if self.high is None else self.high.copy_negate()
        high = None if self.low is None else self.low.copy_negate()
        return Interval(low, self.high_open, high, self.low_open)

    def within(self, other: Interval) -> Interval | None:
        """The numbers of both, None if there are none."""
        low, low_open, high, high_open = self.low, self.low_open, self.high, self.high_open
        if other.low is not None and (low is None or other.low >= low):
            low, low_open = other.low, other.low_open or (low_open and low == other.low)
        if other.high is not None and (high is None or other.high <= high):
            high, high_open = other.high, other.high_open or (high_open and high == other.high)
        if low is not None and high is not None and (low > high or (low == high and (low_open or high_open))):
            return None
        return Interval(low, low_open, high, high_open)


@dataclass(frozen=True, slots=True)
class Steps:
    """Multiples of `multiple` and of none of `avoided`, all counts of 10**-places."""

    places: int
    multiple: int | None
    avoided: tuple[int, ...]

    @property
    def none(self) -> bool:
        """Whether there is no step to heed."""
        return self.multiple is None and not self.avoided

    @property
    def numbers(self) -> tuple[int, ...]:
        """All divisors, `multiple` first."""
        return (*(() if self.multiple is None else (self.multiple,)), *self.avoided)

    def pass_over(self, interval: Interval) -> bool:
        """Whether the interval plainly has no member but zero."""
        if self.multiple is None or interval.low is None or interval.high is None:
            return False
        return bool(max(-Fraction(interval.low), Fraction(interval.high)) * 10**self.places < self.multiple)

    def classes(self) -> int:
        """Of how many kinds digit strings are, at most."""
        return prod(len(divisor(number).following) for number in self.numbers)


class Table:
    """Rows of automata in the making, read side by side: each begins at one of `starts`."""

    def __init__(self) -> None:
        self.rows: list[dict[int, int]] = []
        self.accepting: set[int] = set()
        self.starts: list[int] = []

    def add(self) -> int:
        """A new row."""
        if len(self.rows) >= MAX_STATES:
            raise NumberError(f"the set of numbers needs more than {MAX_STATES} states")
        self.rows.append({})
        work.spend(10)
        return len(self.rows) - 1

    def begin(self) -> dict[int, int]:
        """The first row of one more automaton."""
        self.starts.append(self.add())
        return self.rows[-1]

    def automaton(self) -> CharDfa:
        """The words of all, by one subset construction."""
        single: dict[int, int] = {}
        beyond = NumberError(f"the set of numbers needs more than {MAX_STATES} states")
        number = Numbering(tuple(self.starts), limit=MAX_STATES, beyond=beyond)
        rows: list[dict[int, int]] = []
        accepting: set[int] = set()
        for states in number.order:
            work.spend(10)
            if not self.accepting.isdisjoint(states):
                accepting.add(len(rows))
            row: dict[int, int] = {}
            rows.append(row)
            alone = self.rows[states[0]]
            several: dict[int, tuple[int, ...]] = {}
            if len(states) > 1:
                alone, several = _sorted_out([self.rows[state] for state in states])
            for symbol, target in alone.items():
                found = single.get(target)
                if found is None:
                    found = single[target] = number[target,]
                row[symbol] = found
            for symbol, targets in several.items():
                row[symbol] = number[targets]
        return minimal_dfa(rows, accepting, BLOCKS)


def _sorted_out(rows: list[dict[int, int]]) -> tuple[dict[int, int], dict[int, tuple[int, ...]]]:
    """By symbol: the target where only one row has any, the targets where several have."""
    alone: dict[int, int] = {}
    several: dict[int, tuple[int, ...]] = {}
    for row in rows:
        for symbol, target in row.items():
            before = several.get(symbol)
            if before is not None:
                several[symbol] = (*before, target)
            elif symbol in alone:
                several[symbol] = (alone.pop(symbol), target)
            else:
                alone[symbol] = target
    return alone, several


class Explorer(Generic[S]):
    """States of one automaton as tuples, each of which is explored once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.numbers: dict[S, int] = {}
        self.queue: list[tuple[int, S]] = []

    def number(self, state: S) -> int:
        """The number of a state; a new state waits to be explored."""
        found = self.numbers.get(state)
        if found is None:
            found = self.numbers[state] = self.table.add()
            self.queue.append((found, state))
        return found

    def explore(self, expand: Callable[[int, S], None]) -> None:
        """Calls `expand` for each waiting state until none waits, those that it adds included."""
        for number, state in self.queue:
            expand(number, state)
        self.queue.clear()


class Divisibility:
    """The steps at work: a state is a class for each divisor, the one of `multiple` first."""

    def __init__(self, steps: Steps) -> None:
        self.places = steps.places
        self.wants = steps.multiple is not None
        self.divisors = [divisor(number) for number in steps.numbers]
        self.first = (0,) * len(self.divisors)
        self._after: dict[tuple[int, ...], Sequence[tuple[int, ...]]] = {(): ((),) * 10}

    def after(self, classes: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
        """The classes behind each digit."""
        found = self._after.get(classes)
        if found is None:
            rows = [each.following[at] for each, at in zip(self.divisors, classes, strict=True)]
            found = self._after[classes] = list(zip(*rows, strict=True))
        return found

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
        """Whether the digits read, times ten to a power, are a number that the steps allow."""
        powers = self.exponents(classes)
        if powers is None:
            return False
        lowest, highest = powers
        return (lowest is None or power >= lowest) and (highest is None or power <= highest)


def compared(sofar: int, bound: str, at: int) -> Sequence[int]:
    """How what has been read compares with a bound behind each digit."""
    if sofar != EQUAL:
        return _DECIDED[sofar]
    return _AGAINST[ord(bound[at]) - 0x30 if at < len(bound) else 0]


_DECIDED = {LESS: (LESS,) * 10, MORE: (MORE,) * 10}
_AGAINST = [tuple([LESS if a < b else MORE if a > b else EQUAL for a in range(10)]) for b in range(10)]
