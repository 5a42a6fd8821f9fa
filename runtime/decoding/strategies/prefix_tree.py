"""The prefixes that walks have come to, each with a bound on the chance to end legally behind it.

Constrained adaptive rejection sampling (Parys et al. 2025). At a prefix that was met, p(token) of the legal
tokens is known, and for each token a bound c on the chance that a legal text follows: 1 where the walk has
never been. The bound of the prefix is the sum of p·c. One visit rules out all illegal tokens of a place at
once.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sglc.kernels.bitmask import sampling as select
from sglc.kernels.bitmask.sampling_reference import gumbel
from sglc.runtime.engine.sampling.sampler import Sampled

if TYPE_CHECKING:
    from sglc.runtime.decoding.strategies.choice_trie import LegalTexts

KEPT = 1 << 23
"""Most legal tokens of which a tree keeps probabilities, all places together: 64 MB. Of places that were met
when it is full, nothing is kept: they are computed again when a walk comes back, and their bounds stay."""


def legal_ids(row: np.ndarray, size: int) -> np.ndarray:
    """The tokens below `size` that a mask allows, int32 [n], ascending."""
    flags = np.unpackbits(row.view(np.uint8), count=size, bitorder="little")
    return np.flatnonzero(flags).astype(np.int32)


def log_shares(logits: np.ndarray, ids: np.ndarray, temperature: float) -> np.ndarray:
    """float32 [n]: log-probabilities of tokens (integers [n]) under float32 logits [V] at a temperature."""
    whole = select.masked_log_sum_exp(logits, None, 1.0 / temperature)
    shares: np.ndarray = logits[ids] / np.float32(temperature) - np.float32(whole)
    return shares


@dataclass(slots=True, eq=False)
class Place:
    """A prefix at which a token is chosen. `bound` is log c."""

    bound: float = 0.0
    mass: float = math.nan
    """Log of the probability of the legal tokens when it was met; NaN for a place never met."""
    ids: np.ndarray | None = None
    """Legal tokens, int32 [n], ascending."""
    logprobs: np.ndarray | None = None
    """float32 [n]: their log-probabilities at the temperature of the draw."""
    bounds: np.ndarray | None = None
    """float32 [n]: log of the bound behind each; -inf for what is forbidden."""
    raw: np.ndarray | None = None
    """float32 [n]: their log-probabilities at temperature 1."""
    certain: int | None = None
    """The only token that the tokenizer would write here: it has no weight, and the model is not asked."""
    next: dict[int, Place] = field(default_factory=dict)
    """Places behind tokens, by the token's place in `ids`; behind a certain token by 0."""

    @property
    def met(self) -> bool:
        """Whether a walk has been here."""
        return not math.isnan(self.mass)

    def meet(self, logits: np.ndarray, row: np.ndarray, temperature: float) -> None:
        """Learn what is legal here. `row` is the mask."""
        ids = self.ids = legal_ids(row, logits.size)
        self.raw, self.logprobs = log_shares(logits, ids, 1.0), log_shares(logits, ids, temperature)
        self.bounds = np.zeros(len(ids), np.float32)
        for place, child in self.next.items():
            self.bounds[place] = child.bound
        self.bound = self._sum()
        if not self.met:
            self.mass = self.bound

    def forget(self) -> None:
        """Drop what can be computed again; the bounds of places behind this one stay in these."""
        self.ids = self.logprobs = self.raw = self.bounds = None

    def draw(self, key: int, size: int, first: bool) -> int | None:
        """The place in `ids` of a token drawn in proportion to p·c; None for a walk that ends here.

        A walk that comes here `first` draws from all `size` tokens of the vocabulary, the illegal ones as
        one: it goes on with the probability of the legal ones.
        """
        assert self.ids is not None and self.logprobs is not None and self.bounds is not None
        if not len(self.ids):
            return None
        scores = self.logprobs + self.bounds + gumbel(self.ids, key)
        best = int(np.argmax(scores))
        if not scores[best] > -math.inf:
            return None
        if first:
            illegal = -math.expm1(min(self.mass, 0.0))
            if illegal > 0 and math.log(illegal) + float(gumbel(np.array([size]), key)[0]) > scores[best]:
                return None
        return best

    def learn(self, place: int, bound: float) -> None:
        """A token's bound has become known, and with it the bound of this prefix."""
        self.next.setdefault(place, Place()).bound = bound
        if self.certain is not None:
            self.bound = min(self.bound, bound)
            return
        assert self.bounds is not None
        self.bounds[place] = bound
        self.bound = min(self.bound, self._sum())

    def sampled(self, place: int) -> Sampled:
        """What was drawn, for observers."""
        assert self.ids is not None and self.raw is not None
        return Sampled(int(self.ids[place]), float(self.raw[place]), min(0.0, self.mass))

    def _sum(self) -> float:
        """Log of the sum of p·c, in float64; at most 0."""
        assert self.logprobs is not None and self.bounds is not None
        terms = self.logprobs.astype(np.float64) + self.bounds
        top = float(terms.max(initial=-math.inf))
        if top == -math.inf:
            return top
        return min(0.0, top + math.log(float(np.exp(terms - top).sum())))


class PrefixTree:
    """The places of one hole. Samples of a hole share it; one walk goes on at a time."""

    def __init__(self) -> None:
        self.root = Place()
        self.turn = asyncio.Lock()
        """Held during a walk: bounds may not change under it, or its text would not be an exact draw."""
        self.pressed: tuple[float, str] = (0.0, "")
        """The most pressure that was met at one place, in nats, and the text before it."""
        self.texts: LegalTexts | None = None
        """All texts with their probabilities, where the hole has few. Then there are no walks."""
        self.looked = False
        """Whether `texts` were asked for."""
        self._kept = 0

    def meet(
        self, place: Place, logits: np.ndarray, row: np.ndarray, temperature: float, before: str
    ) -> None:
        """`Place.meet`, with an account of the memory that it takes."""
        place.meet(logits, row, temperature)
        assert place.ids is not None
        self._kept += len(place.ids)
        if -place.mass > self.pressed[0]:
            self.pressed = (-place.mass, before)

    def passed(self, place: Place) -> None:
        """A walk has left a place for good; forget it where the tree is full."""
        if self._kept > KEPT and place.ids is not None:
            self._kept -= len(place.ids)
            place.forget()
