"""The inside of a JSON array: places with overlapping arms, counts and counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglc.automata.dfa.operations import MOST_ENTRIES
from sglc.automata.json.array_states import ArrayStates
from sglc.automata.term import Counter
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node, Worklist
from sglc.runtime.mask.core.errors import (
    LONGEST_COMPLETION,
    CompletionTooLong,
    ConstraintError,
)
from sglc.runtime.mask.nodes.core import measure
from sglc.runtime.mask.nodes.options import NULLABLE, PRODUCTIVE, Options

_SOME = 1 << 30
"""A cost that no item reaches, for what is not known yet."""

AFTER, NEXT = 0, 1
Frame = tuple[int, ...]
"""Behind an item or a comma: (kind, state)."""


@dataclass(frozen=True, slots=True)
class ArrayParts:
    """An `Array` term with nodes: for each place, then for all others, (what counters go up, node)."""

    places: Options
    minimum: int
    maximum: int | None
    counters: tuple[Counter, ...]
    comma: Node


class ArrayNode(Node):
    """States are those of `ArrayStates`. Every arm behind which the array can be completed is opened."""

    def __init__(self, parts: ArrayParts) -> None:
        self.parts = parts
        self._analysed: tuple[list[bool], tuple[bool, bool]] | None = None
        self._made: tuple[tuple[bool, ...], Options, ArrayStates] | None = None
        """Options by place and states, by what is productive; they are final when the analysis is."""
        self._measured: tuple[tuple[int | None, ...], int | None] | None = None
        self._options: Options | None = None
        most = parts.maximum
        self._no_item = parts.minimum <= 0 and not parts.counters and (most is None or most >= 0)
        """Whether no item has to be there."""
        self.states: ArrayStates

    def children(self) -> Sequence[Node]:
        """The items of all places, and the comma."""
        return (*self.parts.places.tails, self.parts.comma)

    def openers(self) -> Sequence[Node]:
        """The items of the first place; if one may be empty the comma, and if that may be all items."""
        first = self.parts.places.tails_of(0)
        if not any(node.nullable for node in first):
            return first
        return self.children() if self.parts.comma.nullable else (*first, self.parts.comma)

    def analyse(self) -> tuple[bool, bool]:
        """Productive if counts and counters can be met by productive items; nullable if by empty ones."""
        if self.productive and self.nullable:
            return True, True
        if self._no_item:
            return True, True
        children = self.children()
        key = [flag for node in children for flag in (node.productive, node.nullable)]
        if self._analysed is None or self._analysed[0] != key:
            productive = self._productive_states()[1].feasible(0)
            nullable = productive and self._may_be_empty()
            self._analysed = key, (productive, nullable)
        return self._analysed[1]

    def _may_be_empty(self) -> bool:
        if self.parts.minimum > 0 and not any(map(NULLABLE, self.parts.places.tails)):
            return False
        return self._make_states(empty=True)[1].feasible(0)

    def _productive_states(self) -> tuple[Options, ArrayStates]:
        key = tuple(map(PRODUCTIVE, self.children()))
        if self._made is None or self._made[0] != key:
            self._made = key, *self._make_states(empty=False)
        return self._made[1], self._made[2]

    def _make_states(self, empty: bool) -> tuple[Options, ArrayStates]:
        """The options of each place, and their states; `empty`: only of what may be without any byte."""
        parts = self.parts
        some = parts.places.only(NULLABLE if empty else PRODUCTIVE)
        most = parts.maximum
        if not (parts.comma.nullable if empty else parts.comma.productive):
            most = 1 if most is None else min(most, 1)
        vectors = list(map(some.vectors_of, range(len(some))))
        states = ArrayStates(vectors[:-1], vectors[-1], parts.minimum, most, parts.counters, ConstraintError)
        return some, states

    def _settle(self) -> None:
        if self._options is None:
            self._options, self.states = self._productive_states()
            self._made = None

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if that is legal, and begin the items of the first place."""
        if not self.productive:
            return
        self._settle()
        if self.states.may_end(0):
            work.append((None, cont))
        self._enter(machine, 0, cont, work)

    def resume(self, machine: Machine, state: Frame, cont: int, work: Worklist, out: set[int]) -> None:
        """Behind an item end or go on with a comma; behind a comma begin the next item."""
        kind, here = state
        if kind == NEXT:
            self._enter(machine, here, cont, work)
            return
        if self.states.may_end(here):
            work.append((None, cont))
        if self.states.options(here):
            work.append((self.parts.comma, machine.cont(self, (NEXT, here), cont)))

    def _enter(self, machine: Machine, state: int, cont: int, work: Worklist) -> None:
        assert self._options is not None
        nodes = self._options.tails_of(self.states.place(state))
        for option, after in self.states.options(state):
            work.append((nodes[option], machine.cont(self, (AFTER, after), cont)))

    # Shortest words

    def measure(self) -> int | None:
        """By a cheapest way through the states; None while items on all ways have no size."""
        if self._no_item:
            return 0
        self._settle()
        sizes = tuple([node.size for node in self.children()])
        if self._measured is None or self._measured[0] != sizes:
            found = self._cheapest(0, 0)
            size = None if found is None else found[0] - (self._between() if found[1] else 0)
            self._measured = sizes, size if size is not None and size < _SOME else None
        return self._measured[1]

    def _between(self) -> int:
        comma = self.parts.comma
        return 0 if not comma.productive else _SOME if comma.size is None else comma.size

    def _cheapest(self, state: int, at_least: int) -> tuple[int, list[tuple[int, int]]] | None:
        assert self._options is not None
        parts = self.parts
        if max([parts.minimum, *[counter.minimum for counter in parts.counters]]) > MOST_ENTRIES:
            return None
        nodes, between = self._options, self._between()

        def cost(place: int, option: int) -> int | None:
            size = nodes.tail(place, option).size
            return None if size is None else size + between

        return self.states.cheapest(state, at_least, cost)

    def _rest(self, machine: Machine, state: int, at_least: int) -> bytes:
        for node in self.children():
            if node.productive and node.size is None:
                measure(node)
        found = self._cheapest(state, at_least)
        if found is None or found[0] >= LONGEST_COMPLETION:
            raise CompletionTooLong
        assert self._options is not None
        words = [self._options.tail(place, option).shortest(machine) for place, option in found[1]]
        return self.parts.comma.shortest(machine).join(words) if len(words) > 1 else b"".join(words)

    def shortest(self, machine: Machine) -> bytes:
        """The items of a cheapest way. Raises CompletionTooLong."""
        if self._no_item:
            return b""
        self._settle()
        return self._rest(machine, 0, 0)

    def shortest_rest(self, machine: Machine, state: Frame) -> bytes:
        """The items that have to follow, with their commas. Raises CompletionTooLong."""
        kind, here = state
        if kind == NEXT:
            return self._rest(machine, here, 1)
        if self.states.may_end(here):
            return b""
        return self.parts.comma.shortest(machine) + self._rest(machine, here, 1)
