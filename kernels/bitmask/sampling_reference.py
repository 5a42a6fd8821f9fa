"""The kernels in plain Python and numpy. This file defines what the compiled ones must do."""

from __future__ import annotations

import numpy as np

from sglc.kernels.dsl.noise import GOLDEN, LAST_SHIFT, ROUNDS, SMALL


def legal(mask: np.ndarray | None, size: int) -> np.ndarray:
    """The ids below `size` whose bit is set (all without a mask), ascending."""
    if mask is None:
        return np.arange(size)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little", count=min(size, 32 * len(mask)))
    return np.flatnonzero(bits)


def masked_argmax(logits: np.ndarray, mask: np.ndarray | None) -> tuple[int, float]:
    """(index, value) of the largest logit (float32[V]) whose bit is set; the lowest index of equal ones.

    (-1, -inf) if no bit is set or all such logits are -inf or NaN.
    """
    ids = legal(mask, len(logits))
    values = np.where(np.isnan(logits[ids]), -np.inf, logits[ids])
    if not len(ids) or values.max() == -np.inf:
        return -1, float("-inf")
    best = int(values.argmax())
    return int(ids[best]), float(values[best])


def masked_top(logits: np.ndarray, mask: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(ids int32[m], values float32[m]) of the k largest logits whose bit is set, m at most k, largest first.

    Among equals lower ids come first. Logits that are -inf or NaN are left out, as in `masked_argmax`.
    """
    ids = legal(mask, len(logits))
    ids = ids[logits[ids] > -np.inf]
    ids = ids[np.argsort(-logits[ids], kind="stable")][:k].astype(np.int32)
    return ids, logits[ids]


def masked_log_sum_exp(logits: np.ndarray, mask: np.ndarray | None, scale: float = 1.0) -> float:
    """log of the sum of exp(scale * logit) over the set bits (all if no mask); -inf for none of them.

    Computed from the largest downwards; NaN and -inf logits count nothing.
    """
    values = logits[legal(mask, len(logits))]
    values = values[~np.isnan(values)].astype(np.float64) * scale
    if not len(values) or values.max() == -np.inf:
        return float("-inf")
    top = values.max()
    if top == np.inf:
        return float("inf")
    return float(top + np.log(np.exp(values - top).sum()))


def noise_bits(tokens: np.ndarray, key: int) -> np.ndarray:
    """uint32 [n]: 32 random bits for each token (integers [n]) under a key of 64 bits."""
    x = tokens.astype(np.uint32) * np.uint32(GOLDEN) + np.uint32(key & 0xFFFFFFFF)
    for number, (shift, factor) in enumerate(ROUNDS):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
        if number == 0:
            x ^= np.uint32(key >> 32)
    return x ^ (x >> np.uint32(LAST_SHIFT))


def gumbel(tokens: np.ndarray, key: int) -> np.ndarray:
    """float32 [n]: noise of the standard Gumbel distribution for each token (integers [n]) under a key.

    -log(-log(1 - v)) for v = (bits + 1/2) / 2^31, of the upper 31 bits: the largest noise is the smallest v,
    which floats tell apart best.
    """
    halves = (noise_bits(tokens, key) >> np.uint32(1)).astype(np.float32)
    v = (halves + np.float32(0.5)) * np.float32(2.0**-31)
    rest = np.maximum(np.float32(1.0) - v, np.float32(2.0**-24))
    waiting = np.where(v < SMALL, v * (np.float32(1.0) + np.float32(0.5) * v), -np.log(rest))
    return -np.log(waiting)


def noisiest(logits: np.ndarray, mask: np.ndarray | None, top: float, scale: float, key: int) -> int:
    """The id with the largest scale * (logit - top) + noise among the set bits (all if no mask); -1 for
    none."""
    ids = legal(mask, len(logits))
    ids = ids[logits[ids] > -np.inf]
    if not len(ids):
        return -1
    scores = (logits[ids] - np.float32(top)) * np.float32(scale) + gumbel(ids, key)
    return int(ids[np.argmax(scores)])


def count_bits(mask: np.ndarray) -> int:
    """The number of set bits of a row."""
    return (
        int(np.bitwise_count(mask.view(np.uint32)).sum())
        if hasattr(np, "bitwise_count")
        else int(np.unpackbits(mask.view(np.uint8)).sum())
    )
