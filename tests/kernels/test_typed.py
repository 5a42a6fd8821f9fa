"""The language of kernels: machine code does what the same text does as Python."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.kernels.dsl.language import F32, F64, I32, I64, U8, U32, U64, bit_count, kernel, run, trailing_zeros
from sglc.kernels.jit_library import typed_library

pytest.importorskip("llvmlite")

LIMIT = 40
SCALE = 0.5


@kernel
def clipped(value: int, least: int, most: int) -> int:
    return least if value < least else min(value, most)


@kernel
def numbers(small: U8, signed: I32, wide: I64, out: I64, count: int) -> int:
    """Loops, conditions and whole numbers of all kinds."""
    total = seen = 0
    for place in range(count):
        if signed[place] == 13:
            continue
        elif small[place] > 250 and not wide[place] < 0:
            break
        total += clipped(signed[place], -LIMIT, LIMIT) * 3 - small[place] // 7
        out[place], seen = total % 11, seen + 1
    step = count
    while step > 0 and (total > 0 or seen == 0):
        step -= 2
        total -= 1 + (step & 3) ^ 5
    for back in range(count - 1, -1, -1):
        out[back] = (out[back] << 2) + (wide[back] >> 3) - abs(signed[back]) if out[back] != 4 else -1
    return total if 0 <= seen < 100 else -seen


@kernel
def words(bits: U64, small: U32, out: U64, count: int) -> int:
    """Unsigned words: sets of bits."""
    found = 0
    for place in range(count):
        both = bits[place] & ~bits[count - 1 - place]
        out[place] = (both | small[place]) >> 1
        small[place] |= 1 << 31
        if both:
            found += bit_count(both) + trailing_zeros(both)
        found += 1 if bits[place] > bits[0] else 0
    return found


@kernel
def add_scaled(scores: F32, count: int, factor: float) -> None:
    for place in range(count):
        scores[place] = scores[place] * factor + SCALE


@kernel
def sums(scores: F32, exact: F64, count: int) -> float:
    """Floating-point numbers, and a call of a kernel with an array."""
    add_scaled(scores, count, 2)
    best, total = -1000.0, 0.0
    for place in range(count):
        best = max(best, scores[place])
        total += exact[place] / 4 - float(place) * (-0.5 if exact[place] < 0 else 1.0)
    return best + abs(total) if count else 0.0


class Colour:
    RED, SCALE = 3, 0.5


@kernel
def named(data: I64, count: int) -> float:
    """Numbers of a class; what a constant test leaves out is not looked at."""
    if Colour.RED > 3:
        return nowhere  # type: ignore[name-defined, no-any-return]  # noqa: F821
    data[count - 1], data[Colour.RED - 3] = Colour.RED << Colour.RED, -Colour.RED
    return count * Colour.SCALE


LIBRARY = typed_library(numbers, words, sums, named)


def both(name: str, one: object, arrays: list[np.ndarray], *numbers: float) -> None:
    """Run compiled and as Python on copies; results and arrays must be the same."""
    compiled = LIBRARY.functions()
    assert compiled is not None
    left, right = [a.copy() for a in arrays], [a.copy() for a in arrays]
    got = getattr(compiled, name)(*[ctypes.c_void_p(a.ctypes.data) for a in left], *numbers)
    assert got == run(one, *right, *numbers)  # type: ignore[arg-type]
    for a, b in zip(left, right, strict=True):
        assert a.tolist() == b.tolist()


COUNT = st.integers(1, 12)


@given(COUNT, st.randoms(use_true_random=False))
def test_whole_numbers(count: int, random: object) -> None:
    source = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    small = source.integers(0, 256, count, np.uint8)
    signed = source.integers(-60, 60, count).astype(np.int32)
    wide = source.integers(-(1 << 40), 1 << 40, count)
    both("numbers", numbers, [small, signed, wide, np.zeros(count, np.int64)], count)


@given(COUNT, st.randoms(use_true_random=False))
def test_words(count: int, random: object) -> None:
    source = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    bits = source.integers(0, 1 << 64, count, np.uint64)
    small = source.integers(0, 1 << 32, count, np.uint32)
    both("words", words, [bits, small, np.zeros(count, np.uint64)], count)


@given(COUNT)
def test_numbers_of_classes(count: int) -> None:
    both("named", named, [np.zeros(count, np.int64)], count)


@given(COUNT, st.randoms(use_true_random=False))
def test_floating_point(count: int, random: object) -> None:
    source = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    scores = source.normal(size=count).astype(np.float32)
    both("sums", sums, [scores, source.normal(size=count)], count)


@kernel
def with_a_list(count: int) -> int:
    found = [count]
    return len(found)


@kernel
def with_an_unknown_name_of_a_class(count: int) -> int:
    return count + Colour.GREEN  # type: ignore[attr-defined, no-any-return]


@kernel
def with_an_unknown_name(count: int) -> int:
    return count + nowhere  # type: ignore[name-defined]  # noqa: F821


@kernel
def with_an_odd_argument(name: str) -> int:
    return 0


@kernel
def with_the_wrong_array(data: I64) -> int:
    add_scaled(data, 1, 1.0)
    return 0


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (with_a_list, r"with_a_list, line 3: not an expression of kernels: \[count\]"),
        (with_an_unknown_name, "no number of this name is known here: nowhere"),
        (with_an_unknown_name_of_a_class, "no number of this name is known here: Colour.GREEN"),
        (with_an_odd_argument, "with_an_odd_argument: name has the unknown kind str"),
        (with_the_wrong_array, "add_scaled takes an array F32 here: data"),
    ],
)
def test_what_is_no_kernel(wrong: object, reason: str) -> None:
    from sglc.kernels.llvm.translate import translate
    from sglc.kernels.llvm.values import KernelError

    with pytest.raises(KernelError, match=reason):
        translate([wrong], "wrong")  # type: ignore[list-item]
