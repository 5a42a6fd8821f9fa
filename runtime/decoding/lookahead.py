"""The decoding of a hole some tokens ahead of what is written: what a draft model drafts by.

It goes by the rules of the hole's decoder (`hole_decoder`): the same masks, the same draws, the same forced
text, the same ends. So where the draft model's logits lead to the target's tokens, every token drafted is one
that the hole would ask for, and the noise of each is that of the hole's own draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from sglc.kernels.bitmask.sampling_reference import gumbel
from sglc.runtime.decoding.canonical_draw import CanonicalDraw
from sglc.runtime.decoding.requests import HoleRequest
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.options import MIN_TEMPERATURE
from sglc.runtime.engine.sampling.sampler import Sampled, noise_key
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


class HoleLookahead:
    """Implements `Lookahead` for one place of a hole, at which the decoder is about to ask for a token.

    Matchers are copies: the hole's own step by tokens that were drawn, and by nothing else.
    """

    def __init__(
        self,
        request: HoleRequest,
        vocabulary: Vocabulary,
        seams: Seams,
        tokens: Sequence[int],
        floor: int,
        tracker: StopTracker,
        masks: Matcher,
        position: int,
    ) -> None:
        """`tokens` are those of the conversation, `floor` the first that may decide about others; `tracker`
        and `masks` follow the value and what is legal, `position` counts the draws of the hole so far."""
        self.tokens = list(tokens)
        self.ended = False
        self._vocabulary = vocabulary
        self._seams = seams
        self._floor = floor
        self._base = len(self.tokens)
        same = masks is tracker.value
        self._tracker = tracker.copy()
        self._masks = self._tracker.value if same else masks.clone()
        self._same = same
        self._freely = request.end_of_message or not request.stops
        self._legal_ends = frozenset(i for i in vocabulary.end_ids if i < vocabulary.size)
        self._legal = NextTokens(self._masks, self._legal_ends)
        self._sampling = SamplingRequest(
            request.sampling, request.seed, self._legal, position=position, scored=True
        )

    def fork(self) -> HoleLookahead:
        """See `Lookahead.fork`."""
        twin = copy(self)
        twin.tokens = list(self.tokens)
        twin._tracker = self._tracker.copy()
        twin._masks = twin._tracker.value if self._same else self._masks.clone()
        twin._legal = NextTokens(twin._masks, self._legal_ends)
        twin._sampling = replace(self._sampling, legal=twin._legal)
        return twin

    def lead(self, first: Sampled, other: Sampled) -> float:
        """See `Lookahead.lead`."""
        sampling, request = self._sampling.sampling, self._sampling
        ahead = first.logprob - other.logprob
        if not sampling.temperature:
            return ahead
        tokens = np.array([first.token, other.token], np.int32)
        one, two = gumbel(tokens, noise_key(request.seed, request.position)).tolist()
        return ahead / max(sampling.temperature, MIN_TEMPERATURE) + float(one - two)

    async def draw(self, branch: Branch, besides: Sequence[int] = ()) -> Sampled:
        """See `Lookahead.draw`."""
        value = self._tracker.value
        ending = value if self._freely and not self._tracker.candidates else None
        self._legal.may_end = ending is not None and value.is_accepting()
        draw = CanonicalDraw(self._seams, self._legal, self._sampling)
        return await draw.draw(lambda: branch.draw(self._sampling), self._context(), ending, besides)

    def take(self, token: int) -> Sequence[int]:
        """See `Lookahead.take`."""
        data = b"" if token in self._legal.end_ids else self._vocabulary.token_bytes[token] or b""
        if not data or self._tracker.feed(data, token) is not None:
            self.ended = True
            return ()
        if not self._same:
            self._masks.accept(token)
        start = len(self.tokens)
        self.tokens.append(token)
        self._sampling.position += 1
        self._write_forced()
        return self.tokens[start:]

    def follow(self, tokens: Sequence[int]) -> bool:
        """See `Lookahead.follow`. `tokens` are all behind the place where this began."""
        while (have := len(self.tokens) - self._base) < len(tokens):
            if self.ended or not self._masks.allows(tokens[have]):
                return False
            self.take(tokens[have])
            if self.tokens[self._base :] != list(tokens[: len(self.tokens) - self._base]):
                return False
        return not self.ended

    def _write_forced(self) -> None:
        """Write what is certain now, as the decoder does before it asks for a token."""
        while not self._tracker.candidates:
            value = self._tracker.value
            run = b"" if value.is_complete() else value.forced()
            if not run:
                self.ended = value.is_complete()
                return
            found = self._seams.forced(self._context(), run, value, self._masks)
            if found is None:
                self.ended = True  # the value ends with it, or all of its text is tokenised anew
                return
            if found.data:
                value.accept_bytes(found.data)
                if not self._same:
                    self._masks.accept_bytes(found.data)
                self._tracker.data += found.data
                self.tokens += found.tokens
            if found.held or not found.data:
                return

    def _context(self) -> tuple[int, ...]:
        return Seams.context(self.tokens, self._floor)
