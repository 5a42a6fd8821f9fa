"""Counts of what an engine did: for a run, or for all of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Statistics:
    """Work of the model on behalf of one branch and its forks, or of the whole engine."""

    forwards: int = 0
    """Forward passes."""
    tokens_fed: int = 0
    """Tokens given to the model."""
    tokens_reused: int = 0
    """Tokens that were in a cache already when a forward pass needed them."""
    seconds: float = 0.0
    """Time within forward passes."""
    copies: int = 0
    """Caches copied because two branches went different ways."""

    def add(self, other: Statistics) -> None:
        self.forwards += other.forwards
        self.tokens_fed += other.tokens_fed
        self.tokens_reused += other.tokens_reused
        self.seconds += other.seconds
        self.copies += other.copies
