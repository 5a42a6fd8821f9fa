"""The memory layout of quantised keys and values, and the kernel that stores those of a token.

The pool is [blocks][layers][heads] parts of 16 positions each. Keys and values are bytes. A key has a scale
for each 8 of its numbers, a value has one scale. Scales are floats of 16 bits. A part is

    keys          uint8[size / 4][16][4]   4 numbers of a position, 16 positions, with 128 added
    key scales    float16[size / 8][16]
    value scales  float16[16], and as many zeros, so that values begin at a multiple of 64 bytes
    values        int8[4][size][4]         4 positions of a number

Products of bytes (`sglc.kernels.dsl.vectors.dot4`) so have positions as lanes where they make scores, and
numbers of the head where they make sums of values. A token's bytes depend on its own numbers alone.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I8, U8, Constant, kernel
from sglc.kernels.dsl.vectors import (
    greater,
    half_of,
    keep_first,
    load_floats,
    magnitudes,
    max_floats,
    nearest,
    put_word,
    rounded,
    spread,
    store_bytes,
    store_floats,
    word_at,
)

STEP = (1.0 + 1.0 / 1024.0) / 127.0
"""Scale by the largest number, with room for cutting the scale to 16 bits."""
LEAST_SCALE = 1.0 / (1 << 24)
"""The smallest float of 16 bits above zero; it is added to every scale."""
SIGNS = 0x80808080
"""Adds 128 to 4 bytes."""


@kernel
def key_scales_at(size: int) -> int:
    """The byte of a part at which the key scales begin."""
    return 16 * size


@kernel
def value_scales_at(size: int) -> int:
    """The byte of a part at which the value scales begin."""
    return 20 * size


@kernel
def values_at(size: int) -> int:
    """The byte of a part at which the values begin."""
    return 20 * size + 64


@kernel
def part_bytes(size: int) -> int:
    """Bytes of a part, a multiple of 64."""
    return 36 * size + 64


@kernel
def even_out(v: F32, at: int, size: Constant) -> None:
    """Multiplies a head by an orthogonal matrix that spreads a large number over four.

    Of four times 16 numbers sums and differences are made (a Hadamard matrix), which leaves products of
    queries and keys what they are. A few numbers of keys are much larger than the others, and cost their
    neighbours less behind this.
    """
    for i in range(size // 64):
        a = load_floats(v, at + 64 * i)
        b = load_floats(v, at + 64 * i + 16)
        c = load_floats(v, at + 64 * i + 32)
        d = load_floats(v, at + 64 * i + 48)
        w = (a + b) * spread(0.5)
        x = (a - b) * spread(0.5)
        y = (c + d) * spread(0.5)
        z = (c - d) * spread(0.5)
        store_floats(v, at + 64 * i, w + y)
        store_floats(v, at + 64 * i + 16, x + z)
        store_floats(v, at + 64 * i + 32, w - y)
        store_floats(v, at + 64 * i + 48, x - z)
    if size % 64 > 0:
        rest = at + size // 64 * 64
        a = load_floats(v, rest) * spread(0.70710678118654752)
        b = load_floats(v, rest + 16) * spread(0.70710678118654752)
        store_floats(v, rest, a + b)
        store_floats(v, rest + 16, a - b)


@kernel
def scale_of(most: float) -> float:
    """The scale of numbers up to `most`: a float of 16 bits, unless it is below the normal ones of these."""
    return rounded(most * STEP + LEAST_SCALE, 13)


@kernel
def put_half(array: U8, at: int, number: float) -> None:
    """A number as a float of 16 bits."""
    bits = half_of(number)
    array[at] = bits & 255
    array[at + 1] = bits >> 8


@kernel
def store_kv(
    qkv: F32, key: int, value: int, pool: U8, base: int, offset: int, spare: I8, room: int, size: Constant
) -> None:
    """Store the key and value of one token and head at position `offset` of the part at `base`.

    spare[room …] is scratch of `size` bytes.
    """
    none = spread(0.0)
    for g in range(size // 16):
        x = load_floats(qkv, key + 16 * g)
        first = scale_of(max_floats(magnitudes(keep_first(x, 8, none))))
        second = scale_of(max_floats(magnitudes(keep_first(none, 8, x))))
        put_half(pool, base + key_scales_at(size) + 64 * g + 2 * offset, first)
        put_half(pool, base + key_scales_at(size) + 64 * g + 32 + 2 * offset, second)
        inverses = keep_first(spread(1.0 / first), 8, spread(1.0 / second))
        store_bytes(spare, room + 16 * g, nearest(x * inverses))
    for d in range(size // 4):
        put_word(pool, base + 64 * d + 4 * offset, word_at(spare, room + 4 * d) ^ SIGNS)
    most = spread(0.0)
    for d in range(size // 16):
        most = greater(magnitudes(load_floats(qkv, value + 16 * d)), most)
    scale = scale_of(max_floats(most))
    put_half(pool, base + value_scales_at(size) + 2 * offset, scale)
    put_half(pool, base + value_scales_at(size) + 32 + 2 * offset, 0.0)
    for d in range(size // 16):
        store_bytes(spare, room + 16 * d, nearest(load_floats(qkv, value + 16 * d) * spread(1.0 / scale)))
    place = base + values_at(size) + (offset >> 2) * 4 * size + (offset & 3)
    for d in range(size):
        pool[place + 4 * d] = spare[room + d] & 255
