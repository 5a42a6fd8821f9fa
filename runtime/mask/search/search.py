"""The search for one mask: from a configuration through leaves and runs until no token is left."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from sglc.automata.work import spend
from sglc.runtime.mask.automaton.limits import Account
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, Node
from sglc.runtime.mask.automaton.step import Group
from sglc.runtime.mask.gss_walk.masks import StackMasks, Start
from sglc.runtime.mask.nodes.core import Beyond
from sglc.runtime.mask.search.boundaries import by_label
from sglc.runtime.mask.search.follow_filter import FollowedLeaves
from sglc.runtime.mask.search.lexeme_walks import LeafWalks
from sglc.runtime.mask.search.mask_sharing import LONGEST, Path, Question, Shapes, View
from sglc.runtime.mask.search.merge_lexemes import MergedGroup, SearchGroup, may_read, reads_nested
from sglc.runtime.mask.search.merge_literals import RunGroup, together
from sglc.runtime.mask.search.merge_word_lists import InCommon
from sglc.runtime.mask.search.row_walks import RowMasks
from sglc.runtime.mask.search.rule_summaries import RuleGroup, Summaries
from sglc.runtime.mask.search.self_loop_tokens import staying
from sglc.runtime.mask.search.unique_masks import Differences, Plain, TooMany
from sglc.runtime.mask.search.visited import Visited
from sglc.runtime.mask.search.walk_result import LeafMask

_OFTEN = 2
"""A configuration that has come up so often may be one that some run leads back to."""
_AGAIN_AND_AGAIN = 8
"""So often, it is worth to leave the path."""
_ALONE = 3
"""So many groups have nothing in common that is looked for."""
_LITTLE = 4096
"""Rests of so many nodes are walked by rows of configurations where one of these comes up often."""
_NARROW = 8
"""Rows of more threads take longer to make."""
_FEW = 8
"""So much that is open is searched as it is."""
_SEVERAL = 3
"""Of so many groups some read nothing of a few nodes."""
_MANY_NODES = 256
_OF_SEARCH = 20
"""Units of work of following a thread."""

_BEFORE_VALUES = (b" ", b": ", b":", b", ", b",", b"[", b'": ', b'":')
"""What tokens have read before a value begins inside of them."""

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

    def __init__(self, machine: Machine, walks: LeafWalks, shapes: Shapes, most: int) -> None:
        """`most`: how many walks of one kind are kept."""
        self._machine = machine
        self._walks = walks
        self._followed = FollowedLeaves(walks, most)
        self._shapes = shapes
        self._in_common = InCommon(machine, walks)
        self._groups = shapes.merging.groups
        self._byte = walks.vocabulary.trie.byte
        self._columns = walks.vocabulary.columns
        self._rows = RowMasks(machine, walks.whole)
        self._stacks = StackMasks(machine, walks.vocabulary, walks.whole.roots)
        self._differences = Differences(machine, walks.whole, self._plain)
        self._summaries = Summaries(machine, self._inside)
        self._beyond: list[np.ndarray] | None = None
        """In searches of rules by themselves: the nodes that are behind the rule."""
        self._lost = False
        self._by_stacks = False
        """Whether this search is one of a grammar, and has not come to what is not to be walked."""
        self._unknown: list[int] | None = None
        """In searches of plain continuations: the nodes below which tokens are not known."""

    def run(self, config: int, row: np.ndarray, account: Account) -> Found:
        """Set the bits of the legal tokens in a row of zeros."""
        try:
            return self._run(config, row, account)
        except BaseException:
            # A limit may be passed anywhere.
            self._stacks.forget()
            raise

    def _run(self, config: int, row: np.ndarray, account: Account) -> Found:
        self._by_stacks = self.reads_on(config)
        view = None if self._by_stacks else self._shapes.view(config)
        self._path: Path | None = None if view is None else [(config, None)]
        self._root, self._row, self._account = config, row, account
        self._lost = False
        lost, pending, stays = self._begin(config, view)
        lost |= self._follow(pending)
        return Found(lost or self._lost, self._path, stays)

    def prepare(self, rule: Node, account: Account) -> None:
        """Find what tokens do in a shared rule at the places where values mostly begin."""
        self._row = np.zeros(self._walks.vocabulary.words, np.int32)
        self._path, self._account = None, account
        self._summaries.find(rule, None)
        whole = self._walks.whole
        for text in _BEFORE_VALUES:
            entries = whole.literal(whole.begins[text[0]], text, np.zeros_like(self._row))
            self._summaries.find(rule, entries)

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables by which grammars are walked."""
        return self._stacks.table_bytes

    def describe_ahead(self, config: int, until: float) -> None:
        """Find out about the parts of a grammar that follows a configuration, while there is time (of
        `perf_counter`)."""
        self._stacks.describe_ahead(config, until)

    def reads_on(self, config: int) -> bool:
        """Whether only a grammar follows some leaf of a configuration: such searches leave no path."""
        return self._stacks.start(config) is not None

    def _begin(self, config: int, view: View | None) -> tuple[bool, list[_Open], np.ndarray | None]:
        """All tokens in the leaves and runs of a configuration; see `Found` for what is lost and stays."""
        machine, walks, row = self._machine, self._walks, self._row
        whole = walks.whole
        lost = False
        stays: np.ndarray | None = None
        pending: list[_Open] = []
        start = self._stacks.start(config)
        if start is not None:
            return self._begin_grammar(config, start)
        if view is None:
            groups, passed = self._in_common.passed(self._groups(config), None, row)
            pending += [(behind, nodes, (0, 0, -1)) for behind, nodes in passed]
        else:
            groups = view.groups
        for number, group in enumerate(groups):
            if group.run:
                exits = walks.literal(whole.begins[group.run[0]], group.run, row)
                if len(exits):
                    pending += self._behind(group, exits, (0, number))
            elif isinstance(group, RuleGroup):
                pending += self._through(group, None, (0, number))
            elif group.leaf is None:
                assert isinstance(group, Group)
                lost |= self._by_configs(group, None)
            else:
                found, inside = self._followed.leaf(group.leaf, group.follow(machine))
                if found.row is not None:
                    row |= found.row
                if inside is not None:
                    row |= inside
                    if stays is None:
                        stays = staying(machine, self._columns, config, group)
                numbers = None if view is None else view.numbers(number)
                pending += self._left(group, found, None, (0, number), numbers)
        return lost, pending, stays

    def _begin_grammar(self, config: int, start: Start) -> tuple[bool, list[_Open], np.ndarray | None]:
        """The same where a grammar follows. Walks leave out what is known to be legal: leaves as a whole come
        first."""
        row = self._row
        lost = False
        stays: np.ndarray | None = None
        found: list[tuple[Group, LeafMask]] = []
        for group in start.groups:
            if group.leaf is None:
                lost |= self._by_configs(group, None)
                continue
            leaf, inside = self._followed.leaf(group.leaf, group.follow(self._machine))
            found.append((group, leaf))
            if leaf.row is not None:
                row |= leaf.row
            if inside is not None:
                row |= inside
                if stays is None:
                    stays = staying(self._machine, self._columns, config, group)
        if not self._stacks.walk(config, start, row, self._account):
            self._by_stacks = False
            return self._begin(config, None)
        self._check(self._stacks.unsure if len(start.threads) else [])
        pending: list[_Open] = []
        for group, leaf in found:
            pending += self._left(group, leaf, None, (0, 0), None)
        return lost, pending, stays

    def _plain(self, config: int, entries: np.ndarray | None) -> Plain:
        """The tokens below entries (None: all) in a row of their own."""
        return self._apart(config, entries, None)

    def _inside(self, config: int, entries: np.ndarray | None) -> tuple[Plain, np.ndarray]:
        """The same of a rule by itself, which begins at a configuration; and the nodes behind it."""
        behind: list[np.ndarray] = [np.zeros(0, np.int32)]
        by_stacks, self._by_stacks = self._by_stacks, False
        try:
            return self._apart(config, entries, behind), np.unique(np.concatenate(behind))
        finally:
            self._by_stacks = by_stacks

    def _apart(self, config: int, entries: np.ndarray | None, behind: list[np.ndarray] | None) -> Plain:
        before = self._path, self._row, self._unknown, self._beyond
        unknown: list[int] = []
        self._path, self._row, self._unknown, self._beyond = None, np.zeros_like(self._row), unknown, behind
        try:
            if entries is None:
                _, pending, _ = self._begin(config, None)
            else:
                pending = [(config, entries, (0, 0, -1))]
            self._follow_all(pending, Visited(len(self._byte)))
            return Plain(self._row, unknown)
        finally:
            self._path, self._row, self._unknown, self._beyond = before

    def _through(self, group: RuleGroup, entries: np.ndarray | None, at: tuple[int, int]) -> list[_Open]:
        """Where tokens below entries (None: all) leave a rule."""
        found = self._summaries.find(group.node, entries)
        self._row[found.words] |= found.bits
        if found.unknown:
            self._path = None
            self._lost |= self._stepped(found.unknown)
        exits = found.exits[group.follow(self._machine)[self._byte[found.exits]]]
        return [(group.leave(self._machine, -1), exits, (*at, -1))] if len(exits) else []

    def _follow(self, pending: list[_Open]) -> bool:
        """Go on with rests of tokens, along the path as long as there is one."""
        machine = self._machine
        visited = Visited(len(self._byte))
        lost = False
        while pending and self._path is not None:
            config, entries, question = pending.pop()
            at = len(self._path)
            view = self._shapes.view(config)
            if view is None or at >= LONGEST:
                self._path = None
                pending.append((config, entries, question))
                break
            self._path.append((config, question))
            entries = visited.fresh(entries, config)
            if not len(entries):
                continue
            machine.effort += len(machine.configs[config])
            spend(_OF_SEARCH * len(machine.configs[config]))
            self._account.check()
            if visited.times(config) > _OFTEN:
                loops = self._loops(config, entries, view.groups)
                if loops:
                    runs = tuple([view.groups[number].run for number in loops])
                    more = visited.fresh(self._walks.repeated(entries, runs, self._row), config)
                    entries = np.union1d(entries, more)
                    self._path += [(config, (at, number, -1)) for number in loops]
                elif visited.times(config) > _AGAIN_AND_AGAIN and self._is_little(config, entries):
                    self._path = None
                    lost |= self._stepped(self._rows.follow(config, entries, self._row, self._account))
                    continue
            layers = self._layers(entries, view.groups)
            begins = self._begins(entries, view.groups)
            for number, group in enumerate(view.groups):
                if begins is not None and not may_read(group, begins):
                    continue
                numbers = view.numbers(number)
                for layer in layers:
                    pending += self._passed(group, layer, (at, number), numbers)
        return self._follow_all(pending, visited) | lost

    def _follow_all(self, pending: list[_Open], visited: Visited) -> bool:
        """The same in any order: what comes to one configuration on different ways goes on together."""
        machine = self._machine
        lost = False
        waiting: dict[int, list[np.ndarray]] = {}
        for config, entries, _ in pending:
            waiting.setdefault(config, []).append(entries)
        many = _FEW
        while waiting:
            if len(waiting) > many:
                waiting = self._together(waiting)
                many = max(_FEW, 2 * len(waiting))
            config = next(iter(waiting))
            parts = waiting.pop(config)
            entries = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
            entries = visited.fresh(entries, config)
            if not len(entries):
                continue
            machine.effort += len(machine.configs[config])
            spend(_OF_SEARCH * len(machine.configs[config]))
            self._account.check()
            if visited.times(config) > _OFTEN and self._beyond is None and self._is_little(config, entries):
                lost |= self._stepped(self._rows.follow(config, entries, self._row, self._account))
                continue
            begins = self._begins(entries, self._groups(config))
            for layer in self._layers(entries, self._groups(config)):
                groups, passed = self._in_common.passed(self._groups(config), layer, self._row)
                for behind, nodes in passed:
                    waiting.setdefault(behind, []).append(nodes)
                for group in groups:
                    if isinstance(group, Group) and not group.run and group.leaf is None:
                        if self._beyond is not None and type(group.node) is Beyond:
                            self._beyond.append(layer)
                            continue
                        lost |= self._by_configs(group, layer)
                        continue
                    if begins is not None and not may_read(group, begins):
                        continue
                    for behind, nodes, _ in self._passed(group, layer, (0, 0), None):
                        waiting.setdefault(behind, []).append(nodes)
        return lost

    def _is_little(self, config: int, entries: np.ndarray) -> bool:
        """Whether so little lies below nodes that rows of a configuration, and of those behind it, are made
        sooner than it has come up with every further byte of some tokens (a row of dashes, each a sign)."""
        most = _LITTLE if len(self._machine.configs[config]) <= _NARROW else _MANY_NODES
        return self._walks.whole.below(entries) <= most

    def _begins(self, entries: np.ndarray, groups: Sequence[SearchGroup]) -> set[int] | None:
        """The bytes of nodes, where to look at them is worth it."""
        if len(groups) < _SEVERAL or len(entries) > _MANY_NODES:
            return None
        return set(self._byte.take(entries).tolist())

    def _loops(self, config: int, entries: np.ndarray, groups: Sequence[SearchGroup]) -> list[int]:
        """The groups behind whose run, which some token has, the configuration is the same again."""
        machine, read = self._machine, self._walks.whole.literal
        some = [number for number, group in enumerate(groups) if group.run]
        some = [number for number in some if len(read(entries, groups[number].run, self._row))]
        return [number for number in some if groups[number].behind(machine) == config]

    def _layers(self, entries: np.ndarray, groups: Sequence[SearchGroup]) -> Sequence[np.ndarray]:
        """Nodes as walks of some groups take them: apart, or all at once where little lies below.

        What is below two of them is met twice, and there is room for so many exits only.
        """
        whole = self._walks.whole
        if not whole.nested(entries):
            return (entries,)
        if len(groups) <= _ALONE and whole.fits(entries) and all(map(reads_nested, groups)):
            return (entries,)
        return whole.layers(entries)

    def _passed(
        self, group: SearchGroup, entries: np.ndarray, at: tuple[int, int], numbers: dict[int, int] | None
    ) -> list[_Open]:
        """Where rests of tokens leave a group with a run or a leaf table."""
        walks, machine = self._walks, self._machine
        if isinstance(group, RuleGroup):
            return self._through(group, entries, at)
        if group.run:
            exits = walks.literal(entries, group.run, self._row)
            return self._behind(group, exits, at) if len(exits) else []
        assert group.leaf is not None
        found = walks.entered(entries, group.leaf, group.follow(machine), self._row)
        return self._left(group, found, entries, at, numbers)

    def _behind(self, group: SearchGroup, exits: np.ndarray, at: tuple[int, int]) -> list[_Open]:
        """What follows a run."""
        if self._read_on(group, -1, exits):
            return []
        if isinstance(group, RunGroup):
            every = group.behind_each(self._machine)
            if len(every) > 1:
                self._path = None
            return [(config, exits, (*at, -1)) for config in every]
        return [(group.behind(self._machine), exits, (*at, -1))]

    def _together(self, waiting: dict[int, list[np.ndarray]]) -> dict[int, list[np.ndarray]]:
        """The same where what goes on at equal nodes is one configuration: many arms go on alike, and what
        they have in common is searched once."""
        alike: dict[bytes, tuple[list[int], list[np.ndarray]]] = {}
        for config, parts in waiting.items():
            key = b"".join([len(part).to_bytes(4, "little") + part.tobytes() for part in parts])
            alike.setdefault(key, ([], parts))[0].append(config)
        joined: dict[int, list[np.ndarray]] = {}
        for configs, parts in alike.values():
            for config in together(self._machine, configs):
                joined.setdefault(config, []).extend(parts)
        return joined

    def _by_configs(self, group: Group, entries: np.ndarray | None) -> bool:
        """Tokens below entries (None: all) in leaves without a table."""
        machine = self._machine
        by_rows: list[int] = []
        unknown: list[int] = []
        lost = False
        for cont in group.conts:
            parts = group.node.difference(machine, group.state, cont)
            if parts is not None:
                try:
                    plain = self._differences.find(parts, entries)
                except TooMany:
                    parts = None
                else:
                    self._row |= plain.row
                    unknown += plain.unknown
                    lost |= parts.barred != DEAD
            if parts is None:
                by_rows.append(machine.thread(group.node, group.state, cont))
        if by_rows:
            lost |= self._by_rows(machine.config(by_rows), entries)
        return self._stepped(unknown) or lost

    def _by_rows(self, config: int, entries: np.ndarray | None) -> bool:
        """Tokens below entries (None: all), walked by rows of the configuration and of those behind it."""
        machine, whole = self._machine, self._walks.whole
        below = whole.roots if entries is None else entries
        if machine.lost[config]:
            may = machine.first(config)
            return self._stepped(below[may[whole.trie.byte[below]]].tolist())
        return self._stepped(self._rows.add(config, below, self._row, self._account))

    def _stepped(self, unknown: list[int]) -> bool:
        """Tokens below nodes at which the bytes read so far matter; whether there are any."""
        if self._unknown is not None:
            self._unknown += unknown
        else:
            for node in unknown:
                self._rows.step_through(node, self._root, self._row)
        return bool(unknown)

    def _left(
        self, group: SearchGroup, found: LeafMask, entries: np.ndarray | None, at: tuple[int, int],
        numbers: dict[int, int] | None,
    ) -> list[_Open]:  # fmt: skip
        """Where tokens leave a leaf; `entries`: those of the walk, None for all; `numbers`: canonical ones
        of labels."""
        machine = self._machine
        exits, parts, labels = found.exits, found.parts, found.labels
        if not len(exits):
            return []
        if parts is None and labels is None:
            labels = found.table.labels_of(found.ends)
        if isinstance(group, MergedGroup):
            assert labels is not None
            return self._left_merged(group, exits, labels, at)
        barred = group.node.barred(machine, group.state)
        if barred is not None:
            open = np.array([not barred(path) for path in self._walks.paths(found, entries)], bool)
            if parts is not None:
                parts = [(label, places[open[places]]) for label, places in parts]
            else:
                exits, labels = exits[open], None if labels is None else labels[open]
        left: list[_Open]
        if parts is None and labels is None:
            left = [] if self._read_on(group, -1, exits) else [(group.leave(machine, -1), exits, (*at, -1))]
        else:
            some = [(label, label, exits[places]) for label, places in parts or ()]
            if labels is not None:
                some = [(label, label, nodes) for label, nodes in by_label(exits, labels)]
            if numbers is not None:
                # Labels without a number are not open: nothing follows them.
                some = [(numbers[label], label, nodes) for label, _, nodes in some if label in numbers]
                some.sort(key=itemgetter(0))
            left = []
            for number, label, nodes in some:
                follow = group.follow_of(machine, label)
                if follow is not None:
                    if len(nodes) == 1 and not follow.item(self._byte.item(nodes.item())):
                        continue
                    nodes = nodes[follow[self._byte[nodes]]]
                if len(nodes) and not self._read_on(group, label, nodes):
                    left.append((group.leave(machine, label), nodes, (*at, number)))
        return left

    def _read_on(self, group: SearchGroup, label: int, nodes: np.ndarray) -> bool:
        """Tokens below nodes that are behind a group where only a grammar follows; whether that is so."""
        if not self._by_stacks or not isinstance(group, Group):
            return False
        found = self._stacks.follow(group, label, nodes, self._row, self._account)
        if found is None:
            return False
        self._by_stacks, self._path = found, None
        if found:
            self._check(self._stacks.unsure)
        return found

    def _check(self, nodes: list[int]) -> None:
        """Set the bits of the legal tokens at nodes, not of those below."""
        if self._unknown is not None:
            self._unknown += nodes
            return
        bits = self._row.view(np.uint32)
        for node in nodes:
            if self._machine.advance(self._root, self._walks.whole.path(node)) != DEAD:
                for index in self._walks.vocabulary.trie.ids(node):
                    bits[index >> 5] |= np.uint32(1 << (index & 31))

    def _left_merged(
        self, group: MergedGroup, exits: np.ndarray, labels: np.ndarray, at: tuple[int, int]
    ) -> list[_Open]:
        """The same for leaves that are walked as one: what nobody can go on with is not asked for."""
        machine = self._machine
        gone_on = group.going_on(machine, exits, labels, self._byte[exits])
        group.open(machine, [label for label, _ in gone_on])
        return [(group.leave(machine, label), nodes, (*at, label)) for label, nodes in gone_on]
