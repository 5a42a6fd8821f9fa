"""The text of numbers and booleans, which is the same in all forms."""

from __future__ import annotations

from decimal import Decimal

from sglc.types.number_text import decimal_text, float_text
from sglc.types.type import Bool, Dec, Float, Int


class PrintError(ValueError):
    """A value that is not of the kind of its type; checked programs never meet it."""


def print_scalar(value: object, type: Int | Dec | Float | Bool) -> str:
    """The canonical text. Raises PrintError for a value of another kind."""
    match type:
        case Bool():
            if not isinstance(value, bool):
                raise PrintError(f"{value.__class__.__name__} where a boolean belongs")
            return "true" if value else "false"
        case Int():
            if isinstance(value, bool) or not isinstance(value, int):
                raise PrintError("a boolean is no int" if isinstance(value, bool) else "an integer is due")
            return str(value)
        case Dec():
            return decimal_text(_decimal(value), None)
        case Float():
            return float_text(float(_number(value)), type.minimum, type.maximum)


def _number(value: object) -> int | float | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PrintError(f"{type(value).__name__} is no number")
    return value


def _decimal(value: object) -> Decimal:
    number = _number(value)
    return number if isinstance(number, Decimal) else Decimal(str(number))
