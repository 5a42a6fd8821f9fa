"""Mask rows as LLVM IR; `sglc.kernels.reference_rows` says what each function does.

Rows are read 16 words at a time, so that a row of 128,000 tokens is 251 loads of 64 bytes. Set operations
count the bits of their result on the way: the words are in registers anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from sglc.kernels.llvm.build import (
    F32,
    I1,
    I32,
    I64,
    P8,
    P32,
    P64,
    PF,
    at,
    counted,
    function,
    intrinsic,
    load,
    set_bit,
    splat,
    store,
    variable,
)

LANES = 16
_V = ir.VectorType(I32, LANES)
_FLOATS = 32
_VF = ir.VectorType(F32, _FLOATS)
_VB = ir.VectorType(I1, _FLOATS)


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="rows")
    _combination(module, "sglc_unite", lambda b, x, y: b.or_(x, y))
    _combination(module, "sglc_intersect", lambda b, x, y: b.and_(x, y))
    _combination(module, "sglc_subtract", lambda b, x, y: b.and_(x, b.not_(y)))
    one = _fill_row(module)
    _fill_rows(module, one)
    _copy_rows(module)
    _apply(module)
    return str(module)


def _combination(
    module: ir.Module, name: str, operate: Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]
) -> None:
    """i64 f(a, b, out, words): out = a operate b, returns the number of bits set in it."""
    b = function(module, name, I64, P32, P32, P32, I64)
    first, second, out, words = b.function.args
    count = intrinsic(module, f"llvm.ctpop.v{LANES}i32", _V, _V)
    totals = variable(b, splat(b, I32(0), LANES))
    whole = b.and_(words, I64(-LANES))
    with counted(b, I64(0), whole, LANES) as index:
        word = operate(b, load(b, first, index, _V), load(b, second, index, _V))
        store(b, word, out, index)
        b.store(b.add(b.load(totals), b.call(count, [word])), totals)
    lanes = b.load(totals)
    total = variable(b, I64(0))
    for lane in range(LANES):
        b.store(b.add(b.load(total), b.zext(b.extract_element(lanes, I32(lane)), I64)), total)
    with counted(b, whole, words) as index:
        word = operate(b, load(b, first, index), load(b, second, index))
        store(b, word, out, index)
        b.store(b.add(b.load(total), b.zext(b.ctpop(word), I64)), total)
    b.ret(b.load(total))


def _fill_row(module: ir.Module) -> ir.Function:
    """void f(base, ids, n, out, words): see `reference_rows.fill_row`."""
    b = function(module, "sglc_fill_row", ir.VoidType(), P32, P32, I64, P32, I64)
    base, ids, n, out, words = b.function.args
    whole = b.and_(words, I64(-LANES))
    listed = b.icmp_unsigned("==", b.ptrtoint(base, I64), I64(0))
    with b.if_else(listed) as (empty, copied):
        with empty:
            with counted(b, I64(0), whole, LANES) as index:
                store(b, splat(b, I32(0), LANES), out, index)
            with counted(b, whole, words) as index:
                store(b, I32(0), out, index)
            with counted(b, I64(0), n) as index:
                set_bit(b, out, load(b, ids, index))
        with copied:
            _copy(b, base, out, words)
            with counted(b, I64(0), n) as index:
                set_bit(b, out, load(b, ids, index), on=False)
    b.ret_void()
    return b.function


def _fill_rows(module: ir.Module, one: ir.Function) -> None:
    """void f(sources, n, out, words): row i from (base, ids, number of ids) in sources[3 * i:]."""
    b = function(module, "sglc_fill_rows", ir.VoidType(), P64, I64, P32, I64)
    sources, n, out, words = b.function.args
    with counted(b, I64(0), n) as row:
        first = b.mul(row, I64(3))
        base, ids, size = (load(b, sources, b.add(first, I64(place))) for place in range(3))
        target = at(b, out, b.mul(row, words))
        b.call(one, [b.inttoptr(base, P32), b.inttoptr(ids, P32), size, target, words])
    b.ret_void()


def _copy_rows(module: ir.Module) -> None:
    """void f(sources, n, out, words): row i from the words at the address sources[i]."""
    b = function(module, "sglc_copy_rows", ir.VoidType(), P64, I64, P32, I64)
    sources, n, out, words = b.function.args
    with counted(b, I64(0), n) as row:
        source = b.inttoptr(load(b, sources, row), P32)
        _copy(b, source, at(b, out, b.mul(row, words)), words)
    b.ret_void()


def _copy(b: ir.IRBuilder, source: ir.Value, target: ir.Value, words: ir.Value) -> None:
    """The C library's copy: rows lie at any multiple of 4, and it aligns what it writes."""
    copy = b.module.declare_intrinsic("llvm.memcpy", [P8, P8, I64])
    b.call(copy, [b.bitcast(target, P8), b.bitcast(source, P8), b.shl(words, I64(2)), I1(0)])


def _apply(module: ir.Module) -> None:
    """void f(logits, rows, n, size, words): -inf where the bit of row i is not set, in place."""
    b = function(module, "sglc_apply", ir.VoidType(), PF, P32, I64, I64, I64)
    logits, rows, n, size, words = b.function.args
    infinite = ir.Constant(F32, float("-inf"))
    gone = splat(b, infinite, _FLOATS)
    pointer = _VF.as_pointer()
    write = intrinsic(module, f"llvm.masked.store.v{_FLOATS}f32.p0", ir.VoidType(), _VF, pointer, I32, _VB)
    whole = b.lshr(size, I64(5))
    with counted(b, I64(0), n) as row:
        values, bits = at(b, logits, b.mul(row, size)), at(b, rows, b.mul(row, words))
        with counted(b, I64(0), whole) as index:
            word = load(b, bits, index)
            with b.if_then(b.icmp_signed("!=", word, I32(-1))):
                place = at(b, values, b.shl(index, I64(5)), _VF)
                b.call(write, [gone, place, I32(4), b.bitcast(b.not_(word), _VB)])
        with counted(b, b.shl(whole, I64(5)), size) as index:
            word = b.lshr(load(b, bits, whole), b.trunc(b.and_(index, I64(31)), I32))
            with b.if_then(b.not_(b.trunc(word, I1))):
                store(b, infinite, values, index)
    b.ret_void()
