"""Which JSON data are values of a type: the data of a value that the type has, in any order of keys."""

from __future__ import annotations

import re
from typing import Any

import jsonschema

from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import from_json, to_json
from sglc.types.type import Type, TypeTable


def is_argument(data: Any, type: Type, table: TypeTable) -> bool:
    """Whether a function with a parameter of the type takes the data: decimals as texts, null for absent."""
    try:
        from_json(data, type, table)
    except MemberError:
        return False
    return True


def is_of_type(data: Any, type: Type, table: TypeTable) -> bool:
    """Whether the data are those that the language itself writes for a value, but for order and defaults."""
    try:
        value = from_json(data, type, table)
    except MemberError:
        return False
    return _same(data, to_json(value, type, table))


def _same(data: Any, written: Any) -> bool:
    """Fields that have their default may be absent of the data."""
    match data:
        case dict():
            return all(key in written and _same(item, written[key]) for key, item in data.items())
        case list():
            return all(_same(item, other) for item, other in zip(data, written, strict=True))
        case bool() | str() | None:
            return type(data) is type(written) and data == written
    return bool(float(data) == written if isinstance(written, float) else data == written)


def _pattern(validator, pattern, instance, schema):
    """`$` of ECMA-262 is the end of the text; Python's `re` has it before a last line feed too."""
    found = re.sub(r"\\.|\$", lambda part: r"\Z" if part.group() == "$" else part.group(), pattern)
    if isinstance(instance, str) and not re.search(found, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})
"""The package jsonschema, with patterns as ECMA-262 reads them."""
