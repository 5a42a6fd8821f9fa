"""Numbers for the states of an automaton that is explored, in the order in which they are met."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


class TooLarge(ValueError):
    """An operation would pass its limit of states."""


class Numbering(dict[K, int]):
    """What describes a state to its number; what is asked for the first time gets the next number.

    `order` lists the descriptions by number. It may be read while it grows: so all that can be reached is
    explored. Where there would be more than `limit`, `beyond` is raised, a plain TooLarge if it is None.
    """

    def __init__(self, *first: K, limit: int | None = None, beyond: Exception | None = None) -> None:
        super().__init__(zip(first, range(len(first)), strict=True))
        self.order = [*first]
        self.limit = limit
        self.beyond = beyond

    def __missing__(self, key: K) -> int:
        if len(self.order) == self.limit:
            raise self.beyond or TooLarge(f"more than {self.limit} states")
        number = self[key] = len(self.order)
        self.order.append(key)
        return number
