"""Lanes in the language of kernels: machine code gives the reference's numbers, to the last bit.

Every case runs on this machine's processor with all that it can do, and without what other processors lack.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.kernels.dsl.language import (
    F32,
    I8,
    I32,
    I64,
    U8,
    U16,
    Constant,
    Kernel,
    Specialised,
    floats,
    kernel,
    kernel_noinline,
    parallel_kernel,
    run,
)
from sglc.kernels.dsl.vectors import (
    arrive,
    as_floats,
    as_ints,
    dot4,
    dot8,
    float_lanes,
    fma,
    greater,
    half_at,
    half_of,
    int_lanes,
    keep_first,
    lane,
    load_floats,
    load_halves,
    load_ints,
    magnitudes,
    max_floats,
    maxima,
    nearest,
    prefetch,
    put_word,
    rolled,
    rounded,
    shift_left,
    shift_right,
    spread,
    spread_int,
    square_root,
    store_bytes,
    store_floats,
    store_ints,
    sum_floats,
    sum_ints,
    sums,
    to_floats,
    wait_for,
    word_at,
)
from sglc.kernels.jit_library import typed_library

llvm = pytest.importorskip("llvmlite.binding")

from sglc.kernels.llvm import jit  # noqa: E402
from sglc.kernels.llvm.target import Target, host, wide_host  # noqa: E402
from sglc.kernels.llvm.translate import translate  # noqa: E402
from sglc.kernels.llvm.values import KernelError  # noqa: E402


@kernel
def doubled(x: floats, factor: float) -> floats:
    return x * spread(factor)


@kernel_noinline
def scale_rows(x: F32, count: int, rows: Constant) -> None:
    """Local arrays of lanes, and constants that decide."""
    kept = float_lanes(rows)
    for _each in range(count):
        for k in range(rows):
            kept[k] = kept[k] + load_floats(x, 16 * k)
    if rows == 2:
        store_floats(x, 0, kept[1])
    else:
        store_floats(x, 0, doubled(kept[0], 2.5))


@kernel
def arithmetic(x: F32, y: F32, z: F32, out: F32, count: int) -> float:
    a, b, c = load_floats(x, 0), load_floats(y, 0), load_floats(z, 0)
    store_floats(out, 0, fma(a, b, c))
    store_floats(out, 16, (a + b) * c - a / greater(magnitudes(b), spread(0.25)))
    store_floats(out, 32, keep_first(a, count, b))
    store_floats(out, 48, as_floats(as_ints(c) & spread_int(0x7FFFFFFF)))
    scale_rows(out, 3, 2)
    scale_rows(out, 2, 1)
    prefetch(x, 1 << 20)
    return sum_floats(a) + max_floats(b) + square_root(magnitudes_sum(c)) + rounded(sum_floats(b), 15)


@kernel
def magnitudes_sum(x: floats) -> float:
    return sum_floats(magnitudes(x))


@kernel
def whole(w: U8, q: I8, out: I32, bytes_out: I8, x: F32, count: int) -> int:
    total = int_lanes(2)
    total[0] = spread_int(count)
    for k in range(2):
        left = load_ints(w, 64 * k)
        total[k] = dot4(total[k], left, spread_int(word_at(q, 4 * k)))
        total[1] = dot4(total[1], shift_right(left, 4) & spread_int(0x0F0F0F0F), load_ints(w, 3))
    low, high = (
        load_ints(w, 64) & spread_int(0x0F0F0F0F),
        shift_right(load_ints(w, 64), 4) & spread_int(0x0F0F0F0F),
    )
    total[0] = dot8(total[0], low, load_ints(w, 3), high, spread_int(word_at(q, 8)))
    near = nearest(load_floats(x, 0))
    store_bytes(bytes_out, 0, near)
    bits = total[0] * spread_int(3) - shift_left(total[1], 5) | near
    for i in range(16):
        out[i] = 0
    out[0] = sum_ints(bits)
    out[1] = sum_ints(near)
    store_floats_of(x, to_floats(total[0] + total[1]))
    return sum_ints(total[1])


@kernel
def store_floats_of(x: F32, lanes: floats) -> None:
    store_floats(x, 16, lanes)


@kernel
def halves(bits: U16, raw: U8, x: F32, out: F32) -> int:
    store_floats(out, 0, load_halves(bits, 0))
    store_floats(out, 16, load_halves(raw, 1))
    for k in range(16):
        bits[16 + k] = half_of(x[k])
    out[32] = half_at(raw, 7)
    return half_of(x[3])


@kernel
def many(x: F32, out: F32) -> float:
    kept = float_lanes(16)
    for k in range(16):
        kept[k] = load_floats(x, 16 * k)
    store_floats(out, 0, maxima(kept))
    store_floats(out, 16, sums(kept))
    store_floats(out, 32, rolled(kept[2], 3))
    return lane(kept[7], 15)


@kernel
def words(q: I8, w: U8, out: I32) -> int:
    store_ints(out, 0, load_ints(q, 3))
    store_ints(q, 1, load_ints(out, 0) + spread_int(1))
    put_word(q, 70, word_at(w, 5) ^ 0x80808080)
    put_word(w, 9, out[1] - 1)
    return word_at(w, 9)


KERNELS = (arithmetic, whole, halves, many, words)
BASELINE = "+sse2,+cx8,+64bit"


def _library(target: Target) -> SimpleNamespace:
    names = [f"sglc_{one.name}" for one in KERNELS]
    addresses = jit.compile_functions(translate(KERNELS, "lanes", target), names, target)
    found = SimpleNamespace()
    for one in KERNELS:
        kinds = one.annotations
        result = {"int": ctypes.c_int64, "float": ctypes.c_double}[kinds.pop("return")]
        arguments = [ctypes.c_int64 if kind == "int" else ctypes.c_void_p for kind in kinds.values()]
        setattr(found, one.name, jit.bind(addresses[f"sglc_{one.name}"], result, *arguments))
    return found


def _targets() -> list[Target]:
    """This machine as it is, and without instructions that others lack."""
    here = host()
    found = [here, wide_host()]
    if here.is_x86:
        found.append(Target(here.triple, "x86-64", BASELINE))
        for name in ("avx2,+fma,+f16c", "avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512vnni"):
            if set(name.split(",+")) <= here.has:
                found.append(Target(here.triple, "x86-64", f"+{name}"))
    return list(dict.fromkeys(found))


TARGETS = _targets()


@cache
def libraries() -> list[SimpleNamespace]:
    return [_library(target) for target in TARGETS]


def agree(one: Kernel, arrays: list[np.ndarray], *numbers: float, exact: Callable[[Target], bool]) -> None:
    """On every target the same result and the same arrays as by Python."""
    wanted = [array.copy() for array in arrays]
    result = run(one, *wanted, *numbers)
    for target, library in zip(TARGETS, libraries(), strict=True):
        found = [array.copy() for array in arrays]
        got = getattr(library, one.name)(*[array.ctypes.data for array in found], *numbers)
        if exact(target):
            assert got == result, target.features
        for a, b in zip(found, wanted, strict=True):
            if exact(target):
                assert a.tobytes() == b.tobytes(), target.features
            else:
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-30)


SEEDS = st.integers(0, 1 << 32)


def _floats(dice: np.random.Generator, count: int, spread_of: float = 8.0) -> np.ndarray:
    return (dice.normal(size=count) * 2.0 ** dice.uniform(-spread_of, spread_of, count)).astype(np.float32)


@pytest.mark.slow
@given(SEEDS, st.integers(-3, 20))
@settings(deadline=None)
def test_floats(seed: int, count: int) -> None:
    dice = np.random.default_rng(seed)
    arrays = [_floats(dice, 16), _floats(dice, 16), _floats(dice, 16), np.zeros(64, np.float32)]
    if seed % 3 == 0:
        arrays[2] = -(arrays[0] * arrays[1])  # what is left of the sum is the rounding of the product
    agree(arithmetic, arrays, count, exact=lambda target: target.fused)


@given(SEEDS)
@settings(deadline=None)
def test_many_lanes(seed: int) -> None:
    x = _floats(np.random.default_rng(seed), 256)
    out = np.zeros(48, np.float32)
    agree(many, [x, out], exact=lambda target: True)
    assert run(many, x, out) == x[127]
    rows = x.reshape(16, 16)
    assert (out[:16] == rows.max(1)).all()
    np.testing.assert_allclose(
        out[16:32], rows.astype(np.float64).sum(1), atol=1e-5 * np.abs(rows).sum(1).max()
    )
    assert (out[32:] == rows[2][[*range(3, 16), 0, 1, 2]]).all()


@given(SEEDS, st.integers(-(1 << 31), (1 << 31) - 1))
@settings(deadline=None)
def test_whole_numbers(seed: int, count: int) -> None:
    dice = np.random.default_rng(seed)
    w = dice.integers(0, 256, 128, np.uint8) if seed % 4 else np.full(128, 255, np.uint8)
    q = dice.integers(-128, 128, 64).astype(np.int8) if seed % 5 else np.full(64, -128, np.int8)
    x = np.concatenate([dice.integers(-400, 400, 16) / np.float32(2), np.zeros(16)]).astype(np.float32)
    arrays = [w, q, np.zeros(16, np.int32), np.zeros(16, np.int8), x]
    agree(whole, arrays, count, exact=lambda target: True)


@given(SEEDS)
@settings(deadline=None)
def test_floats_of_16_bits(seed: int) -> None:
    dice = np.random.default_rng(seed)
    bits = dice.integers(0, 1 << 16, 32, np.uint16)
    bits[(bits & 0x7C00) == 0x7C00] ^= 0x4000  # finite ones
    x = _floats(dice, 16, 28.0)
    x[:6] = [0.0, -0.0, 65504.0, 65519.99, 65520.0, -1e9]
    x[6:8] = np.float32(bits[:2].view(np.float16)) * np.float32(1 + 2.0**-11)  # in the middle of two
    raw = np.concatenate([[np.uint8(7)], bits.view(np.uint8)[:38]]).astype(np.uint8)
    agree(halves, [bits, raw, x, np.zeros(48, np.float32)], exact=lambda target: True)


@given(SEEDS)
@settings(deadline=None)
def test_words_among_bytes(seed: int) -> None:
    dice = np.random.default_rng(seed)
    q = dice.integers(-128, 128, 80).astype(np.int8)
    w = dice.integers(0, 256, 80, np.uint8)
    agree(words, [q, w, np.zeros(16, np.int32)], exact=lambda target: True)
    before, given = q.tobytes(), w.tobytes()
    found = run(words, q, w, np.zeros(16, np.int32))
    assert found == int.from_bytes(before[7:11], "little", signed=True) - 1 or found == (1 << 31) - 1
    assert q[70:74].tobytes() == bytes(each ^ 128 for each in given[5:9])
    assert w[9:13].tobytes() == (found & 0xFFFFFFFF).to_bytes(4, "little")


def test_a_fused_sum_is_rounded_once() -> None:
    """Cases in which rounding to 64 bits first goes wrong, against exact arithmetic."""
    from fractions import Fraction

    dice = np.random.default_rng(5)
    a = (1 + dice.integers(0, 1 << 23, 4000) / 2**23).astype(np.float32)
    b = (1 + dice.integers(0, 1 << 23, 4000) / 2**23).astype(np.float32)
    c = (2.0 ** -dice.integers(24, 60, 4000) * dice.choice([-1, 1], 4000)).astype(np.float32)
    for got, x, y, z in zip(fma(a, b, c), a.tolist(), b.tolist(), c.tolist(), strict=True):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        near = [np.nextafter(got, np.float32(end)) for end in (-np.inf, np.inf)]
        assert all(abs(Fraction(float(got)) - exact) <= abs(Fraction(float(n)) - exact) for n in near)


# -- threads ----------------------------------------------------------------------------------------------


@parallel_kernel
def rounds(counters: I64, data: I64, thread: int, threads: int, count: int) -> None:
    """Each round every thread adds what the next one wrote in the round before."""
    turn = 0
    for each in range(count):
        other = data[threads * (each & 1) + (thread + 1) % threads]
        data[threads * (1 - (each & 1)) + thread] = other * 3 + data[threads * (each & 1) + thread]
        turn += threads
        arrive(counters, 0)
        wait_for(counters, 0, turn)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_meet(threads: int) -> None:
    """Also more threads than processors: those that wait give way."""
    library = typed_library(rounds).functions()
    assert library is not None
    counters, data = np.zeros(1, np.int64), np.arange(2 * threads, dtype=np.int64)
    one = (counters.ctypes.data, data.ctypes.data)
    workers = [
        threading.Thread(target=library.rounds, args=(*one, thread, threads, 200))
        for thread in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    wanted = np.arange(threads, dtype=np.int64)
    for _ in range(200):
        wanted = np.roll(wanted, -1) * 3 + wanted
    assert data[:threads].tolist() == wanted.tolist()


def test_a_reference_does_not_wait() -> None:
    with pytest.raises(RuntimeError, match="waits for another thread"):
        run(rounds, np.zeros(1, np.int64), np.arange(4), 0, 2, 3)


# -- processors -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        Target("x86_64-unknown-linux-gnu", "x86-64", BASELINE),
        Target("x86_64-pc-windows-msvc", "x86-64", "+avx2,+fma,+f16c"),
        Target("aarch64-unknown-linux-gnu", "generic", "+neon"),
        Target("arm64-apple-darwin", "apple-m1", "+neon,+dotprod"),
        Target("aarch64-unknown-linux-gnu", "generic", "+neon,+i8mm"),
    ],
    ids=lambda target: f"{target.triple} {target.features}",
)
def test_other_processors(target: Target) -> None:
    """Code for them needs nothing but what is in the C library: no help for instructions they lack."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        machine = target.machine()
    except RuntimeError as error:
        pytest.skip(str(error))
    text = machine.emit_assembly(jit.optimised(translate([*KERNELS, rounds], "other", target), machine))
    called = set(re.findall(r"\b(?:callq?|bl|b)\s+([A-Za-z_]\w*)", text))
    assert {name.strip("_") for name in called if not re.match(r"_?inner_|L?BB", name)} <= {
        "sched_yield",
        "SwitchToThread",
        "memset",
        "memcpy",
    }, called


def test_what_a_target_has() -> None:
    assert Target("x86_64-unknown-linux-gnu", "x86-64", "+avx512f,+avx512vnni").products == "avx512vnni"
    assert Target("x86_64-unknown-linux-gnu", "x86-64", "+avx2,+avxvnni").products == "avxvnni"
    assert Target("x86_64-unknown-linux-gnu", "x86-64", "+avx2,-avxvnni").products == "avx2"
    assert Target("x86_64-unknown-linux-gnu", "x86-64", BASELINE).products == "plain"
    assert Target("arm64-apple-darwin", "apple-m2", "+i8mm").products == "i8mm"
    assert not Target("x86_64-unknown-linux-gnu", "x86-64", BASELINE).fused
    features = ("+avx2,+avx512f", "+avx,+avx2", BASELINE)
    found = [Target("x86_64-unknown-linux-gnu", "x86-64", each).lane_registers for each in features]
    assert found == [32, 8, 4]
    assert Target("arm64-apple-darwin", "apple-m2", "+neon").lane_registers == 8


# -- what is refused --------------------------------------------------------------------------------------


@kernel
def two_kinds(x: F32) -> None:
    store_floats(x, 0, load_floats(x, 0) + spread_int(1))


@kernel
def a_variable_size(x: F32, count: int) -> None:
    kept = float_lanes(count)
    store_floats(x, 0, kept[0])


@kernel
def lanes_as_a_number(x: F32) -> None:
    x[0] = load_floats(x, 0)


@kernel
def the_wrong_array(x: I32) -> None:
    store_floats(x, 0, spread(0.0))


@kernel
def too_few(x: F32) -> None:
    store_floats(x, spread(0.0))  # type: ignore[call-arg, arg-type]


@kernel
def not_sixteen(x: F32) -> None:
    store_floats(x, 0, maxima(float_lanes(8)))


@kernel
def not_so_many(x: F32) -> None:
    few = float_lanes(8)
    store_floats(x, 0, sums(few))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (two_kinds, "lanes of two kinds"),
        (a_variable_size, "not a constant: count"),
        (lanes_as_a_number, "floats in place of float"),
        (the_wrong_array, "store_floats takes an array F32"),
        (too_few, "store_floats takes 3 arguments"),
        (not_sixteen, "not a local array of 16 lanes"),
        (not_so_many, "not a local array of 16 lanes"),
    ],
)
def test_what_is_no_kernel(wrong: Kernel, reason: str) -> None:
    with pytest.raises(KernelError, match=reason):
        translate([wrong], "wrong")


def test_constants_are_part_of_the_name() -> None:
    one = Specialised(scale_rows, {"rows": 3})
    assert one.name == "scale_rows_3"
    library = typed_library(one).functions()
    assert library is not None
    x = np.arange(48, dtype=np.float32)
    library.scale_rows_3(x.ctypes.data, 2)
    assert x[:16].tolist() == [2.5 * 2 * i for i in range(16)]
    with pytest.raises(KeyError):
        Specialised(scale_rows, {}).name  # noqa: B018
