"""The first half of a feed-forward layer: gate and up, the gate's product, and that as bytes again."""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I8, I64, U8, Constant, floats, kernel, kernel_noinline
from sglc.kernels.dsl.vectors import load_floats, spread, store_floats, take
from sglc.kernels.llama.linear import AHEAD, FACTORS, TILE, pace, pair, tile
from sglc.kernels.llama.pointwise import exponential
from sglc.kernels.llama.quantize_activations import quantise, quantise_groups

OUTPUTS = 64
"""Outputs that are computed together: two blocks of the gate and two of what is let through, by turns."""
SCRATCH = TILE * OUTPUTS
"""Numbers that a thread keeps in between."""


@kernel
def gated_lanes(y: F32, at: int) -> floats:
    """16 numbers times their logistic function (SiLU), times the 16 behind them."""
    v = load_floats(y, at)
    shares = spread(1.0) + exponential(spread(0.0) - v)
    gated: floats = v / shares * load_floats(y, at + 16)
    return gated


@kernel
def quantise_rows(
    y: F32, at: int, rows: int, room: int, q: I8, factors: F32, group: int, centre: int
) -> None:
    """A group of each of 2 to 6 rows of a tile."""
    if rows == 6:
        quantise_groups(y, at, room, q, 32 * group, factors, FACTORS * group, 1, centre, 6)
    elif rows == 5:
        quantise_groups(y, at, room, q, 32 * group, factors, FACTORS * group, 1, centre, 5)
    elif rows == 4:
        quantise_groups(y, at, room, q, 32 * group, factors, FACTORS * group, 1, centre, 4)
    elif rows == 3:
        quantise_groups(y, at, room, q, 32 * group, factors, FACTORS * group, 1, centre, 3)
    else:
        quantise_groups(y, at, room, q, 32 * group, factors, FACTORS * group, 1, centre, 2)


@kernel_noinline
def gate_part(
    w: U8,
    base: int,
    groups: int,
    q: I8,
    row: int,
    factors: F32,
    factor: int,
    count: int,
    y: F32,
    to: int,
    room: int,
    inner_q: I8,
    inner_factors: F32,
    inner_groups: int,
    counters: I64,
    job: int,
    centre: int,
    bits: Constant,
    centred: Constant,
) -> None:
    """The groups of the gated rows that a thread takes, from a matrix with blocks of gate and up by turns.

    y[to …] holds 6 * 64 numbers in between, y[room …] those of quantising. The gated rows are quantised for a
    matrix with that centre.
    """
    size = groups * (64 * bits + 64 - 32 * centred)
    tiles = (count + TILE - 1) // TILE
    jump = pace(tiles, bits)
    n = take(counters, job, 1)
    while n < inner_groups:
        # What comes after is known early, so that it can be fetched.
        after = take(counters, job, 1)
        origin = base + 4 * n * size
        first = 0
        fetched = 0
        for k in range(tiles):
            behind = (k + 1) * count // tiles
            rows = behind - first
            at = row + 32 * first * groups
            f = factor + FACTORS * first * groups
            if rows == 1:
                tile(
                    w,
                    origin,
                    groups,
                    q,
                    at,
                    factors,
                    f,
                    y,
                    to,
                    OUTPUTS,
                    False,
                    AHEAD,
                    4 * size * (after - n),
                    1,
                    4,
                    bits,
                    centred,
                    0,
                )
            else:
                ahead = 0
                if after < inner_groups and (jump > 0 or first == 0) and fetched < 2 * size:
                    ahead = 4 * size * (after - n) + fetched
                pair(
                    w,
                    origin,
                    groups,
                    q,
                    at,
                    factors,
                    f,
                    y,
                    to,
                    OUTPUTS,
                    False,
                    ahead,
                    jump,
                    rows,
                    bits,
                    centred,
                    0,
                )
                pair(
                    w,
                    origin + 2 * size,
                    groups,
                    q,
                    at,
                    factors,
                    f,
                    y,
                    to + 32,
                    OUTPUTS,
                    False,
                    ahead,
                    jump,
                    rows,
                    bits,
                    centred,
                    0,
                )
                fetched += jump * groups
            group = first * inner_groups + n * rows
            if rows == 1:
                quantise(
                    gated_lanes(y, to),
                    gated_lanes(y, to + 32),
                    inner_q,
                    32 * group,
                    inner_factors,
                    FACTORS * group,
                    centre,
                )
            else:
                # Over what has been read.
                for i in range(rows):
                    store_floats(y, to + 32 * i, gated_lanes(y, to + OUTPUTS * i))
                    store_floats(y, to + 32 * i + 16, gated_lanes(y, to + OUTPUTS * i + 32))
                quantise_rows(y, to, rows, room, inner_q, inner_factors, group, centre)
            first = behind
        n = after


@kernel
def gate(
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
    to: int,
    room: int,
    inner_q: I8,
    inner_factors: F32,
    inner_groups: int,
    centre: int,
    counters: I64,
    job: int,
    kinds: Constant,
) -> None:
    """A thread's part of the gated rows, with weights of a kind."""
    if kinds & 1:
        if kind == 4:
            gate_part(w, base, groups, q, row, factors, factor, count, y, to, room, inner_q,
                      inner_factors, inner_groups, counters, job, centre, 4, 0)  # fmt: skip
    if kinds & 2:
        if kind == 5:
            gate_part(w, base, groups, q, row, factors, factor, count, y, to, room, inner_q,
                      inner_factors, inner_groups, counters, job, centre, 4, 1)  # fmt: skip
    if kinds & 4:
        if kind == 8:
            gate_part(w, base, groups, q, row, factors, factor, count, y, to, room, inner_q,
                      inner_factors, inner_groups, counters, job, centre, 8, 0)  # fmt: skip
    if kinds & 8:
        if kind == 9:
            gate_part(w, base, groups, q, row, factors, factor, count, y, to, room, inner_q,
                      inner_factors, inner_groups, counters, job, centre, 8, 1)  # fmt: skip
