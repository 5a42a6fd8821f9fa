"""Boolean operations on unions of parts, made of those on single parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

P = TypeVar("P")
"""A part: a set of values that is easily described."""


class Unions(Generic[P]):
    """Unions are tuples of parts; the empty one has no value, and `every` has all.

    `meet_parts` gives the values of two parts, None where there are none; `complement_part` those outside of
    one; `tidy` a union with needless parts left out. What they raise is passed on.
    """

    def __init__(
        self,
        every: tuple[P, ...],
        meet_parts: Callable[[P, P], P | None],
        complement_part: Callable[[P], tuple[P, ...]],
        tidy: Callable[[list[P]], tuple[P, ...]],
    ) -> None:
        self._every = every
        self._meet_parts = meet_parts
        self._complement_part = complement_part
        self._tidy = tidy

    def meet(self, left: tuple[P, ...], right: tuple[P, ...]) -> tuple[P, ...]:
        """The values of both unions, part by part."""
        every = self._every
        if left is every or left == every:
            return right
        if right is every or right == every:
            return left
        return self._tidy([one for a in left for b in right if (one := self._meet_parts(a, b)) is not None])

    def join(self, left: tuple[P, ...], right: tuple[P, ...]) -> tuple[P, ...]:
        """The values of either union."""
        return self._tidy([*left, *right]) if left and right else left or right

    def complement(self, these: tuple[P, ...]) -> tuple[P, ...]:
        """The values of no part."""
        result = self._every
        for one in these:
            result = self.meet(result, self._complement_part(one))
            if not result:
                break
        return result

    def subtract(self, left: tuple[P, ...], right: tuple[P, ...]) -> tuple[P, ...]:
        """The values of `left` that are none of `right`."""
        return self.meet(left, self.complement(right)) if left and right else left
