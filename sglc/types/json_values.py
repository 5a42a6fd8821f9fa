"""Plain JSON values: how they are read and spelled.

The spelling is that of `json.dumps(value, ensure_ascii=False)`. Numbers are the one thing that the mask lets
be written in several ways (`1.5`, `1.50`, `1.5e+00`): a number of digits alone is read as an integer, any
other as a decimal that keeps its digits, so that what is read prints as a number that the mask accepts too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from sglc.types.json_text import json_text
from sglc.types.type import Json
from sglc.types.values import Value

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData

INTEGER_DIGITS = 4000
"""Longer numbers are decimals, whatever they look like: Python converts no longer texts to integers."""


def schema_data(text: str) -> JsonData:
    """The parsed schema; numbers with a point or an exponent are decimals."""
    data: JsonData = json.loads(text, parse_float=exact_decimal)
    return data


def exact_decimal(text: str) -> Decimal:
    """The number of a JSON text, with all its digits."""
    return Decimal(text)


def is_self_ended(type: Json) -> bool:
    """Whether no text of the type is the beginning of another, by its outermost `type` alone."""
    if not type.schema:
        return False
    data = schema_data(type.schema)
    kinds = data.get("type") if isinstance(data, dict) else None
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return isinstance(kinds, list) and not {"number", "integer"}.intersection(map(str, kinds))


def number_of(text: str) -> int | Decimal:
    """The value of a JSON number."""
    if text.lstrip("-").isdigit() and len(text) <= INTEGER_DIGITS:
        return int(text)
    return Decimal(text)


def json_number_text(value: int | Decimal) -> str:
    """A number in a spelling that reads as the same kind of number: decimals have a point or an exponent."""
    if not isinstance(value, Decimal):
        return str(value)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is no JSON number")
    if exponent > 0:
        mantissa, _, power = str(value).partition("E")
        return f"{mantissa}e{power[0]}{power[1:]:0>2}"
    text = format(value, "f")
    return text if exponent else f"{text}.0" if len(text) <= INTEGER_DIGITS else text


def json_value_text(value: object) -> str:
    """The canonical JSON text of a plain value. Raises ValueError for what is none."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return json_number_text(value)
        case str():
            return json_text(value)
        case Mapping():
            return (
                "{"
                + ", ".join(f"{json_text(key)}: {json_value_text(item)}" for key, item in value.items())
                + "}"
            )
        case list():
            return f"[{', '.join(map(json_value_text, value))}]"
    raise ValueError(f"{type(value).__name__} is no JSON value")


def plain_json(value: Value) -> Value:
    """The plain value that a value stands for: floats become decimals, tuples lists. Others stay."""
    match value:
        case float() if value - value == 0:
            return Decimal(repr(value))
        case list() | tuple():
            return [plain_json(item) for item in value]
        case Mapping():
            return {key: plain_json(item) for key, item in value.items()}
    return value


def type_name(value: object) -> str:
    """What a value is called in a message: its declared type, else its Python class."""
    return str(getattr(value, "type", None) or getattr(value, "enum", None) or value.__class__.__name__)
