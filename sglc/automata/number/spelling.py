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
  negative exponent follows a zero;
* where there are other steps than those of powers of ten, or steps and bounds, only those with an exponent
  that `json.dumps` writes with one too, from 1e16 and below 1e-4, with one digit before the point; none at
  all if the steps have more than 4 classes of digit strings (2, 4, 5, 8, 25 and their tenfolds have few);
* all JSON numbers with exponents of at most three digits, where `any` spelling meets a set of all numbers.
"""

from __future__ import annotations

from decimal import Decimal

from sglc.automata.dfa.product import united
from sglc.automata.number.digits import Interval, Steps, Table
from sglc.automata.number.exponent import add_exponents
from sglc.automata.number.plain import add_plain
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa

FEW_CLASSES = 4
"""Classes of remainders up to which numbers with steps may have an exponent: each class has states for each
power of ten."""
_LARGE = Decimal("1e16")
_SMALL = Decimal("1e-4")
_EXPONENT_RANGES = (
    Interval(_LARGE, False, None, False),
    Interval(None, False, -_LARGE, False),
    Interval(-_SMALL, True, _SMALL, True),
)
"""Floats outside of them are written without an exponent."""


def spell(
    interval: Interval, steps: Steps, excluded: tuple[Decimal, ...], *, integer: bool, spelling: str
) -> CharDfa:
    """The spellings of the numbers of an interval that the steps divide, but of those left out."""
    canonical = spelling == "canonical"
    if spelling == "any" and interval.everything and steps.none and not excluded:
        return compile_regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
    found = _spellings(interval, steps, integer and canonical, spelling)
    if not excluded:
        return found
    points = [Interval(value, False, value, False) for value in excluded]
    return united([found], [_spellings(point, _NO_STEPS, False, spelling) for point in points])


_NO_STEPS = Steps(0, None, ())


def _spellings(interval: Interval, steps: Steps, whole: bool, spelling: str) -> CharDfa:
    """The spellings of one set, kind by kind."""
    table = Table()
    add_plain(table, interval, steps, whole)
    if not whole and spelling != "plain":
        canonical = spelling == "canonical"
        classes = steps.classes()
        if steps.none or (interval.everything and classes == 1):
            add_exponents(table, interval, steps, canonical=canonical, short=not canonical)
        elif classes <= FEW_CLASSES:
            for these in _EXPONENT_RANGES:
                within = these.within(interval)
                if within is not None and not steps.pass_over(within):
                    add_exponents(table, within, steps, canonical=canonical, short=False)
    return table.automaton()
