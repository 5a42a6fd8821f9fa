"""What many threads of a configuration read alike: the first words of lists.

The arms of a union of objects go on with keys that are mostly the same. Words are followed as one list, and
behind each of them goes on what has it (for forced runs see `same_runs`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sglc.kernels.trie.word_list import WordList
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.step import Group
from sglc.runtime.mask.nodes.words import asides_left
from sglc.runtime.mask.search.lexeme_walks import LeafWalks
from sglc.runtime.mask.search.merge_lexemes import SearchGroup
from sglc.runtime.mask.search.merge_literals import together

_FEW = 3
"""So many groups are followed one by one."""
_Passed = list[tuple[int, np.ndarray]]
"""Configurations before rests of tokens, and the nodes of these."""
_Words = list[tuple[Group, list[tuple[bytes, int]]]]
"""Groups with their words and the labels of these."""


class InCommon:
    """Walks of several groups at once."""

    def __init__(self, machine: Machine, walks: LeafWalks) -> None:
        self._machine = machine
        self._walks = walks

    def passed(
        self, groups: Sequence[SearchGroup], entries: np.ndarray | None, row: np.ndarray
    ) -> tuple[Sequence[SearchGroup], _Passed]:
        """(groups that are to be followed by themselves, where rests of tokens leave the others).

        From some nodes, None: from all roots. Bits of legal tokens are set.
        """
        if len(groups) <= _FEW:
            return groups, []
        words: dict[tuple[bool, bytes], _Words] = {}
        alone: list[SearchGroup] = []
        for group in groups:
            if not isinstance(group, Group) or group.run:
                alone.append(group)
                continue
            few = None if group.leaf is None else group.leaf.table.few_words(group.leaf)
            if few is None or group.node.barred(self._machine, group.state) is not None:
                alone.append(group)
            else:
                key = few.escapes, group.follow(self._machine).tobytes()
                words.setdefault(key, []).append((group, few.words))
        found: _Passed = []
        for (escapes, first), several in words.items():
            passed = None
            if len(several) > 1:
                passed = self._behind_words(several, escapes, np.frombuffer(first, bool), entries, row)
            if passed is None:
                alone += [group for group, _ in several]
            else:
                found += passed
        return alone, found

    def _behind_words(
        self, groups: _Words, escapes: bool, first: np.ndarray, entries: np.ndarray | None, row: np.ndarray
    ) -> _Passed | None:
        """None where that is not found by looking at words alone."""
        machine, whole = self._machine, self._walks.whole
        ways: dict[bytes, list[tuple[Group, int]]] = {}
        for group, words in groups:
            for word, label in words:
                ways.setdefault(word, []).append((group, label))
        at_once = ways.pop(b"", None)
        listed = sorted(ways)
        tops = whole.roots if entries is None else entries
        passed: list[tuple[list[tuple[Group, int]], np.ndarray]] = []
        if listed:
            words_of = WordList(listed)
            found = whole.words(tops, words_of, (0, len(listed), 0), first, row, escapes)
            if len(found.asides) and len(asides_left(whole, found, words_of, row)):
                return None
            for number in np.unique(found.ends).tolist():
                passed.append((ways[listed[number]], found.exits[found.ends == number]))
        if at_once is not None:
            nodes = tops[first[whole.trie.byte[tops]]]
            if len(nodes):
                passed.append((at_once, nodes))
        return [
            (config, nodes)
            for some, nodes in passed
            for config in together(machine, [group.leave(machine, label) for group, label in some])
        ]
