"""Names of the written text: words of the other language, none of them twice."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable

from sglc.types.notation.python_names import word


def distinct(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name where it is free, else with an underscore behind it, else with a number."""
    found, number = name, 1
    while is_taken(found):
        found = f"{name}_" if number == 1 else f"{name}_{number}"
        number += 1
    return found


def plain(name: str) -> str:
    """A name of the program as a word that may begin a name."""
    found = word(name)
    return found if found.isidentifier() else f"_{found}"


class Names:
    """Names of a Python module that are given once each. `outer` are those around, which none may hide."""

    def __init__(self, *outer: Names, taken: frozenset[str] = frozenset()) -> None:
        self.outer = outer
        self.taken = set(taken)

    def has(self, name: str) -> bool:
        """Whether the name is taken here or around."""
        return name in self.taken or any(names.has(name) for names in self.outer)

    def fresh(self, name: str) -> str:
        """The name itself where it is free, else with an underscore or a number behind it."""
        found = distinct(
            plain(name), lambda each: keyword.iskeyword(each) or hasattr(builtins, each) or self.has(each)
        )
        self.taken.add(found)
        return found
