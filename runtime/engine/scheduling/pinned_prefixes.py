"""Pinned prefixes: token sequences that every call of a function begins with, kept in the KV cache.

A prefix is named when a program is joined to the engine, and pinned once a branch has computed it. Pinned
prefixes have a bounded share of the memory, which the newest take. Their blocks are evicted last.
"""

from __future__ import annotations

from sglc.runtime.kv.blocks import BLOCK_SHIFT
from sglc.runtime.kv.cache import KVCache

SHARE = 4
"""Pinned prefixes have one part in so many of the pool."""
MOST_NAMED = 256
"""Named prefixes that no branch has computed yet; the newest are kept."""


class PinnedPrefixes:
    """The named and the pinned prefixes of a cache."""

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
        """Pin the named prefixes of these tokens, which a sequence has computed."""
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
        """Unpin the oldest prefix until it is computed again; False if there is none."""
        pin = next(iter(self._pinned), None)
        if pin is None:
            return False
        del self._pinned[pin]
        self._cache.unpin(pin)
        self.name(pin)
        return True
