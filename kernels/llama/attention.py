"""Attention over blocks of 16 positions.

The pool is [blocks][layers][heads][keys, values] of floats of 16 bits: keys [size][16], so that lanes are
positions, and values [16][size], so that lanes are parts of the head. A block is one piece of memory.
A token's result is the same for any other tokens of the step: blocks begin at multiples of 16 positions, and
are summed in order.
"""

from __future__ import annotations

from sglc.kernels.lanes import (
    float_lanes,
    fma,
    greater,
    keep_first,
    load_floats,
    load_halves,
    max_floats,
    prefetch,
    spread,
    store_floats,
    store_halves,
    sum_floats,
)
from sglc.kernels.llama.pointwise import exponential
from sglc.kernels.typed import F32, I32, U16, Constant, kernel, kernel_apart

LEAST = -1.0e30
"""The score of a position that is not looked at."""


@kernel
def remember(qkv: F32, key: int, value: int, pool: U16, base: int, offset: int, size: Constant) -> None:
    """Puts a head's key and value of one token to place `offset` of the block part at `base`."""
    # The key is made shorter where the value will be: numbers that lie apart are then only moved.
    row = base + (16 + offset) * size
    for d in range(size // 16):
        store_halves(pool, row + 16 * d, load_floats(qkv, key + 16 * d))
    for d in range(size):
        pool[base + 16 * d + offset] = pool[row + d]
    for d in range(size // 16):
        store_halves(pool, row + 16 * d, load_floats(qkv, value + 16 * d))


@kernel_apart
def attend(
    qkv: F32, query: int, out: F32, to: int, pool: U16, part: int, block: int, table: I32, row: int,
    start: int, length: int, scale: float, scores: F32, scratch: int, stride: int, together: Constant,
    size: Constant,
) -> None:  # fmt: skip
    """`together` query heads of one token with a head of keys and values, positions start … length - 1.

    The block with the number b has the head's part at pool[b * block + part]; the numbers of the sequence's
    blocks begin at table[row]. Scores of head h are kept from scores[scratch + h * stride] on.
    """
    # Blocks are taken by twos from an even one on, so that scores stay inside their stride.
    low = (start >> 5) << 1
    high = (length + 15) >> 4
    most = float_lanes(together)
    left = float_lanes(together)
    right = float_lanes(together)
    for h in range(together):
        most[h] = spread(LEAST)
    for pair in range((high - low + 1) >> 1):
        j = low + 2 * pair
        # Two blocks side by side; behind the last one stands itself, and its scores are not looked at.
        one = table[row + j] * block + part
        two = table[row + min(j + 1, high - 1)] * block + part
        ahead = table[row + min(j + 2, high - 1)] * block + part
        beyond = table[row + min(j + 3, high - 1)] * block + part
        for h in range(together):
            left[h] = spread(0.0)
            right[h] = spread(0.0)
        for d in range(size // 2):
            prefetch(pool, ahead + 32 * d)
            prefetch(pool, beyond + 32 * d)
            for o in range(2):
                k = load_halves(pool, one + 32 * d + 16 * o)
                l = load_halves(pool, two + 32 * d + 16 * o)
                for h in range(together):
                    number = spread(qkv[query + h * size + 2 * d + o])
                    left[h] = fma(k, number, left[h])
                    right[h] = fma(l, number, right[h])
        for h in range(together):
            s = keep_first(left[h] * spread(scale), length - 16 * j, spread(LEAST))
            s = keep_first(spread(LEAST), start - 16 * j, s)
            t = keep_first(right[h] * spread(scale), length - 16 * j - 16, spread(LEAST))
            t = keep_first(spread(LEAST), start - 16 * j - 16, t)
            most[h] = greater(most[h], greater(s, t))
            store_floats(scores, scratch + h * stride + 16 * j, s)
            store_floats(scores, scratch + h * stride + 16 * j + 16, t)
    for h in range(together):
        top = spread(max_floats(most[h]))
        total = spread(0.0)
        for j in range(low, high):
            e = exponential(load_floats(scores, scratch + h * stride + 16 * j) - top)
            e = keep_first(e, length - 16 * j, spread(0.0))
            e = keep_first(spread(0.0), start - 16 * j, e)
            total = total + e
            store_floats(scores, scratch + h * stride + 16 * j, e)
        most[h] = spread(1.0 / sum_floats(total))
    mixed = float_lanes(together * size // 16)
    for j in range(low, high):
        base = table[row + j] * block + part + 16 * size
        ahead = table[row + min(j + 1, high - 1)] * block + part + 16 * size
        here = min(16, length - 16 * j)
        for p in range(max(0, start - 16 * j), here):
            for d in range(size // 32):
                prefetch(pool, ahead + p * size + 32 * d)
            for d in range(size // 16):
                v = load_halves(pool, base + p * size + 16 * d)
                for h in range(together):
                    weight = spread(scores[scratch + h * stride + 16 * j + p])
                    mixed[h * (size // 16) + d] = fma(v, weight, mixed[h * (size // 16) + d])
    for h in range(together):
        for d in range(size // 16):
            store_floats(out, to + h * size + 16 * d, mixed[h * (size // 16) + d] * most[h])


@kernel
def attend_group(
    qkv: F32, query: int, out: F32, to: int, pool: U16, part: int, block: int, table: I32, row: int,
    start: int, length: int, scale: float, scores: F32, scratch: int, stride: int, group: Constant,
    together: Constant, size: Constant,
) -> None:  # fmt: skip
    """The `group` query heads that share a head of keys, `together` of them at a time."""
    for each in range(group // together):
        h = each * together * size
        attend(
            qkv, query + h, out, to + h, pool, part, block, table, row, start, length, scale, scores, scratch,
            stride, together, size,
        )  # fmt: skip
    if group % together > 0:
        rest = (group // together) * together * size
        attend(
            qkv, query + rest, out, to + rest, pool, part, block, table, row, start, length, scale, scores,
            scratch, stride, group % together, size,
        )  # fmt: skip
