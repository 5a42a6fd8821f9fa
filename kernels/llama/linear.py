"""Linear layers: rows of 8-bit activations times tiles of quantised weights (`weight_layout`).

Activations are bytes in groups of 32 inputs, with a scale for each half of a group, or for each quarter where
they are `fine`. Rows are cut into tiles of at most 6. Within a tile they lie as [groups][rows][32] bytes and
[groups][rows][6] floats (fine: 10), so that the code of a tile reads both sequentially. A tile is computed
for two blocks of 16 outputs at a time: a number of a row is loaded once for both, and 24 registers hold the
sums.

Sums start at the bits of 1.5 * 2**23 as a float. A whole number that is added to the bits is added to the
float. One fused multiplication converts the sum of a part to the scale of the next part, another converts
that of the last part to a float. The sum of a group is rounded to these scales; groups are added in order. So
an output depends on its own row alone, whatever rows are computed beside it.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I8, I64, U8, Constant, kernel, kernel_noinline
from sglc.kernels.dsl.vectors import (
    as_floats,
    as_ints,
    dot4,
    dot8,
    float_lanes,
    fma,
    int_lanes,
    lane_registers,
    load_floats,
    load_halves,
    load_ints,
    prefetch,
    shift_right,
    spread,
    spread_int,
    store_floats,
    take,
    word_at,
)

TILE = 6
"""Most rows of a tile."""
FACTORS, FINE = 6, 10
"""Floats of a row and a group, and of one that is fine: start, ratio and shift to the next part (three of
each in a fine one), scale, less, total."""
LOW = 0x0F0F0F0F
"""The low halves of four bytes."""
ZERO = 12582912.0
"""1.5 * 2**23: next to it, floats are whole numbers."""
ZERO_BITS = 0x4B400000
AHEAD = 2048
"""Bytes between the weights that a single row is multiplied with and those that are fetched."""


@kernel
def tile_start(row: int, count: int) -> int:
    """The first row of the tile that `row` of `count` rows is in. Tiles are as even as can be."""
    tiles = (count + TILE - 1) // TILE
    return (((row + 1) * tiles - 1) // count) * count // tiles


@kernel
def tile_rows(row: int, count: int) -> int:
    """The number of rows of the tile that `row` of `count` rows is in."""
    tiles = (count + TILE - 1) // TILE
    tile = ((row + 1) * tiles - 1) // count
    return (tile + 1) * count // tiles - tile * count // tiles


@kernel
def share(parts: int, rows: int) -> int:
    """How many of so many parts of a layer's work a thread takes at a time; at least two for few rows."""
    if rows < 5:
        return max(2, parts >> 6 << 1)
    return max(1, parts >> 7)


@kernel
def pace(tiles: int, bits: Constant) -> int:
    """How many bytes of two blocks that come next a tile fetches with each group; 0: the first fetches all.

    Of several tiles each fetches a part: a processor waits for so many lines at a time, and then for one of
    them.
    """
    if tiles == 1:
        return 0
    if tiles < 5:
        return 64 * bits + 64
    return 32 * bits


@kernel_noinline
def tile(
    w: U8,
    origin: int,
    groups: int,
    q: I8,
    row: int,
    factors: F32,
    factor: int,
    y: F32,
    to: int,
    stride: int,
    add: bool,
    ahead: int,
    jump: int,
    rows: Constant,
    blocks: Constant,
    bits: Constant,
    centred: Constant,
    fine: Constant,
) -> None:
    """`rows` rows times `blocks` blocks of 16 outputs, the first of which begins at byte `origin`.

    Weights `ahead` bytes further on are fetched. For one row, behind the end of a block, those of the block
    that is `jump` bytes behind it; for more, if `jump` is not 0, so many bytes with each group (see `pace`).
    """
    total = float_lanes(rows * blocks)
    whole = int_lanes(rows * blocks)
    low = int_lanes(blocks)
    high = int_lanes(blocks)
    size = 64 * bits + 64 - 32 * centred
    step = groups * size
    width = FACTORS + (FINE - FACTORS) * fine
    for g in range(groups):
        at = origin + g * size
        x = row + g * 32 * rows
        f = factor + g * width * rows
        if ahead > 0:
            far = at + ahead
            if rows == 1:
                if g * size + ahead >= step:
                    far += jump - step
            if rows == 1 or jump == 0:
                for b in range(blocks):
                    for line in range(bits + 1):
                        prefetch(w, far + b * step + 64 * line)
            else:
                far = origin + ahead + g * jump
                for line in range(bits // 2):
                    prefetch(w, far + 64 * line)
                if jump > 32 * bits:
                    for line in range(bits // 2, bits + 1):
                        prefetch(w, far + 64 * line)
        for i in range(rows):
            for b in range(blocks):
                if centred:
                    whole[b * rows + i] = as_ints(spread(factors[f + width * i]))
                else:
                    whole[b * rows + i] = spread_int(ZERO_BITS)
        for j in range(4):
            for b in range(blocks):
                if bits == 4:
                    pair = load_ints(w, at + b * step + 64 * j)
                    low[b] = pair & spread_int(LOW)
                    high[b] = shift_right(pair, 4) & spread_int(LOW)
                else:
                    low[b] = load_ints(w, at + b * step + 128 * j)
                    high[b] = load_ints(w, at + b * step + 128 * j + 64)
            if bits == 4:
                for i in range(rows):
                    one = spread_int(word_at(q, x + 32 * i + 8 * j))
                    two = spread_int(word_at(q, x + 32 * i + 8 * j + 4))
                    for b in range(blocks):
                        whole[b * rows + i] = dot8(whole[b * rows + i], low[b], one, high[b], two)
            else:
                for i in range(rows):
                    one = spread_int(word_at(q, x + 32 * i + 8 * j))
                    for b in range(blocks):
                        whole[b * rows + i] = dot4(whole[b * rows + i], low[b], one)
                for i in range(rows):
                    two = spread_int(word_at(q, x + 32 * i + 8 * j + 4))
                    for b in range(blocks):
                        whole[b * rows + i] = dot4(whole[b * rows + i], high[b], two)
            # The next part begins behind half of the group, or behind each quarter of one that is fine.
            if j == 1 or (fine and j < 3):
                for i in range(rows):
                    ratio = spread(factors[f + width * i + 1 + 2 * j * fine])
                    shift = spread(factors[f + width * i + 2 + 2 * j * fine])
                    for b in range(blocks):
                        whole[b * rows + i] = as_ints(fma(as_floats(whole[b * rows + i]), ratio, shift))
        for b in range(blocks):
            d = load_halves(w, at + b * step + 64 * bits)
            for i in range(rows):
                o = f + width * i + 4 * fine
                t = fma(as_floats(whole[b * rows + i]), spread(factors[o + 3]), spread(factors[o + 4]))
                total[b * rows + i] = fma(t, d, total[b * rows + i])
            if not centred:
                m = load_halves(w, at + b * step + 64 * bits + 32)
                for i in range(rows):
                    o = f + width * i + 4 * fine
                    total[b * rows + i] = fma(m, spread(factors[o + 5]), total[b * rows + i])
    for b in range(blocks):
        for i in range(rows):
            o = to + i * stride + 16 * b
            if add:
                store_floats(y, o, load_floats(y, o) + total[b * rows + i])
            else:
                store_floats(y, o, total[b * rows + i])


@kernel
def tile_of(
    w: U8,
    origin: int,
    groups: int,
    q: I8,
    row: int,
    factors: F32,
    factor: int,
    y: F32,
    to: int,
    stride: int,
    add: bool,
    ahead: int,
    jump: int,
    rows: int,
    blocks: Constant,
    bits: Constant,
    centred: Constant,
    fine: Constant,
) -> None:
    """2 to 6 rows times one or two blocks; see `tile`."""
    if rows == 6:
        tile(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump,
             6, blocks, bits, centred, fine)  # fmt: skip
    elif rows == 5:
        tile(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump,
             5, blocks, bits, centred, fine)  # fmt: skip
    elif rows == 4:
        tile(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump,
             4, blocks, bits, centred, fine)  # fmt: skip
    elif rows == 3:
        tile(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump,
             3, blocks, bits, centred, fine)  # fmt: skip
    else:
        tile(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump,
             2, blocks, bits, centred, fine)  # fmt: skip


@kernel
def pair(
    w: U8,
    origin: int,
    groups: int,
    q: I8,
    row: int,
    factors: F32,
    factor: int,
    y: F32,
    to: int,
    stride: int,
    add: bool,
    ahead: int,
    jump: int,
    rows: int,
    bits: Constant,
    centred: Constant,
    fine: Constant,
) -> None:
    """2 to 6 rows times two blocks; see `tile`. One by one where registers do not hold the sums of both."""
    if lane_registers() > 2 * TILE:
        tile_of(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump, rows,
                2, bits, centred, fine)  # fmt: skip
    elif rows > 2:
        tile_of(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump, rows,
                1, bits, centred, fine)  # fmt: skip
        second = origin + groups * (64 * bits + 64 - 32 * centred)
        tile_of(w, second, groups, q, row, factors, factor, y, to + 16, stride, add,
                ahead if jump == 0 else 0, jump, rows, 1, bits, centred, fine)  # fmt: skip
    else:
        tile(w, origin, groups, q, row, factors, factor, y, to, stride, add, ahead, jump,
             2, 2, bits, centred, fine)  # fmt: skip


@kernel_noinline
def linear(
    w: U8,
    base: int,
    groups: int,
    q: I8,
    row: int,
    factors: F32,
    factor: int,
    count: int,
    y: F32,
    stride: int,
    pairs: int,
    add: bool,
    counters: I64,
    job: int,
    bits: Constant,
    centred: Constant,
    fine: Constant,
) -> None:
    """Outputs of `count` rows, 32 `pairs` of them, from the matrix at byte `base`: those that a thread takes.

    Rows begin at q[row] and factors[factor]; row r of the outputs at y[stride r]; with `add` they are added.
    """
    size = groups * (64 * bits + 64 - 32 * centred)
    width = FACTORS + (FINE - FACTORS) * fine
    tiles = (count + TILE - 1) // TILE
    jump = pace(tiles, bits)
    amount = share(pairs, count)
    n = take(counters, job, amount)
    while n < pairs:
        # What comes after is known early, so that it can be fetched.
        after = take(counters, job, amount)
        stop = min(n + amount, pairs)
        if count == 1:
            m = 2 * n
            while m + 4 <= 2 * stop:
                behind = 4 if m + 4 < 2 * stop else 2 * after - m
                tile(
                    w,
                    base + m * size,
                    groups,
                    q,
                    row,
                    factors,
                    factor,
                    y,
                    16 * m,
                    stride,
                    add,
                    AHEAD,
                    behind * size,
                    1,
                    4,
                    bits,
                    centred,
                    fine,
                )
                m += 4
            if m < 2 * stop:
                tile(
                    w,
                    base + m * size,
                    groups,
                    q,
                    row,
                    factors,
                    factor,
                    y,
                    16 * m,
                    stride,
                    add,
                    AHEAD,
                    (2 * after - m) * size,
                    1,
                    2,
                    bits,
                    centred,
                    fine,
                )
        else:
            for each in range(n, stop):
                ahead = 2 * size
                if each + 1 == stop:
                    ahead = 2 * size * (after - each) if after < pairs else 0
                first = 0
                fetched = 0
                for k in range(tiles):
                    behind = (k + 1) * count // tiles
                    pair(
                        w,
                        base + 2 * each * size,
                        groups,
                        q,
                        row + 32 * first * groups,
                        factors,
                        factor + width * first * groups,
                        y,
                        first * stride + 32 * each,
                        stride,
                        add,
                        ahead + fetched if ahead > 0 else 0,
                        jump,
                        behind - first,
                        bits,
                        centred,
                        fine,
                    )
                    fetched += jump * groups
                    if jump == 0 or fetched >= 2 * size:
                        ahead = 0
                    first = behind
        n = after


@kernel
def project(
    w: U8,
    base: int,
    kind: int,
    groups: int,
    q: I8,
    row: int,
    factors: F32,
    factor: int,
    count: int,
    y: F32,
    stride: int,
    outputs: int,
    add: bool,
    counters: I64,
    job: int,
    kinds: Constant,
    fine: Constant,
) -> None:
    """A thread's part of a linear layer of `outputs` outputs, a multiple of 32, with weights of a kind."""
    pairs = outputs >> 5
    if kinds & 1:
        if kind == 4:
            linear(
                w,
                base,
                groups,
                q,
                row,
                factors,
                factor,
                count,
                y,
                stride,
                pairs,
                add,
                counters,
                job,
                4,
                0,
                fine,
            )
    if kinds & 2:
        if kind == 5:
            linear(
                w,
                base,
                groups,
                q,
                row,
                factors,
                factor,
                count,
                y,
                stride,
                pairs,
                add,
                counters,
                job,
                4,
                1,
                fine,
            )
    if kinds & 4:
        if kind == 8:
            linear(
                w,
                base,
                groups,
                q,
                row,
                factors,
                factor,
                count,
                y,
                stride,
                pairs,
                add,
                counters,
                job,
                8,
                0,
                fine,
            )
    if kinds & 8:
        if kind == 9:
            linear(w, base, groups, q, row, factors, factor, count, y, stride, pairs, add, counters, job,
                   8, 1, fine)  # fmt: skip
