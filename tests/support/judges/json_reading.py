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
    return _same(data, to_json(value, type, table), table)


def _same(data: Any, written: Any, table: TypeTable) -> bool:
    """Fields that have their default may be absent of the data; null may stand where none is written."""
    match data:
        case dict():
            return all(
                _same(item, written[key], table)
                if key in written
                else item is None and _may_be_null(key, table)
                for key, item in data.items()
            )
        case list():
            return all(_same(item, other, table) for item, other in zip(data, written, strict=True))
        case bool() | str() | None:
            return type(data) is type(written) and data == written
    return bool(float(data) == written if isinstance(written, float) else data == written)


def _may_be_null(name: str, table: TypeTable) -> bool:
    """Whether fields of a name that may be absent may be null, too. Raises Undecided where only some may."""
    answers = {
        holds_null(field.type, table)
        for declared in table.values()
        for record in getattr(declared, "variants", [declared])
        for field in getattr(record, "fields", ())
        if field.name == name and field.optional
    }
    if len(answers) != 1:
        raise Undecided(name)
    return answers.pop()


def holds_null(type: Type, table: TypeTable) -> bool:
    """Whether null is a value of a type."""
    try:
        return from_json(None, type, table) is None
    except MemberError:
        return False


class Undecided(Exception):
    """Records of one table differ in whether the field may be null: the data do not tell which is meant."""


def _pattern(validator, pattern, instance, schema):
    """`$` of ECMA-262 is the end of the text; Python's `re` has it before a last line feed too."""
    found = re.sub(r"\\.|\$", lambda part: r"\Z" if part.group() == "$" else part.group(), pattern)
    if isinstance(instance, str) and not re.search(found, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})
"""The package jsonschema, with patterns as ECMA-262 reads them."""
