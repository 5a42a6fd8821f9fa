"""JSON numbers without an exponent: digits are compared with those of the bounds as they are read."""

from __future__ import annotations

from decimal import Decimal

from sglc.automata.json_number_digits import (
    BLOCKS,
    EQUAL,
    LESS,
    MINUS,
    MORE,
    POINT,
    Divisibility,
    Interval,
    Steps,
    Table,
    compared,
)
from sglc.automata.minimal import minimal_dfa
from sglc.automata.term import CharDfa


def plain_spellings(interval: Interval, steps: Steps, whole: bool) -> CharDfa:
    table = Table()
    divisibility = Divisibility(steps)
    _Plain(table, interval, divisibility, whole=whole, minus=False).add(table.rows[0])
    negative: dict[int, int] = {}
    table.numbers.clear()
    _Plain(table, interval.mirrored(), divisibility, whole=whole, minus=True).add(negative)
    if negative:
        table.rows[0][MINUS] = len(table.rows)
        table.rows.append(negative)
    return minimal_dfa(table.rows, table.accepting, BLOCKS)


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
        return LESS if size < len(self.whole) else MORE if size > len(self.whole) else sofar


_ZERO, _WHOLE, _FRACTION = range(3)


class _Plain:
    """Spellings of the members from zero up, behind a row.

    States: where we are, digits read there, how they compare with low and high, and the divisibility (None
    once a digit after the last place of the steps has decided).
    """

    def __init__(
        self, table: Table, interval: Interval, divisibility: Divisibility, *, whole: bool, minus: bool
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
        start = (_WHOLE, 0, EQUAL, EQUAL, self.divisibility.first)
        for digit in range(10):
            self.whole_digit(row, start, digit)
        for state in self.table.queue:
            self.expand(state)
        self.table.queue.clear()

    def whole_digit(self, row: dict[int, int], state: tuple, digit: int) -> None:
        _, size, with_low, with_high, classes = state
        if size < self.longest:
            with_low = compared(with_low, digit, self.low.whole if self.low else "", size)
            with_high = compared(with_high, digit, self.high.whole if self.high else "", size)
        elif self.high:
            return
        else:
            with_low = with_high = MORE
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
        with_low = self.low.after_whole(size, with_low) if self.low else MORE
        with_high = self.high.after_whole(size, with_high) if self.high else LESS
        pointed = (_FRACTION, 0, with_low, with_high, classes)
        if self.fits(pointed):
            self.table.accepting.add(number)
        if not self.whole and with_low != LESS and with_high != MORE:
            row[POINT] = self.table.number(pointed)

    def fraction_digit(self, row: dict[int, int], state: tuple, digit: int) -> None:
        _, size, with_low, with_high, classes = state
        with_low = compared(with_low, digit, self.low.fraction if self.low else "", size)
        with_high = compared(with_high, digit, self.high.fraction if self.high else "", size)
        if with_low == LESS or with_high == MORE:
            return
        if classes is not None:
            if size < self.divisibility.places:
                classes = self.divisibility.after(classes, digit)
            elif digit and self.divisibility.wants:
                return
            elif digit:
                classes = None
        matters = 1 if classes is None else max(1, self.divisibility.places)
        if with_low == EQUAL and self.low:
            matters = max(matters, len(self.low.fraction))
        if with_high == EQUAL and self.high:
            matters = max(matters, len(self.high.fraction))
        row[digit] = self.table.number((_FRACTION, min(size + 1, matters), with_low, with_high, classes))

    def fits(self, state: tuple) -> bool:
        """Whether the number may end here; missing digits of the fraction are zeros."""
        _, size, with_low, with_high, classes = state
        if with_low == LESS or with_high == MORE:
            return False
        if with_low == EQUAL and self.low and (self.low.open or size < len(self.low.fraction)):
            return False
        if with_high == EQUAL and self.high and self.high.open and size >= len(self.high.fraction):
            return False
        if classes is None:
            return True
        return self.divisibility.allows(classes, max(self.divisibility.places - size, 0))
