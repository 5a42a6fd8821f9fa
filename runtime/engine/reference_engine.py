"""The reference engine: one worker thread calls the model for one request at a time.

Tests compare the batching engine with it, and it serves models that have no executor. A branch is a list of
tokens. What the model has computed for it (keys and values, last logits) is a `Memory`, which branches share
after a fork. The worker compares the tokens of each request with the memory, cuts the memory back to the
common prefix and feeds the rest. So cutting a branch, forking it or cancelling a request needs no other code:
the next comparison corrects the memory.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

import numpy as np

from sglc.kernels.bitmask.sampling import masked_log_sum_exp
from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.errors import ContextOverflow, QueueFull
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.model.base import Cache, LanguageModel

SCORE_CHUNK = 64
"""Tokens of a scored text that are fed at once; bounds the logits held to SCORE_CHUNK x V floats."""
IDLE_BRANCHES = 4
"""Branches that are kept between uses, with what the model remembers of them."""

R = TypeVar("R")


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


class ReferenceEngine:
    """Serves the branches of any number of tasks from one model.

    `max_queue` bounds the requests that may wait; None is no bound. Methods are for one event loop at a
    time; the forward passes run in a thread of the engine's own, in the order of the requests.
    """

    trees = False
    concurrency = 1
    """Runs that are worth keeping going at the same time: here one request is served after the other."""

    def __init__(self, model: LanguageModel, *, max_queue: int | None = None) -> None:
        self.model = model
        self.max_queue = max_queue
        self.statistics = Statistics()
        self.cost: StepCost | None = None
        self._waiting = 0
        self._idle: list[Branch] = []
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="sglc-model")

    def branch(self, owner: str = "") -> Branch:
        """An empty branch with statistics of its own, which its forks share."""
        return Branch(self, Statistics(), owner)

    def open(self, tokens: Sequence[int], owner: str = "") -> Branch:
        """A branch for these tokens: an idle one with the longest beginning of them, else a new one."""
        best, length = -1, 0
        for index, branch in enumerate(self._idle):
            shared = _common_prefix(branch.tokens, list(tokens))
            if shared > length:
                best, length = index, shared
        return self._idle.pop(best) if best >= 0 else self.branch(owner)

    def put_back(self, branch: Branch) -> None:
        """Take a branch that is no longer used. It is kept for a while, because the next may begin like
        it."""
        self._idle.append(branch)
        if len(self._idle) > IDLE_BRANCHES:
            self._idle.pop(0).close()

    def pin(self, tokens: Sequence[int], users: int = 1) -> None:
        """Nothing here: only idle branches are kept."""

    async def step_begun(self) -> None:
        """A step belongs to one request; none are gathered for it."""

    def get_cache_stats(self) -> CacheStats | None:
        """None: a branch has a cache of its own."""
        return None

    def forked(self, branch: Branch, copy: Branch) -> None:
        """See `Server`."""
        memory: Memory | None = branch.handle
        if memory is not None:
            memory.owners += 1
        copy.handle = memory

    def released(self, branch: Branch) -> None:
        """See `Server`."""
        memory: Memory | None = branch.handle
        if memory is not None:
            memory.owners -= 1
        branch.handle = None

    async def logits(self, branch: Branch, draft: Draft = NO_DRAFT) -> np.ndarray:
        """Float32 logits [V] for the token that follows the branch; read-only. Drafts are not looked at.

        One forward pass over all tokens that the model has not seen, none if it has seen them all. Raises
        ContextOverflow, QueueFull, and ValueError for a branch without tokens.
        """
        tokens, memory = self._request(branch, 0)
        return await self._in_worker(lambda: self._logits(branch, memory, tokens))

    async def draw(
        self, branch: Branch, sampling_request: SamplingRequest, draft: Draft = NO_DRAFT
    ) -> Sampled:
        """See `Branch.draw`."""
        return sampling_request.sample(await self.logits(branch))

    async def score_many(self, branch: Branch, continuations: list[list[int]]) -> list[list[float]]:
        """See `Branch.score_many`; one continuation after the other."""
        return [await self._scored(branch, continuation) for continuation in continuations]

    async def _scored(self, branch: Branch, continuation: list[int]) -> list[float]:
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
        if branch.handle is None:
            branch.handle = Memory(self.model.new_cache())
        return tokens, branch.handle

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
            memory = _separate(branch, memory)
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
        memory = branch.handle
        scores = [log_probability(row, continuation[0])]
        try:
            for start in range(0, len(continuation) - 1, SCORE_CHUNK):
                fed = continuation[start : min(start + SCORE_CHUNK, len(continuation) - 1)]
                rows = self._forward(branch, memory, fed, every=True)
                following = continuation[start + 1 : start + 1 + len(fed)]
                scores.extend(map(log_probability, rows, following))
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


def _separate(branch: Branch, memory: Memory) -> Memory:
    """Part from the branches that share a memory, taking a copy."""
    own = Memory(memory.cache.clone(), list(memory.tokens), memory.logits)
    memory.owners -= 1
    branch.handle = own
    return own


def _common_prefix(first: list[int], second: list[int]) -> int:
    size = min(len(first), len(second))
    if first[:size] == second[:size]:
        return size
    return next(index for index in range(size) if first[index] != second[index])


def log_probability(row: np.ndarray, token: int) -> float:
    """Natural log-probability of a token in the distribution of logits [V]."""
    value = float(row[token])
    return value - masked_log_sum_exp(row, None) if math.isfinite(value) else value
