"""Linear layers: rows of 8-bit activations times records of quantised weights.

Sums of a group of 32 are whole numbers and exact; groups are added in order, one fused multiplication after
the other. So an output depends on its own row alone, whatever rows are computed beside it.
"""

from __future__ import annotations

from sglc.kernels.lanes import (
    dot4,
    float_lanes,
    fma,
    greater,
    int_lanes,
    load_floats,
    load_halves,
    load_ints,
    magnitudes,
    max_floats,
    nearest,
    shift_right,
    spread,
    spread_int,
    store_bytes,
    store_floats,
    sum_ints,
    to_floats,
    word_at,
)
from sglc.kernels.typed import F32, I8, U8, Constant, kernel, kernel_apart

LOW = 0x0F0F0F0F
"""The low halves of four bytes."""


@kernel
def quantise_row(x: F32, at: int, width: int, q: I8, to: int, scales: F32, sums: F32, group: int) -> None:
    """`width` floats of x from `at` as bytes in groups of 32, each with a scale, and scale times their sum.

    The sum is what a weight's offset is multiplied with.
    """
    for g in range(width >> 5):
        a = load_floats(x, at + 32 * g)
        b = load_floats(x, at + 32 * g + 16)
        most = max_floats(greater(magnitudes(a), magnitudes(b)))
        inverse = 0.0
        if most > 0.0:
            inverse = 127.0 / most
        lanes = spread(inverse)
        first = nearest(a * lanes)
        second = nearest(b * lanes)
        store_bytes(q, to + 32 * g, first)
        store_bytes(q, to + 32 * g + 16, second)
        scale = most / 127.0
        scales[group + g] = scale
        sums[group + g] = scale * sum_ints(first + second)


@kernel
def columns(
    w: U8, record: int, groups: int, q: I8, scales: F32, sums: F32, y: F32, to: int, blocks: Constant,
    add: bool, bits: Constant,
) -> None:  # fmt: skip
    """One row times `blocks` blocks of 16 outputs; the records are read side by side."""
    total = float_lanes(blocks)
    size = 64 + 64 * bits
    step = groups * size
    for g in range(groups):
        scale = spread(scales[g])
        offset = spread(sums[g])
        for k in range(blocks):
            at = record + k * step + g * size
            even = spread_int(0)
            odd = spread_int(0)
            for j in range(4):
                x = 32 * g + 8 * j
                if bits == 4:
                    pair = load_ints(w, at + 64 * j)
                    even = dot4(even, pair & spread_int(LOW), spread_int(word_at(q, x)))
                    odd = dot4(odd, shift_right(pair, 4) & spread_int(LOW), spread_int(word_at(q, x + 4)))
                else:
                    even = dot4(even, load_ints(w, at + 128 * j), spread_int(word_at(q, x)))
                    odd = dot4(odd, load_ints(w, at + 128 * j + 64), spread_int(word_at(q, x + 4)))
            d = load_halves(w, at + size - 64)
            m = load_halves(w, at + size - 32)
            total[k] = fma(m, offset, fma(to_floats(even + odd) * scale, d, total[k]))
    for k in range(blocks):
        if add:
            store_floats(y, to + 16 * k, load_floats(y, to + 16 * k) + total[k])
        else:
            store_floats(y, to + 16 * k, total[k])


@kernel
def tile(
    w: U8, record: int, groups: int, q: I8, first: int, scales: F32, sums: F32, y: F32, to: int, stride: int,
    rows: Constant, add: bool, bits: Constant,
) -> None:  # fmt: skip
    """`rows` rows from row `first` times one block of 16 outputs."""
    total = float_lanes(rows)
    whole = int_lanes(rows)
    size = 64 + 64 * bits
    for g in range(groups):
        at = record + g * size
        for i in range(rows):
            whole[i] = spread_int(0)
        for j in range(4):
            if bits == 4:
                pair = load_ints(w, at + 64 * j)
                low = pair & spread_int(LOW)
                high = shift_right(pair, 4) & spread_int(LOW)
            else:
                low = load_ints(w, at + 128 * j)
                high = load_ints(w, at + 128 * j + 64)
            for i in range(rows):
                x = 32 * ((first + i) * groups + g) + 8 * j
                whole[i] = dot4(
                    dot4(whole[i], low, spread_int(word_at(q, x))), high, spread_int(word_at(q, x + 4))
                )
        d = load_halves(w, at + size - 64)
        m = load_halves(w, at + size - 32)
        for i in range(rows):
            o = (first + i) * groups + g
            total[i] = fma(m, spread(sums[o]), fma(to_floats(whole[i]) * spread(scales[o]), d, total[i]))
    for i in range(rows):
        o = to + (first + i) * stride
        if add:
            store_floats(y, o, load_floats(y, o) + total[i])
        else:
            store_floats(y, o, total[i])


@kernel_apart
def linear(
    w: U8, base: int, groups: int, q: I8, scales: F32, sums: F32, count: int, y: F32, stride: int, low: int,
    high: int, add: bool, bits: Constant,
) -> None:  # fmt: skip
    """Blocks `low` to `high` - 1 of the outputs of `count` rows, from the matrix at byte `base`.

    Row r of the inputs is at q[32 groups r], of the outputs at y[stride r]; with `add` they are added there.
    """
    size = groups * (64 + 64 * bits)
    n = low
    if count == 1:
        while n + 4 <= high:
            columns(w, base + n * size, groups, q, scales, sums, y, 16 * n, 4, add, bits)
            n += 4
        while n < high:
            columns(w, base + n * size, groups, q, scales, sums, y, 16 * n, 1, add, bits)
            n += 1
    else:
        while n < high:
            row = 0
            while row + 8 <= count:
                tile(w, base + n * size, groups, q, row, scales, sums, y, 16 * n, stride, 8, add, bits)
                row += 8
            if row + 4 <= count:
                tile(w, base + n * size, groups, q, row, scales, sums, y, 16 * n, stride, 4, add, bits)
                row += 4
            while row < count:
                tile(w, base + n * size, groups, q, row, scales, sums, y, 16 * n, stride, 1, add, bits)
                row += 1
            n += 1


@kernel
def project(
    w: U8, base: int, bits: int, groups: int, q: I8, scales: F32, sums: F32, count: int, y: F32, outputs: int,
    add: bool, thread: int, threads: int,
) -> None:  # fmt: skip
    """A thread's part of a linear layer of `outputs` outputs, a multiple of 16."""
    blocks = outputs >> 4
    low = blocks * thread // threads
    high = blocks * (thread + 1) // threads
    if bits == 4:
        linear(w, base, groups, q, scales, sums, count, y, outputs, low, high, add, 4)
    else:
        linear(w, base, groups, q, scales, sums, count, y, outputs, low, high, add, 8)
