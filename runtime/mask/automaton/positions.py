"""States of nodes as numbers, and places in constraints as three numbers each."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import TYPE_CHECKING

from sglc.runtime.mask.core.intern_table import Interned

if TYPE_CHECKING:
    from sglc.runtime.mask.automaton.protocol import Node

HALF = 32
"""Numbers are kept in one, side by side: `a << HALF | b`."""


class States:
    """States of nodes by number. Nodes of one kind have states of one kind: equal ones are the same."""

    __slots__ = ("_numbers", "known")

    def __init__(self) -> None:
        self.known: list[Hashable] = [None]
        """By number; 0 is that of no node."""
        self._numbers: dict[type[Node], Interned[Hashable, int]] = {}

    def of_kind(self, kind: type[Node]) -> Interned[Hashable, int]:
        """The numbers of the states that nodes of one kind have had."""
        found = self._numbers.get(kind)
        if found is None:
            found = self._numbers[kind] = Interned()
        return found

    def add(self, numbers: Interned[Hashable, int], state: Hashable) -> int:
        """The number of a state that has none yet."""
        found = numbers[state] = len(self.known)
        self.known.append(state)
        return found


class Places:
    """Places (node, state, continuation) in the order in which they are met, all by number; 0 is none.

    They are the most of what a machine keeps: a tuple each, in a list and a dict, were half of what the
    garbage collector looked at in a full collection.
    """

    __slots__ = ("conts", "nodes", "numbers", "states")

    def __init__(self) -> None:
        self.nodes, self.states, self.conts = array("i", (-1,)), array("i", (0,)), array("q", (0,))
        self.numbers: dict[int, int] = {}
        """By node, state and continuation in one number: `(node << HALF | state) << HALF | cont`."""

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: int, state: int, cont: int) -> int:
        """The number of a place that has none yet."""
        found = self.numbers[(node << HALF | state) << HALF | cont] = len(self.nodes)
        self.nodes.append(node)
        self.states.append(state)
        self.conts.append(cont)
        return found
