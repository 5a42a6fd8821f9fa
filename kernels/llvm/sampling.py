"""Reductions over the legal logits as LLVM IR, 32 lanes at a time, one mask word being 32 lane bits.

`sglc_masked_max(logits, mask, size, out)`: largest legal logit into out[0], its lowest index returned (-1).
`sglc_masked_sum(logits, mask, size, top, scale)`: sum of exp((logit - top) * scale) over the legal ones.
`sglc_masked_noisiest(logits, mask, size, top, scale, key)`: the legal token with the largest sum of
(logit - top) * scale and Gumbel noise under the key, the lowest of equals (-1 for none).
The `sglc_all_…` forms take no notice of the mask. `sglc_count(mask, words)`: the number of set bits. Words
without a set bit are skipped after one load, so sparse masks cost next to nothing.
`sglc_both_sums(logits, mask, size, top, scale, out)`: the sums over all and over the legal ones (float64[2]),
from one pass over all words.

exp is computed in float32 by the usual reduction to 2^n · e^r with |r| ≤ ln2 / 2 and the polynomial of
degree 6 that Cephes uses (S. Moshier, expf), error below 2 ulp; sums are kept in float64. log is that of
Cephes as well (logf).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from sglc.kernels.dsl.noise import GOLDEN, LAST_SHIFT, ROUNDS, SMALL
from sglc.kernels.llvm import ir_build
from sglc.kernels.llvm.ir_build import F32, FLOAT_LANES, I1, I32, I64, P32, PF

_F64 = ir.DoubleType()
_VF, _VD, _VI, _VB = (ir.VectorType(kind, FLOAT_LANES) for kind in (F32, _F64, I32, I1))
_COEFFICIENTS = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
_LOG_COEFFICIENTS = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
"""The two parts of ln 2; products of the first with small integers are exact."""
_LOWEST = F32(float("-inf"))


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="sampling")
    for masked in (True, False):
        _maximum(module, masked)
        _sum(module, masked)
        _noisiest(module, masked)
    _both_sums(module)
    _count(module)
    return str(module)


def splat(value: float, kind: ir.VectorType = _VF) -> ir.Constant:
    """A constant in all lanes."""
    return ir.Constant(kind, [value] * FLOAT_LANES)


def _words(b: ir.IRBuilder, masked: bool) -> Iterator[tuple[ir.Value, ir.Value, ir.Value]]:
    """Loops over mask words that are not empty: the first token, the bits, the logits, -inf where not legal.

    There are two, see `stretches`, so what is written for one is written twice.
    """
    logits, mask, size = b.function.args[:3]
    for start, stop, partial in stretches(b, size):
        with (
            ir_build.counted(b, start, stop) as index,
            word(b, mask if masked else None, size, index, partial) as (first, bits),
        ):
            yield first, bits, ir_build.legal_logits(b, ir_build.at(b, logits, first, _VF), bits, partial)


def stretches(b: ir.IRBuilder, size: ir.Value) -> tuple[tuple[ir.Value, ir.Value, bool], ...]:
    """The first word of a stretch, the one behind its last, and whether it is partial: the whole words, which
    are read by plain loads, several times quicker than masked ones; the last word if the size cuts it short.
    """
    whole, words = b.lshr(size, I64(5)), b.lshr(b.add(size, I64(FLOAT_LANES - 1)), I64(5))
    return (I64(0), whole, False), (whole, words, True)


@contextmanager
def word(
    b: ir.IRBuilder, mask: ir.Value | None, size: ir.Value, index: ir.Value, partial: bool
) -> Iterator[tuple[ir.Value, ir.Value]]:
    """What is done with a word that is not empty: its first token, its bits, cut short by the size."""
    bits = I32(-1) if mask is None else ir_build.load(b, mask, index)
    if partial:
        bits = b.and_(bits, b.sub(b.shl(I32(1), b.trunc(b.and_(size, I64(31)), I32)), I32(1)))
    with b.if_then(b.icmp_unsigned("!=", bits, I32(0))):
        yield b.shl(index, I64(5)), bits


def _maximum(module: ir.Module, masked: bool) -> None:
    b = ir_build.function(module, "sglc_masked_max" if masked else "sglc_all_max", I64, PF, P32, I64, PF)
    largest = ir_build.variable(b, splat(float("-inf")))
    for _, _, data in _words(b, masked):
        before = b.load(largest)
        # Ordered comparison: NaN is never larger.
        b.store(b.select(b.fcmp_ordered(">", data, before), data, before), largest)
    lanes = b.load(largest)
    top = b.extract_element(lanes, I32(0))
    for lane in range(1, FLOAT_LANES):
        other = b.extract_element(lanes, I32(lane))
        top = b.select(b.fcmp_ordered(">", other, top), other, top)
    b.store(top, b.function.args[3])
    with b.if_then(b.fcmp_ordered("==", top, _LOWEST)):
        b.ret(I64(-1))
    wanted = ir_build.splat(b, top, FLOAT_LANES)
    for first, bits, data in _words(b, masked):
        hits = b.and_(b.bitcast(b.fcmp_ordered("==", data, wanted), I32), bits)
        with b.if_then(b.icmp_unsigned("!=", hits, I32(0))):
            b.ret(b.add(first, b.zext(b.cttz(hits, I1(1)), I64)))
    b.ret(I64(-1))


def _sum(module: ir.Module, masked: bool) -> None:
    name = "sglc_masked_sum" if masked else "sglc_all_sum"
    b = ir_build.function(module, name, _F64, PF, P32, I64, F32, F32)
    tops, scales = (ir_build.splat(b, value, FLOAT_LANES) for value in b.function.args[3:])
    sums = ir_build.variable(b, splat(0.0, _VD))
    for _, _, data in _words(b, masked):
        power = _power(b, b.fmul(b.fsub(data, tops), scales))
        b.store(b.fadd(b.load(sums), b.fpext(power, _VD)), sums)
    b.ret(total_of(b, b.load(sums)))


def _power(b: ir.IRBuilder, shifted: ir.Value) -> ir.Value:
    """exp of 32 floats of at most 0. Below -87 it is under the smallest normal number and counts as 0, as NaN
    does."""
    counts = b.fcmp_ordered(">=", shifted, splat(-87.0))
    power = exponential(b.module, b, b.select(counts, shifted, splat(-87.0)))
    return b.select(counts, power, splat(0.0))


def _both_sums(module: ir.Module) -> None:
    kinds = (PF, P32, I64, F32, F32, _F64.as_pointer())
    b = ir_build.function(module, "sglc_both_sums", ir.VoidType(), *kinds)
    logits, mask, size, top, scale, out = b.function.args
    tops, scales = (ir_build.splat(b, value, FLOAT_LANES) for value in (top, scale))
    whole, legal = (ir_build.variable(b, splat(0.0, _VD)) for _ in range(2))
    for start, stop, partial in stretches(b, size):
        with (
            ir_build.counted(b, start, stop) as index,
            word(b, None, size, index, partial) as (first, inside),
        ):
            data = ir_build.legal_logits(b, ir_build.at(b, logits, first, _VF), inside, partial)
            power = _power(b, b.fmul(b.fsub(data, tops), scales))
            share = b.select(ir_build.lanes_of(b, ir_build.load(b, mask, index)), power, splat(0.0))
            for sums, part in ((whole, power), (legal, share)):
                b.store(b.fadd(b.load(sums), b.fpext(part, _VD)), sums)
    for place, sums in enumerate((whole, legal)):
        b.store(total_of(b, b.load(sums)), ir_build.at(b, out, I64(place)))
    b.ret_void()


def total_of(b: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    """The sum of all lanes, from the first on."""
    total = b.extract_element(lanes, I32(0))
    for lane in range(1, FLOAT_LANES):
        total = b.fadd(total, b.extract_element(lanes, I32(lane)))
    return total


def _noisiest(module: ir.Module, masked: bool) -> None:
    name = "sglc_masked_noisiest" if masked else "sglc_all_noisiest"
    b = ir_build.function(module, name, I64, PF, P32, I64, F32, F32, I64)
    _, _, _, top, scale, key = b.function.args
    tops, scales = (ir_build.splat(b, value, FLOAT_LANES) for value in (top, scale))
    keys = [ir_build.splat(b, b.trunc(part, I32), FLOAT_LANES) for part in (key, b.lshr(key, I64(32)))]
    lanes = ir.Constant(_VI, list(range(FLOAT_LANES)))
    largest = ir_build.intrinsic(module, f"llvm.vector.reduce.fmax.v{FLOAT_LANES}f32", F32, _VF)
    smallest = ir_build.intrinsic(module, f"llvm.vector.reduce.umin.v{FLOAT_LANES}i32", I32, _VI)
    best, place = ir_build.variable(b, _LOWEST), ir_build.variable(b, I64(-1))
    for first, _, data in _words(b, masked):
        tokens = b.add(ir_build.splat(b, b.trunc(first, I32), FLOAT_LANES), lanes)
        bits = b.lshr(_hash(b, tokens, keys), splat(1, _VI))
        data = b.select(b.fcmp_ordered("ord", data, data), data, splat(float("-inf")))
        scaled = b.fmul(b.fsub(data, tops), scales)
        # No noise of the word is above -log of its smallest v, which its leading zeros bound.
        zeros = b.uitofp(b.ctlz(b.call(smallest, [bits]), I1(0)), F32)
        bound = b.fadd(b.call(largest, [scaled], fastmath=("nnan",)), b.fmul(zeros, F32(math.log(2))))
        with b.if_then(b.fcmp_ordered(">", bound, b.load(best))):
            scores = b.fadd(scaled, _gumbel(b, bits))
            score = b.call(largest, [scores], fastmath=("nnan",))
            with b.if_then(b.fcmp_ordered(">", score, b.load(best))):
                hits = b.bitcast(b.fcmp_ordered("==", scores, ir_build.splat(b, score, FLOAT_LANES)), I32)
                b.store(score, best)
                b.store(b.add(first, b.zext(b.cttz(hits, I1(1)), I64)), place)
    b.ret(b.load(place))


def _hash(b: ir.IRBuilder, tokens: ir.Value, keys: list[ir.Value]) -> ir.Value:
    """32 bits for each token under two keys; `sampling_reference.noise_bits` has the steps."""
    x = b.add(b.mul(tokens, splat(GOLDEN, _VI)), keys[0])
    for number, (shift, factor) in enumerate(ROUNDS):
        x = b.mul(b.xor(x, b.lshr(x, splat(shift, _VI))), splat(factor, _VI))
        if number == 0:
            x = b.xor(x, keys[1])
    return b.xor(x, b.lshr(x, splat(LAST_SHIFT, _VI)))


def _gumbel(b: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """-log(-log(1 - v)) for v = (bits + 1/2) / 2^31, of 31 bits. Small v decide: there it is a series."""
    v = b.fmul(b.fadd(b.sitofp(bits, _VF), splat(0.5)), splat(2.0**-31))
    small = b.fcmp_ordered("<", v, splat(SMALL))
    rest = b.fsub(splat(1.0), v)
    least = splat(2.0**-24)
    rest = b.select(b.fcmp_ordered("<", rest, least), least, rest)
    exact = b.fmul(v, b.fadd(splat(1.0), b.fmul(splat(0.5), v)))
    waiting = b.select(small, exact, b.fneg(_log(b, rest)))
    return b.fneg(_log(b, waiting))


def _log(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """log of 32 normal floats above 0; products and sums may be fused."""
    fused = ("contract",)
    bits = b.bitcast(x, _VI)
    exponent = b.sub(b.lshr(bits, splat(23, _VI)), splat(126, _VI))
    low = b.or_(b.and_(bits, splat(0x007FFFFF, _VI)), splat(0x3F000000, _VI))
    m = b.bitcast(low, _VF)  # in [1/2, 1)
    below = b.fcmp_ordered("<", m, splat(0.707106781186547524))
    e = b.sitofp(b.sub(exponent, b.zext(below, _VI)), _VF)
    m = b.fsub(b.select(below, b.fadd(m, m), m), splat(1.0))
    z = b.fmul(m, m)
    p = splat(_LOG_COEFFICIENTS[0])
    for coefficient in _LOG_COEFFICIENTS[1:]:
        p = b.fadd(b.fmul(p, m, flags=fused), splat(coefficient), flags=fused)
    y = b.fmul(b.fmul(m, z), p)
    y = b.fadd(y, b.fmul(e, splat(_LN2_LOW), flags=fused), flags=fused)
    y = b.fsub(y, b.fmul(z, splat(0.5), flags=fused), flags=fused)
    return b.fadd(b.fadd(m, y), b.fmul(e, splat(_LN2_HIGH), flags=fused), flags=fused)


def exponential(module: ir.Module, b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """exp of 32 floats in -87..0; products and sums may be fused."""
    fused = ("contract",)
    floor = ir_build.intrinsic(module, f"llvm.floor.v{FLOAT_LANES}f32", _VF, _VF)
    n = b.call(floor, [b.fadd(b.fmul(x, splat(1.44269504088896341), flags=fused), splat(0.5), flags=fused)])
    r = b.fsub(x, b.fmul(n, splat(_LN2_HIGH), flags=fused), flags=fused)
    r = b.fsub(r, b.fmul(n, splat(_LN2_LOW), flags=fused), flags=fused)
    p = splat(_COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        p = b.fadd(b.fmul(p, r, flags=fused), splat(coefficient), flags=fused)
    p = b.fadd(b.fmul(b.fmul(p, r, flags=fused), r, flags=fused), b.fadd(r, splat(1.0)), flags=fused)
    exponent = b.shl(b.add(b.fptosi(n, _VI), splat(127, _VI)), splat(23, _VI))
    return b.fmul(p, b.bitcast(exponent, _VF))


def _count(module: ir.Module) -> None:
    b = ir_build.function(module, "sglc_count", I64, P32, I64)
    mask, words = b.function.args
    total = ir_build.variable(b, I64(0))
    with ir_build.counted(b, I64(0), words) as index:
        b.store(b.add(b.load(total), b.zext(b.ctpop(ir_build.load(b, mask, index)), I64)), total)
    b.ret(b.load(total))
