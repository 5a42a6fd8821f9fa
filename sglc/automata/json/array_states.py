"""The states between the items of an `Array` term, with exact lookahead.

A state is the number of items and the counters so far, as far as they still matter. A state offers only the
options after which the array can be completed. That is decided by a search over the states, which are few
because all numbers are clamped.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from sglc.automata import work
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.json.counter_tree import Bounds, CounterTree
from sglc.automata.json.counters import MOST_STEPS, NO_COUNTS, Counts, TooComplex, Vector
from sglc.automata.term import Counter

Plan = list[tuple[int, int]]
"""(place, option) of each item to come."""
_TOO_MANY = (
    "the counts of an array (minItems, maxItems, minContains, maxContains) are too large: "
    f"to see whether it can end takes more than {MOST_STEPS} steps"
)


class ArrayStates:
    """States are numbers, 0 the beginning; an option of a place is known by its index.

    `places` and `rest` hold the options as the vectors they add to the counters (`Counts.vector`); an empty
    place cannot be filled. All questions are about states that can be completed (`feasible`).
    """

    def __init__(
        self,
        places: Sequence[Sequence[Vector]],
        rest: Sequence[Vector],
        minimum: int,
        maximum: int | None,
        counters: Sequence[Counter],
        error: type[Exception] = TooComplex,
    ) -> None:
        self.counts = Counts(counters) if counters else NO_COUNTS
        self._error = error
        self._places = (*map(tuple, places), tuple(rest))
        self.last = len(places)
        """The place of all items beyond the given places."""
        fillable = next((i for i, options in enumerate(self._places) if not options), None)
        self.minimum = minimum
        if fillable is not None:
            maximum = fillable if maximum is None else min(maximum, fillable)
        self.maximum = maximum
        self._clamp = max(self.last, minimum, 1)
        self._tree = CounterTree.of(self.counts, self._places[-1])
        self._possible = self.counts.possible and (maximum is None or minimum <= maximum)
        self._numbers = Numbering[tuple[int, Vector]]((0, self.counts.zero))
        self._states = self._numbers.order
        self._feasible: dict[int, bool] = {}
        self._options: dict[int, tuple[tuple[int, int], ...]] = {}

    def place(self, state: int) -> int:
        """The place of the next item."""
        return min(self._states[state][0], self.last)

    def may_end(self, state: int) -> bool:
        """Whether the array may end here: enough items, and all counters met."""
        items, counts = self._states[state]
        return items >= self.minimum and self.counts.met(counts)

    def options(self, state: int) -> tuple[tuple[int, int], ...]:
        """(option, state behind the item) of all options behind which the array can be completed."""
        found = self._options.get(state)
        if found is None:
            if self.counts.zero and self._possible and self._is_tree(state):
                found = self._options_of_tree(state)
            else:
                found = tuple([pair for pair in self._successors(state) if self.feasible(pair[1])])
            self._options[state] = found
        return found

    def _successors(self, state: int) -> list[tuple[int, int]]:
        items, counts = self._states[state]
        if self.maximum is not None and items >= self.maximum:
            return []
        following = items + 1 if self.maximum is not None else min(items + 1, self._clamp)
        out = []
        for option, vector in enumerate(self._places[min(items, self.last)]):
            sum_of = self.counts.add(counts, vector)
            if sum_of is not None:
                out.append((option, self._numbers[following, sum_of]))
        return out

    def feasible(self, state: int) -> bool:
        """Whether an array in this state can be completed."""
        if not self._possible:
            return False
        if not self.counts.zero:
            return True
        if state not in self._feasible:
            self._search(state)
        return self._feasible[state]

    def _search(self, start: int) -> None:
        """Depth first, needed counters first; the way to an end is remembered, and all of a failed search."""
        before: dict[int, int] = {start: -1}
        stack = [start]
        while stack:
            state = stack.pop()
            known = self._feasible.get(state)
            if known is None and self._is_tree(state):
                known = self._feasible[state] = self._bounds(state) is not None
            if known or (known is None and self.may_end(state)):
                while state >= 0:
                    self._feasible[state] = True
                    state = before[state]
                return
            if known is False:
                continue
            counts = self._states[state][1]
            options = self._places[self.place(state)]
            successors = self._successors(state)
            work.spend(2 + len(successors) * (1 + len(counts)))
            successors.sort(key=lambda pair: self.counts.gain(counts, options[pair[0]]))
            for _, following in successors:
                if following not in before:
                    before[following] = state
                    stack.append(following)
            if len(before) > MOST_STEPS:
                raise self._error(_TOO_MANY)
        for state in before:
            self._feasible[state] = False

    # Counters that are a tree: bounds for each decide

    def _is_tree(self, state: int) -> bool:
        """Whether the counters of all items to come are a tree."""
        return self._tree is not None and self._states[state][0] >= self.last

    def _bounds(self, state: int, at_least: int = 0) -> Bounds | None:
        """Those of the items to come, `at_least` so many."""
        assert self._tree is not None
        items, done = self._states[state]
        maximum = None if self.maximum is None else self.maximum - items
        return self._tree.bounds(done, max(self.minimum - items, at_least), maximum)

    def _options_of_tree(self, state: int) -> tuple[tuple[int, int], ...]:
        """The same as `options`, of which all are looked at at once."""
        bounds, tree = self._bounds(state), self._tree
        if bounds is None or tree is None:
            return ()
        return tuple([pair for pair in self._successors(state) if tree.can_add(pair[0], bounds)])

    def _cheapest_of_tree(
        self, state: int, at_least: int, cost: Callable[[int, int], int | None]
    ) -> tuple[int, Plan] | None:
        """The same as `cheapest`."""
        bounds, tree = self._bounds(state, at_least), self._tree
        if bounds is None or tree is None:
            return None
        times = tree.cheapest(bounds, lambda option: cost(self.last, option))
        if times is None:
            return None
        plan = [(self.last, option) for option, number in enumerate(times) for _ in range(number)]
        return sum([cost(self.last, option) or 0 for _, option in plan]), plan

    def cheapest(
        self, state: int, at_least: int, cost: Callable[[int, int], int | None]
    ) -> tuple[int, Plan] | None:
        """The least sum of item costs that completes the array with `at_least` (0 or 1) items more, and how.

        `cost(place, option)` is None for what is not known yet; then the whole may be None.
        """
        if not at_least and self.may_end(state):
            return 0, []
        if not self.counts.zero:
            return self._cheapest_run(state, at_least, cost)
        if self._is_tree(state):
            return self._cheapest_of_tree(state, at_least, cost)
        # A* over (state, whether an item has been read); of equal sums the one that is further is looked at.
        bound = self._bound(cost)
        start = (state, not at_least)
        before: dict[tuple[int, bool], tuple[tuple[int, bool], int, int]] = {}
        sums = {start: 0}
        done: set[tuple[int, bool]] = set()
        heap: list[tuple[int, int, tuple[int, bool]]] = [(0, 0, start)]
        order = 0
        while heap:
            _, _, at = heapq.heappop(heap)
            if at in done:
                continue
            done.add(at)
            if len(done) > MOST_STEPS:
                raise self._error(_TOO_MANY)
            here, enough = at
            work.spend(10)
            if enough and self.may_end(here):
                total, plan = sums[at], []
                while at != start:
                    at, place, option = before[at]
                    plan.append((place, option))
                return total, plan[::-1]
            place = self.place(here)
            for option, following in self._successors(here):
                more = cost(place, option)
                then = (following, True)
                if more is None or sums[at] + more >= sums.get(then, sums[at] + more + 1):
                    continue
                sums[then] = sums[at] + more
                before[then] = (at, place, option)
                order -= 1
                heapq.heappush(heap, (sums[then] + bound(self._states[following][0]), order, then))
        return None

    def _bound(self, cost: Callable[[int, int], int | None]) -> Callable[[int], int]:
        """What the items up to the minimum cost at least, by the number of items that are there."""
        least = []
        for place, options in enumerate(self._places):
            known = [c for option in range(len(options)) if (c := cost(place, option)) is not None]
            least.append(min(known, default=0))
        last = self.last
        sums = [0] * (last + 1)
        for place in range(min(last, self.minimum) - 1, -1, -1):
            sums[place] = sums[place + 1] + least[place]
        return lambda items: sums[min(items, last)] + max(self.minimum - max(items, last), 0) * least[-1]

    def _cheapest_run(
        self, state: int, at_least: int, cost: Callable[[int, int], int | None]
    ) -> tuple[int, Plan] | None:
        """Without counters: as few items as must be, each the cheapest of its place."""
        items = self._states[state][0]
        total = 0
        plan: Plan = []
        for number in range(items, max(self.minimum, items + at_least)):
            if self.maximum is not None and number >= self.maximum:
                return None
            place = min(number, self.last)
            known = [(c, o) for o in range(len(self._places[place])) if (c := cost(place, o)) is not None]
            if not known:
                return None
            least, option = min(known)
            total += least
            plan.append((place, option))
        return total, plan
