"""Picking the next token from logits, a mask, and numbers that depend on nothing but the request.

The order of operations is the usual one: mask, temperature, top-k, top-p, min-p. Randomness is counter-based
(Philox, Salmon et al. 2011): the number for one token is a function of the request's seed and the token's
position, so a result never depends on what else runs at the same time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sglc.kernels import select

MIN_TEMPERATURE = 1e-6
"""Smaller ones are taken as this; float32 has no room for the quotient of a logit and less."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to pick: temperature 0 is greedy. `top_k` keeps the k likeliest tokens, `top_p` the fewest whose
    probabilities reach p, `min_p` those at least p times as likely as the likeliest. None: no such limit."""

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature must be a number from 0 on, not {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must be from 0 to 1, not {self.min_p}")


@dataclass(frozen=True, slots=True)
class Sampled:
    """A token with its natural log-probabilities: `logprob` in the model's whole distribution (temperature 1,
    no mask), `masked_logprob` in that distribution restricted to the allowed tokens."""

    token: int
    logprob: float
    masked_logprob: float


class NothingAllowed(ValueError):
    """The mask allows no token, or only tokens that the model gives probability zero."""


def uniform(seed: int, position: int) -> float:
    """The number in [0, 1) of a request's token at `position`; both are taken modulo 2^64."""
    bits = np.random.Philox(key=seed % 2**64, counter=position % 2**64)
    return (int(bits.random_raw()) >> 11) * 2.0**-53


def sample(
    logits: np.ndarray, mask: np.ndarray | None, sampling: Sampling, random: tuple[int, int]
) -> Sampled:
    """Pick one token.

    `logits` are float32 of shape [V]. Bit `i % 32` of word `i // 32` of `mask`, int32 of shape
    [ceil(V / 32)], says whether token i is allowed; None allows all. `random` is the request's seed and the
    token's position (see `uniform`); greedy picking ignores it. Among equals the lowest id wins.
    Raises NothingAllowed.
    """
    normaliser = log_sum_exp(logits)
    if sampling.temperature == 0.0:
        token, value = select.masked_argmax(logits, mask)
        masked_normaliser = normaliser if mask is None else select.masked_log_sum_exp(logits, mask)
        if token < 0 or masked_normaliser == -math.inf:
            raise NothingAllowed("no token is allowed here")
        return Sampled(token, value - normaliser, value - masked_normaliser)
    ids = None if mask is None else allowed_ids(mask, logits.size)
    kept = logits if ids is None else logits[ids]
    masked_normaliser = log_sum_exp(kept)
    if masked_normaliser == -math.inf:
        raise NothingAllowed("no token is allowed here")
    index = _draw(kept, sampling, uniform(*random))
    token = index if ids is None else int(ids[index])
    value = float(logits[token])
    return Sampled(token, value - normaliser, value - masked_normaliser)


def log_sum_exp(logits: np.ndarray) -> float:
    """log of the sum of e^logits of float32 [n], minus infinity for none."""
    return select.masked_log_sum_exp(logits, None) if logits.size else -math.inf


def allowed_ids(mask: np.ndarray, size: int) -> np.ndarray:
    """The ids whose bits are set, ascending."""
    bits = np.unpackbits(mask.view(np.uint8), count=size, bitorder="little")
    return np.flatnonzero(bits.view(np.bool_))


def _draw(logits: np.ndarray, sampling: Sampling, number: float) -> int:
    """Index of the token that `number` falls on, by inverting the distribution over ascending indices."""
    probabilities, order = distribution(logits, sampling)
    cumulative = np.cumsum(probabilities)
    index = int(np.searchsorted(cumulative, number * cumulative[-1], side="right"))
    if index == cumulative.size:  # by rounding; the last token that has any probability is meant
        index = int(np.flatnonzero(probabilities)[-1])
    return index if order is None else int(order[index])


def distribution(logits: np.ndarray, sampling: Sampling) -> tuple[np.ndarray, np.ndarray | None]:
    """Probabilities (float64, summing to 1) after temperature, top-k, top-p and min-p.

    The second part is None, or the indices that the probabilities belong to, ascending, where only some
    are left. Temperature must be above 0. Among equals at a border the lowest indices stay, so that the
    result is a function of the logits alone.
    """
    order: np.ndarray | None = None
    if sampling.top_k is not None and sampling.top_k < logits.size:
        order = _best(logits, sampling.top_k)
        logits = logits[order]
    shifted = (logits - logits.max()) / np.float32(max(sampling.temperature, MIN_TEMPERATURE))
    weights = np.exp(shifted).astype(np.float64)
    weights /= weights.sum()
    if sampling.top_p is not None and sampling.top_p < 1.0:
        weights, order = _keep(weights, order, _nucleus(weights, sampling.top_p))
    if sampling.min_p:
        keep = np.flatnonzero(weights >= sampling.min_p * weights.max())
        weights, order = _keep(weights, order, keep)
    return weights, order


def _best(values: np.ndarray, count: int) -> np.ndarray:
    """Indices of the `count` largest values, ascending."""
    border = np.partition(values, values.size - count)[values.size - count]
    above = np.flatnonzero(values > border)
    equal = np.flatnonzero(values == border)[: count - above.size]
    return np.sort(np.concatenate([above, equal]))


def _nucleus(weights: np.ndarray, mass: float) -> np.ndarray:
    """Indices of the fewest, largest weights whose sum reaches `mass`, ascending.

    All weights below (1 - mass) / n together are less than 1 - mass, so the others reach `mass` without
    them, and only those need to be sorted.
    """
    heavy = np.flatnonzero(weights >= (1.0 - mass) / weights.size)
    ranked = heavy[np.argsort(-weights[heavy], kind="stable")]
    before = np.cumsum(weights[ranked]) - weights[ranked]
    return np.sort(ranked[before < mass])


def _keep(weights: np.ndarray, order: np.ndarray | None, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights at `keep`, renormalised, and the indices they belong to."""
    left = weights[keep]
    return left / left.sum(), keep if order is None else order[keep]
