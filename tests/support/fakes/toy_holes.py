"""A hole over a few words, a model whose logits are a hash, and what enumeration says of the two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fakes.hashed_engine import HashedEngine
from oracles.decoding.enumeration import normalised, of_words
from sglc.automata.term import Language, Words
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.decoding.strategies.attempt import Attempts
from sglc.runtime.decoding.strategies.beams import BeamDecoder
from sglc.runtime.decoding.strategies.choice_trie import LegalTexts, legal_texts
from sglc.runtime.decoding.strategies.exact import ExactDecoder
from sglc.runtime.decoding.strategies.particles import ParticleDecoder
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.decoding.validated import Verdicts
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.model.scripted import END

STOP = "\n"


class Weighing(Silent):
    """Wants the mass of the legal tokens."""

    weighed = True


@dataclass(eq=False)
class ToyHole:
    """`words` behind a prompt, under a model of `seed`. Tokens are bytes."""

    words: Sequence[str]
    seed: int = 0
    temperature: float = 1.0
    prompt: str = "Well: "
    more: dict[str, Any] = field(default_factory=dict)
    """Fields of the request."""

    def __post_init__(self) -> None:
        self.engine = HashedEngine(seed=self.seed)
        self.vocabulary = self.engine.model.tokenizer.vocabulary()
        self.constraints = Constraints()
        talk = self.talk()
        talk.start()
        self.before = list(talk.sync().tokens)
        self._language = Language(Words(frozenset(word.encode() for word in self.words)))

    def talk(self) -> Conversation:
        tokenizer = self.engine.model.tokenizer
        made = Conversation(
            encoder=Encoder(tokenizer),
            chat=tokenizer.chat,
            open_branch=lambda _: self.engine.branch(),
            release=self.engine.put_back,
        )
        made.role("assistant")
        made.text(self.prompt)
        return made

    def request(self, seed: int, **more: Any) -> HoleRequest:
        more = {"sampling": Sampling(self.temperature), "stops": (STOP,), **self.more, **more}
        return HoleRequest("f.x", "key", self._language, seed=seed, **more)

    def _attempts(self, seed: int, **more: Any) -> Attempts:
        request = self.request(seed, **more)
        return Attempts(
            self.talk(), self.vocabulary, self.constraints, request, Weighing(), 4096, lambda: None
        )

    # -- strategies ----------------------------------------------------------------------------------

    def local(self, seed: int, **more: Any) -> HoleResult:
        request = self.request(seed, **more)
        parts = (self.talk(), self.vocabulary, self.constraints, request, Weighing(), Timing(), 4096)
        return asyncio.run(HoleDecoder(*parts, lambda: None).run())

    async def exact(
        self,
        seed: int,
        tree: PrefixTree | None = None,
        tries: int = 10_000,
        judge: Callable[[str], str] | None = None,
        few: bool = False,
        wanted: int = 1,
        **more: Any,
    ) -> HoleResult:
        """By walks; where `few`, by the scores of all texts."""

        async def ask(text: str) -> str:
            assert judge is not None
            return judge(text)

        verdicts = None if judge is None else Verdicts(ask)
        attempts = self._attempts(seed, **more)
        return await ExactDecoder(attempts, tries, tree or PrefixTree(), verdicts, few, wanted).run()

    async def known(self, **more: Any) -> LegalTexts | None:
        """All texts and their probabilities; None where the trie is too large."""
        attempts = self._attempts(0, **more)
        with attempts.begun() as root:
            assert root is not None
            return await legal_texts(attempts, root, self.temperature)

    async def smc(self, seed: int, count: int, **more: Any) -> HoleResult:
        return await ParticleDecoder(self._attempts(seed, **more), count).run()

    async def beam(self, width: int, **more: Any) -> HoleResult:
        extra = {key: more.pop(key) for key in ("by", "wanted") if key in more}
        return await BeamDecoder(self._attempts(0, sampling=Sampling(), **more), width, **extra).run()

    # -- enumeration ---------------------------------------------------------------------------------

    def scores(self, temperature: float | None = None) -> dict[str, float]:
        """For each word the log of the mass of its choices."""
        model = _Rows(self.engine)
        ends = (END, ord(STOP))
        at = self.temperature if temperature is None else temperature
        return of_words(model, self.before, self.words, lambda word: ends, at)

    def expected(self) -> dict[str, float]:
        """The distribution of the words given that one is written."""
        return normalised(self.scores())

    def log_legal(self) -> float:
        """Log of the probability that one of the words is written."""
        return float(np.logaddexp.reduce(list(self.scores().values())))


class _Rows:
    """The engine's logits as a model gives them."""

    def __init__(self, engine: HashedEngine) -> None:
        self._engine = engine

    def new_cache(self) -> None:
        return None

    def forward(self, cache: None, tokens: list[int]) -> np.ndarray:
        return self._engine._logits(tokens)
