"""Bounds that a number must not reach, as the nearest number that it may be."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import inf, nextafter

from sglc.automata.number.decimal import DECIMAL_PLACES, FLOAT_PLACES
from sglc.types.type import Dec, Float


def beyond(type: Dec | Float, number: Decimal, way: int) -> Decimal:
    """The number of the type next to one, above (`way` 1) or below (-1)."""
    rounding = ROUND_CEILING if way > 0 else ROUND_FLOOR
    if isinstance(type, Dec):
        step = type.multiple_of or Decimal(1).scaleb(-DECIMAL_PLACES)
        multiple = (number / step).to_integral_value(rounding) * step
        return multiple + way * step if multiple == number else multiple
    # Texts are read as binary numbers: the next of these, in the digits that are written.
    return Decimal(nextafter(float(number), way * inf)).quantize(Decimal(1).scaleb(-FLOAT_PLACES), rounding)
