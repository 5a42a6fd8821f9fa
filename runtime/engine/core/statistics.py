"""Counts of what an engine did: for a run, or for all of them."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Statistics:
    """Work of the model on behalf of one branch and its forks, or of the whole engine."""

    forwards: int = 0
    """Forward passes; of a branch, those that it had a part in."""
    tokens_fed: int = 0
    """Tokens given to the model."""
    tokens_reused: int = 0
    """Tokens that were in a cache already when a forward pass needed them. The batching engine counts those
    of other sequences, found in the tree of prefixes."""
    seconds: float = 0.0
    """Time within forward passes; of a branch, of those that it had a part in."""
    queued: float = 0.0
    """Seconds that requests waited before a forward pass began with them."""
    drafted: int = 0
    """Tokens computed ahead because they were likely."""
    accepted: int = 0
    """Drafted tokens that came."""
    copies: int = 0
    """Caches copied because two branches went different ways."""
    preemptions: int = 0
    """Times that a branch's memory was given to another, so that it has to be computed again."""

    def add(self, other: Statistics) -> None:
        """Add each count of the other to the same count here."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
