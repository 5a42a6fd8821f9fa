"""Drawing one token of a text: under the mask, and as the tokenizer would write it."""

from __future__ import annotations

import math
from time import thread_time_ns

import numpy as np

from sglc.runtime.decoding.canonical_draw import FEW, CanonicalDraw
from sglc.runtime.decoding.requests import Steering
from sglc.runtime.decoding.writing import Writing
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft

FRESH = 1 << 32
"""Positions from here on are those of draws that measure and are not taken: no hole has so many tokens."""
MOST_DRAWS = 256
"""Draws after which the share of open tokens is taken as what it was so far."""


class Drawing:
    """Draws the tokens of one text, the token at a position always with the same noise."""

    def __init__(self, writing: Writing, request: SamplingRequest, answer: Steering | None) -> None:
        self.writing = writing
        self.request = request
        self._answer = answer
        request.legal = writing.legal

    @property
    def _on_host(self) -> bool:
        """Whether logits are changed before a token is drawn, so that no executor can draw it."""
        return self._answer is not None or self.request.shaped is not None

    async def token(self, position: int, draft: Draft = NO_DRAFT) -> Sampled:
        """The token at a position of the hole's draws; see `CanonicalDraw`. Raises NothingAllowed and
        EngineError."""
        text = self.writing.text
        logits = await self.logits(draft) if self._on_host else None
        self.request.position = position
        draw = CanonicalDraw(text.seams, self.writing.legal, self.request)
        return await draw.draw(lambda: self._sampled(logits, draft), text.context(), text.ending())

    async def open_mass(self, drawn: Sampled, position: int) -> float:
        """Log of an unbiased estimate of the probability of the tokens that may be drawn, once one was.

        That is all of the mask, where every text has one way to be written. Else some are not the
        tokenizer's own. Where few are legal, all of them are asked; a single one is certain. Where many are,
        tokens are drawn from the mask, with the same logits and fresh noise, until a second one is its own:
        of N draws (Haldane 1945) 1 / (N - 1) is an unbiased estimate of their share.
        """
        text, legal = self.writing.text, self.writing.legal
        if not text.joins:
            return drawn.log_mass
        if text.only_open(legal) is not None:
            return 0.0
        found, number = 0, 0
        logits = await self.logits() if self._on_host else None
        if legal.matcher.mask_size() <= FEW:
            return (await self._sampled(logits, NO_DRAFT)).log_mass
        while found < 2 and number < MOST_DRAWS:
            self.request.position = FRESH * (number + 1) + position
            fresh = await self._sampled(logits, NO_DRAFT)
            number += 1
            found += fresh.token in legal.end_ids or self._is_open(fresh.token)
        share = 1 / (number - 1) if found == 2 else max(found, 0.5) / number
        return fresh.log_mass + math.log(share)

    async def logits(self, draft: Draft = NO_DRAFT) -> np.ndarray:
        """Logits after what is written so far, as a scripted model has them. Raises EngineError."""
        text = self.writing.text
        logits = await text.conversation.branch.logits(draft)
        if self._answer is None:
            return logits
        return self._answer.adjust(logits, text.prefix, bytes(text.tracker.data))

    async def _sampled(self, logits: np.ndarray | None, draft: Draft) -> Sampled:
        if logits is None:
            return await self.writing.text.conversation.branch.draw(self.request, draft)
        return self.request.sample(logits)

    def _is_open(self, token: int) -> bool:
        """Whether the tokenizer would write a legal text with this token; the time counts as picking."""
        start = thread_time_ns()
        found = self.writing.text.is_open(token, self.writing.legal.matcher)
        self.request.picking += thread_time_ns() - start
        return found
