"""The search for one mask: from a configuration through lexemes and runs until no token is left.

A mask is the union of the masks of the threads. Each thread takes the tokens (or rests of tokens) as far as
its lexeme goes, and the continuation goes on with what is left of them: from each configuration with all
nodes of the trie that have come to it so far, those with most nodes first. A search says how it went
(`mask_sharing`), so that configurations which answer alike have its mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from sglc.automata.work import spend
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD
from sglc.runtime.mask.automaton.step import Group
from sglc.runtime.mask.gss_walk.masks import StackMasks
from sglc.runtime.mask.search.boundaries import by_label
from sglc.runtime.mask.search.lexeme_walks import LexemeWalks
from sglc.runtime.mask.search.mask_sharing import MaskSharing, Path, Question
from sglc.runtime.mask.search.row_walks import RowMasks
from sglc.runtime.mask.search.unique_masks import ItemMasks, UniqueItemMasks
from sglc.runtime.mask.search.visited import Visited
from sglc.runtime.mask.search.walk_result import WalkResult

_OF_SEARCH = 20
"""Units of work of following a thread."""

_Numbers = dict[int, int] | None
"""The canonical numbers of a group's labels; None where they are canonical, or nobody asks."""


class Found(NamedTuple):
    """What a search says of the row it has filled.

    needs_history  it holds only for the bytes read so far
    path           how to find it again, None where it has to be searched again
    """

    needs_history: bool
    path: Path | None


@dataclass(slots=True)
class _Search:
    """One search, from `root`: what it fills, where it has been, what is left to be followed.

    path           what it has asked and was answered, None where others cannot ask the same
    unknown        of searches of plain continuations: the nodes below which tokens are not known
    walks          whether rests of tokens are walked by stacks as far as they can be
    needs_history  whether the row holds only for the bytes read so far
    """

    root: int
    row: np.ndarray
    account: LimitTracker
    visited: Visited
    path: Path | None = None
    unknown: list[int] | None = None
    walks: bool = False
    needs_history: bool = False
    waiting: dict[int, list[np.ndarray]] = field(default_factory=dict)
    """Nodes before which rests of tokens go on, by configuration."""
    places: dict[int, int] = field(default_factory=dict)
    """By configuration: where it comes first on the path."""

    def go_on(self, config: int, nodes: np.ndarray, question: Question) -> None:
        """Rests of tokens at nodes go on with a configuration, which is the answer to a question."""
        self.waiting.setdefault(config, []).append(nodes)
        path = self.path
        if path is not None:
            self.places.setdefault(config, len(path))
            path.append((config, question))


class MaskSearch:
    """Searches of one machine under one vocabulary."""

    def __init__(self, machine: Machine, walks: LexemeWalks, sharing: MaskSharing) -> None:
        self._machine = machine
        self._walks = walks
        self._sharing = sharing
        self._trie = walks.vocabulary.trie
        self._rows = RowMasks(machine, walks.whole)
        self._stacks = StackMasks(machine, walks.vocabulary, walks.whole.roots)
        self._differences = UniqueItemMasks(machine, walks.whole, self._plain)

    def run(self, config: int, row: np.ndarray, account: LimitTracker) -> Found:
        """Set the bits of the legal tokens in a row of zeros."""
        search = self._search(config, row, account)
        if not self.reads_on(config):
            search.path = [(config, None)]
            search.places[config] = 0
        try:
            self._begin(search, config)
            self._follow(search)
        except BaseException:
            # A limit may be passed anywhere.
            self._stacks.forget()
            raise
        return Found(search.needs_history, search.path)

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables by which grammars are walked."""
        return self._stacks.table_bytes

    @property
    def grammar_walks(self) -> int:
        """Native walks through rules of a grammar so far."""
        return self._stacks.walks

    def describe_ahead(self, config: int, until: float) -> None:
        """Find out about the parts of a grammar that follows a configuration, while there is time (of
        `perf_counter`)."""
        self._stacks.describe_ahead(config, until)

    def reads_on(self, config: int) -> bool:
        """Whether only a grammar follows some lexeme of a configuration: such searches leave no path."""
        return self._stacks.start(config) is not None

    def _search(self, config: int, row: np.ndarray, account: LimitTracker) -> _Search:
        return _Search(config, row, account, Visited())

    def _plain(self, config: int, entries: np.ndarray | None, account: LimitTracker) -> ItemMasks:
        """The tokens below entries (None: all) in a row of their own."""
        search = self._search(config, np.zeros(self._walks.vocabulary.words, np.int32), account)
        unknown = search.unknown = []
        if entries is None:
            self._begin(search, config)
        else:
            search.waiting[config] = [entries]
        self._follow(search)
        return ItemMasks(search.row, unknown)

    # From all beginnings of tokens

    def _begin(self, search: _Search, config: int) -> None:
        """All tokens in the lexemes and runs of a configuration."""
        walks, row = self._walks, search.row
        start = self._stacks.start(config)
        search.walks = start is not None
        groups, numbers = (start.groups, None) if start is not None else self._groups(search, config)
        found: list[tuple[int, Group, WalkResult]] = []
        for number, group in enumerate(groups):
            if group.run:
                boundaries = walks.literal(walks.whole.begins[group.run[0]], group.run, row)
                if len(boundaries):
                    self._behind(search, group, boundaries, (0, number))
            elif group.lexeme is None:
                self._by_configs(search, group, None)
            else:
                lexeme, inside = walks.lexeme(group.lexeme, group.follow(self._machine))
                found.append((number, group, lexeme))
                for part in (lexeme.row, inside):
                    if part is not None:
                        row |= part
        # Walks by stacks leave out what is known to be legal: what is looked up comes first.
        if start is not None:
            if not self._stacks.walk(config, start, row, search.account):
                self._begin(search, config)
                return
            self._check(search, self._stacks.unsure if len(start.threads) else [])
        for number, group, lexeme in found:
            self._left(search, group, lexeme, None, (0, number), None if numbers is None else numbers[number])

    def _groups(self, search: _Search, config: int) -> tuple[Sequence[Group], Sequence[_Numbers] | None]:
        """What a configuration reads, and the canonical numbers of labels if the search has a path. That ends
        where what is read has no signature."""
        if search.path is not None:
            view = self._sharing.view(config)
            if view is not None:
                return view.groups, [view.numbers(number) for number in range(len(view.groups))]
            search.path = None
        return self._machine.groups(config), None

    # From nodes inside of tokens

    def _follow(self, search: _Search) -> None:
        """Go on with rests of tokens until nothing is left."""
        machine, whole, waiting = self._machine, self._walks.whole, search.waiting
        many = 1
        while waiting:
            if search.path is None and len(waiting) > many:
                self._merge(waiting)
                many = 2 * len(waiting)
            # What comes to the others meanwhile is walked with them.
            config = max(waiting, key=lambda config: sum(map(len, waiting[config])))
            parts = waiting.pop(config)
            entries = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
            entries = search.visited.fresh(entries, config)
            if not len(entries):
                continue
            machine.effort += len(machine.configs[config])
            spend(_OF_SEARCH * len(machine.configs[config]))
            search.account.check()
            groups, numbers = self._groups(search, config)
            at = search.places.get(config, 0)
            nested = whole.nested(entries)
            portions = whole.portions(entries) if nested else [entries]
            for number, group in enumerate(groups):
                known = None if numbers is None else numbers[number]
                apart = nested and not self._meets_twice(group)
                for part in whole.layers(entries) if apart else portions:
                    self._pass(search, group, part, (at, number), known, nested and not apart)

    def _meets_twice(self, group: Group) -> bool:
        """Whether a walk through a group may begin at nodes below one another: not where it matters what is
        read between the entry and a boundary."""
        if group.run:
            return True
        place = group.lexeme
        if place is None or place.table.names(place) is not None:
            return False
        return group.node.forbidden(self._machine, group.state) is None

    def _merge(self, waiting: dict[int, list[np.ndarray]]) -> None:
        """Make what goes on at equal nodes one configuration: many arms go on alike, and what they have in
        common is searched once."""
        alike: dict[bytes, tuple[list[int], list[np.ndarray]]] = {}
        for config, parts in waiting.items():
            key = b"".join([len(part).to_bytes(4, "little") + part.tobytes() for part in parts])
            alike.setdefault(key, ([], parts))[0].append(config)
        waiting.clear()
        for configs, parts in alike.values():
            config = configs[0] if len(configs) == 1 else self._machine.join(configs)
            waiting.setdefault(config, []).extend(parts)

    def _pass(
        self,
        search: _Search,
        group: Group,
        entries: np.ndarray,
        at: tuple[int, int],
        numbers: _Numbers,
        nested: bool,
    ) -> None:
        """Rests of tokens go through what a group reads; `nested`: some may begin below others."""
        walks = self._walks
        if group.run:
            boundaries = walks.literal(entries, group.run, search.row, nested)
            if len(boundaries):
                self._behind(search, group, boundaries, at)
        elif group.lexeme is None:
            self._by_configs(search, group, entries)
        else:
            entries = walks.beginning(entries, group.lexeme)
            if not len(entries):
                return
            found = walks.entered(entries, group.lexeme, group.follow(self._machine), search.row, nested)
            self._left(search, group, found, entries, at, numbers)

    # What follows

    def _behind(self, search: _Search, group: Group, boundaries: np.ndarray, at: tuple[int, int]) -> None:
        """What follows a run."""
        if self._read_on(search, group, -1, boundaries):
            return
        search.go_on(group.behind(self._machine), boundaries, (*at, -1))

    def _left(
        self,
        search: _Search,
        group: Group,
        found: WalkResult,
        entries: np.ndarray | None,
        at: tuple[int, int],
        numbers: _Numbers,
    ) -> None:
        """Where tokens leave a lexeme; `entries`: those of the walk, None for all."""
        machine, byte = self._machine, self._trie.byte
        boundaries, parts, labels = found.boundaries, found.parts, found.labels
        if not len(boundaries):
            return
        if parts is None and labels is None:
            labels = found.table.labels_of(found.ends)
        forbidden = group.node.forbidden(machine, group.state)
        if forbidden is not None:
            open = np.array([not forbidden(path) for path in self._walks.paths(found, entries)], bool)
            if parts is not None:
                parts = [(label, places[open[places]]) for label, places in parts]
            else:
                boundaries, labels = boundaries[open], None if labels is None else labels[open]
        if parts is None and labels is None:
            if not self._read_on(search, group, -1, boundaries):
                search.go_on(group.leave(machine, -1), boundaries, (*at, -1))
            return
        some = [(label, label, boundaries[places]) for label, places in parts or ()]
        if labels is not None:
            some = [(label, label, nodes) for label, nodes in by_label(boundaries, labels)]
        if numbers is not None:
            # Labels without a number are not open: nothing follows them.
            some = [(numbers[label], label, nodes) for label, _, nodes in some if label in numbers]
            some.sort(key=itemgetter(0))
        for number, label, nodes in some:
            follow = group.follow_of(machine, label)
            if follow is not None:
                if len(nodes) == 1 and not follow.item(byte.item(nodes.item())):
                    continue
                nodes = nodes[follow[byte[nodes]]]
            if len(nodes) and not self._read_on(search, group, label, nodes):
                search.go_on(group.leave(machine, label), nodes, (*at, number))

    def _read_on(self, search: _Search, group: Group, label: int, nodes: np.ndarray) -> bool:
        """Walk tokens below nodes that are behind a group by stacks; whether that could be done."""
        if not search.walks:
            return False
        found = self._stacks.follow(group, label, nodes, search.row, search.account)
        if found is None:
            return False
        search.walks, search.path = found, None
        if found:
            self._check(search, self._stacks.unsure)
        return found

    # Where configurations are stepped through

    def _by_configs(self, search: _Search, group: Group, entries: np.ndarray | None) -> None:
        """Tokens below entries (None: all) in lexemes without a table."""
        machine = self._machine
        by_rows: list[int] = []
        for cont in group.conts:
            parts = group.node.difference(machine, group.state, cont)
            if parts is None:
                by_rows.append(machine.thread(group.node, group.state, cont))
                continue
            plain = self._differences.find(parts, entries, search.account)
            search.row |= plain.row
            search.needs_history |= parts.forbidden != DEAD
            self._step_through(search, plain.unknown)
        if by_rows:
            self._by_rows(search, machine.config(by_rows), entries)

    def _by_rows(self, search: _Search, config: int, entries: np.ndarray | None) -> None:
        """Tokens below entries (None: all), walked by rows of the configuration and of those behind it."""
        machine, whole = self._machine, self._walks.whole
        below = whole.roots if entries is None else entries
        if machine.needs_history[config]:
            unknown = below[machine.first(config)[whole.trie.byte[below]]].tolist()
        else:
            unknown = self._rows.add(config, below, search.row, search.account)
        self._step_through(search, unknown)

    def _step_through(self, search: _Search, unknown: list[int]) -> None:
        """Tokens below nodes at which the bytes read so far matter."""
        search.needs_history |= bool(unknown)
        if search.unknown is not None:
            search.unknown += unknown
            return
        self._rows.step_through(unknown, search.root, search.row)

    def _check(self, search: _Search, nodes: list[int]) -> None:
        """Set the bits of the legal tokens at nodes, not of those below."""
        if search.unknown is not None:
            search.unknown += nodes
            return
        machine, whole = self._machine, self._walks.whole
        legal = [node for node in nodes if machine.advance(search.root, whole.path(node)) != DEAD]
        whole.set_tokens(np.array(legal, np.int32), search.row)
