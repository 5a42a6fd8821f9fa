"""An engine over a fake executor, for tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from fakes.fake_executor import FakeExecutor, expected_logits
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.reference_engine import log_probability
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.engine.scheduling.schedule import StepLimits
from sglc.runtime.kv.cache import KVCache


class EngineBench:
    """An engine over a fake executor, and what is expected of it."""

    def __init__(
        self,
        blocks: int = 64,
        limits: StepLimits | None = None,
        executor: FakeExecutor | None = None,
        **options: Any,
    ) -> None:
        self.executor = executor or FakeExecutor()
        self.executor.reserve(blocks)
        self.cache = KVCache(
            blocks,
            self.executor.block_bytes,
            copy_block=self.executor.copy_block,
            read_places=self.executor.read_places,
            write_places=self.executor.write_places,
        )
        self.engine = BatchingEngine(self.executor, self.cache, limits=limits, **options)

    def branch(self, tokens: Sequence[int]) -> Branch:
        branch = self.engine.branch()
        branch.append(tokens)
        return branch

    def expected(self, tokens: Sequence[int]) -> np.ndarray:
        return expected_logits(tokens, self.executor.size)

    async def check(self, branch: Branch, draft: Draft = NO_DRAFT) -> None:
        assert np.array_equal(await branch.logits(draft), self.expected(branch.tokens))

    async def wander(
        self,
        moves: Sequence[tuple[str, Any]],
        other: Callable[[Branch, int, str, Any], Awaitable[None]] | None = None,
    ) -> None:
        """Take a branch and its forks through moves, by turns; `other` makes those that are not known."""
        branches = [self.branch([1])]
        for index, (move, argument) in enumerate(moves):
            branch = branches[index % len(branches)]
            if move == "append":
                branch.append(argument)
            elif move == "rollback":
                branch.rollback(min(len(branch.tokens), max(1, len(branch.tokens) - argument)))
            elif move == "fork":
                branches.append(branch.fork())
            elif move == "close":
                branch.close()
                branch.append([2])
            elif move == "breathe":
                await asyncio.sleep(0)
            elif len(branch.tokens) > 100:
                branch.rollback(50)
            elif move == "logits":
                await self.check(branch, argument)
            elif move == "follow":
                draft, path = argument
                await self.check(branch, draft)
                for token in path:
                    branch.append([token])
                    await self.check(branch)
            elif move == "score":
                scores = await branch.score_many(argument)
                for text, values in zip(argument, scores, strict=True):
                    for at, (token, value) in enumerate(zip(text, values, strict=True)):
                        assert value == log_probability(self.expected([*branch.tokens, *text[:at]]), token)
            else:
                assert other is not None, move
                await other(branch, index, move, argument)
        for branch in branches:
            branch.close()

    def fed(self) -> list[list[int]]:
        return [[len(piece.tokens) for piece in step] for step in self.executor.steps]

    def run(self, job: Coroutine[Any, Any, Any]) -> Any:
        try:
            return asyncio.run(job)
        finally:
            self.cache.check()
