"""Mask rows as LLVM IR; `sglc.kernels.bitmask.operations_reference` says what each function does.

Rows are read 16 words at a time, so that a row of 128,000 tokens is 251 loads of 64 bytes. Set operations
count the bits of their result on the way: the words are in registers anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from sglc.kernels.llvm import ir_build
from sglc.kernels.llvm.ir_build import F32, FLOAT_LANES, I1, I8, I32, I64, P8, P32, P64, PF, WORD_LANES

_V = ir.VectorType(I32, WORD_LANES)
_VF = ir.VectorType(F32, FLOAT_LANES)
_VB = ir.VectorType(I1, FLOAT_LANES)


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="rows")
    _combination(module, "sglc_unite", lambda b, x, y: b.or_(x, y))
    _combination(module, "sglc_intersect", lambda b, x, y: b.and_(x, y))
    _combination(module, "sglc_subtract", lambda b, x, y: b.and_(x, b.not_(y)))
    _fill_rows(module)
    _apply(module)
    return str(module)


def _combination(
    module: ir.Module, name: str, operate: Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]
) -> None:
    """i64 f(a, b, out, words): out = a operate b, returns the number of bits set in it."""
    b = ir_build.function(module, name, I64, P32, P32, P32, I64)
    first, second, out, words = b.function.args
    count = ir_build.intrinsic(module, f"llvm.ctpop.v{WORD_LANES}i32", _V, _V)
    totals = ir_build.variable(b, ir_build.splat(b, I32(0), WORD_LANES))
    whole = b.and_(words, I64(-WORD_LANES))
    with ir_build.counted(b, I64(0), whole, WORD_LANES) as index:
        word = operate(b, ir_build.load(b, first, index, _V), ir_build.load(b, second, index, _V))
        ir_build.store(b, word, out, index)
        b.store(b.add(b.load(totals), b.call(count, [word])), totals)
    lanes = b.load(totals)
    total = ir_build.variable(b, I64(0))
    for lane in range(WORD_LANES):
        b.store(b.add(b.load(total), b.zext(b.extract_element(lanes, I32(lane)), I64)), total)
    with ir_build.counted(b, whole, words) as index:
        word = operate(b, ir_build.load(b, first, index), ir_build.load(b, second, index))
        ir_build.store(b, word, out, index)
        b.store(b.add(b.load(total), b.zext(b.ctpop(word), I64)), total)
    b.ret(b.load(total))


_PLACE = 4
"""int64 of a source: address of the base row or 0, address of the changes, their number, words of the row."""


def _fill_rows(module: ir.Module) -> None:
    """i64 f(sources, at, n, out, stride, words): see `reference_rows.fill_row`.

    Source i goes to out + at[i] * stride, or to out + i * stride if `at` is 0. 1 is well; 0 if a source has
    another number of words: then nothing is written.
    """
    b = ir_build.function(module, "sglc_fill_rows", I64, P64, P64, I64, P32, I64, I64)
    sources, at_rows, n, out, stride, words = b.function.args
    different = ir_build.variable(b, I64(0))
    with ir_build.counted(b, I64(0), n) as index:
        own = ir_build.load(b, sources, b.add(b.mul(index, I64(_PLACE)), I64(3)))
        b.store(b.or_(b.load(different), b.xor(own, words)), different)
    with b.if_then(b.icmp_unsigned("!=", b.load(different), I64(0)), likely=False):
        b.ret(I64(0))
    size = b.shl(words, I64(2))
    in_order = b.icmp_unsigned("==", b.ptrtoint(at_rows, I64), I64(0))
    clear = b.module.declare_intrinsic("llvm.memset", [P8, I64])
    copy = b.module.declare_intrinsic("llvm.memcpy", [P8, P8, I64])
    with ir_build.counted(b, I64(0), n) as index:
        row = ir_build.variable(b, index)
        with b.if_then(b.not_(in_order)):
            b.store(ir_build.load(b, at_rows, index), row)
        target = ir_build.at(b, out, b.mul(b.load(row), stride))
        first = b.mul(index, I64(_PLACE))
        base, changes, count = (ir_build.load(b, sources, b.add(first, I64(place))) for place in range(3))
        # The C library's functions: rows lie at any multiple of 4, and they align what they write.
        with b.if_else(b.icmp_unsigned("==", base, I64(0))) as (empty, copied):
            with empty:
                b.call(clear, [b.bitcast(target, P8), I8(0), size, I1(0)])
            with copied:
                b.call(copy, [b.bitcast(target, P8), b.inttoptr(base, P8), size, I1(0)])
        pairs = b.inttoptr(changes, P32)
        with ir_build.counted(b, I64(0), b.shl(count, I64(1)), 2) as change:
            place = b.zext(ir_build.load(b, pairs, change), I64)
            ir_build.store(b, ir_build.load(b, pairs, b.add(change, I64(1))), target, place)
    b.ret(I64(1))


def _apply(module: ir.Module) -> None:
    """void f(logits, rows, n, size, words): -inf where the bit of row i is not set, in place."""
    b = ir_build.function(module, "sglc_apply", ir.VoidType(), PF, P32, I64, I64, I64)
    logits, rows, n, size, words = b.function.args
    infinite = ir.Constant(F32, float("-inf"))
    gone = ir_build.splat(b, infinite, FLOAT_LANES)
    pointer = _VF.as_pointer()
    write = ir_build.intrinsic(
        module, f"llvm.masked.store.v{FLOAT_LANES}f32.p0", ir.VoidType(), _VF, pointer, I32, _VB
    )
    whole = b.lshr(size, I64(5))
    with ir_build.counted(b, I64(0), n) as row:
        values, bits = ir_build.at(b, logits, b.mul(row, size)), ir_build.at(b, rows, b.mul(row, words))
        with ir_build.counted(b, I64(0), whole) as index:
            word = ir_build.load(b, bits, index)
            with b.if_then(b.icmp_signed("!=", word, I32(-1))):
                place = ir_build.at(b, values, b.shl(index, I64(5)), _VF)
                b.call(write, [gone, place, I32(4), b.bitcast(b.not_(word), _VB)])
        with ir_build.counted(b, b.shl(whole, I64(5)), size) as index:
            word = b.lshr(ir_build.load(b, bits, whole), b.trunc(b.and_(index, I64(31)), I32))
            with b.if_then(b.not_(b.trunc(word, I1))):
                ir_build.store(b, infinite, values, index)
    b.ret_void()
