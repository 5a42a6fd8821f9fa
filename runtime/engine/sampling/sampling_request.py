"""A request for one token: sampled from logits on the host, or on the device that computed them."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter, thread_time_ns
from typing import Protocol

import numpy as np

from sglc.runtime.engine.sampling.lazy import LegalTokens
from sglc.runtime.engine.sampling.options import MIN_TEMPERATURE, Sampling
from sglc.runtime.engine.sampling.sampler import Sampled, noise_key, sample, told_of
from sglc.runtime.engine.sampling.shaping import Shaped
from sglc.runtime.executor.plan import Picking


class Blending(Protocol):
    """Two models as one distribution. See `sglc.runtime.decoding.blend`."""

    def sample(self, rows: np.ndarray, request: SamplingRequest) -> Sampled:
        """A token of the mixture, given the logits of the two as float32 [2, V]. Raises NothingAllowed."""


@dataclass(slots=True, eq=False)
class SamplingRequest:
    """How the next token is sampled: the legal tokens, the sampling options, and the random number.

    One request serves all tokens of a hole: `legal` follows the text, `position` is set for each token.
    Neither may change while an engine serves the request.
    """

    sampling: Sampling
    seed: int
    legal: np.ndarray | LegalTokens | None = None
    """A mask row, or an object that makes one; None allows all."""
    position: int = 0
    """Which of the seed's noise is taken; see `sampler.noise_key`."""
    scored: bool = False
    """Whether the token's log-probability in the whole distribution is wanted."""
    weighed: bool = False
    """Whether the probability of all legal tokens is wanted."""
    top: int = 0
    """So many of the most probable tokens of the whole distribution are told with the token."""
    blend: Blending | None = None
    """What makes one distribution of two rows of logits; None for one row."""
    shaped: Shaped | None = None
    """What changes the logits before the draw, on the host: executors that draw do not know of it. What is
    told of probabilities is of the model's own logits. None changes nothing."""
    picking: int = 0
    """Nanoseconds that the event loop's thread has spent on masks and on drawing tokens."""
    came: float = 0.0
    """When the first logits had come (perf_counter); 0 for not yet."""

    def sample(self, logits: np.ndarray, best: int = -1) -> Sampled:
        """`sampler.sample` on float32 logits [V], or [2, V] for a blend. Raises NothingAllowed, and what
        making a mask raises."""
        start = thread_time_ns()
        if not self.came:
            self.came = perf_counter()
        try:
            if self.blend is not None:
                return self.blend.sample(logits, self)
            random = (self.seed, self.position)
            if self.shaped is not None:
                shaped = self.shaped.adjusted(logits)
                drawn = sample(shaped, self.legal, self.sampling, random, scored=False)
                return told_of(
                    logits,
                    self.legal,
                    self.sampling,
                    drawn.token,
                    scored=self.scored,
                    weighed=self.weighed,
                    top=self.top,
                )
            return sample(
                logits,
                self.legal,
                self.sampling,
                random,
                scored=self.scored,
                weighed=self.weighed,
                top=self.top,
                best=best,
            )
        finally:
            self.picking += thread_time_ns() - start

    def write_mask(self, words: np.ndarray) -> Picking:
        """Write the mask to int32 [words]; returns how to pick under it. Raises what making a mask raises."""
        start = thread_time_ns()
        try:
            legal, sampling = self.legal, self.sampling
            if legal is None:
                words[:] = -1
            else:
                words[:] = legal if isinstance(legal, np.ndarray) else legal.row()
            if not sampling.temperature:
                return Picking(scored=self.scored, weighed=self.weighed, top=self.top)
            return Picking(
                max(sampling.temperature, MIN_TEMPERATURE),
                noise_key(self.seed, self.position),
                sampling.top_k,
                sampling.top_p,
                sampling.min_p,
                self.scored,
                self.weighed,
                self.top,
            )
        finally:
            self.picking += thread_time_ns() - start
