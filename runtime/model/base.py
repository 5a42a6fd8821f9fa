"""What the engine asks of a language model: tokens in, logits out, over a cache to cut and copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sglc.runtime.tokenizer import Tokenizer


class Cache(Protocol):
    """Keys and values (or the like) of the tokens fed so far along one branch."""

    @property
    def length(self) -> int:
        """Number of tokens in it."""
        ...

    def clone(self) -> Cache:
        """An independent copy."""
        ...

    def truncate(self, length: int) -> None:
        """Forget all tokens from position `length` on."""
        ...


class LanguageModel(Protocol):
    """A decoder-only model. Not thread-safe: one call at a time."""

    name: str
    tokenizer: Tokenizer
    context_length: int
    """Most tokens that one cache may hold."""

    def new_cache(self) -> Cache:
        """An empty cache."""
        ...

    def forward(self, cache: Cache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        """Feed tokens after those in the cache.

        Returns float32 logits: of shape [V] for the last token, or [len(tokens), V] if `every`. V is the
        length of the tokenizer's vocabulary.
        """
        ...
