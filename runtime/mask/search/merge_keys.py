"""Keys of several objects read as one: the arms of a union mostly differ in a few names.

Each object may go on with any key, and has names of which it knows more. What tokens read before the quote is
looked up once for all of them, and a label says for each object which of its names, or none, has been read.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sglc.automata.charset import Ranges
from sglc.automata.term import Encoding
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.lexeme.self_loops import Still
from sglc.runtime.mask.lexeme.table import LeafPlace, LeafTable, Names
from sglc.runtime.mask.nodes.object_keys import KeyLeaf
from sglc.runtime.mask.vocabulary.token_classes import Columns

if TYPE_CHECKING:
    from sglc.runtime.mask.automaton.step import Group

_FEW = 3
"""Keys of fewer objects are read one by one."""
_MOST_TABLES = 1_000
_QUOTE = 0x22


class _Shape(NamedTuple):
    """What is equal for places that read the same: (encoding, characters of any key, rests of names)."""

    encoding: Encoding
    characters: Ranges
    rests: tuple[str, ...]


class JointKeys(LeafTable):
    """What keys are at places of some objects. Label l is that of the keys which are name `ways[l][i]` of
    the i-th place, counted as in its shape; its names are as many as those that it does not know."""

    eager = True

    def __init__(self, shapes: tuple[_Shape, ...], still: Still) -> None:
        super().__init__()
        self.encoding = shapes[0].encoding
        self._shapes = shapes
        places = [{rest: number for number, rest in enumerate(shape.rests)} for shape in shapes]
        numbers: dict[tuple[int, ...], int] = {}
        labels: dict[str, int] = {}
        for rest in sorted({rest for shape in shapes for rest in shape.rests}):
            way = tuple([known.get(rest, len(known)) for known in places])
            labels[rest] = numbers.setdefault(way, len(numbers))
        others = numbers.setdefault(tuple(map(len, places)), len(numbers))
        self.ways = tuple(numbers)
        self._names = Names((id(self), 0, others), labels, others, still)

    def names(self, place: LeafPlace) -> Names | None:
        return self._names

    def still(self, place: LeafPlace, longest: int) -> Still | None:
        return self._names.still

    def shape(self, place: LeafPlace, columns: Columns) -> tuple[Hashable, Sequence[int] | None]:
        return ("keys", self._shapes), None


class KeysGroup:
    """Places of a configuration inside of keys; to searches, a group with a leaf of its own."""

    run = b""
    node = Node()
    state = 0

    def __init__(self, table: JointKeys, members: Sequence[tuple[Group, Sequence[int]]]) -> None:
        """`members`: groups with the labels of their names, as the table counts them."""
        self.leaf = LeafPlace(table, 0)
        self._ways = table.ways
        self._members = members
        self._left: dict[int, int] = {}

    def follow(self, machine: Machine) -> np.ndarray:
        """bool[256]: the bytes with which the text after a key may begin."""
        return self._members[0][0].follow(machine)

    def follow_of(self, machine: Machine, label: int) -> np.ndarray | None:
        return None

    def key(self, machine: Machine) -> tuple[bytes, ...]:
        """What is asked of the text after a key."""
        return self._members[0][0].key(machine)

    def leave(self, machine: Machine, label: int, data: bytes | None = None) -> int:
        """The configuration behind the keys of a label."""
        found = self._left.get(label)
        if found is None:
            names = zip(self._members, self._ways[label], strict=True)
            behind = [group.leave(machine, labels[name]) for (group, labels), name in names]
            found = self._left[label] = machine.join(behind)
        return found

    def behind(self, machine: Machine) -> int:
        raise TypeError("keys have no run")


class JoiningKeys:
    """Makes groups of places inside of keys, for one vocabulary."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._tables: dict[tuple[_Shape, ...], JointKeys] = {}

    def group(self, machine: Machine, groups: Sequence[Group]) -> tuple[list[Group], KeysGroup] | None:
        """(those of some groups that are read as one, and how); None if these are few."""
        alike: dict[tuple[Encoding, Ranges], list[tuple[_Shape, Sequence[int], Group]]] = {}
        for group in groups:
            place = group.leaf
            if place is None or type(place.table) is not KeyLeaf:
                continue
            if place.table.names(place) is None or group.node.barred(machine, group.state) is not None:
                continue
            known, labels = place.table.shape(place, self._columns)
            if labels is not None and isinstance(known, tuple):
                shape = _Shape(*known)
                alike.setdefault((shape.encoding, shape.characters), []).append((shape, labels, group))
        most = max(alike.values(), key=len, default=[])
        if len(most) < _FEW:
            return None
        most.sort(key=lambda member: member[0].rests)
        table = self._table(tuple([shape for shape, _, _ in most]), most[0][2])
        if table is None:
            return None
        members = [(group, labels) for _, labels, group in most]
        return [group for group, _ in members], KeysGroup(table, members)

    def _table(self, shapes: tuple[_Shape, ...], group: Group) -> JointKeys | None:
        found = self._tables.get(shapes)
        if found is None:
            assert group.leaf is not None
            names = group.leaf.table.names(group.leaf)
            assert names is not None
            if names.still.bytes[_QUOTE]:
                return None
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            found = self._tables[shapes] = JointKeys(shapes, names.still)
        return found
