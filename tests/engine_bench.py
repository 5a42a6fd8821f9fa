"""An engine over a fake executor, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import numpy as np

from fake_executor import FakeExecutor, expected_logits
from sglc.runtime.engine.batching import BatchingEngine
from sglc.runtime.engine.branch import Branch
from sglc.runtime.engine.schedule import StepLimits
from sglc.runtime.kv.cache import KVCache


class EngineBench:
    """An engine over a fake executor, and what is expected of it."""

    def __init__(self, blocks: int = 64, limits: StepLimits | None = None, **options: Any) -> None:
        self.executor = FakeExecutor()
        self.executor.reserve(blocks)
        self.cache = KVCache(blocks, self.executor.block_bytes, copy_block=self.executor.copy_block)
        self.engine = BatchingEngine(self.executor, self.cache, limits=limits, **options)

    def branch(self, tokens: Sequence[int]) -> Branch:
        branch = self.engine.branch()
        branch.append(tokens)
        return branch

    def expected(self, tokens: Sequence[int]) -> np.ndarray:
        return expected_logits(tokens, self.executor.size)

    async def check(self, branch: Branch, drafts: Sequence[int] = ()) -> None:
        assert np.array_equal(await branch.logits(drafts), self.expected(branch.tokens))

    def fed(self) -> list[list[int]]:
        return [[len(piece.tokens) for piece in step] for step in self.executor.steps]

    def run(self, job: Coroutine[Any, Any, Any]) -> Any:
        try:
            return asyncio.run(job)
        finally:
            self.cache.check()
