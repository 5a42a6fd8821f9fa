"""Pinned prefixes: token sequences that conversations begin with, kept in the KV cache.

A prefix is named when a program is joined to the engine, and pinned once a branch has computed it. Pinned
prefixes have a bounded share of the memory. What prefixes share counts once. Where the share is not enough,
or memory is short, the prefix goes that the fewest functions begin with, of equals the one pinned first: so
a beginning that many functions share outlives their own.
"""

from __future__ import annotations

from sglc.runtime.kv.blocks import BLOCK_SHIFT
from sglc.runtime.kv.cache import KVCache

SHARE = 4
"""Pinned prefixes have one part in so many of the pool."""
MOST_NAMED = 256
"""Named prefixes that no branch has computed yet; the newest are kept."""

Tokens = tuple[int, ...]


class PinnedPrefixes:
    """The named and the pinned prefixes of a cache."""

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache
        self._named: dict[Tokens, int] = {}
        """How many functions begin with each."""
        self._pinned: dict[Tokens, tuple[int, Tokens]] = {}
        """How many functions begin with each, and as much of it as is pinned; the oldest first."""

    def name(self, tokens: Tokens, users: int = 1) -> None:
        """Pin these tokens, which `users` functions begin with, once they have been computed."""
        if tokens and tokens not in self._pinned:
            users = max(users, self._named.pop(tokens, 0))
            self._named[tokens] = users
            if len(self._named) > MOST_NAMED:
                del self._named[next(iter(self._named))]

    def computed(self, tokens: list[int]) -> None:
        """Pin the named prefixes of these tokens, which a sequence has computed.

        Of one that is longer than all pinned prefixes may be, as much as there is room for.
        """
        room = self._cache.pool.size // SHARE
        for prefix in [prefix for prefix in self._named if tuple(tokens[: len(prefix)]) == prefix]:
            users = self._named.pop(prefix)
            kept = prefix[: room << BLOCK_SHIFT]
            if not kept:
                continue
            self._cache.pin(kept)
            self._pinned[prefix] = users, kept
            while self._pinned and self._cache.pinned_blocks > room:
                self.give_up()

    def give_up(self) -> bool:
        """Unpin a prefix until it is computed again; False if there is none."""
        if not self._pinned:
            return False
        prefix = min(self._pinned, key=lambda each: self._pinned[each][0])
        users, kept = self._pinned.pop(prefix)
        self._cache.unpin(kept)
        self.name(prefix, users)
        return True
