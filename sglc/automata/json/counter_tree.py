"""Counters that lie inside each other: which numbers of items meet all of them, without a search.

The counters of `uniqueItems` with `contains` are of one value each and of some values together. Where any two
counters of a list of options have no option in common, or all options of one of them (a laminar family), they
are a tree. A node says between which numbers its items may be, and every number between the bounds of a node
can be reached if it can in its parts: the sums of integer intervals are intervals. So the bounds of all
nodes, from the parts to the whole, decide. The root counts all items.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sglc.automata import work
from sglc.automata.json.counters import Counts, Vector

ENDLESS = 1 << 62
"""More items than any array has."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """By node: what it needs and has room for, and how many items there must and can be by its parts alone
    and all in all."""

    needs: list[int]
    rooms: list[int]
    least_below: list[int]
    most_below: list[int]
    least: list[int]
    most: list[int]


class CounterTree:
    """The counters of some options as a tree, parts before the whole; the root is the last node.

    `counters` has the counter of each node but the root, `idle` are those that no option adds to. `parents`
    is by node, `homes` by option: the first node that counts it.
    """

    def __init__(self, counts: Counts, counters: list[int], parents: list[int], homes: list[int]) -> None:
        self._counts = counts
        self._counters = counters
        self._parents = parents
        self._homes = homes
        self._idle = sorted(set(range(len(counts.zero))) - set(counters))
        self._free = [0] * (len(counters) + 1)
        """How many options have a node as their home."""
        for home in homes:
            self._free[home] += 1

    @staticmethod
    def of(counts: Counts, options: Sequence[Vector]) -> CounterTree | None:
        """None where the counters are no tree, or an option adds more than one to a counter."""
        members: list[list[int]] = [[] for _ in counts.zero]
        for option, vector in enumerate(options):
            if max(vector, default=0) > 1:
                return None
            for counter in [counter for counter, number in enumerate(vector) if number]:
                members[counter].append(option)
        order = [counter for counter in range(len(members)) if members[counter]]
        order.sort(key=lambda counter: len(members[counter]))
        root = len(order)
        top, homes, parents, sizes = [-1] * len(options), [root] * len(options), [root] * root, [0] * root
        for node, counter in enumerate(order):
            below = {top[option] for option in members[counter]} - {-1}
            alone = sum([top[option] < 0 for option in members[counter]])
            sizes[node] = len(members[counter])
            if alone + sum([sizes[part] for part in below]) != sizes[node]:
                return None
            for part in below:
                parents[part] = node
            for option in members[counter]:
                if top[option] < 0:
                    homes[option] = node
                top[option] = node
        return CounterTree(counts, order, parents, homes)

    def bounds(self, done: Vector, minimum: int, maximum: int | None) -> Bounds | None:
        """Of the items to come, of which all together are to be `minimum` to `maximum`; None if no number
        will do."""
        counts, size = self._counts, len(self._free)
        work.spend(len(done) // 2 + size)
        if any([done[counter] < counts.least[counter] for counter in self._idle]):
            return None
        needs = [max(counts.least[counter] - done[counter], 0) for counter in self._counters]
        rooms = [
            ENDLESS if (most := counts.most[counter]) is None else most - done[counter]
            for counter in self._counters
        ]
        needs.append(max(minimum, 0))
        rooms.append(ENDLESS if maximum is None else maximum)
        found = Bounds(needs, rooms, [0] * size, [ENDLESS * free for free in self._free], needs[:], rooms[:])
        for node in range(size):
            low = found.least[node] = max(needs[node], found.least_below[node])
            high = found.most[node] = min(rooms[node], found.most_below[node])
            if low > high:
                return None
            if node < len(self._parents):
                found.least_below[self._parents[node]] += low
                found.most_below[self._parents[node]] += high
        return found

    def can_add(self, option: int, bounds: Bounds) -> bool:
        """Whether the rest can still be filled when one item of an option has come."""
        node, root = self._homes[option], len(self._counters)
        lower = upper = 0
        while True:
            room = bounds.rooms[node]
            low = max(bounds.needs[node] - 1, bounds.least_below[node] + lower)
            high = min(room if room == ENDLESS else room - 1, bounds.most_below[node] + upper)
            if low > high or high < 0:
                return False
            if node == root:
                return True
            lower, upper = low - bounds.least[node], high - bounds.most[node]
            node = self._parents[node]

    def cheapest(self, bounds: Bounds, cost: Callable[[int], int | None]) -> list[int] | None:
        """How often each option comes in a cheapest way to fill the rest; None where the costs that are known
        (`cost`) allow none.

        Every part takes what it must, and offers what it may take besides, the cheapest first: the least
        costs of a part grow ever faster with the number of items, so that the cheapest offers of all parts
        are those of the whole.
        """
        times = [0] * len(self._homes)
        offers: list[list[tuple[int, int, int]]] = [[] for _ in self._free]
        """By node: (cost, option, how often) that its parts offer."""
        taken = [0] * len(self._free)
        for option, home in enumerate(self._homes):
            known = cost(option)
            if known is not None:
                offers[home].append((known, option, ENDLESS))
        for node, offered in enumerate(offers):
            heapq.heapify(offered)
            missing = bounds.needs[node] - taken[node]
            while missing > 0:
                if not offered:
                    return None
                price, option, often = heapq.heappop(offered)
                number = min(often, missing)
                times[option] += number
                taken[node] += number
                missing -= number
                if often > number:
                    heapq.heappush(offered, (price, option, often - number))
            if node == len(self._parents):
                break
            parent, left = self._parents[node], bounds.rooms[node] - taken[node]
            taken[parent] += taken[node]
            for price, option, often in sorted(offered):
                if left > 0:
                    offers[parent].append((price, option, min(often, left)))
                    left -= often
        return times
