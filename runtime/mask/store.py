"""Masks and transitions of one machine under one vocabulary: computed once, then looked up by integer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from sglc.kernels.select import count_bits
from sglc.kernels.subtrees import UNBOUNDED, SubtreeWalk
from sglc.runtime.mask.account import Account
from sglc.runtime.mask.leaf import LeafPlace, LeafTable
from sglc.runtime.mask.looped import LoopedMasks
from sglc.runtime.mask.machine import ACCEPT, DEAD, Machine
from sglc.runtime.mask.slices import SliceStore, slice_store
from sglc.runtime.mask.utf8 import first_bytes
from sglc.runtime.mask.vocabulary import Vocabulary

_MOST_TRANSITIONS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A mask row (int32[words], not to be written to) and the number of its tokens."""

    row: np.ndarray
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class LeafMask:
    """The tokens that stay inside a leaf, and the nodes at which tokens leave it, by walk.

    The table is kept because its identity is a part of the key.
    """

    table: LeafTable
    row: np.ndarray
    exits: tuple[tuple[SubtreeWalk, np.ndarray], ...]


class MaskStore:
    """Masks by configuration, configurations by (configuration, token); bounded, the oldest masks go first.

    New states are put on the account of the constraint that asks; it raises when there are too many.
    """

    def __init__(self, machine: Machine, vocabulary: Vocabulary, max_bytes: int) -> None:
        self.machine = machine
        self.vocabulary = vocabulary
        self.slices: SliceStore = slice_store(vocabulary)
        self.masks: dict[int, Mask] = {}
        self.transitions: dict[int, int] = {}
        self._loops = LoopedMasks(machine, vocabulary, self.slices)
        self._leaves: OrderedDict[tuple[int, int, int, int | None, bytes], LeafMask] = OrderedDict()
        """Masks of leaves by table, place, and the bytes with which the text after the leaf may begin."""
        self._most_masks = max(16, max_bytes // max(4 * vocabulary.words, 1))

    def mask(self, config: int, account: Account) -> Mask:
        """The mask of a configuration."""
        found = self.masks.get(config)
        if found is None:
            with self.machine.lock, account:
                shared = self.machine.untraced(config)
                if shared != config and shared in self.masks:
                    return self.masks[shared]
                row = np.zeros(self.vocabulary.words, np.int32)
                lost = self._compute(config, row, account)
                found = Mask(row, count_bits(row))
                row.flags.writeable = False
                while len(self.masks) >= self._most_masks:
                    del self.masks[next(iter(self.masks))]
                self.masks[config if lost else shared] = found
        return found

    def next(self, config: int, token: int, account: Account) -> int:
        """The configuration after a token (DEAD if it is not legal)."""
        if not 0 <= token < self.vocabulary.size:
            return DEAD
        key = config * self.vocabulary.size + token
        found = self.transitions.get(key)
        if found is None:
            data = self.vocabulary.token_bytes[token]
            found = self.advance(config, data, account) if data else DEAD
            if len(self.transitions) >= _MOST_TRANSITIONS:
                self.transitions.clear()
            self.transitions[key] = found
        return found

    def advance(self, config: int, data: bytes, account: Account) -> int:
        """The configuration after bytes (DEAD if they are not legal)."""
        with self.machine.lock, account:
            return self.machine.advance(config, data)

    def _compute(self, config: int, row: np.ndarray, account: Account) -> bool:
        """Set the bits of the legal tokens; True if that holds only for the bytes read so far.

        A mask is the union of the masks of the threads. Each thread takes the tokens (or rests of tokens) as
        far as its leaf goes, and the continuation goes on with what is left of them.
        """
        machine = self.machine
        lost = False
        pending: list[tuple[SubtreeWalk, int, np.ndarray]] = []
        for thread in machine.configs[config]:
            if thread == ACCEPT:
                continue
            if thread == machine.universal:
                row |= self.vocabulary.writable
                continue
            node, state, cont = machine.threads[thread]
            run = node.forced_run(state)
            if run:
                after = machine.after(cont)
                whole = self.slices.whole
                exits = whole.literal(whole.roots, run, machine.first(after), row)
                pending.append((whole, after, exits))
                continue
            place = node.leaf(machine, state)
            if place is None:
                lost |= self._loops.add(machine.alone(thread), row, account)
                continue
            after = machine.after(cont)
            leaf = self._leaf(place, machine.first(after))
            row |= leaf.row
            pending += [(walk, after, exits) for walk, exits in leaf.exits]
        return self._follow(pending, row, account) or lost

    def _follow(
        self, pending: list[tuple[SubtreeWalk, int, np.ndarray]], row: np.ndarray, account: Account
    ) -> bool:
        """Go on with rests of tokens: (walk, configuration before them, their nodes)."""
        machine = self.machine
        lost = False
        done: dict[tuple[int, int], np.ndarray] = {}
        while pending:
            walk, config, entries = pending.pop()
            if not len(entries):
                continue
            key = (id(walk), config)
            before = done.get(key)
            if before is not None:
                entries = np.setdiff1d(entries, before).astype(np.int32)
                if not len(entries):
                    continue
                done[key] = np.concatenate([before, entries])
            else:
                done[key] = entries
            machine.effort += len(machine.configs[config])
            account.check()
            for thread in machine.configs[config]:
                if thread == ACCEPT:
                    continue
                node, state, cont = machine.threads[thread]
                run = node.forced_run(state)
                if run:
                    after = machine.after(cont)
                    exits = walk.literal(entries, run, machine.first(after), row)
                    pending.append((walk, after, exits))
                    continue
                place = node.leaf(machine, state)
                if place is None:
                    lost |= self._loops.walk(walk, entries, machine.alone(thread), row, account)
                    continue
                after = machine.after(cont)
                exits = self._walk_leaf(walk, entries, place, machine.first(after), row)
                pending.append((walk, after, exits))
        return lost

    def _walk_leaf(
        self, walk: SubtreeWalk, entries: np.ndarray, place: LeafPlace, first: np.ndarray, row: np.ndarray
    ) -> np.ndarray:
        most = UNBOUNDED if place.most is None else place.most
        table = place.table
        return walk.leaf(entries, (place.state, place.least, most), first, row, table.current, table.fill)

    def _leaf(self, place: LeafPlace, first: np.ndarray) -> LeafMask:
        """The tokens inside a leaf, and where tokens leave it."""
        table = place.table
        state, least, most = table.blur((place.state, place.least, place.most), self.vocabulary.longest_token)
        key = (id(table), state, least, most, first.tobytes())
        found = self._leaves.get(key)
        if found is not None:
            self._leaves.move_to_end(key)
            return found
        place = LeafPlace(table, state, least, most)
        ranges, certain = table.loop(state, least, most)
        part = self.slices.find(ranges) if ranges else None
        walks = [self.slices.whole]
        row = np.zeros(self.vocabulary.words, np.int32)
        if part is not None:
            # Tokens inside the class are looked up; those that are too long for the leaf may still end it.
            row |= part.certain(certain)
            walks = [part.rest]
            if first[first_bytes(ranges)].any():
                beyond = part.beyond(certain)
                walks += [] if beyond is None else [beyond]
        exits = tuple((walk, self._walk_leaf(walk, walk.roots, place, first, row)) for walk in walks)
        row.flags.writeable = False
        found = self._leaves[key] = LeafMask(table, row, exits)
        if len(self._leaves) > self._most_masks:
            self._leaves.popitem(last=False)
        return found
