"""Which tokens a draw may take, found by asking whether single tokens are legal, the most probable first.

For a place that was never seen, the whole mask costs a walk over the vocabulary. A model that knows what it
writes mostly prefers legal tokens, and top-k, top-p and min-p leave few of them. So the mask is mostly not
needed: a token that is legal and the best of all is the best of the legal ones, and a sum over the few best
bounds the sum over all. Where that does not decide, None is returned, and the mask decides: the draw is the
same in both ways.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from sglc.kernels.bitmask import sampling as select
from sglc.runtime.engine.sampling.options import MIN_TEMPERATURE, Sampling

SPARE_TRIES = 8
"""The best token is asked for, and then so many and one: where ten are illegal, hundreds mostly are."""
MOST_TRIES = 24
"""A mask that was never made costs at least as much as asking for this many tokens."""
MARGIN = 1e-5
"""Share by which a sum must be off a limit to be decided here: the mask's way adds float32 powers, off by
1e-7 each and by less than this together."""


class LegalTokens(Protocol):
    """The tokens that may come next, as a whole or one by one; the two agree.

    For a place that was never seen, the whole mask may cost a walk over the vocabulary. One token costs only
    its bytes.
    """

    def ready(self) -> bool:
        """Whether `row` costs no more than a look-up."""

    def row(self) -> np.ndarray:
        """The mask, int32 [ceil(V / 32)]: bit `i % 32` of word `i // 32` says whether token i is legal."""

    def allows(self, token: int) -> bool:
        """Whether one token is legal."""


def best_legal(logits: np.ndarray, legal: LegalTokens) -> int | None:
    """The legal token with the largest of float32 logits [V], the lowest of equals. None: not found."""
    if MOST_TRIES <= SPARE_TRIES:
        return None
    best, _ = select.masked_argmax(logits, None)
    if best >= 0 and legal.allows(best):
        return best
    for token in select.masked_top(logits, None, 1 + SPARE_TRIES)[0].tolist():
        if legal.allows(token):
            return int(token)
    return None


def limited_legal(
    logits: np.ndarray, legal: np.ndarray | LegalTokens | None, sampling: Sampling
) -> np.ndarray | None:
    """The legal tokens that top-k, top-p and min-p leave of float32 logits [V], ascending. None: not found.

    Of a mask, int32 [ceil(V / 32)], or without one, the few best are looked at, and all need not be sorted.
    """
    k, row = sampling.top_k, legal if isinstance(legal, np.ndarray) else None
    if MOST_TRIES <= SPARE_TRIES or (k is not None and k > MOST_TRIES):
        return None
    tokens, values = select.masked_top(logits, row, MOST_TRIES)
    if not len(tokens) or not math.isfinite(values[0]):
        return None
    scale = 1.0 / max(sampling.temperature, MIN_TEMPERATURE)
    weights = np.exp((values.astype(np.float64) - float(values[0])) * scale).tolist()
    share = sampling.top_p or 1.0
    rest = math.inf  # weight of the tokens that were not asked for
    if share < 1.0:
        rest = math.exp(select.masked_log_sum_exp(logits, row, scale) - float(values[0]) * scale)
    asks = None if legal is None or isinstance(legal, np.ndarray) else legal.allows
    kept: list[int] = []
    masses: list[float] = []
    found = 0.0
    for token, weight in zip(tokens.tolist(), weights, strict=True):
        if kept and (
            found >= share * (found + rest) * (1 + MARGIN)
            or weight < (sampling.min_p or 0.0) * masses[0] * (1 - MARGIN)
        ):
            break
        rest = max(0.0, rest - weight)
        if asks is None or asks(token):
            kept.append(token)
            masses.append(weight)
            found += weight
            if len(kept) == k:
                rest = 0.0
                break
    else:
        if asks is not None or len(tokens) == MOST_TRIES:
            return None
        rest = 0.0  # there are no others
    return _within(kept, masses, share, rest, sampling.min_p or 0.0)


def _within(
    tokens: list[int], weights: list[float], share: float, rest: float, least: float
) -> np.ndarray | None:
    """Those of the tokens, most probable first, that top-p and min-p leave, ascending; None where it is
    close.

    All legal tokens weigh as much as these, and at most `rest` more.
    """
    whole, before = sum(weights), 0.0
    left: list[int] = []
    for token, weight in zip(tokens, weights, strict=True):
        if before >= share * (whole + rest) * (1 + MARGIN) and share < 1.0:
            break
        if before > share * whole * (1 - MARGIN) and share < 1.0:
            return None
        if weight < least * weights[0] * (1 - MARGIN):
            break
        if weight < least * weights[0] * (1 + MARGIN) and weight != weights[0]:
            return None
        left.append(token)
        before += weight
    return np.sort(np.array(left, np.int32))
