"""Ahead of time: walk a constraint's machine under a vocabulary and keep what was seen as tables.

The whole automaton is often endless, so a budget of work decides how much of it is followed. First come the
states on some random walks from the start to the end of a text, then all others breadth first; bytes that
are forced count as no step. Every state that is kept has its whole mask, and all its tokens are followed at
once by going down the trie level by level, so that tokens are grouped by the state they lead to.

Nothing depends on the time or on the computer: the same constraint and vocabulary give the same bytes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from random import Random

import numpy as np

from sglc.automata.term import Language
from sglc.kernels.bitmask.sampling import count_bits
from sglc.runtime.mask.artifact import tables as ft
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, FINAL
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.gss.completion import completion, forced
from sglc.runtime.mask.vocabulary.trie import Trie
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

_GROUP = 48
"""Tokens that lead to one state are stored as a mask from this many on: a mask takes 28 bytes and two for
each token, pairs take eight; but masks are looked at one after the other, and pairs are found by
bisection."""
_STEP = 100
"""What a step of the machine costs, in nodes of the trie."""
_MOST_NUMBERED = 50_000
"""Configurations whose steps are in one table, a kilobyte each; more begin a new one."""
_LONGEST_TEXT = 1 << 12
"""Bytes of a state's forced text, and of its shortest completion. A long text has as many states as tokens,
and each would have all of its rest. Of longer forced text the beginning is stored; longer completions are
left to the machine."""


@dataclass(frozen=True, slots=True)
class FreezeBudget:
    """How much of a constraint is frozen.

    states   states that are kept
    effort   nodes of the trie that are looked at; a step of the machine counts as a hundred
    bytes    size of the tables
    branches steps of the machine for one state; beyond that only its tokens of one byte are followed
    walks    random walks that are followed first, each of up to `walk` tokens
    """

    states: int = 1000
    effort: int = 30_000_000
    bytes: int = 1 << 20
    branches: int = 4_000
    walks: int = 12
    walk: int = 80


@dataclass(slots=True)
class _State:
    """A state that is kept: its mask, and (tokens, configuration they lead to), the largest group first."""

    config: int
    mask: int
    groups: list[tuple[np.ndarray, int]]
    forced: bytes
    ending: bytes | None


def freeze(
    language: Language,
    vocabulary: Vocabulary,
    options: ConstraintOptions | None = None,
    budget: FreezeBudget | None = None,
) -> ft.FrozenTables:
    """The tables of a constraint. Raises ConstraintError if it cannot be compiled."""
    constraint = Constraint(language, options or ConstraintOptions())
    return _Explorer(constraint, vocabulary, budget or FreezeBudget()).run()


class _Levels:
    """The trie by depth: the nodes of each level, and the place of each one's parent in the level above."""

    def __init__(self, trie: Trie) -> None:
        self.trie = trie
        order = np.argsort(trie.depth, kind="stable").astype(np.int32)
        edges = np.cumsum(np.bincount(trie.depth, minlength=trie.deepest + 1))
        self.nodes = [order[a:b] for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        self.parents = [
            np.searchsorted(above, here) - 1 for above, here in zip(self.nodes, self.nodes[1:], strict=False)
        ]
        where = np.flatnonzero(trie.token != -1)
        ids: list[int] = []
        at: list[int] = []
        for node in where.tolist():
            same = trie.ids(node)
            ids += same
            at += [node] * len(same)
        self.node_of = np.full(max(ids, default=0) + 1, -1, np.int32)
        """By token: its node."""
        self.node_of[ids] = at


def _levels(vocabulary: Vocabulary) -> _Levels:
    """Made once for each vocabulary, and kept as long as it."""
    found = vocabulary.facts.get(_Levels)
    if found is None:
        found = vocabulary.facts[_Levels] = _Levels(vocabulary.trie)
    return found


class _Steps:
    """Configurations by small numbers, 0 being DEAD, and a table of their steps by byte as far as known."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.made = 0
        """How many steps were asked of the machine."""
        self._clear()

    def _clear(self) -> None:
        self.configs = [DEAD]
        self._known = {DEAD: 0}
        self._table = np.full((256, 256), -1, np.int32)
        self._table[0] = 0

    def numbers(self, configs: list[int]) -> np.ndarray:
        """int32: the numbers of configurations."""
        if len(self.configs) > _MOST_NUMBERED:
            self._clear()
        return np.array([self._number(config) for config in configs], np.int32)

    def _number(self, config: int) -> int:
        found = self._known.get(config)
        if found is None:
            found = self._known[config] = len(self.configs)
            self.configs.append(config)
            if found == len(self._table):
                self._table = np.concatenate([self._table, np.full_like(self._table, -1)])
        return found

    def after(self, numbers: np.ndarray, bytes: np.ndarray, most: int) -> np.ndarray | None:
        """int32: the numbers after a byte each; None if the machine would be asked more than `most` times."""
        found: np.ndarray = self._table[numbers, bytes]
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            keys = np.unique(numbers[unknown].astype(np.int64) << 8 | bytes[unknown]).tolist()
            self.made += len(keys)
            if self.made > most:
                return None
            for key in keys:
                to = self._number(self._machine.step(self.configs[key >> 8], key & 255))
                self._table[key >> 8, key & 255] = to
            found[unknown] = self._table[numbers[unknown], bytes[unknown]]
        return found


class _Explorer:
    def __init__(self, constraint: Constraint, vocabulary: Vocabulary, budget: FreezeBudget) -> None:
        self.vocabulary = vocabulary
        self.budget = budget
        self.levels = _levels(vocabulary)
        self.start = constraint.matcher(vocabulary)
        self.machine = self.start.machine
        self.steps = _Steps(self.machine)
        self.masks = _MaskPool(vocabulary.words)
        self.states: list[_State] = []
        self.place: dict[int, int] = {}
        """By configuration: its place among the states that are kept."""
        self.effort = 0
        self.size = 0
        """Bytes of what is kept, a little less."""
        self.byte_tokens = _byte_tokens(vocabulary)

    def run(self) -> ft.FrozenTables:
        start = self.start.config
        if start not in (DEAD, FINAL):
            random = Random(0)
            self._keep(start)
            if self.states:
                try:
                    for _ in range(self.budget.walks):
                        self._walk(random)
                    self._spread()
                except ConstraintError:
                    # The machine has come to a limit of the constraint: what there is by now is kept.
                    pass
        return self._tables()

    # Which states

    def _full(self) -> bool:
        budget = self.budget
        return len(self.states) >= budget.states or self.effort >= budget.effort or self.size >= budget.bytes

    def _walk(self, random: Random) -> None:
        here = 0
        for _ in range(self.budget.walk):
            groups = [(ids, to) for ids, to in self.states[here].groups if to not in (DEAD, FINAL)]
            if not groups:
                return
            _, to = groups[int(random.random() * len(groups))]
            if to not in self.place:
                if self._full():
                    return
                self._keep(to)
            here = self.place[to]

    def _spread(self) -> None:
        """Breadth first; of states at one distance those that more tokens lead to come first."""
        heap: list[tuple[int, int, int, int]] = []
        done: set[int] = set()
        distance = {0: 0}
        order = 0
        pending = [0]
        while not self._full():
            while pending:
                here = pending.pop()
                done.add(here)
                state = self.states[here]
                further = distance[here] + (0 if state.forced else 1)
                for ids, to in state.groups:
                    known = self.place.get(to)
                    if to in (DEAD, FINAL) or known in done:
                        continue
                    order += 1
                    heapq.heappush(heap, (further, -len(ids), order, to))
            if not heap:
                return
            further, _, _, to = heapq.heappop(heap)
            known = self.place.get(to)
            if known in done:
                continue
            if known is None:
                self._keep(to)
                known = self.place[to]
            distance[known] = further
            pending.append(known)

    # One state

    def _keep(self, config: int) -> None:
        """Follow all tokens of a configuration."""
        store, account, machine = self.start._store, self.start._account, self.machine
        found = store.mask(config, account)
        ids = self.vocabulary.unpack(found.row)
        groups = self._groups(config, ids)
        self.place[config] = len(self.states)
        before = self.masks.bytes
        number = self.masks.add(found.row)
        with machine.lock, account:
            ending: bytes | None = completion(machine, config)
        if ending is not None and len(ending) > _LONGEST_TEXT:
            ending = None
        run = forced(machine, config)[:_LONGEST_TEXT]
        self.states.append(_State(config, number, groups, run, ending))
        pairs = 0
        for members, _ in groups:
            if len(members) >= _GROUP:
                self.masks.add(self._row(members))
            else:
                pairs += len(members)
        self.size += self.masks.bytes - before + 8 * pairs + 4 * ft.COLUMNS

    def _row(self, ids: np.ndarray) -> np.ndarray:
        flags = np.zeros(self.vocabulary.size, bool)
        flags[ids] = True
        return self.vocabulary.pack(flags)

    def _groups(self, config: int, ids: np.ndarray) -> list[tuple[np.ndarray, int]]:
        store, account = self.start._store, self.start._account
        if not len(ids):
            return []
        reached = self._descend(config, ids)
        if reached is None:
            ids = ids[np.isin(ids, self.byte_tokens)]
            if not len(ids):
                return []
            self.effort += _STEP * len(ids)
            reached = self.steps.numbers([store.next(config, token, account) for token in ids.tolist()])
        some = np.flatnonzero(np.bincount(reached))
        compact = np.zeros(some[-1] + 1, np.uint16 if len(some) <= 1 << 16 else np.int32)
        compact[some] = np.arange(len(some))
        compacted = compact[reached]
        order = np.argsort(compacted, kind="stable")
        cuts = np.flatnonzero(np.diff(compacted[order])) + 1
        parts = np.split(order, cuts)
        groups = [(ids[part], self.steps.configs[reached[part[0]]]) for part in parts]
        groups.sort(key=lambda group: (-len(group[0]), int(group[0][0])))
        return groups

    def _descend(self, config: int, ids: np.ndarray) -> np.ndarray | None:
        """The configuration (see `_Steps`) after each token, by walking the whole trie; None if it branches
        too often."""
        levels = self.levels
        byte = levels.trie.byte
        reached = np.zeros(levels.trie.size, np.int32)
        start = self.steps.numbers([config])[0]
        before = np.full(len(levels.nodes[0]), start, np.int32)
        made = self.steps.made
        with self.machine.lock, self.start._account:
            for level, nodes in enumerate(levels.nodes):
                if level:
                    before = reached[levels.nodes[level - 1][levels.parents[level - 1]]]
                alive = np.flatnonzero(before)
                if not len(alive):
                    break
                some = nodes[alive]
                self.effort += len(some)
                known = self.steps.made
                after = self.steps.after(before[alive], byte[some], made + self.budget.branches)
                self.effort += _STEP * (self.steps.made - known)
                if after is None:
                    return None
                reached[some] = after
        after_ids: np.ndarray = reached[levels.node_of[ids]]
        return after_ids

    # Tables

    def _tables(self) -> ft.FrozenTables:
        number = {DEAD: ft.DEAD, FINAL: 1}
        number.update((config, place + 2) for config, place in self.place.items())
        empty = self.masks.add(np.zeros(self.vocabulary.words, np.int32))
        text = _TextPool()
        rows = np.zeros((len(self.states) + 2, ft.COLUMNS), np.int32)
        rows[:2, ft.MASK] = empty
        rows[0, ft.ENDING_SIZE] = -1
        rows[1, ft.FLAGS] = ft.ACCEPTING
        steps: list[np.ndarray] = []
        at = 0
        for place, state in enumerate(self.states, 2):
            row = rows[place]
            row[ft.FLAGS] = ft.ACCEPTING if self.machine.accepts(state.config) else 0
            row[ft.MASK] = state.mask
            row[ft.FORCED], row[ft.FORCED_SIZE] = text.add(state.forced), len(state.forced)
            if state.ending is None:
                row[ft.ENDING_SIZE] = -1
            else:
                row[ft.ENDING], row[ft.ENDING_SIZE] = text.add(state.ending), len(state.ending)
            known = [(ids, number[to]) for ids, to in state.groups if to in number]
            large = [(self.masks.add(self._row(ids)), to) for ids, to in known if len(ids) >= _GROUP]
            small = [(ids, to) for ids, to in known if len(ids) < _GROUP]
            flat = [np.array(large, np.int32).reshape(-1)]
            if small:
                tokens = np.concatenate([ids for ids, _ in small]).astype(np.int32)
                targets = np.concatenate([np.full(len(ids), to, np.int32) for ids, to in small])
                order = np.argsort(tokens)
                flat += [tokens[order], targets[order]]
                row[ft.PAIRS] = len(tokens)
            row[ft.STEPS], row[ft.GROUPS] = at, len(large)
            steps += flat
            at += sum(map(len, flat))
        masks, bases, packed = self.masks.arrays()
        return ft.FrozenTables(
            self.vocabulary.size,
            number[self.start.config] if self.start.config in number else 2,
            rows,
            masks,
            self.byte_tokens,
            bases,
            np.concatenate(steps) if steps else np.zeros(0, np.int32),
            packed,
            text.array(),
        )


def _byte_tokens(vocabulary: Vocabulary) -> np.ndarray:
    """int32[256]: the first token that writes just this byte, -1 where there is none."""
    found = np.full(256, -1, np.int32)
    for token, data in enumerate(vocabulary.token_bytes):
        if data is not None and len(data) == 1 and found[data[0]] < 0:
            found[data[0]] = token
    return found


class _MaskPool:
    """Different masks, each as the difference to the base that is nearest.

    Most masks are small, or a large one that occurs often with a few tokens more or less.
    """

    def __init__(self, words: int) -> None:
        self.words = words
        self.bytes = 0
        self._known: dict[bytes, int] = {}
        self._bases: list[np.ndarray] = []
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._ids: list[np.ndarray] = []
        self._at = 0

    def add(self, row: np.ndarray) -> int:
        key = row.tobytes()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._rows)
            self._rows.append(self._coded(row))
        return found

    def _coded(self, row: np.ndarray) -> tuple[int, int, int, int, int]:
        count = count_bits(row)
        base, least = -1, count
        if least > 64:
            for number, other in enumerate(self._bases):
                different = count_bits(row ^ other)
                if different < least:
                    base, least = number, different
        if 2 * least > 2 * self.words:
            # The list would take more than half of a row: the row becomes a base itself.
            base, least = len(self._bases), 0
            self._bases.append(row.copy())
            self.bytes += 4 * self.words
        self.bytes += 20
        if not least:
            return base, 0, 0, 0, count
        flips = row if base < 0 else row ^ self._bases[base]
        ids = np.flatnonzero(np.unpackbits(flips.astype("<i4").view(np.uint8), bitorder="little"))
        packed, wide = ft.pack_ids(ids)
        place = self._at
        self._ids.append(packed)
        self._at += len(packed)
        self.bytes += packed.nbytes
        return base, place, len(ids), wide, count

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(masks, bases, ids) of the tables."""
        bases = np.array(self._bases, np.int32).reshape(-1, self.words)
        ids = np.concatenate(self._ids) if self._ids else np.zeros(0, np.uint16)
        return np.array(self._rows, np.int32).reshape(-1, 5), bases, ids


class _TextPool:
    """Byte strings one after the other; what is a part of what is there takes no room."""

    _SEARCHED = 1 << 17

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, text: bytes) -> int:
        at = self._data.find(text, max(0, len(self._data) - self._SEARCHED))
        if at < 0:
            at = len(self._data)
            self._data += text
        return at

    def array(self) -> np.ndarray:
        return np.frombuffer(bytes(self._data), np.uint8)
