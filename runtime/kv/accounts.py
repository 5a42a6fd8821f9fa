"""Statistics of the KV cache by owner: hits, evictions, reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MAX_OWNERS = 256
"""Owners that are counted by themselves. Of more, the account that was idle longest is added to that of
`OTHERS`."""
OTHERS = "(others)"


@dataclass(frozen=True, slots=True)
class OwnerStats:
    """The share of one owner, such as a program."""

    tokens_looked_up: int
    """Tokens that sequences asked for. Each counts once for a sequence, however often it asked."""
    tokens_reused: int
    """Of these, tokens whose keys and values were there already."""
    blocks: int
    """Blocks in the tables of its open sequences, each counted once."""

    @property
    def hit_rate(self) -> float:
        """Share of the tokens looked up that were there; 0 where none were."""
        return self.tokens_reused / self.tokens_looked_up if self.tokens_looked_up else 0.0


@dataclass(frozen=True, slots=True)
class DiskStats:
    """What the tier on disk holds and has done."""

    blocks: int
    bytes: int
    limit: int
    """Most bytes that its files may take."""
    writes: int
    reads: int
    """Blocks that were written, and read back."""
    removals: int
    """Blocks given up for others."""
    write_faults: int
    """Blocks that could not be written: disk full, folder not writable, block not readable."""
    read_faults: int
    """Files that were gone, could not be read, or belong to somebody else."""
    corrupt: int
    """Files whose content was not what had been written; they are removed."""
    writing: bool
    """Whether blocks are still written; not after too many faults in a row."""


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The memory of keys and values at one moment. blocks = free + cached + held."""

    blocks: int
    """All blocks of the pool."""
    free: int
    cached: int
    """Blocks that nobody holds and whose content can be found. They are evicted when blocks are needed."""
    held: int
    """Blocks of open sequences and of pinned prefixes."""
    pinned: int
    """Of these, the blocks of pinned prefixes."""
    pins: int
    """Pinned prefixes."""
    block_bytes: int
    sequences: int
    """Sequences that are open."""
    tokens_looked_up: int
    tokens_reused: int
    evictions: int
    """Blocks with findable content that were given up for others."""
    copies: int
    """Blocks copied: shared tails before they were written to, and beginnings of blocks."""
    adopted: int
    """Blocks given back because another sequence had computed the same."""
    disk: DiskStats | None
    """None without a tier on disk."""
    owners: Mapping[str, OwnerStats]

    @property
    def hit_rate(self) -> float:
        """Share of the tokens looked up that were there; 0 where none were."""
        return self.tokens_reused / self.tokens_looked_up if self.tokens_looked_up else 0.0

    @property
    def bytes(self) -> int:
        """Bytes of the whole pool."""
        return self.blocks * self.block_bytes

    @property
    def bytes_held(self) -> int:
        """Bytes of blocks that are held."""
        return self.held * self.block_bytes

    @property
    def bytes_cached(self) -> int:
        """Bytes of blocks that could be evicted."""
        return self.cached * self.block_bytes


class Accounts:
    """Counts that grow as the cache is used; the rest is counted on demand."""

    __slots__ = ("adopted", "copies", "evictions", "owners")

    def __init__(self) -> None:
        self.evictions = 0
        self.copies = 0
        self.adopted = 0
        self.owners: dict[str, tuple[int, int]] = {}
        """Owner to tokens looked up and reused; the one that was idle longest first."""

    def looked_up(self, owner: str, tokens: int, reused: int) -> None:
        """Count tokens that a sequence of `owner` asked for, and how many of them were there."""
        if owner not in self.owners and len(self.owners) >= MAX_OWNERS:
            idle = next(name for name in self.owners if name != OTHERS)
            self._add(OTHERS, *self.owners.pop(idle))
        self._add(owner, tokens, reused)

    def _add(self, owner: str, tokens: int, reused: int) -> None:
        before = self.owners.pop(owner, (0, 0))
        self.owners[owner] = (before[0] + tokens, before[1] + reused)
