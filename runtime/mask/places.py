"""States of nodes as numbers, and places in constraints as three numbers each."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import TYPE_CHECKING

from sglc.runtime.mask.interned import Interned

if TYPE_CHECKING:
    from sglc.runtime.mask.node import Node

_HALF = 32


class States:
    """States of nodes by number. Nodes of one kind have states of one kind: equal ones are the same."""

    __slots__ = ("_numbers", "known")

    def __init__(self) -> None:
        self.known: list[Hashable] = [None]
        """By number; 0 is that of no node."""
        self._numbers: dict[type[Node], Interned[Hashable, int]] = {}

    def number(self, node: Node, state: Hashable) -> int:
        """The number of a state of a node."""
        kind = type(node)
        numbers = self._numbers.get(kind)
        if numbers is None:
            numbers = self._numbers[kind] = Interned()
        found = numbers.get(state)
        if found is None:
            found = numbers[state] = len(self.known)
            self.known.append(state)
        return found


class Places:
    """Places (node, state, continuation) in the order in which they are met, all by number; 0 is none.

    They are the most of what a machine keeps: a tuple each, in a list and a dict, were half of what the
    garbage collector looked at in a full collection.
    """

    __slots__ = ("_conts", "_nodes", "_numbers", "_states")

    def __init__(self) -> None:
        self._nodes, self._states, self._conts = array("i", (-1,)), array("i", (0,)), array("q", (0,))
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __getitem__(self, place: int) -> tuple[int, int, int]:
        """(node, state, continuation)."""
        return self._nodes[place], self._states[place], self._conts[place]

    def cont(self, place: int) -> int:
        return self._conts[place]

    def number(self, node: int, state: int, cont: int) -> int:
        """The place of a node in a state before a continuation."""
        key = (node << _HALF | state) << _HALF | cont
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._nodes)
            self._nodes.append(node)
            self._states.append(state)
            self._conts.append(cont)
        return found
