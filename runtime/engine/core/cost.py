"""The cost of a step by its number of rows, measured from the steps of the engine.

Costs decide whether tokens are drafted. A step of four rows may cost as much as a step of one row, where
reading the weights is the limit. It may cost four times as much, where arithmetic is the limit. That depends
on machine, model, load and batch. The estimate for a size is the faster quarter of its latest steps, because
noise only adds time. Sizes between measured ones are interpolated, and costs never fall as rows are added.
Old measurements expire, so that a size that was slow once is tried again.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192)
"""Upper ends of the classes of sizes that are told apart."""
KEPT = 15
"""Steps of each class that are remembered."""
STALE, CLEARING = 128, 32
"""A class without a step for so many steps forgets its slower half, and again after as many."""
MOST_DRAFTS = 27
"""Drafts of one sequence for which prices are told."""
CHANGE = 0.02
"""What moves less than this, relatively, changes nothing."""


def expected(rows: float) -> float:
    """The cost of a step relative to one row, before anything is known: flat at first, then steep."""
    return max(1.0 + 0.06 * (rows - 1), rows / 6)


class StepCost:
    """Seconds of a step of some rows (tokens computed, over all sequences)."""

    def __init__(self) -> None:
        self.sequences = 1.0
        """How many sequences a step serves: a moving average."""
        self._steps: list[deque[tuple[int, float]]] = [deque(maxlen=KEPT) for _ in SIZES]
        self._points: list[tuple[float, float] | None] = [None] * len(SIZES)
        """By class: the middle of its rows and its seconds, as the curve knows them."""
        self._seen = [0] * len(SIZES)
        """By class: the number of the step that fell into it last."""
        self._count = 0
        self._curve: list[tuple[float, float]] = []
        """(log rows, log seconds), ascending."""
        self._known: dict[int, float] = {}
        self._prices: dict[tuple[int, int], list[float]] = {}

    def record(self, rows: int, seconds: float, sequences: int = 1) -> None:
        """A step of `rows` rows of so many sequences took `seconds`."""
        if rows < 1 or not seconds > 0.0 or not math.isfinite(seconds):
            return
        self.sequences += (max(1, sequences) - self.sequences) / 4
        place = min(bisect_left(SIZES, rows), len(SIZES) - 1)
        self._count += 1
        self._seen[place] = self._count
        if self._count % CLEARING == 0:
            self._clear()
        steps = self._steps[place]
        steps.append((rows, seconds))
        times = sorted([seconds for _, seconds in steps])
        quick = times[(len(times) - 1) // 4]
        middle = sum([rows for rows, _ in steps]) / len(steps)
        point = self._points[place]
        if (
            point is None
            or abs(quick - point[1]) > CHANGE * point[1]
            or abs(middle - point[0]) > max(0.2, CHANGE * point[0])
        ):
            self._points[place] = (middle, quick)
            self._draw()

    def estimate(self, rows: int) -> float:
        """Seconds of a step of `rows` rows; relative to one row while nothing is known."""
        found = self._known.get(rows)
        if found is None:
            found = self._known[rows] = self._estimate(max(1, rows))
        return found

    def prices(self, sequences: int, pending: int) -> list[float]:
        """Seconds of steps of so many sequences by the number of drafts of each, from none to `MOST_DRAFTS`.

        One sequence has `pending` tokens to compute before them, the others one. Not to be written to.
        """
        found = self._prices.get((sequences, pending))
        if found is None:
            found = [self.estimate(sequences * rows + pending - 1) for rows in range(1, MOST_DRAFTS + 2)]
            self._prices[sequences, pending] = found
        return found

    def _estimate(self, rows: int) -> float:
        curve = self._curve
        if not curve:
            return expected(rows)
        at = math.log(rows)
        place = bisect_left(curve, (at, -math.inf))
        if 0 < place < len(curve):
            (left, low), (right, high) = curve[place - 1], curve[place]
            return math.exp(low + (high - low) * (at - left) / (right - left))
        near, level = curve[max(0, place - 1)]
        return math.exp(level) * expected(rows) / expected(math.exp(near))

    def _clear(self) -> None:
        """Forget some of what was measured long ago."""
        for place, steps in enumerate(self._steps):
            if steps and self._seen[place] < self._count - STALE:
                kept = sorted(steps, key=lambda step: step[1])[: len(steps) // 2]
                self._steps[place] = deque(kept, KEPT)
                if kept:
                    middle = sum(rows for rows, _ in kept) / len(kept)
                    self._points[place] = (middle, kept[(len(kept) - 1) // 4][1])
                else:
                    self._points[place] = None
        self._draw()

    def _draw(self) -> None:
        """Make the curve anew: neighbours that fall are pooled (Ayer et al. 1955)."""
        self._known.clear()
        self._prices.clear()
        groups: list[tuple[float, int, list[float]]] = []
        for point, steps in zip(self._points, self._steps, strict=True):
            if point is None:
                continue
            cost, weight, rows = point[1], len(steps), [point[0]]
            while groups and groups[-1][0] > cost:
                other, others, before = groups.pop()
                cost = (cost * weight + other * others) / (weight + others)
                weight += others
                rows = before + rows
            groups.append((cost, weight, rows))
        self._curve = [(math.log(middle), math.log(cost)) for cost, _, rows in groups for middle in rows]
