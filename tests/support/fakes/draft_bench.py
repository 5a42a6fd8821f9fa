"""Fills of holes on an engine with a draft model, both without a model: for tests of drafts."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import strategies as st

from fakes.copying_executor import CopyingExecutor
from fakes.noisy_executor import NoisyExecutor
from fakes.priced_cost import PricedCost
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.drafting.draft_model import DraftModel
from sglc.runtime.engine.drafting.drafts import Drafting
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.types.language.language import language
from sglc.types.type import Type
from strategies.sample_types import TABLE


def target_price(rows: int) -> float:
    return 0.004 + 0.0002 * rows


def draft_price(rows: int) -> float:
    return 0.0004 + 0.00001 * rows


def engine_of(
    target: CopyingExecutor, draft: CopyingExecutor | None, price: Any = draft_price, cost: Any = target_price
) -> Any:
    """An engine with a draft model, steps of both priced."""
    engine = open_engine(target, memory=400 * target.block_bytes)
    engine.cost = PricedCost(cost)
    for rows in (1, 2, 4, 8, 16, 64):
        engine.cost.record(rows, 1.0)
    if draft is not None:
        engine.draft = open_engine(draft, memory=400 * draft.block_bytes)
        engine.draft.cost = PricedCost(price)
        for rows in (1, 2, 4, 16, 64):
            engine.draft.cost.record(rows, 1.0)
    return engine


class Seen(Silent):
    """What can be seen of a fill, and what was drafted where."""

    detailed = True

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.drafts: list[tuple[int, tuple[str, int] | None]] = []

    def piece(self, text: str, forced: bool) -> None:
        self.seen.append((text, forced))

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: tuple[str, int] | None = None) -> None:
        self.seen.append((*drawn[:2], data, allowed))
        self.drafts.append((drawn.token, draft))


class Bench:
    """Fills of holes on one engine."""

    def __init__(self, engine: BatchingEngine) -> None:
        self.engine = engine
        self.constraints = Constraints()
        tokenizer = engine.model.tokenizer
        self.vocabulary = tokenizer.vocabulary()
        assert engine.cost is not None
        self.model = None if engine.draft is None else DraftModel(engine.draft, engine)
        self.drafting = Drafting(engine.cost, self.vocabulary, tokenizer.encode, self.model, engine.trees)
        self.observed = Seen()

    async def fill_soon(self, type: Type, prompt: str = "", **more: Any) -> tuple[HoleResult, Any]:
        tokenizer = self.engine.model.tokenizer
        talk = Conversation(encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=self.engine.open)
        talk.role("user")
        talk.text("the question")
        talk.end_role()
        talk.role("assistant")
        talk.text(prompt)
        seen = self.observed = Seen()
        more.setdefault("stops", ("\n",))
        more.setdefault("budget", Budget(200, "test"))
        name = more.pop("name", "f.x")
        request = HoleRequest(name, str(type), language(type, TABLE), **more)
        shared = (self.vocabulary, self.constraints, request, seen, Timing(), 4096, int, self.drafting)
        try:
            result = await HoleDecoder(talk, *shared).run()
            return result, (seen.seen, talk.tokens(), tuple(talk.branch.tokens))
        finally:
            talk.close()

    def fill(self, type: Type, prompt: str = "", **more: Any) -> tuple[HoleResult, Any]:
        found = asyncio.run(self.fill_soon(type, prompt, **more))
        self.check()
        return found

    def check(self) -> None:
        """Nothing is held when nothing runs, and the memory of both models is sound."""
        assert not self.engine._gathering.holds
        self.engine.cache.check()
        if self.engine.draft is not None:
            self.engine.draft.cache.check()
            assert not self.engine.draft._handles


def plain(result: HoleResult) -> tuple[Any, ...]:
    """The parts of a result that drafts must not change."""
    return (result.text, result.tokens, result.sampled, result.forced, result.logprob, result.ended)


SAMPLINGS = st.sampled_from(
    [
        Sampling(),
        Sampling(0.7),
        Sampling(1.5),
        Sampling(1.0, top_k=5),
        Sampling(0.9, top_p=0.8),
        Sampling(1.2, min_p=0.1),
    ]
)
DRAFTS = st.sampled_from(["same", "near", "far", "other"])


def draft_of(kind: str, seed: int, bonus: float) -> CopyingExecutor:
    """The target itself, two that are like it, and one that has nothing to do with it."""
    if kind == "other":
        return CopyingExecutor(seed + 1, 3.0)
    return NoisyExecutor(seed, bonus, {"same": 0.0, "near": 1.0, "far": 4.0}[kind])
