"""The kernels in plain Python and numpy. This file defines what the compiled ones must do."""

from __future__ import annotations

import numpy as np

from sglc.kernels.contract import DEAD, NO_ROW, TrieArrays


def walk(
    trie: TrieArrays, rows: np.ndarray, row_of: np.ndarray, stack: np.ndarray, start: int, mask: np.ndarray
) -> int:
    """Set the bit of every token whose bytes lead from `stack[0]` to a live configuration.

    rows int32[R, 256], row_of int32[C] (index into rows by configuration, or NO_ROW), stack
    int32[deepest + 1] (configuration by depth), mask int32[words]. The walk begins at node `start` with the
    stack as an earlier call left it. Returns the node before which a row is missing (that of configuration
    `stack[depth - 1]`), or the number of nodes when done.
    """
    byte, depth, end, token = trie.byte, trie.depth, trie.end, trie.token
    bits = mask.view(np.uint32)
    node, size = start, len(byte)
    while node < size:
        level = int(depth[node])
        row = int(row_of[stack[level - 1]])
        if row == NO_ROW:
            return node
        following = rows[row, byte[node]]
        if following == DEAD:
            node = int(end[node])
            continue
        stack[level] = following
        index = int(token[node])
        if index >= 0:
            bits[index >> 5] |= np.uint32(1 << (index & 31))
        elif index < -1:
            place = -2 - index
            while (index := int(trie.duplicates[place])) >= 0:
                bits[index >> 5] |= np.uint32(1 << (index & 31))
                place += 1
        node += 1
    return node


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


def count_bits(mask: np.ndarray) -> int:
    """The number of set bits of a row."""
    return (
        int(np.bitwise_count(mask.view(np.uint32)).sum())
        if hasattr(np, "bitwise_count")
        else int(np.unpackbits(mask.view(np.uint8)).sum())
    )
