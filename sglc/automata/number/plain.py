"""JSON numbers without an exponent: digits are compared with those of the bounds as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sglc.automata.number import digits as d


def add_plain(table: d.Table, interval: d.Interval, steps: d.Steps, whole: bool) -> None:
    """The spellings without an exponent; `whole`: without a point, and no minus zero."""
    row = table.begin()
    divisibility = d.Divisibility(steps)
    _Plain(table, interval, divisibility, whole=whole, minus=False).add(row)
    mirrored = interval.mirrored()
    negative = dict(row)
    if whole or mirrored != interval:
        negative = {}
        _Plain(table, mirrored, divisibility, whole=whole, minus=True).add(negative)
    if negative:
        row[d.MINUS] = table.add()
        table.rows[row[d.MINUS]] = negative


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
        return d.LESS if size < len(self.whole) else d.MORE if size > len(self.whole) else sofar


_ZERO, _WHOLE, _FRACTION = range(3)
_ALL_MORE = (d.MORE,) * 10


_State = tuple[int, int, int, int, tuple[int, ...] | None]


class _Plain(d.Explorer[_State]):
    """Spellings of the members from zero up, behind a row.

    States: where we are, digits read there, how they compare with low and high, and the divisibility (None
    once a digit after the last place of the steps has decided).
    """

    def __init__(
        self, table: d.Table, interval: d.Interval, divisibility: d.Divisibility, *, whole: bool, minus: bool
    ) -> None:
        super().__init__(table)
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
        self.whole_digits(row, (_WHOLE, 0, d.EQUAL, d.EQUAL, self.divisibility.first))
        self.explore(self.expand)

    def whole_digits(self, row: dict[int, int], state: _State) -> None:
        _, size, with_low, with_high, classes = state
        assert classes is not None, "only digits of a fraction decide"
        lows: Sequence[int] = _ALL_MORE
        highs: Sequence[int] = _ALL_MORE
        if size < self.longest:
            lows = d.compared(with_low, self.low.whole if self.low else "", size)
            highs = d.compared(with_high, self.high.whole if self.high else "", size)
        elif self.high:
            return
        following = self.divisibility.after(classes)
        after = min(size, self.longest) + 1
        for digit in range(10):
            kind = _WHOLE if size or digit else _ZERO
            row[digit] = self.number((kind, after, lows[digit], highs[digit], following[digit]))

    def expand(self, number: int, state: _State) -> None:
        row = self.table.rows[number]
        kind, size, with_low, with_high, classes = state
        if kind == _FRACTION:
            if size and self.fits(state):
                self.table.accepting.add(number)
            self.fraction_digits(row, state)
            return
        if kind == _WHOLE:
            self.whole_digits(row, state)
        with_low = self.low.after_whole(size, with_low) if self.low else d.MORE
        with_high = self.high.after_whole(size, with_high) if self.high else d.LESS
        pointed = (_FRACTION, 0, with_low, with_high, classes)
        if self.fits(pointed):
            self.table.accepting.add(number)
        if not self.whole and with_low != d.LESS and with_high != d.MORE:
            row[d.POINT] = self.number(pointed)

    def fraction_digits(self, row: dict[int, int], state: _State) -> None:
        _, size, with_low, with_high, classes = state
        lows = d.compared(with_low, self.low.fraction if self.low else "", size)
        highs = d.compared(with_high, self.high.fraction if self.high else "", size)
        # Further places must be zeros if multiples are wanted, and else decide by not being zeros.
        beyond = classes is not None and size >= self.divisibility.places
        following = None if classes is None or beyond else self.divisibility.after(classes)
        for digit in range(1 if beyond and self.divisibility.wants else 10):
            low, high = lows[digit], highs[digit]
            if low == d.LESS or high == d.MORE:
                continue
            after = following[digit] if following is not None else None if digit else classes
            matters = 1 if after is None else max(1, self.divisibility.places)
            if low == d.EQUAL and self.low:
                matters = max(matters, len(self.low.fraction))
            if high == d.EQUAL and self.high:
                matters = max(matters, len(self.high.fraction))
            row[digit] = self.number((_FRACTION, min(size + 1, matters), low, high, after))

    def fits(self, state: _State) -> bool:
        """Whether the number may end here; missing digits of the fraction are zeros."""
        _, size, with_low, with_high, classes = state
        if with_low == d.LESS or with_high == d.MORE:
            return False
        if with_low == d.EQUAL and self.low and (self.low.open or size < len(self.low.fraction)):
            return False
        if with_high == d.EQUAL and self.high and self.high.open and size >= len(self.high.fraction):
            return False
        if classes is None:
            return True
        return self.divisibility.allows(classes, max(self.divisibility.places - size, 0))
