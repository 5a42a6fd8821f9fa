"""Two models fill one hole: each token is drawn from q ∝ base^(1 - α) · teacher^α over the legal tokens.

α is found for each token, by a rule (`sglc.kernels.bitmask.mix`), after the mask and before the temperature:
masking and mixing commute for a given α, and the α of all tokens is another than that of the legal ones.
`top_k`, `top_p` and `min_p` leave what they leave of the teacher; both models are restricted to that. The
token is drawn with the noise that one model would have: with α = 0 or 1 it is that model's token.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sglc.kernels.bitmask import mix
from sglc.kernels.bitmask.sampling import masked_log_sum_exp
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import (
    NothingAllowed,
    Sampled,
    Share,
    candidates,
    limited,
    log_mass,
    noise_key,
    noisiest,
    sample,
)
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.types.model_use import Rule

MOST_WEIGHT = 10
"""The bound of the language, for weights that are computed: far above 1 only their quotient counts."""


@dataclass(frozen=True, slots=True)
class BlendRule:
    """How α is found: by a rule, `at_least` so much; or it is `weight`, which goes with the rule `weight`."""

    rule: Rule = "kl"
    weight: float | None = None
    at_least: float = 0.0

    def __post_init__(self) -> None:
        if self.weight is not None and not 0 <= self.weight <= MOST_WEIGHT:
            raise ValueError(f"weight must be from 0 to {MOST_WEIGHT}, not {self.weight}")
        if not 0 <= self.at_least <= 1:
            raise ValueError(f"at least must be from 0 to 1, not {self.at_least}")
        if (self.rule == "weight") != (self.weight is not None):
            raise ValueError("a weight goes with the rule `weight`, and the rule with a weight")


@dataclass(frozen=True, slots=True)
class Shares:
    """Means over the tokens that two models drew together. NaN is what was not measured.

    `held` is how many tokens got their least share, `at least`, where the rule had found a smaller one.
    """

    tokens: int
    alpha: float
    chernoff: float
    ess: float
    held: int


class Blend:
    """Samples the tokens of one hole, and counts how they were shared. See `Blending`."""

    def __init__(self, rule: BlendRule) -> None:
        self.rule = rule
        self._found: tuple[int, Share] | None = None
        """The position that α was found for last. It stays where a token is refused and drawn again: what is
        left is then a part of the same distribution."""
        self._shares: dict[int, Share] = {}
        self._held: set[int] = set()

    def sample(self, rows: np.ndarray, request: SamplingRequest) -> Sampled:
        """See `Blending`."""
        base, teacher = rows[0], rows[1]
        sampling, random = request.sampling, (request.seed, request.position)
        support = self._support(teacher, request)
        share = self._share(base, teacher, request, support)
        mixed = mix.mixture(base, teacher, share.alpha)
        plain = Sampling(sampling.temperature)
        if support is None:
            drawn = sample(
                mixed, request.legal, plain, random, scored=request.scored, weighed=request.weighed
            )
        else:
            token = _among(mixed, support, plain, random)
            drawn = Sampled(
                token,
                float(mixed[token]) - masked_log_sum_exp(mixed, None) if request.scored else math.nan,
                log_mass(mixed, request.legal, sampling.temperature) if request.weighed else math.nan,
            )
        self._shares[request.position] = share
        return drawn._replace(share=share)

    def shares(self) -> Shares | None:
        """What the tokens so far had; None where there are none."""
        found = list(self._shares.values())
        if not found:
            return None
        alpha, chernoff, ess = (sum(values) / len(found) for values in zip(*found, strict=True))
        return Shares(len(found), alpha, chernoff, ess, len(self._held))

    def _support(self, teacher: np.ndarray, request: SamplingRequest) -> np.ndarray | None:
        """The ids that the limits leave of the teacher, ascending; None where there are no limits.

        At the hole's temperature, as one model's limits are; greedy drawing, which has none, takes 1.
        """
        given = request.sampling
        limits = Sampling(given.temperature or 1.0, given.top_k, given.top_p, given.min_p)
        if limits.plain:
            return None
        ids = candidates(teacher, request.legal, limits)
        return limited(ids, teacher[ids], limits)[0] if len(ids) > 1 else ids

    def _share(
        self, base: np.ndarray, teacher: np.ndarray, request: SamplingRequest, support: np.ndarray | None
    ) -> Share:
        if self._found is not None and self._found[0] == request.position:
            return self._found[1]
        share = self._solved(base, teacher, request, support)
        self._found = (request.position, share)
        return share

    def _solved(
        self, base: np.ndarray, teacher: np.ndarray, request: SamplingRequest, support: np.ndarray | None
    ) -> Share:
        rule = self.rule
        if rule.rule == "weight" and not (request.scored or request.weighed):
            return Share(float(rule.weight or 0.0))
        legal = request.legal
        row = legal if legal is None or isinstance(legal, np.ndarray) else legal.row()
        mask = row if support is None else _mask(support, len(base))
        if rule.rule == "weight":
            alpha, apart = float(rule.weight or 0.0), math.nan
        else:
            masks = None if mask is None else mask[None]
            found = mix.solve(base[None], teacher[None], masks, rule.rule)
            alpha, apart = float(found.alpha[0]), float(found.chernoff[0])
        if alpha < rule.at_least:
            self._held.add(request.position)
            alpha, apart = rule.at_least, math.nan
        if math.isnan(apart):
            apart = mix.chernoff(base, teacher, mask, alpha)
        if not request.scored:
            return Share(alpha, apart)
        return Share(alpha, apart, min(mix.effective_samples(base, teacher, mask, alpha)))


def _among(mixed: np.ndarray, ids: np.ndarray, sampling: Sampling, random: tuple[int, int]) -> int:
    """The token among the ids of a support, ascending; drawn as `sampler.sample` draws among candidates."""
    ids = ids[mixed[ids] > -np.inf]
    if not len(ids):
        raise NothingAllowed("no token is allowed here")
    if sampling.temperature:
        return noisiest(*limited(ids, mixed[ids], sampling), sampling, noise_key(*random))
    return int(ids[np.argmax(mixed[ids])])


def _mask(ids: np.ndarray, size: int) -> np.ndarray:
    """The mask row of ids, int32 [ceil(size / 32)]."""
    bits = np.zeros(-(-size // 32) * 32, bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little").view(np.int32)
