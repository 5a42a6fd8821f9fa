"""The bounds of the numbers that a hole writes, which has so many digits at most."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from sglc.automata.number.decimal import DECIMAL_PLACES, whole_digits
from sglc.types.notation.text_rules import float_bounds
from sglc.types.type import Dec, Float, Int

WIDEST_FLOAT = Decimal("1e117")
"""The largest number that `float` without bounds reaches (`sglc.types.number_text.LARGEST_FLOAT`)."""
_WIDE = Context(prec=12_000)
"""Bounds have at most 10,000 digits."""


def written_bounds(type: Int | Dec | Float) -> tuple[int | Decimal | None, int | Decimal | None]:
    """The smallest and the largest number of a type that a hole writes.

    Digits behind the point are no matter of bounds: reading an answer rounds them, and no bound lies between
    two numbers with as many.
    """
    if isinstance(type, Float):
        low, high = float_bounds(type)
        return (-WIDEST_FLOAT, WIDEST_FLOAT) if low is None and high is None else (low, high)
    width = whole_digits(type.minimum, type.maximum)
    if isinstance(type, Int):
        widest = 10**width - 1
        return (
            -widest if type.minimum is None else type.minimum,
            widest if type.maximum is None else type.maximum,
        )
    return (
        -_nines(width) if type.minimum is None else _at_places(type.minimum, ROUND_CEILING),
        _nines(width) if type.maximum is None else _at_places(type.maximum, ROUND_FLOOR),
    )


def _nines(width: int) -> Decimal:
    return Decimal(10 ** (width + DECIMAL_PLACES) - 1).scaleb(-DECIMAL_PLACES, _WIDE)


def _at_places(bound: Decimal, rounding: str) -> Decimal:
    exponent = bound.as_tuple().exponent
    if not isinstance(exponent, int) or -exponent <= DECIMAL_PLACES:
        return bound
    return bound.quantize(Decimal(1).scaleb(-DECIMAL_PLACES), rounding=rounding, context=_WIDE)
