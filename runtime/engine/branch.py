"""A branch of text on its way through a model: tokens, and what the model remembers of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sglc.runtime.engine.statistics import Statistics
from sglc.runtime.model.base import Cache, LanguageModel


class Server(Protocol):
    """The engine as its branches know it."""

    @property
    def model(self) -> LanguageModel: ...

    async def logits(self, branch: Branch) -> np.ndarray: ...

    async def score(self, branch: Branch, continuation: list[int]) -> list[float]: ...


@dataclass(slots=True)
class Memory:
    """What the model has seen: `cache` holds `tokens`, and `logits` are those after the last of them.

    Forked branches share one until they part; only the engine's worker changes it.
    """

    cache: Cache
    tokens: list[int] = field(default_factory=list)
    logits: np.ndarray | None = None
    owners: int = 1

    def cut(self, length: int) -> None:
        """Forget all tokens from `length` on."""
        if length < len(self.tokens):
            self.cache.truncate(length)
            del self.tokens[length:]
            self.logits = None


class Branch:
    """A sequence of tokens that grows, is cut back and is forked; the model follows only when it is asked.

    `tokens` is for reading. A branch belongs to one task at a time.
    """

    __slots__ = ("_engine", "_memory", "statistics", "tokens")

    def __init__(
        self, engine: Server, tokens: list[int], memory: Memory | None, statistics: Statistics
    ) -> None:
        self._engine = engine
        self.tokens = tokens
        self._memory = memory
        self.statistics = statistics
        """Work done for this branch and all branches forked from or into it."""

    def append(self, tokens: Iterable[int]) -> None:
        """Add tokens; nothing is computed yet."""
        self.tokens.extend(tokens)

    def rollback(self, length: int) -> None:
        """Keep the first `length` tokens only."""
        if not 0 <= length <= len(self.tokens):
            raise ValueError(f"cannot keep {length} of {len(self.tokens)} tokens")
        del self.tokens[length:]

    def fork(self) -> Branch:
        """A branch with the same tokens. What the model remembers is shared until one of the two moves on."""
        if self._memory is not None:
            self._memory.owners += 1
        return Branch(self._engine, list(self.tokens), self._memory, self.statistics)

    async def logits(self) -> np.ndarray:
        """See `Engine.logits`."""
        return await self._engine.logits(self)

    async def score(self, tokens: Iterable[int]) -> list[float]:
        """See `Engine.score`."""
        return await self._engine.score(self, list(tokens))

    def close(self) -> None:
        """Forget the tokens and release the memory. The branch may be used again, as an empty one."""
        self.tokens = []
        if self._memory is not None:
            self._memory.owners -= 1
            self._memory = None

    def memory(self) -> Memory:
        """The branch's memory, made at the first request. For the engine."""
        if self._memory is None:
            self._memory = Memory(self._engine.model.new_cache())
        return self._memory

    def separate(self, memory: Memory) -> Memory:
        """Part from the branches that share `memory`, taking a copy. For the engine's worker."""
        own = Memory(memory.cache.clone(), list(memory.tokens), memory.logits)
        memory.owners -= 1
        self._memory = own
        return own
