"""Names of the written module: those of the program, with an underscore where they are taken."""

from __future__ import annotations

import builtins
import keyword
import re


def plain(name: str) -> str:
    """A name of the program as a word of Python."""
    word = re.sub(r"\W", "_", name)
    return word if word[:1].isidentifier() else f"_{word}"


class Names:
    """Names that are given once each. `outer` are those around, which none of these may hide."""

    def __init__(self, *outer: Names, taken: frozenset[str] = frozenset()) -> None:
        self.outer = outer
        self.taken = set(taken)

    def has(self, name: str) -> bool:
        return name in self.taken or any(names.has(name) for names in self.outer)

    def fresh(self, name: str) -> str:
        """The name itself where it is free, else with an underscore or a number behind it."""
        word = plain(name)
        found, number = word, 1
        while keyword.iskeyword(found) or hasattr(builtins, found) or self.has(found):
            found = f"{word}_" if number == 1 else f"{word}_{number}"
            number += 1
        self.taken.add(found)
        return found
