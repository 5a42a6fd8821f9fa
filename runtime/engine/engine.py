"""The engine: many branches of text wait for logits, one worker thread asks the model, one call at a time.

This is the simple engine, kept as the reference for faster ones. A branch is only a list of tokens; what the
model has seen of it (keys and values, last logits) is a `Memory`, which branches share after a fork. Each
request compares the tokens with the memory in the worker, cuts the memory back to the common prefix and
feeds the rest. So cutting a branch, forking it or giving up a request needs no care anywhere else: whatever
happened in between, the next comparison puts it right.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TypeVar

import numpy as np

from sglc.runtime.engine.branch import Branch, Memory
from sglc.runtime.engine.sampler import log_sum_exp
from sglc.runtime.engine.statistics import Statistics
from sglc.runtime.model.base import LanguageModel

SCORE_CHUNK = 64
"""Tokens of a scored text that are fed at once; bounds the logits held to SCORE_CHUNK x V floats."""

R = TypeVar("R")


class ContextOverflow(Exception):
    """A branch is longer than the model's context."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(f"the context holds {limit} tokens, {tokens} are needed")
        self.tokens = tokens
        self.limit = limit


class QueueFull(Exception):
    """Too many requests wait for the model."""


class Engine:
    """Serves the branches of any number of tasks from one model.

    `max_queue` bounds the requests that may wait; None is no bound. Methods are for one event loop at a
    time; the forward passes run in a thread of the engine's own, in the order of the requests.
    """

    def __init__(self, model: LanguageModel, *, max_queue: int | None = None) -> None:
        self.model = model
        self.max_queue = max_queue
        self.statistics = Statistics()
        self._waiting = 0
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="sglc-model")

    def branch(self) -> Branch:
        """An empty branch with statistics of its own, which its forks share."""
        return Branch(self, [], None, Statistics())

    async def logits(self, branch: Branch) -> np.ndarray:
        """Float32 logits [V] for the token that follows the branch; read-only.

        One forward pass over all tokens that the model has not seen, none if it has seen them all. Raises
        ContextOverflow, QueueFull, and ValueError for a branch without tokens.
        """
        tokens, memory = self._request(branch, 0)
        return await self._in_worker(lambda: self._logits(branch, memory, tokens))

    async def score(self, branch: Branch, continuation: list[int]) -> list[float]:
        """Natural log-probability of each token of `continuation` after the branch, which stays as it is."""
        tokens, memory = self._request(branch, max(0, len(continuation) - 1))
        if not continuation:
            return []
        return await self._in_worker(lambda: self._score(branch, memory, tokens, continuation))

    def close(self) -> None:
        """Let the worker thread end; requests that wait are given up."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    # -- on the event loop ---------------------------------------------------------------------------

    def _request(self, branch: Branch, more: int) -> tuple[list[int], Memory]:
        tokens = list(branch.tokens)
        if not tokens:
            raise ValueError("a branch needs at least one token before the model can continue it")
        if len(tokens) + more > self.model.context_length:
            raise ContextOverflow(len(tokens) + more, self.model.context_length)
        return tokens, branch.memory()

    async def _in_worker(self, job: Callable[[], R]) -> R:
        if self.max_queue is not None and self._waiting >= self.max_queue:
            raise QueueFull(f"{self._waiting} requests wait for the model")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, job)
        finally:
            self._waiting -= 1

    # -- in the worker -------------------------------------------------------------------------------

    def _logits(self, branch: Branch, memory: Memory, tokens: list[int]) -> np.ndarray:
        """Bring the branch's memory up to `tokens` and return the logits after them."""
        if memory.tokens == tokens and memory.logits is not None:
            return memory.logits
        keep = _common_prefix(memory.tokens, tokens)
        if keep == len(tokens):
            keep -= 1  # the logits after the last token are wanted, so it has to be fed again
        if memory.owners > 1 and (keep < len(memory.tokens) or memory.tokens):
            memory = branch.separate(memory)
            branch.statistics.copies += 1
            self.statistics.copies += 1
        memory.cut(keep)
        memory.logits = None
        fed = tokens[keep:]
        rows = self._forward(branch, memory, fed, every=False)
        rows.flags.writeable = False
        memory.tokens.extend(fed)
        memory.logits = rows
        branch.statistics.tokens_reused += keep
        self.statistics.tokens_reused += keep
        return rows

    def _score(
        self, branch: Branch, memory: Memory, tokens: list[int], continuation: list[int]
    ) -> list[float]:
        row = self._logits(branch, memory, tokens)
        memory = branch.memory()
        scores = [_log_probability(row, continuation[0])]
        try:
            for start in range(0, len(continuation) - 1, SCORE_CHUNK):
                fed = continuation[start : min(start + SCORE_CHUNK, len(continuation) - 1)]
                rows = self._forward(branch, memory, fed, every=True)
                following = continuation[start + 1 : start + 1 + len(fed)]
                scores.extend(map(_log_probability, rows, following))
        finally:
            memory.cache.truncate(len(tokens))
        return scores

    def _forward(self, branch: Branch, memory: Memory, fed: list[int], *, every: bool) -> np.ndarray:
        """One forward pass; a failed one leaves the cache as it was."""
        before = memory.cache.length
        start = perf_counter()
        try:
            rows = self.model.forward(memory.cache, fed, every)
        except BaseException:
            memory.cache.truncate(before)
            raise
        spent = perf_counter() - start
        for statistics in (branch.statistics, self.statistics):
            statistics.forwards += 1
            statistics.tokens_fed += len(fed)
            statistics.seconds += spent
        return rows


def _common_prefix(first: list[int], second: list[int]) -> int:
    size = min(len(first), len(second))
    if first[:size] == second[:size]:
        return size
    return next(index for index in range(size) if first[index] != second[index])


def _log_probability(row: np.ndarray, token: int) -> float:
    value = float(row[token])
    return value - log_sum_exp(row) if math.isfinite(value) else value
