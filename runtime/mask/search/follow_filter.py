"""Walks of leaves that different texts follow: what tokens do inside of a leaf is the same for all of them.

A name in a grammar is followed by other bytes at each place where it stands. The walk over its tokens is kept
with the exits before all bytes that have followed it so far; of fewer bytes it has some of these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sglc.runtime.mask.lexeme.table import LeafPlace
from sglc.runtime.mask.search.lexeme_walks import LeafWalks
from sglc.runtime.mask.search.walk_result import LeafMask

_MOST_FOLLOWED = 64
"""Sets of bytes for which the exits of one walk are kept."""


@dataclass(slots=True, eq=False)
class _Walked:
    """A walk before some bytes, bool[256], and what it has found, as `LeafWalks.leaf` says it."""

    first: np.ndarray
    found: LeafMask
    inside: np.ndarray | None
    some: dict[bytes, LeafMask] | None = None
    """By fewer bytes: the same with the exits before these."""
    bytes: np.ndarray | None = None
    """Of the exits, once fewer are asked for."""


class FollowedLeaves:
    """`LeafWalks.leaf` for many texts behind one leaf. For one thread at a time."""

    def __init__(self, walks: LeafWalks, most: int) -> None:
        """`most`: how many walks are kept."""
        self._walks = walks
        self._most = most
        self._byte = walks.vocabulary.trie.byte
        self._known: dict[tuple[object, ...], _Walked | None] = {}
        """By place; None where walks depend on the bytes behind it."""

    def leaf(self, place: LeafPlace, first: np.ndarray) -> tuple[LeafMask, np.ndarray | None]:
        """(what a walk finds from the place on, further tokens that are looked up)."""
        if place.least > 0 or place.most is not None or not first.any():
            return self._walks.leaf(place, first)
        key = place.key()
        if key not in self._known:
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[key] = self._walk(place, first)
        known = self._known[key]
        if known is not None and np.count_nonzero(first & ~known.first):
            known = self._known[key] = self._walk(place, first | known.first)
        if known is None:
            return self._walks.leaf(place, first)
        return self._before(known, first), known.inside

    def _walk(self, place: LeafPlace, first: np.ndarray) -> _Walked | None:
        still = place.table.still(place, self._walks.vocabulary.columns.longest)
        if still is not None and np.count_nonzero(first & still.bytes):
            # The leaf would be left at each of its characters.
            return None
        found, inside = self._walks.leaf(place, first)
        return _Walked(first.copy(), found, inside)

    def _before(self, known: _Walked, first: np.ndarray) -> LeafMask:
        if known.some is None:
            if np.array_equal(first, known.first):
                return known.found
            known.some = {known.first.tobytes(): known.found}
        begins = first.tobytes()
        found = known.some.get(begins)
        if found is None:
            whole = known.found
            if known.bytes is None:
                known.bytes = self._byte[whole.exits]
            open = first.take(known.bytes).nonzero()[0]
            exits = whole.exits.take(open)
            found = replace(
                whole,
                exits=exits,
                ends=whole.ends.take(open),
                labels=None if whole.labels is None else whole.labels.take(open),
                later=None,
                paths=None,
                index=None,
                nested=whole.nested and self._walks.whole.nested(exits),
            )
            if len(known.some) >= _MOST_FOLLOWED:
                known.some.clear()
            known.some[begins] = found
        return found
