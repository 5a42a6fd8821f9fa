"""Attention over blocks of 16 positions, keys and values of which are bytes (`sglc.kernels.llama.kv_layout`).

Queries and weights are whole numbers of 16 bits here, two bytes each, so that their products with bytes are
exact and their sums depend on no order. A token's result is the same for any other tokens of the step: blocks
begin at multiples of 16 positions, and what is rounded is rounded in their order.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I8, I32, U8, Constant, kernel, kernel_noinline
from sglc.kernels.dsl.vectors import (
    as_floats,
    as_ints,
    dot4,
    float_lanes,
    fma,
    greater,
    int_lanes,
    keep_first,
    load_floats,
    load_halves,
    load_ints,
    magnitudes,
    max_floats,
    nearest,
    prefetch,
    rolled,
    shift_left,
    shift_right,
    spread,
    spread_int,
    store_bytes,
    store_floats,
    store_ints,
    sum_floats,
    to_floats,
    word_at,
)
from sglc.kernels.llama.kv_layout import key_scales_at, value_scales_at, values_at
from sglc.kernels.llama.pointwise import exponential

LEAST = -1.0e30
"""The score of a position that is not looked at."""
LARGEST = 1.0 / 16319.0
"""A query's scale by its largest number: upper bytes, which count 128, are at most 127."""
ONES = 0x01010101
"""Four bytes that are 1."""
WHOLE = 65535.0
"""The largest weight."""
SMALLEST = 1.0e-30
"""The least scale of queries."""
STRETCH = 2048
"""Blocks whose products are summed up as whole numbers; those of upper bytes stay below 2**31."""


@kernel
def score_numbers(together: int, stride: int) -> int:
    """Floats that a thread works in: a score for each position, and 16 numbers for each head."""
    return together * (stride + 16)


@kernel
def byte_numbers(together: int, stride: int, size: int) -> int:
    """Bytes that a thread works in: two for each position and number of each head, 128 for sums."""
    return 2 * together * (stride + size + 128)


@kernel
def split_query(
    qkv: F32, query: int, scores: F32, place: int, spare: I8, byte: int, scale: float, size: Constant
) -> None:
    """A query as whole numbers of 15 bits: upper bytes to spare[byte …], lower ones `size` behind them.

    An upper byte counts 128. Behind both come as many bytes, of every two words the first: what a sum of 8
    numbers begins with, divided by 128, as keys have 128 added. scores[place] is the query's scale times
    `scale`.
    """
    most = spread(0.0)
    for g in range(size // 16):
        most = greater(magnitudes(load_floats(qkv, query + 16 * g)), most)
    step = max_floats(most) * LARGEST + SMALLEST
    inverse = spread(1.0 / step)
    for g in range(size // 16):
        number = nearest(load_floats(qkv, query + 16 * g) * inverse)
        # 16384 and 64 are added, so that what is shifted has no sign, and is rounded.
        upper = shift_right(number + spread_int(16448), 7) - spread_int(128)
        store_bytes(spare, byte + 16 * g, upper)
        store_bytes(spare, byte + size + 16 * g, number - shift_left(upper, 7))
    for g in range((size + 63) // 64):
        # Sums of 4 numbers, then of 8 in every other lane; lanes behind the head's are not looked at.
        total = dot4(spread_int(0), spread_int(ONES), load_ints(spare, byte + 64 * g))
        total = dot4(shift_left(total, 7), spread_int(ONES), load_ints(spare, byte + size + 64 * g))
        total = total + as_ints(rolled(as_floats(total), 1))
        store_ints(spare, byte + 2 * size + 64 * g, spread_int(0) - total)
    scores[place] = step * scale


@kernel
def fetch(pool: U8, at: int, lines: Constant) -> None:
    """So many lines of memory will be read soon."""
    for line in range(lines):
        prefetch(pool, at + 64 * line)


@kernel
def mix(
    out: F32,
    to: int,
    pool: U8,
    base: int,
    block: int,
    table: I32,
    row: int,
    low: int,
    high: int,
    spare: I8,
    byte: int,
    stride: int,
    scores: F32,
    place: int,
    add: bool,
    together: Constant,
    size: Constant,
    width: Constant,
) -> None:
    """`width` numbers of the values from `base` in a part on, weighted, for `together` heads.

    Blocks low … high - 1; with `add`, they are added to what is at out[to …] and `size` further on for each
    head.
    """
    upper = int_lanes(together * width // 16)
    lower = int_lanes(together * width // 16)
    first = int_lanes(together)
    second = int_lanes(together)
    for j in range(low, high):
        at = table[row + j] * block + base
        for g in range(4):
            for h in range(together):
                first[h] = spread_int(word_at(spare, byte + 2 * h * stride + 16 * j + 4 * g))
                second[h] = spread_int(word_at(spare, byte + (2 * h + 1) * stride + 16 * j + 4 * g))
            for d in range(width // 16):
                v = load_ints(pool, at + 4 * size * g + 64 * d)
                for h in range(together):
                    i = h * (width // 16) + d
                    upper[i] = dot4(upper[i], first[h], v)
                    lower[i] = dot4(lower[i], second[h], v)
    for h in range(together):
        for d in range(width // 16):
            i = h * (width // 16) + d
            found = fma(to_floats(upper[i]), spread(256.0), to_floats(lower[i]))
            found = found * spread(scores[place + 16 * h + 1])
            if add:
                found = found + load_floats(out, to + h * size + 16 * d)
            store_floats(out, to + h * size + 16 * d, found)


@kernel_noinline
def attend(
    qkv: F32,
    query: int,
    out: F32,
    to: int,
    pool: U8,
    part: int,
    block: int,
    table: I32,
    row: int,
    start: int,
    length: int,
    scale: float,
    scores: F32,
    scratch: int,
    spare: I8,
    byte: int,
    stride: int,
    together: Constant,
    size: Constant,
) -> None:
    """`together` query heads of one token with a head of keys and values, positions start … length - 1.

    The block with the number b has the head's part at pool[b * block + part]; the numbers of the sequence's
    blocks begin at table[row]. Scores of head h are kept from scores[scratch + h * stride] on, bytes from
    spare[byte] on.
    """
    # Blocks are taken by twos from an even one on, so that scores stay inside their stride.
    low = (start >> 5) << 1
    high = (length + 15) >> 4
    place = scratch + together * stride
    bytes_of = byte + 2 * together * stride
    head_bytes = 2 * size + (size + 63) // 64 * 64
    for h in range(together):
        split_query(
            qkv, query + h * size, scores, place + 16 * h, spare, bytes_of + head_bytes * h, scale, size
        )
    most = float_lanes(together)
    left = float_lanes(together)
    right = float_lanes(together)
    # Whole sums of a group of 8 numbers, in the left and in the right block.
    a = int_lanes(together)
    b = int_lanes(together)
    for h in range(together):
        most[h] = spread(LEAST)
    for pair in range((high - low + 1) >> 1):
        j = low + 2 * pair
        # Two blocks side by side; behind the last one stands itself, and its scores are not looked at.
        one = table[row + j] * block + part
        two = table[row + min(j + 1, high - 1)] * block + part
        ahead = table[row + min(j + 2, high - 1)] * block + part
        beyond = table[row + min(j + 3, high - 1)] * block + part
        fetch(pool, ahead + key_scales_at(size), size // 16 + 1)
        fetch(pool, beyond + key_scales_at(size), size // 16 + 1)
        for h in range(together):
            left[h] = spread(0.0)
            right[h] = spread(0.0)
        for g in range(size // 8):
            # Values are fetched long before they are read, keys of the next blocks a while before.
            fetch(pool, one + values_at(size) + 128 * g, 2)
            fetch(pool, two + values_at(size) + 128 * g, 2)
            fetch(pool, ahead + 128 * g, 2)
            fetch(pool, beyond + 128 * g, 2)
            k = load_ints(pool, one + 128 * g)
            l = load_ints(pool, one + 128 * g + 64)
            m = load_ints(pool, two + 128 * g)
            n = load_ints(pool, two + 128 * g + 64)
            for h in range(together):
                at = bytes_of + head_bytes * h + 8 * g
                x = spread_int(word_at(spare, at))
                y = spread_int(word_at(spare, at + 4))
                begin = spread_int(word_at(spare, at + 2 * size))
                a[h] = shift_left(dot4(dot4(begin, k, x), l, y), 7)
                b[h] = shift_left(dot4(dot4(begin, m, x), n, y), 7)
            u = load_halves(pool, one + key_scales_at(size) + 32 * g)
            v = load_halves(pool, two + key_scales_at(size) + 32 * g)
            for h in range(together):
                at = bytes_of + head_bytes * h + 8 * g + size
                x = spread_int(word_at(spare, at))
                y = spread_int(word_at(spare, at + 4))
                left[h] = fma(to_floats(dot4(dot4(a[h], k, x), l, y)), u, left[h])
                right[h] = fma(to_floats(dot4(dot4(b[h], m, x), n, y)), v, right[h])
        for h in range(together):
            query_scale = spread(scores[place + 16 * h])
            s = keep_first(left[h] * query_scale, length - 16 * j, spread(LEAST))
            s = keep_first(spread(LEAST), start - 16 * j, s)
            t = keep_first(right[h] * query_scale, length - 16 * j - 16, spread(LEAST))
            t = keep_first(spread(LEAST), start - 16 * j - 16, t)
            most[h] = greater(most[h], greater(s, t))
            store_floats(scores, scratch + h * stride + 16 * j, s)
            store_floats(scores, scratch + h * stride + 16 * j + 16, t)
    for h in range(together):
        most[h] = spread(max_floats(most[h]))
        left[h] = spread(0.0)
        right[h] = spread(0.0)
    for j in range(low, high):
        value_scale = load_halves(pool, table[row + j] * block + part + value_scales_at(size))
        # Beside the positions that are looked at may be anything.
        value_scale = keep_first(value_scale, length - 16 * j, spread(0.0))
        value_scale = keep_first(spread(0.0), start - 16 * j, value_scale)
        for h in range(together):
            e = exponential(load_floats(scores, scratch + h * stride + 16 * j) - most[h])
            e = keep_first(e, length - 16 * j, spread(0.0))
            e = keep_first(spread(0.0), start - 16 * j, e)
            left[h] = left[h] + e
            e = e * value_scale
            right[h] = greater(right[h], e)
            store_floats(scores, scratch + h * stride + 16 * j, e)
    for h in range(together):
        largest = max_floats(right[h])
        scores[place + 16 * h + 1] = largest / WHOLE / sum_floats(left[h])
        right[h] = spread(WHOLE / largest)
    for j in range(low, high):
        for h in range(together):
            weight = nearest(load_floats(scores, scratch + h * stride + 16 * j) * right[h])
            store_bytes(spare, byte + 2 * h * stride + 16 * j, shift_right(weight, 8))
            store_bytes(spare, byte + (2 * h + 1) * stride + 16 * j, weight)
    j = low
    while j < high:
        for i in range(size // 64):
            mix(
                out,
                to + 64 * i,
                pool,
                part + values_at(size) + 256 * i,
                block,
                table,
                row,
                j,
                min(j + STRETCH, high),
                spare,
                byte,
                stride,
                scores,
                place,
                j > low,
                together,
                size,
                64,
            )
        if size % 64 > 0:
            i = size // 64
            mix(
                out,
                to + 64 * i,
                pool,
                part + values_at(size) + 256 * i,
                block,
                table,
                row,
                j,
                min(j + STRETCH, high),
                spare,
                byte,
                stride,
                scores,
                place,
                j > low,
                together,
                size,
                32,
            )
        j += STRETCH


@kernel
def attend_group(
    qkv: F32,
    query: int,
    out: F32,
    to: int,
    pool: U8,
    part: int,
    block: int,
    table: I32,
    row: int,
    start: int,
    length: int,
    scale: float,
    scores: F32,
    scratch: int,
    spare: I8,
    byte: int,
    stride: int,
    group: Constant,
    together: Constant,
    size: Constant,
) -> None:
    """The `group` query heads that share a head of keys, `together` of them at a time."""
    for each in range(group // together):
        h = each * together * size
        attend(
            qkv,
            query + h,
            out,
            to + h,
            pool,
            part,
            block,
            table,
            row,
            start,
            length,
            scale,
            scores,
            scratch,
            spare,
            byte,
            stride,
            together,
            size,
        )
    if group % together > 0:
        rest = (group // together) * together * size
        attend(
            qkv,
            query + rest,
            out,
            to + rest,
            pool,
            part,
            block,
            table,
            row,
            start,
            length,
            scale,
            scores,
            scratch,
            spare,
            byte,
            stride,
            group % together,
            size,
        )
