"""What a step does to each number by itself: norms, rotations, exponentials."""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I8, Constant, floats, kernel
from sglc.kernels.dsl.vectors import (
    as_floats,
    as_ints,
    fma,
    greater,
    load_floats,
    shift_left,
    spread,
    square_root,
    store_floats,
    sum_floats,
)
from sglc.kernels.llama.linear import FACTORS, FINE, ZERO, tile_rows, tile_start
from sglc.kernels.llama.quantize_activations import quantise_finely, quantise_groups


@kernel
def exponential(x: floats) -> floats:
    """e to the x for x from -87 (less is taken for that) to 88, within 2 ulp.

    x = n ln 2 + r with a polynomial for e to the r, coefficients of the Cephes library (Moshier 1992).
    """
    x = greater(x, spread(-87.0))
    # n is in the lowest bits of this sum (`sglc.kernels.dsl.vectors.nearest`).
    whole = fma(x, spread(1.44269504088896341), spread(ZERO))
    turns = whole - spread(ZERO)
    r = fma(turns, spread(-0.693359375), x)
    r = fma(turns, spread(2.12194440e-4), r)
    p = spread(1.9875691500e-4)
    p = fma(p, r, spread(1.3981999507e-3))
    p = fma(p, r, spread(8.3334519073e-3))
    p = fma(p, r, spread(4.1665795894e-2))
    p = fma(p, r, spread(1.6666665459e-1))
    p = fma(p, r, spread(5.0000001201e-1))
    p = fma(p, r * r, r + spread(1.0))
    # p is between 0.7 and 1.42, and what becomes of it is no smaller than the least normal number.
    return as_floats(as_ints(p) + shift_left(as_ints(whole), 23))


@kernel
def norm_row(
    x: F32,
    at: int,
    width: Constant,
    weights: F32,
    where: int,
    epsilon: float,
    q: I8,
    to: int,
    factors: F32,
    f: int,
    row: int,
    count: int,
    centre: int,
    y: F32,
    room: int,
    fine: Constant,
) -> None:
    """`width` floats divided by the root of their mean square, times weights (Zhang and Sennrich 2019).

    They become row `row` of `count` rows of bytes, see `sglc.kernels.llama.linear`. y[room …] has `width` and
    `ROOM` numbers to work in.
    """
    total = spread(0.0)
    other = spread(0.0)
    for g in range(width // 32):
        v = load_floats(x, at + 32 * g)
        total = fma(v, v, total)
        v = load_floats(x, at + 32 * g + 16)
        other = fma(v, v, other)
    scale = spread(1.0 / square_root(sum_floats(total + other) / width + epsilon))
    begin = tile_start(row, count)
    rows = tile_rows(row, count)
    first = begin * (width // 32) + row - begin
    for g in range(width // 32):
        a = load_floats(x, at + 32 * g) * scale * load_floats(weights, where + 32 * g)
        b = load_floats(x, at + 32 * g + 16) * scale * load_floats(weights, where + 32 * g + 16)
        group = first + rows * g
        if fine:
            quantise_finely(a, b, q, to + 32 * group, factors, f + FINE * group, centre)
        else:
            store_floats(y, room + 32 * g, a)
            store_floats(y, room + 32 * g + 16, b)
    if not fine:
        quantise_groups(
            y, room, room + width, q, to + 32 * first, factors, f + FACTORS * first, rows, centre, width // 32
        )


@kernel
def norm_in_place(x: F32, at: int, width: Constant, weights: F32, where: int, epsilon: float) -> None:
    """As `norm`, for the queries or keys of one head."""
    total = spread(0.0)
    for i in range(width // 16):
        v = load_floats(x, at + 16 * i)
        total = fma(v, v, total)
    scale = spread(1.0 / square_root(sum_floats(total) / width + epsilon))
    for i in range(width // 16):
        v = load_floats(x, at + 16 * i) * scale
        store_floats(x, at + 16 * i, v * load_floats(weights, where + 16 * i))


@kernel
def add_vector(x: F32, at: int, width: Constant, other: F32, where: int) -> None:
    """`width` floats are added to those of x."""
    for i in range(width // 16):
        store_floats(x, at + 16 * i, load_floats(x, at + 16 * i) + load_floats(other, where + 16 * i))


@kernel
def rotate(v: F32, at: int, turned: Constant, cosines: F32, sines: F32, angle: int) -> None:
    """Turns the first `turned` numbers of a head by the angles of a position (Su et al. 2021).

    Number i and number i + turned / 2 are a pair; the rest of the head stays as it is.
    """
    for i in range(turned // 32):
        a = load_floats(v, at + 16 * i)
        b = load_floats(v, at + turned // 2 + 16 * i)
        c = load_floats(cosines, angle + 16 * i)
        s = load_floats(sines, angle + 16 * i)
        store_floats(v, at + 16 * i, a * c - b * s)
        store_floats(v, at + turned // 2 + 16 * i, fma(b, c, a * s))
