"""Counts of what an engine did: for a run, or for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields


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

    unanswered: int = 0
    """Requests to a draft model that it could not answer; its fill went on without it."""

    def add(self, other: Statistics) -> None:
        """Add each count of the other to the same count here."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))


@dataclass(slots=True)
class DraftCounts:
    """Tokens that were sent as drafts, and those of them that came, by the source of the draft.

    Sources are named in `drafting/kinds.py`. What the engine had no room for in a step counts as sent.
    """

    sent: dict[str, int] = field(default_factory=dict)
    came: dict[str, int] = field(default_factory=dict)

    def add(self, source: str, came: bool) -> None:
        """Count a token that was drafted."""
        self.sent[source] = self.sent.get(source, 0) + 1
        self.came[source] = self.came.get(source, 0) + came

    def plain(self) -> dict[str, dict[str, int]]:
        """As JSON has it: by source, `sent` and `came`."""
        return {source: {"sent": sent, "came": self.came[source]} for source, sent in self.sent.items()}

    def merge(self, other: DraftCounts) -> None:
        """Count another's in."""
        for mine, theirs in ((self.sent, other.sent), (self.came, other.came)):
            for source, count in theirs.items():
                mine[source] = mine.get(source, 0) + count
