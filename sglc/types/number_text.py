"""Numbers in the canonical spelling of SGL: what the number automata accept."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

from sglc.automata.number.decimal import DECIMAL_PLACES, FLOAT_PLACES, whole_digits

LARGEST_FLOAT = "999999999999999999.9e99"
"""A spelling of the largest float that the language of `float` reaches, 1e117."""

_FREE_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?")


def number_text(value: int | Decimal | float) -> str:
    """The spelling that reads back as the value."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    return decimal_text(value, None)


def decimal_text(value: Decimal, places: int | None = DECIMAL_PLACES) -> str:
    """Plain digits; more than `places` after the point are rounded, half to even. Keeps trailing zeros."""
    if not value.is_finite():
        raise ValueError(f"{value} is no number that can be written")
    exponent = value.as_tuple().exponent
    if places is not None and isinstance(exponent, int) and -exponent > places:
        value = _rounded(value, places, ROUND_HALF_EVEN)
    text = format(value, "f")
    return text.removeprefix("-") if value.is_zero() else text


def _rounded(value: Decimal, places: int, rounding: str) -> Decimal:
    with localcontext() as context:
        context.prec = 2000
        rounded = value.quantize(Decimal(1).scaleb(-places), rounding=rounding).normalize()
        exponent = rounded.as_tuple().exponent
        return rounded.quantize(Decimal(1)) if isinstance(exponent, int) and exponent > 0 else rounded


def float_text(value: float, minimum: Decimal | None = None, maximum: Decimal | None = None) -> str:
    """The shortest spelling that reads back as `value`; with bounds, one that also lies between them.

    A float within bounds that would need more than 20 places is rounded to 20 towards the inside. Raises
    ValueError for infinities and NaN.
    """
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{value} is no number that can be written")
    if value == 0:
        value = 0.0
    text = repr(value)
    if minimum is None and maximum is None:
        return text if _FREE_FLOAT.fullmatch(text) else _with_short_exponent(Decimal(text))
    exact = Decimal(text)
    widest = Decimal(10 ** whole_digits(minimum, maximum) - 1)
    minimum = -widest if minimum is None else minimum
    maximum = widest if maximum is None else maximum
    if exact < minimum and value == float(minimum):
        exact = minimum
    if exact > maximum and value == float(maximum):
        exact = maximum
    exponent = exact.as_tuple().exponent
    if isinstance(exponent, int) and -exponent > FLOAT_PLACES:
        up = _rounded(exact, FLOAT_PLACES, ROUND_HALF_EVEN) < minimum
        down = _rounded(exact, FLOAT_PLACES, ROUND_HALF_EVEN) > maximum
        mode = ROUND_CEILING if up else ROUND_FLOOR if down else ROUND_HALF_EVEN
        exact = _rounded(exact, FLOAT_PLACES, mode)
    return decimal_text(exact, None)


def _with_short_exponent(exact: Decimal) -> str:
    """A number whose exponent in the usual form has three digits: the mantissa is shifted to save one.

    Outside 1e-119 to 1e117 there is no such form; the usual one is given then, which no language has.
    """
    sign, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    shift = 99 if exponent > 0 else -99
    mantissa = format(Decimal((sign, digits, exponent - shift)), "f")
    text = f"{mantissa}e{shift}"
    if _FREE_FLOAT.fullmatch(text):
        return text
    if abs(exact) == Decimal("1e117"):
        return "-" * sign + LARGEST_FLOAT
    return str(exact).lower()
