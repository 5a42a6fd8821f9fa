"""Samples the next token from logits and a mask. A result depends on nothing but the request.

The order of operations is the usual one: mask, temperature, top-k, top-p, min-p. A token is drawn as the
argmax of logits with Gumbel noise. The noise of each token is a function of the request's seed, the position
and the token (counter-based, as Salmon et al. 2011). So a result never depends on what else runs at the same
time, and a draft model that uses the same noise agrees as often as it nearly can (Daliri, Musco, Suresh
2024).

The most probable token and the drawn one are both an argmax. So both ask whether single tokens are legal, the
best first, and make the whole mask only where the few best are all illegal.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sglc.kernels.bitmask import sampling as select
from sglc.kernels.bitmask.sampling_reference import gumbel
from sglc.runtime.engine.sampling.lazy import LegalTokens, best_legal, limited_legal
from sglc.runtime.engine.sampling.options import MIN_TEMPERATURE, Sampling
from sglc.runtime.executor.plan import Candidate

KEYS = 16
"""Positions whose noise keys are made together."""
NOTED = 1024
"""So many of these are remembered: more than there are runs at the same time."""


class Share(NamedTuple):
    """How two models shared a token: `alpha` is the part of the second one, 0 to 1 or, in a contrast, above.

    `chernoff` is -log Σ base^(1-alpha) · teacher^alpha over the legal tokens, in nats: 0 where the two agree.
    `ess` is the smaller of 1 / Σ p²/q for the two: 1 where they agree. NaN where they were not measured.
    """

    alpha: float
    chernoff: float = math.nan
    ess: float = math.nan


class Sampled(NamedTuple):
    """A token with its natural log-probability in the model's whole distribution (temperature 1, no mask).

    `log_mass` is the natural logarithm of the probability of all legal tokens together, at the temperature
    that the token is drawn at (1 if greedy). Both are NaN where they were not asked for: they take passes
    over all logits. `top` has so many of the most probable tokens as were asked for, the best first.
    """

    token: int
    logprob: float
    log_mass: float = math.nan
    top: tuple[Candidate, ...] = ()
    share: Share | None = None
    """Of two models together: how they shared it. The probabilities are then those of their mixture."""


class NothingAllowed(ValueError):
    """The mask allows no token, or only tokens that the model gives probability zero."""


def noise_key(seed: int, position: int) -> int:
    """The 64 bits that the noise of all tokens at `position` follows from; both are taken modulo 2^64."""
    position %= 2**64
    return _noise_keys(seed % 2**64, position // KEYS)[position % KEYS]


@lru_cache(NOTED)
def _noise_keys(seed: int, part: int) -> tuple[int, ...]:
    """The keys of so many positions in a row: to begin a generator takes longer than its numbers. Philox
    counts blocks of four numbers."""
    return tuple(np.random.Philox(key=seed, counter=part * KEYS).random_raw(4 * KEYS)[::4].tolist())


def sample(
    logits: np.ndarray,
    legal: np.ndarray | LegalTokens | None,
    sampling: Sampling,
    random: tuple[int, int],
    *,
    scored: bool = True,
    weighed: bool = False,
    top: int = 0,
    best: int = -1,
) -> Sampled:
    """Pick one token.

    `logits` are float32 of shape [V]. `legal` is a mask row or answers for one (see LegalTokens); None allows
    all. `random` is the request's seed and the token's position (see `noise_key`); greedy picking ignores it.
    Among equals the lowest id wins. Without `scored` the log-probability is left out, without `weighed` the
    mass of the legal tokens; `top` asks for so many of the most probable tokens. `best` is the argmax of all
    logits, if it is known. Raises NothingAllowed.
    """
    if sampling.temperature == 0.0:
        token = _best_legal(logits, legal, best)
    else:
        token = _draw(logits, legal, sampling, noise_key(*random), best)
    if token < 0:
        raise NothingAllowed("no token is allowed here")
    return told_of(logits, legal, sampling, token, scored=scored, weighed=weighed, top=top)


def told_of(
    logits: np.ndarray,
    legal: np.ndarray | LegalTokens | None,
    sampling: Sampling,
    token: int,
    *,
    scored: bool,
    weighed: bool,
    top: int,
) -> Sampled:
    """A token that was drawn, with what is asked of its place in the distribution of the logits; the options
    are those of `sample`."""
    whole = select.masked_log_sum_exp(logits, None) if scored or top else math.nan
    return Sampled(
        token,
        float(logits[token]) - whole if scored else math.nan,
        log_mass(logits, legal, sampling.temperature) if weighed else math.nan,
        _most_probable(logits, legal, whole, top) if top else (),
    )


def _most_probable(
    logits: np.ndarray, legal: np.ndarray | LegalTokens | None, whole: float, count: int
) -> tuple[Candidate, ...]:
    """The `count` most probable tokens of the whole distribution, whose log-sum-exp is `whole`."""
    ids, values = select.masked_top(logits, None, count)
    if isinstance(legal, np.ndarray):
        flags = [bool(legal[token >> 5] >> (token & 31) & 1) for token in ids.tolist()]
    else:
        flags = [legal is None or legal.allows(token) for token in ids.tolist()]
    return tuple(
        Candidate(token, value - whole, flag)
        for token, value, flag in zip(ids.tolist(), values.tolist(), flags, strict=True)
        if value - whole > -math.inf
    )


def log_mass(logits: np.ndarray, legal: np.ndarray | LegalTokens | None, temperature: float) -> float:
    """Natural logarithm of the legal tokens' share of the distribution at a temperature; 0 is taken as 1.

    Float32 sums: a share within 1e-6 of the whole counts as all of it.
    """
    if legal is None:
        return 0.0
    scale = 1.0 / max(temperature, MIN_TEMPERATURE) if temperature else 1.0
    return select.masked_log_share(logits, legal if isinstance(legal, np.ndarray) else legal.row(), scale)


def _draw(
    logits: np.ndarray, legal: np.ndarray | LegalTokens | None, sampling: Sampling, key: int, best: int
) -> int:
    """The token with the largest sum of logit and noise, -1 if there is none."""
    if legal is not None and not isinstance(legal, np.ndarray) and legal.ready():
        legal = legal.row()
    if sampling.plain:
        row = legal if isinstance(legal, np.ndarray) else None
        top = float(logits[best]) if best >= 0 else select.masked_argmax(logits, row)[1]
        if math.isfinite(top):
            scale = 1.0 / max(sampling.temperature, MIN_TEMPERATURE)
            token = select.noisiest(logits, row, top, scale, key)
            if legal is None or isinstance(legal, np.ndarray) or (token >= 0 and legal.allows(token)):
                return token
            return select.noisiest(logits, legal.row(), top, scale, key)
    ids = None if sampling.plain else limited_legal(logits, legal, sampling)
    if ids is not None:
        return noisiest(ids, logits[ids], sampling, key)
    ids = candidates(logits, legal, sampling)
    return noisiest(*limited(ids, logits[ids], sampling), sampling, key) if len(ids) else -1


def noisiest(ids: np.ndarray, logits: np.ndarray, sampling: Sampling, key: int) -> int:
    """The id (of integers [n], ascending) whose logit (float32 [n]) and noise sum up to most."""
    if len(ids) == 1:
        return int(ids[0])
    scores = (logits - logits.max()) / np.float32(max(sampling.temperature, MIN_TEMPERATURE))
    return int(ids[np.argmax(scores + gumbel(ids, key))])


def limited(ids: np.ndarray, logits: np.ndarray, sampling: Sampling) -> tuple[np.ndarray, np.ndarray]:
    """What top-k, top-p and min-p leave of ids (integers [n], ascending) and their logits (float32 [n]).

    Infinite logits are all equally likely, and become 0. Temperature must be above 0.
    """
    if logits.max() == np.inf:
        logits = np.where(logits == np.inf, np.float32(0), np.float32(-np.inf))
    if not sampling.plain:
        _, order = distribution(logits, sampling)
        if order is not None:
            return ids[order], logits[order]
    return ids, logits


def _best_legal(logits: np.ndarray, legal: np.ndarray | LegalTokens | None, best: int) -> int:
    """The best legal id, -1 if there is none. The best of all is asked for first: it is mostly legal."""
    if best >= 0 and (legal is None or (not isinstance(legal, np.ndarray) and legal.allows(best))):
        return best
    if legal is not None and not isinstance(legal, np.ndarray):
        found = None if legal.ready() else best_legal(logits, legal)
        if found is not None:
            return found
        legal = legal.row()
    return select.masked_argmax(logits, legal)[0]


def candidates(logits: np.ndarray, legal: np.ndarray | LegalTokens | None, sampling: Sampling) -> np.ndarray:
    """The ids that the token is drawn from, ascending: k of top-k, else all legal ones.

    None of them has a logit of -inf.
    """
    if legal is not None and not isinstance(legal, np.ndarray):
        legal = legal.row()
    if sampling.top_k is not None:
        return np.sort(select.masked_top(logits, legal, sampling.top_k)[0])
    kept = logits > -np.inf
    if legal is not None:
        kept &= _flags(legal, logits.size)
    return np.flatnonzero(kept)


def _flags(mask: np.ndarray, size: int) -> np.ndarray:
    """bool [size] of a mask."""
    return np.unpackbits(mask.view(np.uint8), count=size, bitorder="little").view(np.bool_)


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
