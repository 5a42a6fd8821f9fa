"""All tokens of a configuration at once: which configuration each of them leads to.

The trie of the vocabulary is gone down level by level, so that a beginning that tokens share is read once.
Where that branches too often, only the tokens of one byte are followed.
"""

from __future__ import annotations

import numpy as np

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.trie import Trie
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

STEP = 100
"""What asking the machine costs, in nodes of the trie: for a step, or for all of a configuration at once."""
_MOST_NUMBERED = 50_000
"""Configurations whose steps are in one table, a kilobyte each; more begin a new one."""


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
        """int32: the numbers of configurations; those of earlier calls may not be used any more."""
        if len(self.configs) > _MOST_NUMBERED:
            self._clear()
        return self._numbers(configs)

    def _numbers(self, configs: list[int]) -> np.ndarray:
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
            machine = self._machine
            keys = np.unique(numbers[unknown].astype(np.int64) << 8 | bytes[unknown])
            depends = np.array([machine.history_dependent[self.configs[key >> 8]] for key in keys], bool)
            rows = np.unique(keys[~depends] >> 8).tolist()
            single = keys[depends].tolist()
            self.made += len(rows) + len(single)
            if self.made > most:
                return None
            for number in rows:
                self._fill(number)
            for key in single:
                to = self._number(machine.step(self.configs[key >> 8], key & 255))
                self._table[key >> 8, key & 255] = to
            found[unknown] = self._table[numbers[unknown], bytes[unknown]]
        return found

    def _fill(self, number: int) -> None:
        """All steps of a configuration at once, from its row."""
        row = self._machine.row(self.configs[number])
        targets, place = np.unique(row, return_inverse=True)
        self._table[number] = self._numbers(targets.tolist())[place]


class TokenSteps:
    """Follows tokens from the configurations of one constraint. `branches` is the most steps of the machine
    for one configuration."""

    def __init__(self, start: Matcher, vocabulary: Vocabulary, branches: int) -> None:
        self.start = start
        self.machine = start.machine
        self.effort = 0
        """Nodes of the trie that were looked at; a step of the machine counts as `STEP`."""
        self._branches = branches
        self._levels = _levels(vocabulary)
        self._steps = _Steps(self.machine)
        self._byte_tokens = byte_tokens(vocabulary)

    def groups(
        self, config: int, ids: np.ndarray, nodes: np.ndarray | None = None
    ) -> list[tuple[np.ndarray, int]]:
        """(tokens, the configuration they lead to) of the tokens `ids` (int[n], legal), the largest first.

        `nodes` is what `nodes` has just given for the configuration, if it was asked.
        """
        if not len(ids):
            return []
        if nodes is None:
            nodes = self.nodes(config)
        if nodes is not None:
            reached = nodes[self._levels.node_of[ids]]
        else:
            ids = ids[np.isin(ids, self._byte_tokens)]
            if not len(ids):
                return []
            self.effort += STEP * len(ids)
            store, account = self.start._store, self.start._account
            reached = self._steps.numbers([store.next(config, token, account) for token in ids.tolist()])
        some = np.flatnonzero(np.bincount(reached))
        compact = np.zeros(some[-1] + 1, np.uint16 if len(some) <= 1 << 16 else np.int32)
        compact[some] = np.arange(len(some))
        compacted = compact[reached]
        order = np.argsort(compacted, kind="stable")
        cuts = np.flatnonzero(np.diff(compacted[order])) + 1
        parts = np.split(order, cuts)
        groups = [(ids[part], self._steps.configs[reached[part[0]]]) for part in parts]
        groups.sort(key=lambda group: (-len(group[0]), int(group[0][0])))
        return groups

    def nodes(self, config: int) -> np.ndarray | None:
        """int32 by node of the trie: the number of the configuration after its bytes (see `config_of`), 0 for
        bytes that are not legal. None if that takes too many steps of the machine."""
        levels = self._levels
        byte = levels.trie.byte
        reached = np.zeros(levels.trie.size, np.int32)
        start = self._steps.numbers([config])[0]
        before = np.full(len(levels.nodes[0]), start, np.int32)
        made = self._steps.made
        with self.machine.lock, self.start._account:
            for level, nodes in enumerate(levels.nodes):
                if level:
                    before = reached[levels.nodes[level - 1][levels.parents[level - 1]]]
                alive = np.flatnonzero(before)
                if not len(alive):
                    break
                some = nodes[alive]
                self.effort += len(some)
                known = self._steps.made
                after = self._steps.after(before[alive], byte[some], made + self._branches)
                self.effort += STEP * (self._steps.made - known)
                if after is None:
                    return None
                reached[some] = after
        return reached

    def config_of(self, number: int) -> int:
        """The configuration with a number that `nodes` gave last."""
        return self._steps.configs[number]


class _ByteTokens:
    """The name under which a vocabulary keeps its tokens of one byte."""


def byte_tokens(vocabulary: Vocabulary) -> np.ndarray:
    """int32[256], read-only: the first token that writes just this byte, -1 where there is none."""
    known: np.ndarray | None = vocabulary.facts.get(_ByteTokens)
    if known is None:
        known = vocabulary.facts[_ByteTokens] = np.full(256, -1, np.int32)
        for token, data in enumerate(vocabulary.token_bytes):
            if data is not None and len(data) == 1 and known[data[0]] < 0:
                known[data[0]] = token
    return known
