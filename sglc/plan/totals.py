"""What the holes of a function come to, over all ways through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sglc.analysis.layout_items import (
    Again,
    Attempt,
    Called,
    Choice,
    Filled,
    Forgotten,
    Forked,
    Item,
    Layout,
    Leave,
    Loop,
    walk,
)
from sglc.plan.plan import HolePlan

NEVER = 1 << 60
"""The least of ways that there are none of."""
Bound = int | None


@dataclass(frozen=True, slots=True)
class Total:
    """Bounds of what some items take: at least `through` where control goes on behind them, at least `leave`
    where it leaves the function in them, at least `round` where a round of the loop around them ends in them,
    and at most `most` in any case."""

    through: int = 0
    leave: int = NEVER
    most: Bound = 0
    round: int = NEVER

    @property
    def least(self) -> int:
        """Of any way that does not fail."""
        return min(self.through, self.leave)


class Totals:
    """`layout_of` gives the layout of a function, `plan_of` the plan of a filled hole in one of these.

    `budgets` says whether budgets of functions count, which are in tokens; `cut` whether they may cut values
    off; `tried` whether the texts count that strategies try beside the one that is kept.
    """

    def __init__(
        self,
        layout_of: Callable[[str], Layout],
        plan_of: Callable[[Filled], HolePlan],
        budgets: bool,
        *,
        cut: bool = False,
        tried: bool = False,
    ) -> None:
        self._layout_of, self._plan_of, self._budgets, self._cut = layout_of, plan_of, budgets, cut
        self._tried = tried
        self._known: dict[str, Total] = {}
        self._open: set[str] = set()

    def of_function(self, name: str) -> Total:
        """Of one call. A function that calls itself has no bound."""
        if name in self._open:
            return Total(0, NEVER, None)
        if name not in self._known:
            self._open.add(name)
            found = self.of_items(self._layout_of(name).items)
            self._open.discard(name)
            self._known[name] = found
        return self._known[name]

    def _within(self, name: str) -> Total:
        """Of a call of a function, which its own budget ends."""
        total, within = self.of_function(name), self._layout_of(name).within
        if within is None or not self._budgets or (total.most is not None and total.most <= within):
            return total
        return Total(min(total.through, within), min(total.leave, within), within)

    def of_items(self, items: tuple[Item, ...]) -> Total:
        """Of items one after the other."""
        through, leave, ended = 0, NEVER, NEVER
        bound: Bound = 0
        for item, times in zip(items, _repeated(items), strict=True):
            total = self._of(item)
            leave = min(leave, through + total.leave)
            ended = min(ended, through + total.round)
            through = min(NEVER, through + total.through)
            bound = _sum(bound, _times(total.most, times))
        return Total(through, leave, bound, ended)

    def _of(self, item: Item) -> Total:
        match item:
            case Filled():
                hole = self._plan_of(item)
                times = hole.samples
                least = min(hole.least, hole.cut) if self._cut else hole.least
                most = hole.most
                if self._tried and hole.texts > 1 and most is not None:
                    most = hole.texts * (most + 1)  # each is drawn to its end, which is one token more
                return Total(least * times, NEVER, _times(most, times))
            case Leave(kind):
                return Total(NEVER, 0 if kind == "return" else NEVER, 0, 0 if kind == "round" else NEVER)
            case Called(name, kind, items=items):
                if kind == "fn":
                    total = self._within(name)
                elif items:
                    total = self.of_items(items)
                else:
                    total = Total(0, NEVER, 0 if kind == "pure" else None)
                return Total(total.least, NEVER, total.most)
            case Forked(items=items, times=(low, high), skip=skip):
                total = self.of_items(items)
                return Total(0 if skip else low * total.least, NEVER, _rounds(total.most, high))
            case Forgotten(items):
                return self.of_items(items)
            case Loop(items=items, times=(low, high)):
                total = self.of_items(items)
                each = min(total.through, total.round)
                through = low * each if each < NEVER else (NEVER if low else 0)
                return Total(min(NEVER, through), total.leave, _rounds(total.most, high))
            case Choice(arms=arms):
                totals = [self.of_items(arm) for arm in arms]
                return Total(
                    min(each.through for each in totals),
                    min(each.leave for each in totals),
                    _largest([each.most for each in totals]),
                    min(each.round for each in totals),
                )
            case Attempt(items, handler):
                body, other = self.of_items(items), self.of_items(handler)
                return Total(
                    min(body.through, other.through),
                    min(body.leave, other.leave),
                    _sum(body.most, other.most),
                    min(body.round, other.round),
                )
        return Total()


def _repeated(items: tuple[Item, ...]) -> list[int]:
    """How often each of some items is run at most, by the retries that go back from one of them to a hole in
    one before. All between the two is run again, also the conditions that have attempts of their own."""
    times = [1] * len(items)
    last: dict[int, int] = {}
    for here, item in enumerate(items):
        inside = [placed.item for placed in walk((item,))]
        for again in inside:
            if isinstance(again, Again):
                for place in range(last.get(again.hole, here + 1), here + 1):
                    times[place] *= 1 + again.attempts
        last.update((each.hole, here) for each in inside if isinstance(each, Filled))
    return times


def _sum(one: Bound, other: Bound) -> Bound:
    return None if one is None or other is None else one + other


def _times(size: Bound, count: int) -> Bound:
    return None if size is None else size * count


def _rounds(size: Bound, high: Bound) -> Bound:
    if size == 0:
        return 0
    return None if high is None else _times(size, high)


def _largest(sizes: list[Bound]) -> Bound:
    known = [size for size in sizes if size is not None]
    return max(known) if len(known) == len(sizes) else None
