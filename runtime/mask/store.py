"""Masks and transitions of one machine under one vocabulary: computed once, then looked up by integer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from sglc.kernels.select import count_bits
from sglc.kernels.subtrees import UNBOUNDED, Quiet
from sglc.runtime.mask.account import Account
from sglc.runtime.mask.leaf import LeafPlace, LeafTable
from sglc.runtime.mask.looped import LoopedMasks
from sglc.runtime.mask.machine import ACCEPT, DEAD, Machine
from sglc.runtime.mask.slices import SliceStore, slice_store
from sglc.runtime.mask.vocabulary import Vocabulary

_MOST_TRANSITIONS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A mask row (int32[words], not to be written to) and the number of its tokens."""

    row: np.ndarray
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class LeafMask:
    """What a walk from one place of a leaf finds: tokens, nodes at which tokens leave the leaf, and the most
    characters on a path. The table is kept because its identity is a part of the key."""

    table: LeafTable
    row: np.ndarray
    exits: np.ndarray
    reach: int


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
        whole = self.slices.whole
        pending: list[tuple[int, np.ndarray]] = []
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
                pending.append((after, whole.literal(whole.roots, run, machine.first(after), row)))
                continue
            place = node.leaf(machine, state)
            if place is None:
                lost |= self._loops.add(machine.alone(thread), row, account)
                continue
            after = machine.after(cont)
            leaf, inside = self._leaf(place, machine.first(after))
            row |= leaf.row
            if inside is not None:
                row |= inside
            pending.append((after, leaf.exits))
        return self._follow(pending, row, account) or lost

    def _follow(self, pending: list[tuple[int, np.ndarray]], row: np.ndarray, account: Account) -> bool:
        """Go on with rests of tokens: (configuration before them, their nodes)."""
        machine, whole = self.machine, self.slices.whole
        lost = False
        done: dict[int, np.ndarray] = {}
        while pending:
            config, entries = pending.pop()
            before = done.get(config)
            if before is not None and len(entries):
                entries = np.setdiff1d(entries, before).astype(np.int32)
            if not len(entries):
                continue
            done[config] = entries if before is None else np.concatenate([before, entries])
            machine.effort += len(machine.configs[config])
            account.check()
            for thread in machine.configs[config]:
                if thread == ACCEPT:
                    continue
                node, state, cont = machine.threads[thread]
                run = node.forced_run(state)
                if run:
                    after = machine.after(cont)
                    pending.append((after, whole.literal(entries, run, machine.first(after), row)))
                    continue
                place = node.leaf(machine, state)
                if place is None:
                    lost |= self._loops.walk(whole, entries, machine.alone(thread), row, account)
                    continue
                after = machine.after(cont)
                exits, _ = self._walk_leaf(entries, place, machine.first(after), row)
                pending.append((after, exits))
        return lost

    def _leaf(self, place: LeafPlace, first: np.ndarray) -> tuple[LeafMask, np.ndarray | None]:
        """(what a walk finds from the place on, further tokens that are looked up).

        No token is long enough to reach counts beyond the reach of the walk without bounds, so all of them
        share one walk.
        """
        table, state, least, most = place.table, place.state, place.least, place.most
        inside, still = None, None
        quiet = table.quiet(state)
        if quiet is not None and not (first & quiet[1]).any():
            columns = self.vocabulary.columns
            inside = columns.inside(quiet[0], None if most is None else most - int(table.current().lo[state]))
            still = Quiet(columns.below, quiet[1], quiet[0])
        if least > 0 or most is not None:
            reach = self._leaf_walk(LeafPlace(table, state), first, still).reach
            if table.any_length:
                least = min(least, reach + 1)
            if most is not None and most >= reach + int(table.current().lo.max()):
                most = None
        return self._leaf_walk(LeafPlace(table, state, least, most), first, still), inside

    def _leaf_walk(self, place: LeafPlace, first: np.ndarray, still: Quiet | None) -> LeafMask:
        key = (id(place.table), place.state, place.least, place.most, first.tobytes())
        found = self._leaves.get(key)
        if found is None:
            whole = self.slices.whole
            row = np.zeros(self.vocabulary.words, np.int32)
            exits, reach = self._walk_leaf(whole.roots, place, first, row, still)
            row.flags.writeable = False
            found = self._leaves[key] = LeafMask(place.table, row, exits, reach)
            if len(self._leaves) > self._most_masks:
                self._leaves.popitem(last=False)
        else:
            self._leaves.move_to_end(key)
        return found

    def _walk_leaf(
        self,
        entries: np.ndarray,
        place: LeafPlace,
        first: np.ndarray,
        row: np.ndarray,
        still: Quiet | None = None,
    ) -> tuple[np.ndarray, int]:
        most = UNBOUNDED if place.most is None else place.most
        table = place.table
        where = (place.state, place.least, most)
        return self.slices.whole.leaf(entries, where, first, row, table.current, table.fill, still)
