"""Two distributions as one, by the definitions: sums in float64, roots by halving. An oracle.

It knows neither ψ nor Newton's method: it compares the divergences and sums that the rules are defined by.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Row = np.ndarray
HALVINGS = 60


def distribution(logits: Row) -> Row:
    """Probabilities [V] of logits [V], in float64."""
    shifted = logits.astype(np.float64) - logits.max()
    weights: Row = np.exp(shifted)
    return weights / weights.sum()


def between(base: Row, teacher: Row, alpha: float) -> Row:
    """q ∝ base^(1 - alpha) · teacher^alpha of two rows of logits."""
    first, second = np.log(distribution(base)), np.log(distribution(teacher))
    return distribution((1 - alpha) * first + alpha * second)


def divergence(p: Row, q: Row) -> float:
    """KL(p‖q) in nats, of rows without zeros."""
    return float((p * (np.log(p) - np.log(q))).sum())


def entropy(p: Row) -> float:
    """Entropy in nats."""
    return float(-(p * np.log(p)).sum())


def effective(p: Row, q: Row) -> float:
    """What share of draws from q counts as draws from p: 1 / Σ p²/q."""
    return 1.0 / float((p * p / q).sum())


def alpha_of(base: Row, teacher: Row, rule: str) -> float:
    """The share of the teacher by a rule: kl, ess, entropy or forward; both rows without zeros."""
    first, second = distribution(base), distribution(teacher)
    if rule == "entropy":
        one, two = entropy(first), entropy(second)
        return one / (one + two)
    if rule == "kl":
        return _halved(lambda q: divergence(q, first) - divergence(q, second), base, teacher)
    if rule == "ess":
        return _halved(lambda q: effective(second, q) - effective(first, q), base, teacher)
    return _halved(lambda q: divergence(first, q) - divergence(second, q), base, teacher)


def _halved(excess: Callable[[Row], float], base: Row, teacher: Row) -> float:
    """The weight at which a function of the mixture, which grows with the weight, is 0."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if excess(between(base, teacher, middle)) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
