"""Draws where the tokenizer would write few of the legal tokens: how much work that is, and what is drawn."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from sglc.runtime.decoding.canonical_draw import MOST_DRAWS, CanonicalDraw
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest

SIZE = 4096


class AllLegal:
    """A matcher that allows every token."""

    def mask(self) -> np.ndarray:
        return np.full(SIZE // 32, -1, np.int32)

    def has_mask(self) -> bool:
        return True

    def mask_size(self) -> int:
        return SIZE

    def following(self) -> int:
        return 256

    def allowed(self) -> np.ndarray:
        return np.arange(SIZE)

    def allows(self, token: int) -> bool:
        return True


class FromToken:
    """Seams at which only tokens from a number on are open. It counts what it is asked."""

    joins = True

    def __init__(self, first: int) -> None:
        self.first = first
        self.asked = 0

    def is_open(self, context: Any, token: int, masks: Any, value: Any) -> bool:
        self.asked += 1
        return token >= self.first


def draw(first: int, sampling: Sampling) -> tuple[Sampled, int, int]:
    """The token that is drawn of falling logits, how often one was sampled, and how many were checked."""
    legal, seams, samples = NextTokens(AllLegal(), ()), FromToken(first), 0  # type: ignore[arg-type]
    request = SamplingRequest(sampling, 3, legal)
    logits = -np.arange(SIZE, dtype=np.float32)

    async def pick() -> Sampled:
        nonlocal samples
        samples += 1
        return request.sample(logits)

    found = asyncio.run(CanonicalDraw(seams, legal, request).draw(pick, (), None))  # type: ignore[arg-type]
    return found, samples, seams.asked


LIMITED = Sampling(temperature=0.8, top_p=0.1)  # the best of what is left
GREEDY = Sampling(temperature=0.0)


@pytest.mark.parametrize("sampling", [LIMITED, GREEDY])
@pytest.mark.parametrize("closed", [0, MOST_DRAWS - 1])
def test_few_closed_tokens_are_drawn_again(sampling: Sampling, closed: int) -> None:
    found, samples, asked = draw(closed, sampling)
    assert (found.token, samples, asked) == (closed, closed + 1, closed + 1)


@pytest.mark.parametrize("sampling", [LIMITED, GREEDY])
@pytest.mark.parametrize("closed", [MOST_DRAWS, SIZE - 1])
def test_many_closed_tokens_are_checked_at_once(sampling: Sampling, closed: int) -> None:
    found, samples, asked = draw(closed, sampling)
    assert (found.token, samples, asked) == (closed, MOST_DRAWS + 1, MOST_DRAWS + SIZE + 1)


@pytest.mark.parametrize("sampling", [LIMITED, GREEDY])
def test_where_all_are_closed_a_legal_one_is_drawn(sampling: Sampling) -> None:
    found, samples, asked = draw(SIZE, sampling)
    assert (found.token, samples, asked) == (0, MOST_DRAWS + 2, MOST_DRAWS + SIZE)
