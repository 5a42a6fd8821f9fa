"""Sums of the times of an engine's steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class StepMeasure:
    """Sums over all steps; seconds are of the wall clock."""

    steps: int = 0
    requests: int = 0
    tokens: int = 0
    largest: int = 0
    """Most requests of one step."""
    seconds: float = 0.0
    """Within the executor."""
    scheduled: float = 0.0
    """Choosing what goes into a step, and making room for it."""
    committed: float = 0.0
    """Entering what was computed."""

    def record(self, requests: int, tokens: int, seconds: float) -> None:
        """Count one step."""
        self.steps += 1
        self.requests += requests
        self.tokens += tokens
        self.seconds += seconds
        self.largest = max(self.largest, requests)
