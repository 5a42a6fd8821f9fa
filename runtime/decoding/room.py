"""The tokens that a hole has room for."""

from __future__ import annotations

from collections.abc import Callable

from sglc.runtime.decoding.requests import Budget
from sglc.runtime.errors import SglError

WATCHED_ROOM = 4096
"""From this many free tokens of context window on, a hole without a budget is not watched."""


class Room:
    """The tightest bound on the tokens of a hole, and what it would have had to be.

    `price` counts the tokens of a text on its own.
    """

    def __init__(self, hole: str, budget: Budget | None, price: Callable[[bytes], int]) -> None:
        self._hole = hole
        self._budget = budget
        self._price = price
        self.limit: Budget | None = None
        """None where nothing has to be watched. Set by `open`."""
        self.needed = 0
        """With so many tokens as its budget, or more, the hole would have gone as it did so far."""

    def open(self, free: int) -> Budget | None:
        """Find the bound, with so many tokens of the context window left."""
        budget = self._budget
        if budget is not None and budget.tokens <= free:
            self.limit = budget
        elif budget is not None or free < WATCHED_ROOM:
            self.limit = Budget(max(0, free), "the model's context window")
        return self.limit

    def has(self, tokens: int, limit: Budget) -> bool:
        """Whether the limit has so many tokens. `needed` remembers what that asked for."""
        enough = tokens <= limit.tokens
        self.needed = max(self.needed, tokens if enough else limit.tokens + 1)
        return enough

    def fits(self, used: int, closing: bytes, limit: Budget) -> bool:
        """Whether a text fits behind the tokens that were used."""
        room = limit.tokens - used
        need = len(closing)
        if need > room >= 0:
            need = self._price(closing)
        return self.has(used + need, limit)

    def truncated(self, limit: Budget) -> SglError:
        """The error of a hole for which the limit is too tight."""
        return SglError(
            "Truncated",
            f"hole `{self._hole}` cannot be completed within {limit.tokens} tokens ({limit.source})",
            partial="",
            fatal=limit.fatal,
        )
