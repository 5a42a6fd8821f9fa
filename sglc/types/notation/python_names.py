"""The names of a program as names of Python."""

from __future__ import annotations

import keyword
import unicodedata

from sglc.types.type import RecordType


def attribute_names(shape: RecordType) -> dict[str, str]:
    """The fields of a record, each with a name that an attribute can have: letters, digits, underscores."""
    names: dict[str, str] = {}
    for field in shape.fields:
        safe = word(field.name)
        safe = safe_name(safe if safe.isidentifier() else f"field_{safe}")
        while safe in names.values():
            safe += "_"
        names[field.name] = safe
    return names


def word(name: str) -> str:
    """A name with `_` for what no name of Python holds, in the spelling (NFKC) that Python compares names in.

    It may begin with a digit, and be empty.
    """
    spelled = unicodedata.normalize("NFKC", name)
    return "".join(char if f"_{char}".isidentifier() else "_" for char in spelled)


def safe_name(name: str) -> str:
    """A field's name as an attribute: keywords of Python get an underscore."""
    return name + "_" if keyword.iskeyword(name) else name


def member_name(name: str) -> str:
    """An enum member's name as an attribute: names that Python's enums use themselves get an underscore, and
    `member` in front of one, because Python's enums reserve `_x_`."""
    if name.startswith("_"):
        return f"member{name}"
    taken = keyword.iskeyword(name) or name in ("mro", "name", "value")
    return f"{name}_" if taken else name
