"""Python objects of any origin as plain data: what a caller may pass as an argument."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import ipaddress
import pathlib
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from numbers import Integral, Real

from sglc.types.values import MAX_DEPTH

WRITTEN = (
    uuid.UUID,
    pathlib.PurePath,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
)
"""Classes whose values stand for their text."""
TIMES = (datetime.date, datetime.time)
"""Classes whose values stand for their text in ISO 8601 (a datetime is a date)."""


def plain(value: object, typed: Callable[[object, int], object], level: int = 0) -> object:
    """What JSON would give of a Python object, or what `typed` makes of it.

    Takes dataclasses, Pydantic models, attrs classes and enums of anybody's, containers, numbers of other
    libraries, dates, UUIDs and paths. What is none of these, or stands below more levels than values have
    (also an object that contains itself), is returned as it is, for the check that follows.
    """
    if level > MAX_DEPTH:
        return value
    found = typed(value, level)
    if found is not value:
        return found
    match value:
        case enum.Enum():
            return plain(value.value, typed, level + 1)
        case None | bool() | str() | int() | float() | Decimal():
            return value
        case list() | tuple() | range():
            items = [plain(item, typed, level + 1) for item in value]
            return tuple(items) if isinstance(value, tuple) else items
        case Mapping():
            return {
                key if isinstance(key, str) else str(key): plain(v, typed, level + 1)
                for key, v in value.items()
            }
        case set() | frozenset():
            return [plain(item, typed, level + 1) for item in sorted(value)]
        case Integral():
            return int(value)
        case Real():
            return float(value)
        case _ if isinstance(value, TIMES):
            return value.isoformat()
        case _ if isinstance(value, WRITTEN):
            return str(value)
    fields = _foreign_fields(value)
    if fields is None:
        return value
    return {name: plain(item, typed, level + 1) for name, item in fields.items()}


def _foreign_fields(value: object) -> dict[str, object] | None:
    """The fields of an object of a class that declares them; None for any other object."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    declared = getattr(type(value), "model_fields", None)  # Pydantic, without importing it
    if isinstance(declared, Mapping):
        fields = {name: getattr(value, name) for name in declared}
        return fields | (getattr(value, "model_extra", None) or {})
    declared = getattr(type(value), "__attrs_attrs__", None)
    if isinstance(declared, tuple):
        return {field.name: getattr(value, field.name) for field in declared}
    return None
