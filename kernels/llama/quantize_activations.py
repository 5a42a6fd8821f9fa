"""Quantises activations to bytes, with the scales and sums of linear layers (`sglc.kernels.llama.linear`)."""

from __future__ import annotations

from sglc.kernels.dsl.language import (
    F32,
    I8,
    Constant,
    floats,
    kernel,
    parallel_kernel,
    parallel_kernel_noinline,
)
from sglc.kernels.dsl.vectors import (
    as_floats,
    as_ints,
    float_lanes,
    fma,
    greater,
    keep_first,
    lane,
    load_floats,
    magnitudes,
    max_floats,
    maxima,
    nearest,
    rolled,
    rounded,
    spread,
    spread_int,
    store_bytes,
    store_floats,
    sum_floats,
    sum_ints,
    sums,
    to_floats,
)
from sglc.kernels.llama.linear import FACTORS, ZERO

STEP = 1.00000095367431640625 / 127.0
"""Scale by the largest number of a half, with room for rounding."""
SPAN = 4.0
"""Largest ratio of the scale of a group's part to that of a later part: sums stay below 2**22."""
SMALLEST = 1.0e-30
"""The least scale; zeros have it."""
TOGETHER = 8
"""Groups whose scales are computed together."""
PACK = 4096.0
"""So many times the sum of a group's second half is added to that of the first: a float holds both."""
ROOM = 16 * FACTORS
"""Numbers that quantising groups works in."""


@kernel
def scale_behind(most: floats, before: floats) -> floats:
    """The scale of the second half of a group, given its largest number and the scale of the first half."""
    return greater(greater(most * spread(STEP), before * spread(1.0 / SPAN)), spread(SMALLEST))


@kernel
def cut(scale: floats) -> floats:
    """A scale with so few bits that its product with `ZERO` is exact."""
    return as_floats(as_ints(scale) & spread_int(-8))


@kernel
def quantise(a: floats, b: floats, q: I8, at: int, factors: F32, f: int, centre: int) -> None:
    """A group of 32 floats as bytes, and the factors that belong to them.

    The second half's scale is `scale`, the first half's is `ratio` times that. `start` is where the sum of
    the first half begins, `shift` goes with `ratio` when that sum is converted to the second scale. Weights
    are unsigned; the value `centre` stands for zero. `scale` and `less` make the float. `total`, the sum
    of all numbers, is for the offsets of weights that are not centred.
    """
    zero = spread(ZERO)
    first = spread(max_floats(magnitudes(a))) * spread(STEP)
    second = scale_behind(spread(max_floats(magnitudes(b))), first)
    scale = cut(second)
    first = greater(first, second * spread(1.0 / 1024.0))
    inverse = spread(1.0) / scale
    ratio = first * inverse
    head = fma(a, spread(1.0) / first, zero)
    tail = fma(b, inverse, zero)
    store_bytes(q, at, as_ints(head))
    store_bytes(q, at + 16, as_ints(tail))
    front = spread(sum_floats(head - zero))
    back = spread(sum_floats(tail - zero))
    middle = spread(0.0 - centre)
    factors[f] = lane(fma(front, middle, zero), 0)
    factors[f + 1] = lane(ratio, 0)
    factors[f + 2] = lane(fma(ratio, spread(0.0 - ZERO), fma(back, middle, zero)), 0)
    factors[f + 3] = lane(scale, 0)
    factors[f + 4] = lane(scale * spread(0.0 - ZERO), 0)
    factors[f + 5] = lane(fma(front, ratio, back) * scale, 0)


@parallel_kernel
def quantise_some(
    y: F32,
    at: int,
    room: int,
    q: I8,
    to: int,
    factors: F32,
    f: int,
    stride: int,
    centre: int,
    count: Constant,
) -> None:
    """As `quantise` for 1 to 8 groups; see `quantise_groups`."""
    zero = spread(ZERO)
    most = float_lanes(16)
    for g in range(count):
        most[g] = magnitudes(load_floats(y, at + 32 * g))
        most[TOGETHER + g] = magnitudes(load_floats(y, at + 32 * g + 16))
    # Lanes are groups, of 8 the first halves, then the second ones; what is for both is in the first 8.
    found = maxima(most)
    first = found * spread(STEP)
    second = scale_behind(rolled(found, TOGETHER), first)
    scale = cut(second)
    first = greater(first, second * spread(1.0 / 1024.0))
    inverses = spread(1.0) / keep_first(first, TOGETHER, rolled(scale, TOGETHER))
    ratio = first * rolled(inverses, TOGETHER)
    store_floats(y, room, inverses)
    both = float_lanes(16)
    for g in range(count):
        here = at + 32 * g
        head = fma(load_floats(y, here), spread(y[room + g]), zero)
        tail = fma(load_floats(y, here + 16), spread(y[room + TOGETHER + g]), zero)
        store_bytes(q, to + 32 * stride * g, as_ints(head))
        store_bytes(q, to + 32 * stride * g + 16, as_ints(tail))
        both[g] = fma(tail - zero, spread(PACK), head - zero)
    total = sums(both)
    back = to_floats(nearest(total * spread(1.0 / PACK)))
    front = fma(back, spread(0.0 - PACK), total)
    middle = spread(0.0 - centre)
    store_floats(y, room, fma(front, middle, zero))
    store_floats(y, room + 16, ratio)
    store_floats(y, room + 32, fma(ratio, spread(0.0 - ZERO), fma(back, middle, zero)))
    store_floats(y, room + 48, scale)
    store_floats(y, room + 64, scale * spread(0.0 - ZERO))
    store_floats(y, room + 80, fma(front, ratio, back) * scale)
    for g in range(count):
        for k in range(FACTORS):
            factors[f + stride * FACTORS * g + k] = y[room + 16 * k + g]


@parallel_kernel_noinline
def quantise_groups(
    y: F32,
    at: int,
    room: int,
    q: I8,
    to: int,
    factors: F32,
    f: int,
    stride: int,
    centre: int,
    count: Constant,
) -> None:
    """`count` groups of 32 numbers from y[at], with the bytes and factors that `quantise` gives each of them.

    Those of a group begin `stride` groups behind those of the one before it. y[room …] is scratch of `ROOM`
    numbers. Largest numbers and sums are made of 16 halves at once, and scales of 8 groups.
    """
    # As a parallel kernel it takes numbers of lanes from memory, as others might write there: that is quicker
    # than to part lanes.
    for part in range(count // TOGETHER):
        quantise_some(
            y,
            at + 32 * TOGETHER * part,
            room,
            q,
            to + 32 * TOGETHER * stride * part,
            factors,
            f + FACTORS * TOGETHER * stride * part,
            stride,
            centre,
            TOGETHER,
        )
    if count % TOGETHER > 0:
        done = count // TOGETHER * TOGETHER
        quantise_some(
            y,
            at + 32 * done,
            room,
            q,
            to + 32 * stride * done,
            factors,
            f + FACTORS * stride * done,
            stride,
            centre,
            count % TOGETHER,
        )


@kernel
def quantise_finely(a: floats, b: floats, q: I8, at: int, factors: F32, f: int, centre: int) -> None:
    """As `quantise`, with a scale for each quarter, and a ratio and a shift for each but the last."""
    none = spread(0.0)
    x = magnitudes(a)
    y = magnitudes(b)
    first = max(max_floats(keep_first(x, 8, none)) * STEP, SMALLEST)
    second = max(max_floats(keep_first(none, 8, x)) * STEP, first / SPAN)
    third = max(max_floats(keep_first(y, 8, none)) * STEP, max(first, second) / SPAN)
    # Few bits, so that `less` is exact.
    scale = rounded(max(max_floats(keep_first(none, 8, y)) * STEP, max(max(first, second), third) / SPAN), 3)
    # No part is so small beside the next that its ratio vanishes.
    third = max(third, scale / 1024.0)
    second = max(second, third / 1024.0)
    first = max(first, second / 1024.0)
    head = nearest(a * keep_first(spread(1.0 / first), 8, spread(1.0 / second)))
    tail = nearest(b * keep_first(spread(1.0 / third), 8, spread(1.0 / scale)))
    store_bytes(q, at, head)
    store_bytes(q, at + 16, tail)
    one = 0
    two = 0
    three = 0
    four = 0
    if centre > 0:
        one = sum_ints(as_ints(keep_first(as_floats(head), 8, none)))
        two = centre * (sum_ints(head) - one)
        one = centre * one
        three = sum_ints(as_ints(keep_first(as_floats(tail), 8, none)))
        four = centre * (sum_ints(tail) - three)
        three = centre * three
    else:
        front = to_floats(head) * keep_first(spread(first), 8, spread(second))
        factors[f + 9] = sum_floats(fma(to_floats(tail), keep_first(spread(third), 8, spread(scale)), front))
    ratio = first / second
    factors[f] = ZERO - one
    factors[f + 1] = ratio
    factors[f + 2] = ZERO - ZERO * ratio - two
    ratio = second / third
    factors[f + 3] = ratio
    factors[f + 4] = ZERO - ZERO * ratio - three
    ratio = third / scale
    factors[f + 5] = ratio
    factors[f + 6] = ZERO - ZERO * ratio - four
    factors[f + 7] = scale
    factors[f + 8] = 0.0 - ZERO * scale
