"""Beginnings whose keys and values stay in memory: what every call of a function begins with.

They are named when a program is joined to the engine, and pinned once somebody has computed them. So that
they never stand in the way they have a share of the memory, the newest ones, and give it up as the last of
all.
"""

from __future__ import annotations

from sglc.runtime.kv.blocks import BLOCK_SHIFT
from sglc.runtime.kv.cache import KVCache

SHARE = 4
"""Pinned beginnings have one part in so many of the pool."""
MOST_NAMED = 256
"""Beginnings that are remembered though nobody has computed them yet; the newest ones."""


class Pins:
    """What is to be pinned in a cache, and what is."""

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache
        self._named: dict[tuple[int, ...], None] = {}
        self._pinned: dict[tuple[int, ...], int] = {}
        """Blocks of each, counted as if it shared none; the oldest first."""

    def name(self, tokens: tuple[int, ...]) -> None:
        """Pin these tokens once they have been computed."""
        if tokens and tokens not in self._pinned:
            self._named.pop(tokens, None)
            self._named[tokens] = None
            if len(self._named) > MOST_NAMED:
                del self._named[next(iter(self._named))]

    def computed(self, tokens: list[int]) -> None:
        """A sequence has these tokens now: pin what it begins with."""
        for pin in [pin for pin in self._named if tuple(tokens[: len(pin)]) == pin]:
            del self._named[pin]
            blocks, room = (len(pin) >> BLOCK_SHIFT) + 1, self._cache.pool.size // SHARE
            if blocks > room:
                continue
            while sum(self._pinned.values()) + blocks > room:
                self.give_up()
            self._cache.pin(pin)
            self._pinned[pin] = blocks

    def give_up(self) -> bool:
        """Let the oldest be evicted, until it is computed again; False if there is none."""
        pin = next(iter(self._pinned), None)
        if pin is None:
            return False
        del self._pinned[pin]
        self._cache.unpin(pin)
        self.name(pin)
        return True
