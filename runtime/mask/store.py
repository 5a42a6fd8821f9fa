"""Masks and transitions of one machine under one vocabulary: computed once, then looked up by integer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sglc.automata.charset import Ranges
from sglc.automata.term import Encoding
from sglc.kernels.rows import Source
from sglc.kernels.select import count_bits
from sglc.kernels.subtrees import UNBOUNDED, Quiet, SubtreeWalk
from sglc.runtime.mask.account import Account
from sglc.runtime.mask.leaf import LeafPlace, LeafTable, Names, class_leaf
from sglc.runtime.mask.machine import DEAD, Machine
from sglc.runtime.mask.row_masks import RowMasks
from sglc.runtime.mask.spelling import read
from sglc.runtime.mask.steps import Group
from sglc.runtime.mask.still import still_on
from sglc.runtime.mask.vocabulary import Vocabulary

_MOST_TRANSITIONS = 1_000_000
_MOST_CLASSES = 256
_NO_ROW = np.zeros(1, np.int32)


@dataclass(slots=True, eq=False)
class Mask:
    """A mask row (int32[words], not to be written to)."""

    row: np.ndarray
    view: memoryview = field(init=False)
    """The row as the buffer that is copied quickest."""
    _count: int = -1
    source: Source | None = field(default=None, init=False)
    """How batches write the row, once one has (see `bases`)."""

    def __post_init__(self) -> None:
        self.view = self.row.data

    @property
    def count(self) -> int:
        """The number of its tokens."""
        if self._count < 0:
            self._count = count_bits(self.row)
        return self._count


@dataclass(frozen=True, slots=True, eq=False)
class LeafMask:
    """What a walk from one place of a leaf finds: tokens, nodes at which tokens leave the leaf, the states
    they leave, and the most characters on a path. The table is kept as its identity is a part of the key."""

    table: LeafTable
    row: np.ndarray
    exits: np.ndarray
    ends: np.ndarray
    reach: int
    paths: list[bytes] = field(default_factory=list)
    """What is read before each exit, once somebody has asked."""
    index: dict[str, list[int]] = field(default_factory=dict)
    """Exits by the text before them, for `MaskStore._named`."""
    labels: np.ndarray | None = None
    """Labels of the exits where the table does not say them."""
    nested: bool = False
    """Whether some exit lies below another one."""


class MaskStore:
    """Masks by configuration, configurations by (configuration, token); bounded, the oldest masks go first.

    New states are put on the account of the constraint that asks; it raises when there are too many.
    """

    def __init__(self, machine: Machine, vocabulary: Vocabulary, max_bytes: int) -> None:
        self.machine = machine
        self.vocabulary = vocabulary
        self.masks: dict[int, Mask] = {}
        self.transitions: dict[int, int] = {}
        self._whole = SubtreeWalk(vocabulary.arrays, vocabulary.children)
        self._rows = RowMasks(machine, self._whole)
        self._leaves: OrderedDict[tuple[Any, ...], LeafMask] = OrderedDict()
        """Masks of leaves by place, the bytes with which the text after may begin, and what was left out."""
        self._literals: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._walks: dict[tuple[Any, ...], tuple[np.ndarray, np.ndarray, LeafMask]] = {}
        """What has been found from nodes inside tokens: words of the row, their bits, exits."""
        self._blank = np.zeros(vocabulary.words, np.int32)
        self._stays: dict[int, np.ndarray] = {}
        """By configuration: tokens that lead back to it."""
        self._class_leaves: dict[tuple[Ranges, Encoding], LeafTable] = {}
        self._labels: dict[tuple[Any, int], tuple[np.ndarray, LeafMask, LeafTable]] = {}
        """See `_named`; what its keys are identities of is kept."""
        self._most_masks = max(16, max_bytes // max(4 * vocabulary.words, 1))
        self.shared = machine.known_untraced
        """The configuration under which the mask of another one may be kept; -1 if there is none."""

    def kept(self, config: int) -> Mask | None:
        """The mask of a configuration if it is known."""
        return self.masks.get(config) or self.masks.get(self.shared(config))

    def mask(self, config: int, account: Account) -> Mask:
        """The mask of a configuration."""
        found = self.masks.get(config)
        if found is None:
            found = self.masks.get(self.machine.known_untraced(config))
        if found is None:
            with self.machine.lock, account:
                shared = self.machine.untraced(config)
                found = self.masks.get(shared)
                if found is not None:
                    return found
                row = np.zeros(self.vocabulary.words, np.int32)
                lost = self._compute(config, row, account)
                found = Mask(row)
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
            stays = self._stays.get(config)
            if stays is not None and stays.item(token >> 5) >> (token & 31) & 1:
                found = config
            else:
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
        machine, whole = self.machine, self._whole
        if machine.universal >= 0 and machine.universal in machine.configs[config]:
            row |= self.vocabulary.writable
            return False
        lost = False
        pending: list[tuple[int, np.ndarray]] = []
        for group in machine.groups(config):
            if group.run:
                exits = self._literal(whole.begins[group.run[0]], group.run, row)
                if len(exits):
                    pending.append((group.behind(machine), exits))
            elif group.leaf is None:
                lost |= self._by_rows(group, config, whole.roots, row, account)
            else:
                found, inside = self._leaf(group.leaf, group.follow(machine))
                if found.row is not _NO_ROW:
                    row |= found.row
                if inside is not None:
                    row |= inside
                    self._note_stay(config, group)
                pending += self._left(group, found, None)
        return self._follow(pending, config, row, account) or lost

    def _note_stay(self, config: int, group: Group) -> None:
        """Keep which tokens lead from a configuration back to it: those of a text's characters, mostly."""
        machine, place = self.machine, group.leaf
        if place is None or place.least or place.most is not None or machine.traced[config]:
            return
        still = place.table.still(place, self.vocabulary.columns.longest)
        if still is None or not place.table.stays(place, still) or group.node.barred(machine, group.state):
            return
        for other in machine.groups(config):
            if other is not group and (not other.run or still.bytes[other.run[0]]):
                return
        plain = np.flatnonzero(still.bytes[:128])
        if len(plain) and machine.advance(config, plain[:1].astype(np.uint8).tobytes()) == config:
            if len(self._stays) > self._most_masks:
                self._stays.clear()
            # Of whole characters: others are legal, but end inside of one.
            self._stays[config] = self.vocabulary.columns.inside(still.groups, None)

    def _follow(
        self, pending: list[tuple[int, np.ndarray]], root: int, row: np.ndarray, account: Account
    ) -> bool:
        """Go on with rests of tokens: (configuration before them, their nodes)."""
        machine = self.machine
        lost = False
        done: dict[int, set[int]] = {}
        while pending:
            config, entries = pending.pop()
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
            account.check()
            for group in machine.groups(config):
                if group.run:
                    exits = self._literal(entries, group.run, row)
                    if len(exits):
                        pending.append((group.behind(machine), exits))
                elif group.leaf is None:
                    lost |= self._by_rows(group, root, entries, row, account)
                else:
                    found = self._entered(entries, group.leaf, group.follow(machine), row)
                    pending += self._left(group, found, entries)
        return lost

    def _by_rows(
        self, group: Group, root: int, entries: np.ndarray, row: np.ndarray, account: Account
    ) -> bool:
        machine = self.machine
        threads = [machine.thread(group.node, group.state, cont) for cont in group.conts]
        return self._rows.add(machine.config(threads), root, entries, row, account)

    def _left(
        self, group: Group, found: LeafMask, entries: np.ndarray | None
    ) -> list[tuple[int, np.ndarray]]:
        """(configuration, nodes) where tokens leave a leaf; `entries`: those of the walk, None for all."""
        machine = self.machine
        exits, ends = found.exits, found.ends
        if not len(exits):
            return []
        labels = found.labels if found.labels is not None else found.table.labels_of(ends)
        barred = group.node.barred(machine, group.state)
        if barred is not None:
            open = np.array([not barred(path) for path in self._paths(found, entries)], bool)
            exits, labels = exits[open], None if labels is None else labels[open]
        if labels is None:
            left = [(group.leave(machine, -1), exits)]
        else:
            some = set(labels.tolist())
            left = [
                (group.leave(machine, label), exits if len(some) == 1 else exits[labels == label])
                for label in some
            ]
        if found.nested:
            # Walks take nodes that are apart: what is below both would be met from both.
            return [(config, layer) for config, nodes in left for layer in self._whole.layers(nodes)]
        return left

    def _paths(self, found: LeafMask, entries: np.ndarray | None) -> list[bytes]:
        """What has been read in a leaf before each exit."""
        path, depth = self._whole.path, self.vocabulary.trie.depth
        if entries is None:
            if not found.paths:
                found.paths.extend(path(node)[:-1] for node in found.exits.tolist())
            return found.paths
        above = entries[np.searchsorted(entries, found.exits, side="right") - 1]
        starts = depth[above] - 1
        return [
            path(node)[start:-1] for node, start in zip(found.exits.tolist(), starts.tolist(), strict=True)
        ]

    def _leaf(self, place: LeafPlace, first: np.ndarray) -> tuple[LeafMask, np.ndarray | None]:
        """(what a walk finds from the place on, further tokens that are looked up).

        No token is long enough to reach counts beyond the reach of the walk without bounds, so all of them
        share one walk.
        """
        table, least, most = place.table, place.least, place.most
        if least > 0 or most is not None:
            table.measure()
        columns = self.vocabulary.columns
        inside, quiet = None, None
        still = table.still(place, columns.longest)
        if still is not None and not (first & still.bytes).any():
            if still.uniform is not None:
                inside = self._class(still.uniform, table.encoding, None).row
                quiet = columns.quiet_but(first)
                names = table.names(place)
                if names is not None:
                    return self._named(names, still.uniform, table, first), inside
            else:
                inside = columns.inside(still.groups, still.room)
                quiet = Quiet(columns.below, still.bytes, still.groups, still.home)
        if least > 0 or most is not None:
            reach = self._known_walk(replace(place, least=0, most=None), first, quiet).reach
            if table.any_length:
                least = min(least, reach + 1)
            if most is not None and most >= reach + table.fewest():
                most = None
            place = replace(place, least=least, most=most)
        return self._known_walk(place, first, quiet), inside

    def _literal(self, entries: np.ndarray, data: bytes, row: np.ndarray) -> np.ndarray:
        """A walk of fixed bytes from some nodes, into `row`, remembered; the exits."""
        key = (data, entries.tobytes())
        found = self._literals.get(key)
        if found is None:
            exits = self._whole.literal(entries, data, self._blank)
            found = (*self._set_words(), exits)
            if len(self._literals) > self._most_masks:
                self._literals.clear()
            self._literals[key] = found
        words, bits, exits = found
        if len(words):
            row[words] |= bits
        return exits

    def _set_words(self) -> tuple[np.ndarray, np.ndarray]:
        """The words of the blank row that a walk has set, and their bits; it is blank again."""
        words = np.flatnonzero(self._blank)
        bits = self._blank[words]
        self._blank[words] = 0
        return words, bits

    def _entered(self, entries: np.ndarray, place: LeafPlace, first: np.ndarray, row: np.ndarray) -> LeafMask:
        """A walk from some nodes, into `row`, remembered."""
        table = place.table
        names = table.names(place)
        if names is not None:
            still = table.still(place, self.vocabulary.columns.longest)
            if still is not None and still.uniform is not None and not (first & still.bytes).any():
                found = self._named(names, still.uniform, table, first, entries)
                row |= found.row
                return found
        key = (*place.key(), first.tobytes(), entries.tobytes())
        walked = self._walks.get(key)
        if walked is None:
            found = self._walk(entries, place, first, self._blank, None)
            walked = (*self._set_words(), found)
            if len(self._walks) > self._most_masks:
                self._walks.clear()
            self._walks[key] = walked
        words, bits, found = walked
        if len(words):
            row[words] |= bits
        return found

    def _class(
        self, characters: Ranges, encoding: Encoding, first: np.ndarray | None,
        entries: np.ndarray | None = None,
    ) -> LeafMask:  # fmt: skip
        """A walk over all words of some characters; without `first` only for its row."""
        begins = b"" if first is None else first.tobytes()
        key = (characters, encoding, begins, None if entries is None else entries.tobytes())
        found = self.vocabulary.classes.get(key)
        if found is None:
            words = self._class_leaves.get((characters, encoding))
            if words is None:
                if len(self._class_leaves) > _MOST_CLASSES:
                    self._class_leaves.clear()
                words = self._class_leaves[characters, encoding] = class_leaf(characters, encoding)
            follow = np.zeros(256, bool) if first is None else first
            row = np.zeros(self.vocabulary.words, np.int32)
            tops, quiet = self._whole.roots if entries is None else entries, None
            still = None if entries is not None else still_on(characters, encoding, 0)
            if still is not None and not (follow & still.bytes).any():
                # Tokens of such characters alone are looked up, and nothing ends between them.
                columns = self.vocabulary.columns
                row |= columns.inside(still.groups, None)
                quiet = Quiet(columns.below, still.bytes, still.groups, words.number(0))
            found = self._walk(tops, LeafPlace(words, words.number(0)), follow, row, quiet)
            if first is not None:
                # Where a word of no characters ends is an exit as well.
                at_once = tops[first[self.vocabulary.trie.byte[tops]]]
                exits = np.sort(np.concatenate([at_once, found.exits]))
                found = replace(found, exits=exits, ends=np.zeros(len(exits), np.int32), paths=[])
            if len(self.vocabulary.classes) > _MOST_CLASSES:
                self.vocabulary.classes.clear()
            self.vocabulary.classes[key] = found
        return found

    def _named(
        self, names: Names, characters: Ranges, table: LeafTable, first: np.ndarray,
        entries: np.ndarray | None = None,
    ) -> LeafMask:  # fmt: skip
        """The exits of a leaf over all words of a class, some of which have labels of their own.

        From all beginnings of tokens without the row, which `_class` has.
        """
        found = self._class(characters, table.encoding, first, entries)
        if not found.index:
            for number, path in enumerate(self._paths(found, entries)):
                found.index.setdefault(read(path, table.encoding), []).append(number)
        key = (names.key, id(found))
        known = self._labels.get(key)
        if known is not None:
            labels = known[0]
        else:
            labels = _labels(names, found)
            if len(self._labels) > self._most_masks:
                self._labels.clear()
            self._labels[key] = labels, found, table
        row = _NO_ROW if entries is None else found.row
        return LeafMask(table, row, found.exits, found.ends, found.reach, found.paths, labels=labels)

    def _known_walk(self, place: LeafPlace, first: np.ndarray, quiet: Quiet | None) -> LeafMask:
        """A walk from the roots, remembered."""
        seen = b"" if quiet is None else quiet.groups.tobytes() + bytes([quiet.home >= 0])
        key = (*place.key(), first.tobytes(), seen)
        found = self._leaves.get(key)
        if found is None:
            row = np.zeros(self.vocabulary.words, np.int32)
            found = self._leaves[key] = self._walk(self._whole.roots, place, first, row, quiet)
            row.flags.writeable = False
            if len(self._leaves) > self._most_masks:
                self._leaves.popitem(last=False)
        else:
            self._leaves.move_to_end(key)
        return found

    def _walk(
        self, entries: np.ndarray, place: LeafPlace, first: np.ndarray, row: np.ndarray, quiet: Quiet | None
    ) -> LeafMask:
        table = place.table
        walked = table.walk(self._whole, entries, place, first, row)
        if walked is not None:
            exits, labels = walked
            ends = np.zeros(len(exits), np.int32)
            return LeafMask(table, row, exits, ends, 0, labels=labels, nested=self._whole.nested(exits))
        if place.least > 0 or place.most is not None:
            table.measure()
        most = UNBOUNDED if place.most is None else place.most
        where = (place.state, place.least, most, int(table.eager))
        exits, ends, reach = self._whole.leaf(
            entries, where, first, row, table.current, table.fill, quiet, place.open
        )
        return LeafMask(table, row, exits, ends, reach, nested=self._whole.nested(exits))


def _labels(names: Names, found: LeafMask) -> np.ndarray:
    """int32: the labels of the exits of a class."""
    others = names.others
    if isinstance(others, int):
        labels = np.full(len(found.exits), others, np.int32)
        for name, label in names.labels.items():
            for number in found.index.get(name, ()):
                labels[number] = label
        return labels
    labels = np.zeros(len(found.exits), np.int32)
    for text, numbers in found.index.items():
        known = names.labels.get(text)
        labels[numbers] = others(text) if known is None else known
    return labels
