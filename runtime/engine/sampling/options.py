"""How tokens are sampled: the options of a hole."""

from __future__ import annotations

import math
from dataclasses import dataclass

MIN_TEMPERATURE = 1e-6
"""Smaller ones are taken as this; float32 has no room for the quotient of a logit and less."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample. Temperature 0 is greedy.

    `top_k` keeps the k most likely tokens, `top_p` the fewest whose probabilities reach p, `min_p` those at
    least p times as likely as the most likely one. None is no limit.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature must be a number from 0 on, not {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must be from 0 to 1, not {self.min_p}")

    @property
    def plain(self) -> bool:
        """Whether only the temperature shapes the distribution."""
        return (
            self.temperature > 0.0
            and self.top_k is None
            and (self.top_p is None or self.top_p == 1.0)
            and not self.min_p
        )
