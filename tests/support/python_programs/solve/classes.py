"""The classes of both forms."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Operator = Literal["+", "-", "*", "/"]


@dataclass
class Step:
    left: int
    operation: Operator
    right: int
    result: Decimal


@dataclass
class Solution:
    steps: list[Step]
    answer: Decimal
