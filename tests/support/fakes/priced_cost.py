"""Costs of steps by a function of their rows, so that tests decide nothing by time."""

from __future__ import annotations

from collections.abc import Callable

from sglc.runtime.engine.core.cost import StepCost


class PricedCost(StepCost):
    """Steps cost what a function of their rows says, whatever they took."""

    def __init__(self, price: Callable[[int], float], among: int = 1) -> None:
        super().__init__()
        self.price = price
        self.among = among
        """So many sequences are said to take part in each step, each with as many rows."""

    def record(self, rows: int, seconds: float, sequences: int = 1) -> None:
        rows *= self.among
        super().record(rows, self.price(rows), self.among)


def flat(rows: int) -> float:
    return 0.004 + 0.0001 * rows


def steep(rows: int) -> float:
    return 0.004 * rows
