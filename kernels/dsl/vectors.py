"""The kernels' functions on lanes: 16 numbers of 32 bits that are computed with at once.

Lanes are `floats` or `ints` (`sglc.kernels.dsl.language`). `+`, `-`, `*` work on both, `/` on floats, `&` and
`|` on ints; ints wrap around. What stands here is the meaning of each function, for the kernels that run as
Python; `sglc.kernels.llvm.vectors` has the machine code, which gives the same numbers to the last bit.

The lanes of one function are those of one vector register of AVX-512. Elsewhere LLVM makes two or four
registers of them.
"""

from __future__ import annotations

from time import perf_counter_ns, thread_time_ns

import numpy as np

from sglc.kernels.dsl.structs import Elements

LANES = 16

_MAGIC = np.float32(12582912.0)


def load_floats(array: Elements, at: int) -> np.ndarray:
    """16 floats of an F32 array from index `at`."""
    return np.asarray(array)[at : at + LANES].copy()


def load_ints(array: Elements, at: int) -> np.ndarray:
    """16 ints: of an I32 array from an index, of an I8 or U8 array from a byte."""
    found = np.asarray(array)
    if found.dtype.itemsize == 1:
        return found[at : at + 4 * LANES].view(np.int32).copy()
    return found[at : at + LANES].copy()


def load_halves(array: Elements, at: int) -> np.ndarray:
    """16 floats of 16 bits (IEEE 754 binary16, finite) as floats: of a U16 array from an index, of a U8 array
    from a byte."""
    found = np.asarray(array)
    size = 2 * LANES if found.dtype == np.uint8 else LANES
    return found[at : at + size].view(np.float16).astype(np.float32)


def store_floats(array: Elements, at: int, lanes: np.ndarray) -> None:
    """Into an F32 array from index `at`."""
    np.asarray(array)[at : at + LANES] = lanes


def store_ints(array: Elements, at: int, lanes: np.ndarray) -> None:
    """Into an I32 array from an index, into an I8 array from a byte."""
    found = np.asarray(array)
    size = 4 * LANES if found.dtype == np.int8 else LANES
    found[at : at + size] = lanes.view(found.dtype)


def put_word(array: Elements, at: int, number: int) -> None:
    """The lowest 32 bits of a number as 4 bytes of an I8 or U8 array."""
    np.asarray(array)[at : at + 4].view(np.uint32)[0] = number & 0xFFFFFFFF


def store_bytes(array: Elements, at: int, lanes: np.ndarray) -> None:
    """The lowest bytes of ints, into an I8 array."""
    np.asarray(array)[at : at + LANES] = lanes.astype(np.int8)


def half_of(number: float) -> int:
    """The bits of a number rounded to 16 bits, to nearest and to even; what is too large is infinite."""
    with np.errstate(over="ignore"):
        return int(np.float32(number).astype(np.float16).view(np.uint16))


def half_at(array: Elements, at: int) -> float:
    """The float of 16 bits at a byte of a U8 array, finite."""
    return float(np.asarray(array)[at : at + 2].view(np.float16)[0])


def word_at(array: Elements, at: int) -> int:
    """4 bytes of an I8 or U8 array as one int."""
    return int(np.asarray(array)[at : at + 4].view(np.int32)[0])


def spread(number: float) -> np.ndarray:
    """A number, rounded to 32 bits, in all lanes."""
    return np.full(LANES, number, np.float32)


def spread_int(number: int) -> np.ndarray:
    """The lowest 32 bits of a number in all lanes."""
    return np.full(LANES, number & 0xFFFFFFFF, np.uint32).view(np.int32)


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c, rounded once.

    The product of two floats is exact in 64 bits. The sum is rounded to odd there: what does not fit sets the
    last bit, so that rounding it again to 32 bits gives what rounding once would (Boldo and Melquiond 2008).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64)
        other = c.astype(np.float64)
        total = product + other
        back = total - product
        lost = (product - (total - back)) + (other - back)
        even = (total.view(np.int64) & 1) == 0
        toward = np.where(lost > 0, np.inf, -np.inf)
        odd = np.where((lost != 0) & even, np.nextafter(total, toward), total)
        return odd.astype(np.float32)


def dot4(total: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Adds to each int the products of 4 bytes of `left`, unsigned, with 4 bytes of `right`, signed."""
    x = left.view(np.uint8).reshape(LANES, 4).astype(np.int32)
    y = right.view(np.int8).reshape(LANES, 4).astype(np.int32)
    found: np.ndarray = total + (x * y).sum(1, dtype=np.int32)
    return found


def dot8(
    total: np.ndarray, left: np.ndarray, right: np.ndarray, more_left: np.ndarray, more_right: np.ndarray
) -> np.ndarray:
    """`dot4` twice, where bytes of `left` and `more_left` are at most 15: 4 products fit in 16 bits."""
    return dot4(dot4(total, left, right), more_left, more_right)


def shift_right(lanes: np.ndarray, bits: int) -> np.ndarray:
    """Ints shifted by 0 to 31 bits; zeros come in."""
    return (lanes.view(np.uint32) >> np.uint32(bits)).view(np.int32)


def shift_left(lanes: np.ndarray, bits: int) -> np.ndarray:
    """Ints shifted by 0 to 31 bits."""
    return (lanes.view(np.uint32) << np.uint32(bits)).view(np.int32)


def to_floats(lanes: np.ndarray) -> np.ndarray:
    """Ints as floats."""
    return lanes.astype(np.float32)


def nearest(lanes: np.ndarray) -> np.ndarray:
    """The nearest ints, of two the even one, of floats between -2**22 and 2**22.

    Adding 1.5 * 2**23 leaves the whole part in the lowest bits, rounded as the sum is.
    """
    return (lanes + _MAGIC).view(np.int32) - _MAGIC.view(np.int32)


def as_floats(lanes: np.ndarray) -> np.ndarray:
    """The same bits taken as floats."""
    return lanes.view(np.float32)


def as_ints(lanes: np.ndarray) -> np.ndarray:
    """The same bits taken as ints."""
    return lanes.view(np.int32)


def greater(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Lane by lane the greater of two floats; `b` where one is not a number."""
    return np.where(a > b, a, b)


def magnitudes(lanes: np.ndarray) -> np.ndarray:
    """Floats without their sign."""
    found: np.ndarray = np.abs(lanes)
    return found


def keep_first(lanes: np.ndarray, count: int, other: np.ndarray) -> np.ndarray:
    """The first `count` lanes of floats (none if it is negative), then those of `other`."""
    return np.where(np.arange(LANES) < count, lanes, other)


def sum_floats(lanes: np.ndarray) -> float:
    """The sum of all lanes in the order of a tree: the halves are added, then their halves."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return float(lanes[0])


def max_floats(lanes: np.ndarray) -> float:
    """The greatest lane."""
    return float(lanes.max())


def maxima(array: list[np.ndarray]) -> np.ndarray:
    """Lanes of the greatest numbers of the 16 lanes of a local array of floats, each in its place."""
    found: np.ndarray = np.stack(array).max(1)
    return found


def sums(array: list[np.ndarray]) -> np.ndarray:
    """Lanes of the sums of the 16 lanes of a local array of floats, each in its place.

    Neighbours are added, then sums of neighbours: not the order of `sum_floats`.
    """
    found = np.stack(array)
    while found.shape[1] > 1:
        found = found[:, ::2] + found[:, 1::2]
    return found[:, 0]


def rolled(lanes: np.ndarray, count: int) -> np.ndarray:
    """Floats moved down by `count` places, a constant; those that fall out come in above."""
    return np.roll(lanes, -count)


def lane(lanes: np.ndarray, place: int) -> float:
    """One of 16 floats, at a place that is a constant."""
    return float(lanes[place])


def sum_ints(lanes: np.ndarray) -> int:
    """The sum of all lanes."""
    return int(lanes.sum(dtype=np.int32))


def float_lanes(count: int) -> list[np.ndarray]:
    """A local array of `count` lanes of zeros, a constant."""
    return [np.zeros(LANES, np.float32) for _ in range(count)]


def int_lanes(count: int) -> list[np.ndarray]:
    """A local array of `count` lanes of zeros, a constant."""
    return [np.zeros(LANES, np.int32) for _ in range(count)]


def square_root(number: float) -> float:
    """The square root of a number, both rounded to 32 bits."""
    return float(np.sqrt(np.float32(number)))


def rounded(number: float, bits: int) -> float:
    """A number as a float of 32 bits without the lowest `bits` bits of its significand, towards zero."""
    found = np.array([number], np.float32).view(np.uint32) >> np.uint32(bits) << np.uint32(bits)
    return float(found.view(np.float32)[0])


def prefetch(array: Elements, at: int) -> None:
    """Say that an element will be read soon, whether it is there or not; changes nothing."""


def lane_registers() -> int:
    """How many vectors of 16 numbers the processor's registers hold; a constant of its code."""
    return 32


def elapsed_time() -> int:
    """Nanoseconds since some moment; 0 on systems where machine code has no such clock."""
    return perf_counter_ns()


def processor_time() -> int:
    """Nanoseconds that this thread has had a processor; 0 on systems where machine code is not told."""
    return thread_time_ns()


def arrive(counters: Elements, at: int) -> None:
    """Add one to an element of an I64 array; other threads see all that was written before."""
    counters[at] += 1


def take(counters: Elements, at: int, amount: int) -> int:
    """Add to an element of an I64 array; gives what it was before. Of threads that share out work, each gets
    another part of it."""
    before = int(counters[at])
    counters[at] = before + amount
    return before


def wait_for(counters: Elements, at: int, value: int) -> None:
    """Wait until an element of an I64 array is at least `value`.

    A thread that waits spins for a while and then gives its processor to others again and again. As Python a
    kernel is run by one thread, which has nothing to wait for: raises RuntimeError if it would.
    """
    if counters[at] < value:
        raise RuntimeError("a kernel that runs as Python waits for another thread")
