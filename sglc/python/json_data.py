"""Results as plain JSON data, on the way out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sglc.python.classes import Binding, as_object
from sglc.types.notation.python_names import attribute_names
from sglc.types.type import EnumType, RecordType


def to_json(value: Any) -> Any:
    """A result as data that `json.dumps` writes: `json.dumps(sglc.to_json(value))`.

    Records are objects with the names that the program gave the fields, absent fields left out; variants
    have their `type`; enum members are texts, tuples lists. A decimal is a number if a float holds it
    exactly, else a text with all its digits. What comes of it may be passed back as an argument and is an
    equal value.
    Raises TypeError for an object that is no value of the language.
    """
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return str(value)
        case Decimal():
            return _number(value)
        case list() | tuple():
            return [to_json(item) for item in value]
        case dict():
            return {key: to_json(item) for key, item in value.items()}
    binding = getattr(type(value), "__sgl__", None)
    if isinstance(binding, Binding):
        if isinstance(binding.shape, EnumType):
            return value.value
        if isinstance(binding.shape, RecordType):
            names = attribute_names(binding.shape)
            return as_object(binding, {name: to_json(getattr(value, safe)) for name, safe in names.items()})
    raise TypeError(f"{value!r} is no value of an SGL program")


def _number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value() and value.adjusted() < 18:
        return int(value)
    nearest = float(value)
    return nearest if Decimal(repr(nearest)) == value else str(value)
