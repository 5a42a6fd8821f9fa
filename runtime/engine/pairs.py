"""Two branches that follow the same tokens, of one engine or of two: what two models say of one text.

The second branch may have other tokens before: another prompt, or the form of another chat template. It takes
the tokens of the first from a place on, when logits are wanted. Both requests are made at the same time, so
that two branches of one engine have one step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft


class BranchPair:
    """A branch and one that follows it, in place of one branch where a hole is filled.

    What is appended and taken back is the first branch's. `best` is not known: the argmax of a mixture is
    neither's.
    """

    __slots__ = ("_aligned", "_first", "_second")

    best = -1

    def __init__(self, first: Branch, second: Branch) -> None:
        self._first = first
        self._second = second
        self._aligned: list[tuple[list[int], list[int]]] = []
        """Tokens of the two for the same text, the newest last. What comes behind is the same for both."""
        self.align()

    def align(self) -> None:
        """Take the two as they are now for the same text: what comes is the same for both."""
        self._aligned.append((list(self._first.tokens), list(self._second.tokens)))

    @property
    def tokens(self) -> list[int]:
        """Those of the first branch, for reading."""
        return self._first.tokens

    def append(self, tokens: Iterable[int]) -> None:
        """Add tokens; nothing is computed yet."""
        self._first.append(tokens)

    def rollback(self, length: int) -> None:
        """Keep the first `length` tokens only. Tokens from before the two were aligned can be taken back as
        far as both end with the same."""
        self._first.rollback(length)
        first, second = self._aligned[-1]
        back = len(first) - length
        if 0 < back <= len(second) and first[length:] == second[len(second) - back :]:
            self._aligned.append((first[:length], second[: len(second) - back]))

    async def logits(self, draft: Draft = NO_DRAFT) -> np.ndarray:
        """Float32 logits [2, V] for the token that follows. Drafts are not computed: both models would have
        to, and what they are worth was measured for one. Raises EngineError."""
        if self._first is self._second:
            row = await self._first.logits()
            return np.stack((row, row))
        self._follow()
        other = asyncio.ensure_future(self._second.logits())
        try:
            row = await self._first.logits()
            second = await other
        finally:
            if not other.done():
                other.cancel()
            await asyncio.gather(other, return_exceptions=True)
        size = min(len(row), len(second))  # places behind the vocabulary, which some models are padded with
        return np.stack((row[:size], second[:size]))

    async def draw(self, sampling_request: SamplingRequest, draft: Draft = NO_DRAFT) -> Sampled:
        """The token that follows, as the request says, which blends; nothing is appended."""
        return sampling_request.sample(await self.logits())

    def _follow(self) -> None:
        """Give the second branch the tokens that the first has got."""
        tokens, held = self._first.tokens, self._second.tokens
        known = (pair for pair in reversed(self._aligned) if tokens[: len(pair[0])] == pair[0])
        first, second = next(known, (None, []))
        if first is None:
            raise AssertionError("the first branch has gone where the second cannot follow")
        target = second + tokens[len(first) :]
        keep, most = len(held), min(len(held), len(target))
        if held[:most] != target[:most]:
            keep = next(at for at in range(most) if held[at] != target[at])
        self._second.rollback(min(keep, most))
        self._second.append(target[min(keep, most) :])

    @contextmanager
    def apart(self) -> Iterator[Statistics]:
        """The work done for both until the block ends; a step that has both counts once."""
        whole = self._second.statistics
        with self._first.apart() as own:
            self._second.statistics = own
            try:
                yield own
            finally:
                self._second.statistics = whole
