"""Texts and words that may come at one place as one leaf, walked once for all of them.

Where a grammar lets many terminals begin, each has an automaton, and tokens would be walked over each. Here
their product is walked: a state is the set of places at which the terminals are, made when a walk comes to it
(the subset construction of Rabin and Scott, 1959). Where some of them end, the label of the state says which.
Texts most of whose tokens are looked up by classes of characters stay apart: to look up is quicker still.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sglc.automata.term import CharDfa
from sglc.kernels.trie.api import UNBOUNDED, Quiet, SubtreeWalk
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.automaton.step import Group, alone
from sglc.runtime.mask.lexeme.codepoint_lexeme import CharacterLeaf
from sglc.runtime.mask.lexeme.self_loops import is_small
from sglc.runtime.mask.lexeme.table import LeafPlace, LeafTable
from sglc.runtime.mask.lexeme.utf8_states import Characters, Edge
from sglc.runtime.mask.lexeme.word_list import WordSet
from sglc.runtime.mask.nodes.core import Literal, RuleNode
from sglc.runtime.mask.nodes.dispatch import CaseNode
from sglc.runtime.mask.nodes.object import ObjectNode
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.nodes.words import WordNode
from sglc.runtime.mask.search.boundaries import by_label
from sglc.runtime.mask.search.merge_keys import JoiningKeys, KeysGroup
from sglc.runtime.mask.search.merge_literals import RunGroup, by_runs
from sglc.runtime.mask.search.rule_summaries import RuleGroup
from sglc.runtime.mask.vocabulary.token_classes import Columns

_FEW = 3
"""Fewer leaves are walked one by one."""
_MANY_WORDS = 5
"""So many words are walked as one even where hardly anything else may come."""
_MOST_WORDS = 64
_MOST_STATES = 20_000
_MOST_VIEWS = 1_000

Member = tuple[int, Any]
"""(number of an automaton, its state)."""


class MergedLeaf(LeafTable):
    """The product of automata over characters; a label says which of them may end.

    A member is an automaton at one of its places. States are sets of members, kept as numbers with a bit for
    each.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[CharDfa | bytes | WordSet] = []
        self._of: dict[object, int] = {}
        self._members: list[Member] = []
        self._bits: dict[Member, int] = {}
        self._turns: list[list[tuple[int, int]] | None] = []
        """By member: characters at which members that it leads to come and go, and their bits."""
        self._ends = 0
        """The members that may end."""
        self._labels: dict[int, int] = {}
        """By the members that end."""
        self.ending: list[tuple[int, ...]] = []
        """By label: the automata that end."""
        self._label = np.full(64, -1, np.int32)
        self._states = _MergedCharacters(self)

    def part(self, key: object, automaton: CharDfa | bytes | WordSet) -> int:
        """The number of an automaton, or of a word."""
        found = self._of.get(key)
        if found is None:
            found = self._of[key] = len(self._parts)
            self._parts.append(automaton)
        return found

    def state_of(self, members: Iterable[Member]) -> int:
        """The state at some places of different automata."""
        return self.number(sum([self._bit(member) for member in members]))

    def _bit(self, member: Member) -> int:
        found = self._bits.get(member)
        if found is None:
            found = self._bits[member] = 1 << len(self._members)
            self._members.append(member)
            self._turns.append(None)
            if self._may_end(*member):
                self._ends |= found
        return found

    def _may_end(self, part: int, local: Any) -> bool:
        automaton = self._parts[part]
        if isinstance(automaton, bytes):
            return bool(local == len(automaton))
        return automaton.ends(local) if isinstance(automaton, WordSet) else local in automaton.accepting

    def edges(self, state: int) -> tuple[Edge, ...]:
        """The edges of a state over characters, sorted and disjoint."""
        turns: dict[int, int] = {}
        for number in _numbers(self.places[state]):
            for point, bit in self._turns_of(number):
                turns[point] = turns.get(point, 0) ^ bit
        found: list[Edge] = []
        active = begin = 0
        for point in sorted(turns):
            if active:
                found.append((begin, point - 1, self.number(active)))
            active ^= turns[point]
            begin = point
        return tuple(found)

    def _turns_of(self, number: int) -> list[tuple[int, int]]:
        found = self._turns[number]
        if found is None:
            found = []
            for low, high, member in self._edges_of(*self._members[number]):
                bit = self._bit(member)
                found += [(low, bit), (high + 1, bit)]
            self._turns[number] = found
        return found

    def _edges_of(self, part: int, local: Any) -> list[tuple[int, int, Member]]:
        """Where one automaton goes on."""
        automaton = self._parts[part]
        if isinstance(automaton, bytes):
            here = automaton[local : local + 1]
            return [(here[0], here[0], (part, local + 1))] if here else []
        if isinstance(automaton, WordSet):
            return [(byte, byte, (part, place)) for byte, place in automaton.children(local).items()]
        return [(low, high, (part, target)) for low, high, target in automaton.edges[local]]

    def label(self, state: int) -> int:
        ends = self.places[state] & self._ends
        if not ends:
            return -1
        found = self._labels.get(ends)
        if found is None:
            found = self._labels[ends] = len(self.ending)
            self.ending.append(tuple(sorted([self._members[number][0] for number in _numbers(ends)])))
        return found

    def keep_label(self, state: int, label: int) -> None:
        """Remember the label of a state that walks may leave."""
        if state >= len(self._label):
            grown = np.full(max(2 * len(self._label), state + 1), -1, np.int32)
            grown[: len(self._label)] = self._label
            self._label = grown
        self._label[state] = label

    def labels_of(self, states: np.ndarray) -> np.ndarray | None:
        return self._label[states - 1]

    def walk_states(
        self, whole: SubtreeWalk, entries: np.ndarray, place: LeafPlace, first: np.ndarray, row: np.ndarray,
        quiet: Quiet | None,
    ) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
        states = self._states
        where = (place.state + 1, 0, UNBOUNDED, 0, 0)
        return whole.characters(entries, where, first, row, states.current, states.load, quiet)


def _numbers(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class _MergedCharacters(CharacterLeaf):
    """The arrays of a `MergedLeaf`."""

    def __init__(self, leaf: MergedLeaf) -> None:
        super().__init__(Characters("raw"), 64)
        self._leaf = leaf

    def load(self, number: int) -> None:
        leaf, state = self._leaf, number - 1
        edges = leaf.edges(state)
        label = leaf.label(state)
        leaf.keep_label(state, label)
        self._reserve(leaf.count())
        self._take([state], [edges], [label >= 0])


class MergedGroup:
    """Groups of a configuration that are walked as one; to searches, a group with a leaf of its own."""

    run = b""
    node = Node()

    def __init__(self, table: MergedLeaf, groups: dict[int, Group], members: Sequence[Member]) -> None:
        self.leaf = LeafPlace(table, table.state_of(members))
        self.state = self.leaf.state
        self._table = table
        self._groups = groups
        self._parts = np.array(sorted(groups), np.int32)
        self._rows: np.ndarray | None = None
        self._behind: dict[int, int] = {}
        self._left: dict[int, int] = {}

    def follow(self, machine: Machine) -> np.ndarray:
        """bool[256]: the bytes with which the text after some of them may begin."""
        return np.unpackbits(np.bitwise_or.reduce(self._follows(machine)), bitorder="little").view(np.bool_)

    def _follows(self, machine: Machine) -> np.ndarray:
        """uint8 [parts, 32]: the same after each of them, a bit a byte; parts in order."""
        if self._rows is None:
            rows = np.array([self._groups[part].follow(machine) for part in self._parts.tolist()])
            self._rows = np.packbits(rows, axis=1, bitorder="little")
        return self._rows

    def key(self, machine: Machine) -> tuple[bytes, ...]:
        """What walks depend on beside the place: what follows each of them."""
        return (self._follows(machine).tobytes(),)

    def going_on(
        self, machine: Machine, exits: np.ndarray, labels: np.ndarray, bytes: np.ndarray
    ) -> list[tuple[int, np.ndarray]]:
        """(label, those of its exits with whose byte a text behind may begin), where there is one."""
        order = labels.argsort(kind="stable")
        exits, labels, bytes = exits[order], labels[order], bytes[order]
        starts = np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1])
        ending = [self._table.ending[label] for label in labels[starts].tolist()]
        counts = np.array([len(parts) for parts in ending])
        places = self._parts.searchsorted(np.fromiter(chain.from_iterable(ending), np.int32))
        firsts = counts.cumsum() - counts
        rows = np.bitwise_or.reduceat(self._follows(machine)[places], firsts)
        which = np.zeros(len(labels), np.int32)
        which[starts[1:]] = 1
        which = which.cumsum()
        kept = np.flatnonzero(rows[which, bytes >> 3] >> (bytes & 7) & 1)
        if not len(kept):
            return []
        return by_label(exits[kept], labels[kept])

    def open(self, machine: Machine, labels: Iterable[int]) -> None:
        """Make what is behind some labels; each takes over what has been found behind those made before.

        A continuation that a closure comes to later is the newer one, and mostly the shorter way.
        """
        parts = {part for label in labels if label not in self._left for part in self._table.ending[label]}
        if len(parts) > 1:
            for cont in sorted({cont for part in parts for cont in self._groups[part].conts}, reverse=True):
                machine.after(cont)

    def leave(self, machine: Machine, label: int, data: bytes | None = None) -> int:
        """The configuration behind those that end with a label."""
        found = self._left.get(label)
        if found is None:
            behind = [self._behind_part(machine, part) for part in self._table.ending[label]]
            found = self._left[label] = machine.join(behind)
        return found

    def _behind_part(self, machine: Machine, part: int) -> int:
        """The configuration behind one of them."""
        found = self._behind.get(part)
        if found is None:
            group = self._groups[part]
            found = group.behind(machine) if group.run else group.leave(machine, -1)
            self._behind[part] = found
        return found

    def behind(self, machine: Machine) -> int:
        raise TypeError("merged leaves have no run")


SearchGroup = Group | RunGroup | MergedGroup | KeysGroup | RuleGroup


def may_read(group: SearchGroup, begins: set[int]) -> bool:
    """Whether a group may read one of some bytes."""
    if group.run:
        return group.run[0] in begins
    first = group.leaf.table.begins(group.leaf.state) if group.leaf is not None else None
    return first is None or not begins.isdisjoint(first)


def reads_nested(group: SearchGroup) -> bool:
    """Whether nothing is asked of the way on which a walk has come to an exit."""
    node = group.node
    whole = isinstance(group, MergedGroup | RuleGroup)
    return bool(group.run) or whole or type(node) in (TextNode, CaseNode)


class Merging:
    """The groups of configurations as searches for masks take them."""

    def __init__(self, machine: Machine, columns: Columns) -> None:
        self._machine = machine
        self._longest = columns.longest
        self._keys = JoiningKeys(columns)
        self._table = MergedLeaf()
        self._groups: dict[int, tuple[SearchGroup, ...]] = {}

    def groups(self, config: int) -> tuple[SearchGroup, ...]:
        """The groups of a configuration, many of them as one."""
        found = self._groups.get(config)
        if found is None:
            found = self._around_rule(config) if config in self._machine.rule_parts else None
            if found is None:
                plain = self._machine.groups(config)
                found = plain if len(plain) == 1 else by_runs(plain)
                if len(found) >= _FEW:
                    found = self._with_keys(found)
                if len(found) >= _FEW:
                    found = self._merged(found)
            if len(self._groups) > _MOST_VIEWS:
                del self._groups[next(iter(self._groups))]
            self._groups[config] = found
        return found

    def _with_keys(self, plain: tuple[SearchGroup, ...]) -> tuple[SearchGroup, ...]:
        """The groups, those inside of keys as one."""
        inside = [group for group in plain if isinstance(group, Group) and type(group.node) is ObjectNode]
        joint = self._keys.group(self._machine, inside) if len(inside) >= _FEW else None
        if joint is None:
            return plain
        members = set(map(id, joint[0]))
        return (*[group for group in plain if id(group) not in members], joint[1])

    def _around_rule(self, config: int) -> tuple[SearchGroup, ...] | None:
        """The groups of a configuration of which a shared rule is a part; None if it is taken apart."""
        machine = self._machine
        inner, rule, cont = machine.rule_parts[config]
        # What is found before everything that may come behind is what is remembered.
        if cont == machine.beyond or not isinstance(rule, RuleNode):
            return None
        found = RuleGroup(rule, cont)
        if inner == config:
            return (found,)
        threads, inside = machine.configs[config], set(machine.configs[inner])
        others = [thread for thread in threads if thread not in inside]
        if len(others) + len(inside) > len(threads):
            return None
        return (found, *by_runs(alone(machine, others)))

    def _merged(self, plain: tuple[SearchGroup, ...]) -> tuple[SearchGroup, ...]:
        if self._table.count() > _MOST_STATES:
            self._table = MergedLeaf()
        fixed = sum([bool(group.run) for group in plain])
        if len(plain) - fixed < 2 and fixed < _MANY_WORDS:
            return plain
        open = [isinstance(group, Group) and _may_be_member(group) for group in plain]
        left = sum(open)
        if left < _FEW:
            return plain
        # Where little is known of what follows, that is seen before any leaf has been looked at.
        known = self._machine.knows_first
        for number, group in enumerate(plain):
            if open[number] and isinstance(group, Group) and not all(map(known, group.conts)):
                open[number] = False
                left -= 1
        found: list[SearchGroup] = []
        members: list[Member] = []
        inside: dict[int, Group] = {}
        for group, may in zip(plain, open, strict=True):
            if left < _FEW:
                return plain
            if not may or not isinstance(group, Group):
                found.append(group)
                continue
            member = self._member(group)
            part = -1 if member is None else self._table.part(group.node, member[0])
            # An automaton at two places would not say which of them ends.
            if member is None or part in inside:
                found.append(group)
                left -= 1
            else:
                members.append((part, member[1]))
                inside[part] = group
        if left < _FEW:
            return plain
        return (*found, MergedGroup(self._table, inside, members))

    def _member(self, group: Group) -> tuple[CharDfa | bytes | WordSet, Any] | None:
        """What a group reads and where in it the group is; None where it is walked on its own."""
        node, place = group.node, group.leaf
        if type(node) is Literal:
            return node.data, group.state
        if type(node) is WordNode:
            words = node.set
            return (words, node.table.places[group.state]) if _is_ascii(words) else None
        assert type(node) is TextNode and place is not None
        # Few characters are no class that is looked up.
        edges = node.table.dfa.edges[group.state[0]]
        if not is_small([(low, high) for low, high, _ in edges]):
            if place.table.still(place, self._longest) is not None:
                return None
        return node.table.dfa, group.state[0]


def _may_be_member(group: Group) -> bool:
    """Whether a group is of a kind that is walked with others."""
    node, place = group.node, group.leaf
    if type(node) is Literal:
        return node.data.isascii()
    if type(node) is WordNode:
        return not node.table.free and len(node.set.words) <= _MOST_WORDS and group.state >= 0
    if type(node) is not TextNode or place is None or node.table.encoding != "raw":
        return False
    return place.least <= 0 and place.most is None and group.state[0] < node.table.boundary


def _is_ascii(words: WordSet) -> bool:
    return all([word.isascii() for word in words.words])
