"""The inside of a JSON array whose items are all different values.

The configurations of an item run beside those of all texts of the values that were written before: an item
may not end where one of these does, and is alive while it can end anywhere else. So it is dead from the first
byte on behind which only used values are left. Once no used value can be meant any more, nothing but the item
itself is followed.

Which values were used is known at the end of an item from its bytes, which are part of the state. Masks are
walked without them (`without_history`); one that ends an item and begins the next then `needs_history`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from sglc.automata.json.text import NotAValue, Value, canonical, texts
from sglc.automata.term import Term
from sglc.automata.work import spend
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, END, Node, UniqueItems, Worklist
from sglc.runtime.mask.core.errors import CompletionTooLong, ConstraintError
from sglc.runtime.mask.gss.completion import completion
from sglc.runtime.mask.nodes.array import AFTER, NEXT, ArrayNode, ArrayParts, Frame
from sglc.runtime.mask.nodes.core import measure

_UNKNOWN, _NEEDS_HISTORY = -1, -2
_OF_PLACE = 5
"""Units of work of looking for a value from one place."""

ElementState = tuple[int, int, int, int, bytes | None]
"""(state of the array behind the item, number of the values used before, configuration of the item,
configuration of the texts of used values, bytes of the item so far).

Without the bytes the values are `_UNKNOWN`, or `_NEEDS_HISTORY` where it is not known without them what may
come next.
"""


class DistinctArray(ArrayNode):
    """See the module. Frames are those of `ArrayNode` with the number of the values used."""

    differs = True

    def __init__(self, parts: ArrayParts, compiled: Callable[[Term], Node]) -> None:
        super().__init__(parts)
        self._compiled = compiled
        self._held: list[frozenset[Value]] = [frozenset()]
        self._held_ids: dict[frozenset[Value], int] = {frozenset(): 0}
        self._forbidden: dict[int, int] = {0: DEAD}
        self._texts: dict[Value, Node] = {}
        self._alive: dict[tuple[int, int], bool | None] = {}
        self._knowing: dict[tuple[int, int], int] = {}

    def _settle(self) -> None:
        if self._options is None:
            seen: set[int] = set()
            stack = [*self.parts.places.tails]
            while stack:
                node = stack.pop()
                if isinstance(node, DistinctArray):
                    raise ConstraintError("an array of different items is inside an item of another one")
                if node.index not in seen:
                    seen.add(node.index)
                    stack += node.children()
        super()._settle()

    # The values used

    def _with(self, used: int, item: bytes) -> int:
        try:
            values = self._held[used] | {canonical(item)}
        except NotAValue as fault:
            raise ConstraintError(str(fault)) from None
        found = self._held_ids.get(values)
        if found is None:
            found = self._held_ids[values] = len(self._held)
            self._held.append(values)
        return found

    def _forbid(self, machine: Machine, used: int) -> int:
        """The configuration at the beginning of all texts of the values used."""
        found = self._forbidden.get(used)
        if found is None:
            nodes = [self._text(value) for value in self._held[used]]
            found = self._forbidden[used] = machine.join([machine.begin(node, END) for node in nodes])
        return found

    def _text(self, value: Value) -> Node:
        node = self._texts.get(value)
        if node is None:
            try:
                node = self._texts[value] = self._compiled(texts(value))
            except NotAValue as fault:
                raise ConstraintError(str(fault)) from None
        return node

    # Between items

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """End at once if that is legal, and begin each first item; no value is used yet."""
        if not self.productive:
            return
        self._settle()
        if self.states.may_end(0):
            work.append((None, cont))
        self._begin(machine, 0, 0, cont, out)

    def resume(self, machine: Machine, state: Frame, cont: int, work: Worklist, out: set[int]) -> None:
        """Behind an item end or go on with a comma; behind a comma begin an item that was not used. Where the
        values used are unknown, a thread stands for the item that needs history."""
        kind, here, used = state
        if kind == NEXT:
            self._begin(machine, here, used, cont, out)
            return
        if self.states.may_end(here):
            work.append((None, cont))
        if not self.states.options(here):
            return
        if used == _UNKNOWN:
            # An item can follow; which one may, is not known here.
            out.add(machine.thread(self, (here, _NEEDS_HISTORY, DEAD, DEAD, None), cont))
        else:
            work.append((self.parts.comma, machine.cont(self, (NEXT, here, used), cont)))

    def _begin(self, machine: Machine, here: int, used: int, cont: int, out: set[int]) -> None:
        assert self._options is not None
        nodes = self._options.tails_of(self.states.place(here))
        for option, after in self.states.options(here):
            inner = machine.begin(nodes[option], END)
            forbidden = self._forbid(machine, used)
            if self._goes_on(machine, inner, forbidden):
                out.add(machine.thread(self, (after, used, inner, forbidden, b""), cont))

    # Inside items

    def needs_history(self, machine: Machine, state: ElementState) -> bool:
        """Whether the values used decide and are not known, or the item's own configurations need history."""
        _, used, inner, forbidden, _ = state
        return used == _NEEDS_HISTORY or bool(
            machine.needs_history[inner] or machine.needs_history[forbidden]
        )

    def _known(self, machine: Machine, inner: int, forbidden: int) -> int:
        """`_UNKNOWN`, or `_NEEDS_HISTORY` if only the bytes read say which bytes may come next."""
        if forbidden == DEAD or machine.needs_history[inner] or machine.needs_history[forbidden]:
            return _UNKNOWN
        found = self._knowing.get((inner, forbidden))
        if found is None:
            found = _UNKNOWN
            for byte in machine.row(inner).nonzero()[0].tolist():
                following = machine.step(inner, byte), machine.step(forbidden, byte)
                if following[1] != DEAD and (
                    machine.needs_history[following[0]]
                    or machine.needs_history[following[1]]
                    or self._goes_on(machine, *following) is None
                ):
                    found = _NEEDS_HISTORY
                    break
            self._knowing[inner, forbidden] = found
        return found

    def history_dependent(self, machine: Machine, state: ElementState) -> bool:
        """Whether the bytes of the item are kept."""
        return state[4] is not None

    def without_history(self, machine: Machine, state: ElementState) -> ElementState:
        """The configurations stay; the bytes of the item go, and with them the values used."""
        after, _, inner, forbidden, data = state
        if data is None:
            return state
        inner, forbidden = machine.history_free(inner), machine.history_free(forbidden)
        return after, self._known(machine, inner, forbidden), inner, forbidden, None

    def _land(self, machine: Machine, state: ElementState, cont: int) -> int:
        """The configuration at a lexeme state, at which the item may have ended."""
        after, used, inner, forbidden, data = state
        if inner == DEAD:
            return DEAD
        if machine.needs_history[inner] or machine.needs_history[forbidden]:
            return machine.alone(machine.thread(self, state, cont))
        config = DEAD
        if self._goes_on(machine, inner, forbidden):
            if data is None:
                state = after, self._known(machine, inner, forbidden), inner, forbidden, None
            config = machine.alone(machine.thread(self, state, cont))
        if machine.accepts(inner) and not machine.accepts(forbidden):
            used = _UNKNOWN if data is None else self._with(used, data)
            behind = machine.after(machine.cont(self, (AFTER, after, used), cont))
            config = machine.union(config, behind)
        return config

    def _goes_on(self, machine: Machine, inner: int, forbidden: int) -> bool | None:
        """Whether a value that is not used reads at least one more byte; None if that cannot be known
        without the bytes read."""
        if forbidden == DEAD:
            return any(machine.configs[inner])
        start = (inner, forbidden)
        if start in self._alive:
            return self._alive[start]
        before: dict[tuple[int, int], tuple[int, int] | None] = {start: None}
        stack = [start]
        unknown = False
        while stack:
            place = stack.pop()
            spend(_OF_PLACE)
            for byte in machine.row(machine.history_free(place[0])).nonzero()[0].tolist():
                following = machine.step(place[0], byte), machine.step(place[1], byte)
                if following in before:
                    continue
                if machine.needs_history[following[0]] or machine.needs_history[following[1]]:
                    unknown = True
                elif self._is_free(machine, following):
                    on: tuple[int, int] | None = place
                    while on is not None:
                        self._alive[on] = True
                        on = before[on]
                    return True
                else:
                    before[following] = place
                    stack.append(following)
        self._alive[start] = None if unknown else False
        return self._alive[start]

    def _is_free(self, machine: Machine, place: tuple[int, int]) -> bool:
        inner, forbidden = place
        if inner == DEAD:
            return False
        ends = machine.accepts(inner) and not machine.accepts(forbidden)
        return forbidden == DEAD or ends or self._alive.get(place) is True

    def move(self, machine: Machine, state: ElementState, cont: int, byte: int) -> int:
        """With the bytes: at the end of an item its value is one of those used."""
        after, used, inner, forbidden, data = state
        if data is None:
            return super().move(machine, state, cont, byte)
        inner, forbidden = machine.step(inner, byte), machine.step(forbidden, byte)
        return self._land(machine, (after, used, inner, forbidden, data + bytes([byte])), cont)

    def moves(self, machine: Machine, state: ElementState, cont: int) -> Iterator[tuple[int, int, int]]:
        """As without history: runs of bytes that lead the item and the texts of used values to the same."""
        after, _, inner, forbidden, _ = self.without_history(machine, state)
        row = machine.row(inner).tolist()
        forbidden_row = [DEAD] * 256 if forbidden == DEAD else machine.row(forbidden).tolist()
        landed: dict[tuple[int, int], int] = {}
        low = 0
        while low < 256:
            place = (row[low], forbidden_row[low])
            high = low
            while high < 255 and (row[high + 1], forbidden_row[high + 1]) == place:
                high += 1
            if row[low]:
                if place not in landed:
                    landed[place] = self._land(machine, (after, _UNKNOWN, *place, None), cont)
                if landed[place]:
                    yield low, high, landed[place]
            low = high + 1

    def first_bytes(self, machine: Machine, state: ElementState, cont: int) -> np.ndarray:
        """Where an item needs history, those of a comma; else those of the item."""
        _, used, inner, forbidden, _ = state
        if used == _NEEDS_HISTORY:  # no more bytes than these
            return machine.first(machine.begin(self.parts.comma, END))
        return machine.first(inner) if forbidden == DEAD else super().first_bytes(machine, state, cont)

    def difference(self, machine: Machine, state: ElementState, cont: int) -> UniqueItems | None:
        """The item as one of a plain array, without the texts of used values; None where bytes are dropped or
        constraints look ahead."""
        after, _, inner, forbidden, data = state
        if data is None or machine.looks_ahead:
            return None
        behind = machine.cont(self, (AFTER, after, _UNKNOWN), cont)
        plain = machine.graft(inner, behind)
        follow = machine.first(machine.after(behind))
        return UniqueItems(plain, inner, forbidden, follow, partial(self._goes_on, machine))

    # Shortest words: items one after the other, each as short as can be

    def _shortest_end(self, machine: Machine, inner: int, forbidden: int) -> bytes:
        """A shortest ending of an item that is no used value (Hart, Nilsson and Raphael 1968)."""
        heap: list[tuple[int, bytes, bool, int, int]] = [(0, b"", False, inner, forbidden)]
        seen: set[tuple[int, int]] = set()
        while heap:
            _, word, ended, inner, forbidden = heapq.heappop(heap)
            if ended:
                return word
            if (inner, forbidden) in seen:
                continue
            seen.add((inner, forbidden))
            if forbidden == DEAD:
                whole = word + completion(machine, inner)
                heapq.heappush(heap, (len(whole), whole, True, DEAD, DEAD))
                continue
            if machine.accepts(inner) and not machine.accepts(forbidden):
                heapq.heappush(heap, (len(word), word, True, DEAD, DEAD))
            for byte in machine.row(machine.history_free(inner)).nonzero()[0].tolist():
                after = machine.step(inner, byte)
                if after == DEAD:
                    continue
                longer = word + bytes([byte])
                least = len(longer) + len(completion(machine, after))
                heapq.heappush(heap, (least, longer, False, after, machine.step(forbidden, byte)))
        raise AssertionError("no completion of a dead state")

    def _written(self, machine: Machine, here: int, used: int, at_least: int) -> bytes:
        for node in self.children():
            if node.productive and node.size is None:
                measure(node)
        found = self._cheapest(here, at_least)
        if found is None:
            raise CompletionTooLong
        assert self._options is not None
        words = []
        for place, option in found[1]:
            inner = machine.begin(self._options.tail(place, option), END)
            words.append(self._shortest_end(machine, inner, self._forbid(machine, used)))
            used = self._with(used, words[-1])
        return self.parts.comma.shortest(machine).join(words) if len(words) > 1 else b"".join(words)

    def shortest(self, machine: Machine) -> bytes:
        """Items one after the other, each as short as can be. Raises CompletionTooLong."""
        self._settle()
        return self._written(machine, 0, 0, 0)

    def shortest_rest(self, machine: Machine, state: Frame) -> bytes:
        """The items that have to follow, none of a value used. Raises CompletionTooLong."""
        kind, here, used = state
        if kind == NEXT:
            return self._written(machine, here, used, 1)
        if self.states.may_end(here):
            return b""
        return self.parts.comma.shortest(machine) + self._written(machine, here, used, 1)

    def shortest_from(self, machine: Machine, state: ElementState) -> bytes:
        """The rest of the item, then the items that have to follow. Raises CompletionTooLong."""
        after, used, inner, forbidden, data = state
        assert data is not None, "completions are asked of configurations that keep their bytes"
        ending = self._shortest_end(machine, inner, forbidden)
        return ending + self.shortest_rest(machine, (AFTER, after, self._with(used, data + ending)))
