"""An engine whose answers depend on the conversation's tokens and on nothing else: not on the order or the
time of requests. It has no model; logits are a hash of the tokens.

So runs of one program can be compared whatever runs beside what. `delays` lets every request wait some turns
of the event loop, more or fewer with the number: another number is another order of answers. `faults` is how
many of a thousand requests fail, which depends on the tokens too.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.errors import StepFailed
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.reference_engine import log_probability
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.kv.accounts import CacheStats
from sglc.runtime.model.scripted import END, SIZE, START, ByteTokenizer

_TABLE = 4096
_TURNS = 5
"""Most turns of the event loop that a request waits."""


class HashedModel:
    """What programs ask about the model: a token for each byte."""

    name = "hashed"
    context_length = 1_000_000

    def __init__(self) -> None:
        self.tokenizer = ByteTokenizer()


class HashedEngine:
    """Implements `Engine` and `Server`. `requests` counts what was asked."""

    concurrency = 8
    trees = False
    cost: StepCost | None = None

    def __init__(self, *, seed: int = 0, delays: int = 0, faults: int = 0) -> None:
        self.model = HashedModel()
        self.statistics = Statistics()
        self.requests = 0
        self.running = 0
        self.most_running = 0
        """Most requests that waited at the same time."""
        self._seed = seed
        self._delays = delays
        self._faults = faults
        noise = np.random.default_rng(seed).uniform(0.0, 6.0, _TABLE + SIZE).astype(np.float32)
        self._noise = noise
        preferred = np.full(SIZE, -3.0, np.float32)
        preferred[list(b"abcdefghinorst0123456789")] = 0.0
        preferred[list(b'\n"}])')] = 2.0
        preferred[END], preferred[START] = 3.0, -20.0
        self._preferred = preferred

    # -- Engine --------------------------------------------------------------------------------------

    def branch(self, owner: str = "") -> Branch:
        return Branch(self, Statistics(), owner)

    def open(self, tokens: Sequence[int], owner: str = "") -> Branch:
        return self.branch(owner)

    def put_back(self, branch: Branch) -> None:
        branch.close()

    def pin(self, tokens: Sequence[int], users: int = 1) -> None:
        """Nothing is computed, so nothing is kept."""

    async def step_begun(self) -> None:
        """There are no steps."""

    def get_cache_stats(self) -> CacheStats | None:
        return None

    def close(self) -> None:
        """Nothing is held."""

    # -- Server --------------------------------------------------------------------------------------

    def forked(self, branch: Branch, copy: Branch) -> None:
        """Branches share nothing here."""

    def released(self, branch: Branch) -> None:
        """Nothing is held."""

    async def logits(self, branch: Branch, draft: Draft = NO_DRAFT) -> np.ndarray:
        tokens = list(branch.tokens)
        await self._wait(tokens)
        branch.statistics.forwards += 1
        return self._logits(tokens)

    async def draw(
        self, branch: Branch, sampling_request: SamplingRequest, draft: Draft = NO_DRAFT
    ) -> Sampled:
        return sampling_request.sample(await self.logits(branch))

    async def score_many(self, branch: Branch, continuations: list[list[int]]) -> list[list[float]]:
        tokens = list(branch.tokens)
        await self._wait(tokens)
        branch.statistics.forwards += 1
        return [
            [
                log_probability(self._logits(tokens + continuation[:index]), token)
                for index, token in enumerate(continuation)
            ]
            for continuation in continuations
        ]

    # -- hashes --------------------------------------------------------------------------------------

    async def _wait(self, tokens: list[int]) -> None:
        self.requests += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self._delays:
                for _ in range(self._hash(tokens, self._delays) % (_TURNS + 1)):
                    await asyncio.sleep(0)
        finally:
            self.running -= 1
        if self._faults and self._hash(tokens, -1) % 1000 < self._faults:
            raise StepFailed("the hash of these tokens is a bad one")

    def _logits(self, tokens: list[int]) -> np.ndarray:
        at = self._hash(tokens, self._seed) % _TABLE
        return self._preferred + self._noise[at : at + SIZE]

    @staticmethod
    def _hash(tokens: list[int], salt: int) -> int:
        # The low bits of one checksum depend on few of the tokens; a second round mixes them.
        return crc32(repr(salt).encode(), crc32(array("H", tokens).tobytes())) * 2654435761 >> 7 & 0x7FFFFFFF
