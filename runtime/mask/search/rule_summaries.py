"""What tokens do in a rule, whatever comes behind it: found once, and used wherever the rule is open.

Rules that are the same in all constraints (any JSON value) are open before ever new continuations. What is
read inside of one depends on none of these, so it is searched before a continuation that takes everything,
and remembered with the nodes at which the rule may have ended, from where what really comes behind goes on.
(Such summaries of parts that are called from many places are those of Sharir and Pnueli, 1981.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node
from sglc.runtime.mask.nodes.core import RuleNode
from sglc.runtime.mask.search.unique_masks import Plain

_MOST_KEPT = 4096


class RuleGroup:
    """The threads of a configuration that are the beginning of a shared rule; to searches, one group."""

    run = b""
    leaf = None
    state = 0

    def __init__(self, rule: RuleNode, cont: int) -> None:
        self.node: Node = rule
        self.conts = (cont,)

    def follow(self, machine: Machine) -> np.ndarray:
        """bool[256]: the bytes with which the text after the rule may begin."""
        return machine.first_after(self.conts[0])

    def follow_of(self, machine: Machine, label: int) -> np.ndarray | None:
        raise TypeError("rules have no labels")

    def key(self, machine: Machine) -> tuple[bytes, ...]:
        """What is asked of the text after the rule."""
        return (self.follow(machine).tobytes(),)

    def behind(self, machine: Machine) -> int:
        raise TypeError("rules have no run")

    def leave(self, machine: Machine, label: int, data: bytes | None = None) -> int:
        """The configuration behind the rule."""
        return machine.after(self.conts[0])


class Summary(NamedTuple):
    """The legal tokens that end in a rule, and the nodes at which texts after it begin.

    words    where bits are set in the row, and `bits` int32 which
    exits    nodes, in order
    unknown  nodes below which each token has to be looked at
    """

    words: np.ndarray
    bits: np.ndarray
    exits: np.ndarray
    unknown: list[int]


class Summaries:
    """Those of one machine and vocabulary.

    `search(configuration, entries)` gives the tokens below entries (None: all) up to the continuation that
    takes everything, and the nodes where that begins.
    """

    def __init__(
        self,
        machine: Machine,
        search: Callable[[int, np.ndarray | None], tuple[Plain, np.ndarray]],
    ) -> None:
        self._machine = machine
        self._search = search
        self._known: dict[tuple[int, bytes | None], Summary] = {}

    def find(self, rule: Node, entries: np.ndarray | None) -> Summary:
        """What tokens below entries (None: all) do in a rule."""
        key = rule.index, None if entries is None else entries.tobytes()
        found = self._known.get(key)
        if found is None:
            config = self._machine.begin(rule, self._machine.beyond)
            plain, exits = self._search(config, entries)
            words = (plain.row != 0).nonzero()[0]
            found = Summary(words, plain.row[words], exits, plain.unknown)
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[key] = found
        return found
