"""The sums of `sglc.kernels.bitmask.mix` in numpy and float64. This file defines what the kernel must do."""

from __future__ import annotations

import numpy as np

from sglc.kernels.bitmask.sampling_reference import legal


def moments(
    base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None, weight: float
) -> tuple[float, float, float]:
    """(log Σ w, mean of d, variance of d) of one row: w = exp((1 - weight) · base + weight · teacher) and
    d = teacher - base, over the set bits where both logits are finite. (-inf, 0, 0) if there are none."""
    ids = legal(mask, len(base))
    first, second = base[ids].astype(np.float64), teacher[ids].astype(np.float64)
    finite = np.isfinite(first) & np.isfinite(second)
    first, second = first[finite], second[finite]
    if not len(first):
        return float("-inf"), 0.0, 0.0
    scores = (1.0 - weight) * first + weight * second
    top = scores.max()
    weights = np.exp(scores - top)
    total = weights.sum()
    gap = second - first
    mean = float((weights * gap).sum() / total)
    return float(top + np.log(total)), mean, float((weights * (gap - mean) ** 2).sum() / total)


def mixture(base: np.ndarray, teacher: np.ndarray, weight: float, out: np.ndarray) -> None:
    """Write (1 - weight) · base + weight · teacher to `out`, -inf where either is -inf; all float32[V]."""
    with np.errstate(invalid="ignore"):
        out[:] = np.float32(1.0 - weight) * base + np.float32(weight) * teacher
    out[(base == -np.inf) | (teacher == -np.inf)] = -np.inf
