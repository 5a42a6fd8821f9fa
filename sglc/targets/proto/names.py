"""Names in protocol buffers: words of ASCII that generators of all languages can tell apart."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

_OTHER = re.compile(r"[^A-Za-z0-9_]")
_BETWEEN = re.compile(r"[^A-Za-z0-9]+")
_HUMP = re.compile(r"([a-z0-9])([A-Z])")


def word(name: str) -> str:
    """A name as one of fields: `content-type` is `content_type`, `größe` is `gr_f6__df_e`."""
    found = _OTHER.sub(lambda each: "_" if each[0] < "\x80" else f"_{ord(each[0]):x}_", name)
    if not canonical(found):
        return f"x{found}"
    return found if found[0].isalpha() else f"x{found}"


def camel(name: str) -> str:
    """A name as one of messages: `std.text.Line` is `StdTextLine`, `call_sign` is `CallSign`."""
    return "".join(part[0].upper() + part[1:] for part in _BETWEEN.split(word(name)) if part)


def snake(name: str) -> str:
    """The name of a type as one of fields: `StdTextLine` is `std_text_line`."""
    return _HUMP.sub(r"\1_\2", word(name)).lower()


def upper(name: str) -> str:
    """A name as one of members: `callSign` is `CALL_SIGN`."""
    return snake(name).upper()


def canonical(name: str) -> str:
    """What two names in one scope may not have in common: protoc holds fields against each other by their
    names in JSON and members by their names in Pascal case, and some languages know no case of files."""
    return name.replace("_", "").lower()


class Scope:
    """Names that are given once each, by their canonical forms."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {canonical(name) for name in taken}
        self.given: set[str] = set()
        """The names as they were given."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and canonical(name) in self._taken

    def fresh(self, name: str, *others: Container[str]) -> str:
        """The name where it is free here and none of others, else with a number behind it."""
        found, number = name, 1
        while found in self or any(found in each for each in others):
            number += 1
            found = f"{name}_{number}"
        self._taken.add(canonical(found))
        self.given.add(found)
        return found
