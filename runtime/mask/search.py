"""The search for one mask: from a configuration through leaves and runs until no token is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sglc.runtime.mask.account import Account
from sglc.runtime.mask.leaf_walks import LeafMask, LeafWalks
from sglc.runtime.mask.machine import Machine
from sglc.runtime.mask.row_masks import RowMasks
from sglc.runtime.mask.shapes import LONGEST, Path, Question, Shapes
from sglc.runtime.mask.steps import Group

_FEW = 8
"""So much that is open is searched as it is."""
_MOST_TOGETHER = 1000
"""Threads of a configuration that is made only for a mask."""

_Open = tuple[int, np.ndarray, Question]
"""(configuration before rests of tokens, their nodes, the question that it answers)."""


class Found(NamedTuple):
    """What a search says of the row it has filled.

    lost   it holds only for the bytes read so far
    path   how to find it again, None where it has to be searched again
    stays  tokens of whole characters that the leaf of the configuration stays at, None if there is none
    """

    lost: bool
    path: Path | None
    stays: np.ndarray | None


class MaskSearch:
    """Searches of one machine under one vocabulary.

    A mask is the union of the masks of the threads. Each thread takes the tokens (or rests of tokens) as far
    as its leaf goes, and the continuation goes on with what is left of them.
    """

    def __init__(self, machine: Machine, walks: LeafWalks, shapes: Shapes) -> None:
        self._machine = machine
        self._walks = walks
        self._shapes = shapes
        self._rows = RowMasks(machine, walks.whole)

    def run(self, config: int, row: np.ndarray, account: Account) -> Found:
        """Set the bits of the legal tokens in a row of zeros."""
        machine, walks = self._machine, self._walks
        whole = walks.whole
        view = self._shapes.view(config)
        self._path: Path | None = None if view is None else [(config, None)]
        self._root, self._row, self._account = config, row, account
        lost = False
        stays: np.ndarray | None = None
        pending: list[_Open] = []
        for number, group in enumerate(machine.groups(config) if view is None else view.groups):
            if group.run:
                exits = walks.literal(whole.begins[group.run[0]], group.run, row)
                if len(exits):
                    pending.append((group.behind(machine), exits, (0, number, -1)))
            elif group.leaf is None:
                lost |= self._by_rows(group, whole.roots)
            else:
                found, inside = walks.leaf(group.leaf, group.follow(machine))
                if found.row is not None:
                    row |= found.row
                if inside is not None:
                    row |= inside
                    if stays is None:
                        stays = self._stays(config, group)
                numbers = None if view is None else view.numbers(number)
                pending += self._left(group, found, None, (0, number), numbers)
        lost |= self._follow(pending)
        return Found(lost, self._path, stays)

    def _follow(self, pending: list[_Open]) -> bool:
        """Go on with rests of tokens."""
        machine, walks, row = self._machine, self._walks, self._row
        lost = False
        done: dict[int, set[int]] = {}
        at = 0
        many = _FEW
        while pending:
            if self._path is None and len(pending) > many:
                pending = self._together(pending)
                many = max(_FEW, 2 * len(pending))
            config, entries, question = pending.pop()
            at += 1
            view = None
            if self._path is not None:
                view = self._shapes.view(config)
                if view is None or at == LONGEST:
                    self._path = view = None
                else:
                    self._path.append((config, question))
            before = done.get(config)
            if before is None:
                done[config] = set(entries.tolist())
            else:
                nodes = [node for node in entries.tolist() if node not in before]
                if len(nodes) < len(entries):
                    entries = np.array(nodes, np.int32)
                before.update(nodes)
            if not len(entries):
                continue
            machine.effort += len(machine.configs[config])
            self._account.check()
            for number, group in enumerate(machine.groups(config) if view is None else view.groups):
                if group.run:
                    exits = walks.literal(entries, group.run, row)
                    if len(exits):
                        pending.append((group.behind(machine), exits, (at, number, -1)))
                elif group.leaf is None:
                    lost |= self._by_rows(group, entries)
                else:
                    found = walks.entered(entries, group.leaf, group.follow(machine), row)
                    numbers = None if view is None else view.numbers(number)
                    pending += self._left(group, found, entries, (at, number), numbers)
        return lost

    def _together(self, pending: list[_Open]) -> list[_Open]:
        """The same where what goes on at equal nodes is one configuration: many arms go on alike, and what
        they have in common is searched once."""
        found: dict[bytes, tuple[list[int], np.ndarray, Question]] = {}
        for config, entries, question in pending:
            found.setdefault(entries.tobytes(), ([], entries, question))[0].append(config)
        machine = self._machine
        together: list[_Open] = []
        for configs, entries, question in found.values():
            if sum([len(machine.configs[config]) for config in configs]) <= _MOST_TOGETHER:
                configs = [machine.join(configs)]
            together += [(config, entries, question) for config in configs]
        return together

    def _by_rows(self, group: Group, entries: np.ndarray) -> bool:
        machine = self._machine
        threads = [machine.thread(group.node, group.state, cont) for cont in group.conts]
        return self._rows.add(machine.config(threads), self._root, entries, self._row, self._account)

    def _left(
        self,
        group: Group,
        found: LeafMask,
        entries: np.ndarray | None,
        at: tuple[int, int],
        numbers: dict[int, int] | None,
    ) -> list[_Open]:
        """Where tokens leave a leaf; `entries`: those of the walk, None for all; `numbers`: canonical ones
        of labels."""
        machine, whole = self._machine, self._walks.whole
        exits, ends = found.exits, found.ends
        if not len(exits):
            return []
        labels = found.labels if found.labels is not None else found.table.labels_of(ends)
        barred = group.node.barred(machine, group.state)
        if barred is not None:
            open = np.array([not barred(path) for path in self._walks.paths(found, entries)], bool)
            exits, labels = exits[open], None if labels is None else labels[open]
        left: list[_Open]
        if labels is None:
            left = [(group.leave(machine, -1), exits, (*at, -1))]
        else:
            all_of = set(labels.tolist())
            # Labels without a number are not open: nothing follows them.
            some = sorted(
                [(label, label) for label in all_of]
                if numbers is None
                else [(numbers[label], label) for label in all_of if label in numbers]
            )
            left = [
                (
                    group.leave(machine, label),
                    exits if len(all_of) == 1 else exits[labels == label],
                    (*at, number),
                )
                for number, label in some
            ]
        if found.nested:
            # Walks take nodes that are apart: what is below both would be met from both.
            return [
                (config, layer, question) for config, nodes, question in left for layer in whole.layers(nodes)
            ]
        return left

    def _stays(self, config: int, group: Group) -> np.ndarray | None:
        """Which tokens lead from a configuration back to it, if a character does that."""
        machine, place = self._machine, group.leaf
        columns = self._walks.vocabulary.columns
        if place is None or place.least or place.most is not None:
            return None
        still = place.table.still(place, columns.longest)
        if still is None or not place.table.stays(place, still) or group.node.barred(machine, group.state):
            return None
        for other in machine.groups(config):
            if other is not group and (not other.run or still.bytes[other.run[0]]):
                return None
        # Of whole characters: others are legal, but end inside of one.
        return columns.inside(still.groups, None) if still.bytes[:128].any() else None
