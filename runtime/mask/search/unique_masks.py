"""Masks of lexemes that are something plain but for a few words: what is plain, then what the words change.

An item of an array of different items is any item at almost every token: only a token that is the beginning
of a used value, or ends an item and begins another one, has to be looked at by itself. So the mask of the
plain continuation, which is shared, is copied, and such tokens are left to be stepped through from the
configuration that knows what was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sglc.automata.caches import LeastUsed
from sglc.automata.work import spend
from sglc.kernels.trie.api import SubtreeWalk
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, UniqueItems


class ItemMasks(NamedTuple):
    """The tokens that are legal for certain, and the nodes below which each has to be looked at."""

    row: np.ndarray
    unknown: list[int]


def _of_plain(plain: ItemMasks) -> int:
    return plain.row.nbytes + 8 * len(plain.unknown)


class UniqueItemMasks:
    """The tokens of such lexemes.

    `search(configuration, entries, account)` gives the plain tokens below entries of the trie (None: all) in
    a row of their own.
    """

    def __init__(
        self,
        machine: Machine,
        walk: SubtreeWalk,
        search: Callable[[int, np.ndarray | None, LimitTracker], ItemMasks],
    ) -> None:
        self._machine = machine
        self._walk = walk
        self._search = search
        self._plain: LeastUsed[int, ItemMasks] = LeastUsed(size=_of_plain)

    def find(self, parts: UniqueItems, entries: np.ndarray | None, account: LimitTracker) -> ItemMasks:
        """The tokens below entries (None: all) as far as they are known."""
        plain = (
            self._of(parts.plain, account) if entries is None else self._search(parts.plain, entries, account)
        )
        if parts.forbidden == DEAD:
            return plain
        doubtful = self._below_forbidden(parts, self._walk.roots if entries is None else entries)
        row = plain.row.copy()
        _clear(row, self._walk.tokens(doubtful))
        return ItemMasks(row, plain.unknown + doubtful)

    def _of(self, config: int, account: LimitTracker) -> ItemMasks:
        found = self._plain.get(config)
        if found is None:
            found = self._plain.keep(config, self._search(config, None, account))
        return found

    def _below_forbidden(self, parts: UniqueItems, entries: np.ndarray) -> list[int]:
        """The nodes below which a token may end with an excluded word, or with one that only those go on."""
        machine, byte = self._machine, self._walk.trie.byte
        found: list[int] = []
        stack: list[tuple[int, int, int]] = []

        def enter(nodes: np.ndarray, inner: int, forbidden: int) -> None:
            bytes = byte[nodes]
            begins = machine.first(forbidden)[bytes]
            if machine.accepts(inner) and machine.accepts(forbidden):
                over = parts.follow[bytes]
                found.extend(nodes[over].tolist())
                begins = begins & ~over
            stack.extend([(node, inner, forbidden) for node in nodes[begins].tolist()])

        enter(entries, parts.inner, parts.forbidden)
        while stack:
            spend(1)
            node, inner, forbidden = stack.pop()
            value = byte.item(node)
            forbidden = machine.step(forbidden, value)
            if forbidden == DEAD or (inner := machine.step(inner, value)) == DEAD:
                continue
            if parts.goes_on(inner, forbidden):
                enter(self._walk.children(node), inner, forbidden)
            else:
                found.append(node)
        return found


def _clear(row: np.ndarray, tokens: np.ndarray) -> None:
    """Take tokens out of a mask row."""
    bits = row.view(np.uint32)
    np.bitwise_and.at(bits, tokens >> 5, ~(np.uint32(1) << (tokens & 31).astype(np.uint32)))
