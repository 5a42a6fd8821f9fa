"""The interface of engines, as programs use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.tokenizer import Tokenizer


class ServedModel(Protocol):
    """The model that an engine serves."""

    @property
    def name(self) -> str:
        """What messages call the model."""

    @property
    def tokenizer(self) -> Tokenizer:
        """From text to the model's tokens and back."""

    @property
    def context_length(self) -> int:
        """Most tokens of one branch."""


class Engine(Protocol):
    """Serves branches of tokens from one model."""

    statistics: Statistics
    trees: bool
    """Whether drafts may be trees."""
    cost: StepCost | None
    """The cost of steps, which decides about drafts. None where nothing is to be drafted."""

    @property
    def concurrency(self) -> int:
        """Runs that are worth keeping going at the same time."""

    @property
    def model(self) -> ServedModel:
        """The model that all branches share."""

    def branch(self, owner: str = "") -> Branch:
        """An empty branch."""

    def open(self, tokens: Sequence[int], owner: str = "") -> Branch:
        """A branch that is to be filled with these tokens; it may hold some of them already."""

    def put_back(self, branch: Branch) -> None:
        """Take a branch that is no longer used."""

    def pin(self, tokens: Sequence[int], users: int = 1) -> None:
        """Keep the keys and values of these tokens, which `users` functions begin with, once they have been
        computed."""

    async def step_begun(self) -> None:
        """Wait until a step is computed, or none is asked for: work of other tasks goes better beside a step
        than between two."""

    def get_cache_stats(self) -> CacheStats | None:
        """What the memory of keys and values holds and has done; None where it is not shared."""

    def close(self) -> None:
        """Give requests that wait up, and release what the engine holds."""
