"""Arithmetic on the numbers of the language: at run time, and for constants that are known before.

Integers become decimals and decimals floats where operands differ; dividing two integers gives a decimal. A
result is a number of its kind or there is none (`ArithmeticFault`): integers stay integers, floats are
finite, no number has more than `NUMBER_DIGITS` digits on either side of its point. Decimals are exact up to
50 digits, beyond which results are rounded half even. All of it is bounded work.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow
from typing import Any, TypeGuard

Number = int | Decimal | float

NUMBER_DIGITS = 1_000
"""Most digits of a number before its point, and behind it: as many as JSON Schemas and the command line take.
Python reads texts of 4,300 digits at most."""
DECIMALS = Context(
    prec=50,
    Emax=NUMBER_DIGITS - 1,
    Emin=50 - NUMBER_DIGITS,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
"""What is smaller than the last digit behind the point that a number may have is rounded away."""
_LARGEST = 10**NUMBER_DIGITS - 1


class ArithmeticFault(ValueError):
    """There is no such number; carries a sentence."""


def is_number(value: object) -> TypeGuard[Number]:
    """Whether a value is a number of the language; booleans are none."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def number_fault(value: Number) -> str | None:
    """Why a number is none of the language, None if it is one."""
    if isinstance(value, float):
        return None if math.isfinite(value) else "it is no finite number"
    if isinstance(value, int):
        return None if -_LARGEST <= value <= _LARGEST else f"it has more than {NUMBER_DIGITS:,} digits"
    if not value.is_finite():
        return "it is no finite number"
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if (value and value.adjusted() >= NUMBER_DIGITS) or exponent >= NUMBER_DIGITS:
        return f"it has more than {NUMBER_DIGITS:,} digits"
    return f"it has more than {NUMBER_DIGITS:,} digits after the point" if -exponent > NUMBER_DIGITS else None


def compute(symbol: str, left: Number, right: Number) -> Number:
    """`left symbol right` for `+ - * / // % **`. Raises ArithmeticFault."""
    a, b = _promoted(symbol, left, right)
    kind = 0 if isinstance(a, int) else 1 if isinstance(a, Decimal) else 2
    try:
        found = _OPERATIONS[symbol][kind](a, b)
    except (ZeroDivisionError, DivisionByZero):
        raise ArithmeticFault("division by zero") from None
    except (DecimalException, OverflowError):
        raise ArithmeticFault(_too_large(symbol)) from None
    return _result(symbol, found)


def negated(value: Number) -> Number:
    """The number with the other sign, exact; zero has no sign."""
    return value.copy_negate() if isinstance(value, Decimal) and value else -value if value else value


def absolute(value: Number) -> Number:
    """The number without its sign, exact."""
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def as_float(value: Number) -> float:
    """The nearest float. Raises ArithmeticFault."""
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if math.isinf(found):
        raise ArithmeticFault("a number is too large for a float")
    return found


def _promoted(symbol: str, a: Number, b: Number) -> tuple[Number, Number]:
    """Two numbers as numbers of one kind."""
    if isinstance(a, float) or isinstance(b, float):
        return as_float(a), as_float(b)
    if isinstance(a, Decimal) or isinstance(b, Decimal) or symbol == "/":
        return Decimal(a), Decimal(b)
    return a, b


def _too_large(symbol: str) -> str:
    return f"the result of `{symbol}` is too large"


def _result(symbol: str, found: Number) -> Number:
    if isinstance(found, float) and not math.isfinite(found):
        raise ArithmeticFault(f"{_too_large(symbol)} for a float")
    if (fault := number_fault(found)) is not None:
        raise ArithmeticFault(f"{_too_large(symbol)}: {fault}")
    return found


def _floor_divide(a: Decimal, b: Decimal) -> Decimal:
    _divisor(b)
    quotient = DECIMALS.divide_int(a, b)
    if DECIMALS.multiply(quotient, b) != a and (a < 0) != (b < 0):
        quotient = DECIMALS.subtract(quotient, Decimal(1))
    return quotient


def _modulo(a: Decimal, b: Decimal) -> Decimal:
    """The remainder with the divisor's sign, as for integers."""
    _divisor(b)
    rest = DECIMALS.remainder(a, b)
    return DECIMALS.add(rest, b) if rest != 0 and (rest < 0) != (b < 0) else rest


def _divisor(b: Number) -> None:
    if b == 0:
        raise ArithmeticFault("division by zero")


def _divide(a: Decimal, b: Decimal) -> Decimal:
    _divisor(b)
    return DECIMALS.divide(a, b)


def _whole_power(a: int, b: int) -> int:
    if b < 0:
        if a in (1, -1):
            return a if b % 2 else 1
        _divisor(a)
        raise ArithmeticFault(_FRACTION)
    if abs(a) > 1 and b * (a.bit_length() - 1) > _LARGEST.bit_length():
        raise ArithmeticFault(f"{_too_large('**')}: it has more than {NUMBER_DIGITS:,} digits")
    power: int = a**b
    return power


_FRACTION = "a negative power of an integer is no integer: take the power of `decimal(…)`"


def _exact_power(a: Decimal, b: Decimal) -> Decimal:
    if not b:
        return Decimal(1)  # as for integers and floats, 0 too
    _real_power(a, b, b == b.to_integral_value())
    return DECIMALS.power(a, b)


def _float_power(a: float, b: float) -> float:
    _real_power(a, b, b.is_integer())
    return float(a**b)


def _real_power(a: Number, b: Number, whole: bool) -> None:
    if not a and b < 0:
        raise ArithmeticFault("division by zero: a negative power of 0")
    if a < 0 and not whole:
        raise ArithmeticFault("a negative number has no power that is a fraction")


_OPERATIONS: dict[str, tuple[Callable[[Any, Any], Any], ...]] = {
    "+": (operator.add, DECIMALS.add, operator.add),
    "-": (operator.sub, DECIMALS.subtract, operator.sub),
    "*": (operator.mul, DECIMALS.multiply, operator.mul),
    "/": (_divide, _divide, operator.truediv),
    "//": (operator.floordiv, _floor_divide, operator.floordiv),
    "%": (operator.mod, _modulo, operator.mod),
    "**": (_whole_power, _exact_power, _float_power),
}
"""For integers, decimals and floats."""
ARITHMETIC = frozenset(_OPERATIONS)
"""The operators."""
