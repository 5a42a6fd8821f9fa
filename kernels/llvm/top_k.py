"""The k largest legal logits as LLVM IR. `bitmask.sampling_reference.masked_top` says what it does.

One pass over the logits, 32 lanes at a time. The k best so far are a binary heap with the worst of them at
the root (Knuth, The Art of Computer Programming 3, 5.2.3); a lane is looked at only if it is legal and larger
than that worst one. On logits in no particular order some k · ln(V / k) of them are. Taking the heap apart
leaves the arrays in order, the best first.
"""

from __future__ import annotations

from llvmlite import ir

from sglc.kernels.llvm import ir_build
from sglc.kernels.llvm.ir_build import F32, FLOAT_LANES, I1, I32, I64, P32, PF

NAMES = ("sglc_masked_top", "sglc_all_top")
_VF = ir.VectorType(F32, FLOAT_LANES)
_VB = ir.VectorType(I1, FLOAT_LANES)
_LOWEST = ir.Constant(F32, float("-inf"))


def build() -> str:
    """The module's IR text. Functions: i64 f(logits, mask, size, k, values, ids), returns how many."""
    module = ir.Module(name="top")
    sift_up, sift_down = _sift_up(module), _sift_down(module)
    for name in NAMES:
        _top(module, name, sift_up, sift_down, masked=name == "sglc_masked_top")
    return str(module)


def _worse(b: ir.IRBuilder, value: ir.Value, id: ir.Value, other: ir.Value, other_id: ir.Value) -> ir.Value:
    """Smaller, or equal with the larger id."""
    later = b.and_(b.fcmp_ordered("==", value, other), b.icmp_signed(">", id, other_id))
    return b.or_(b.fcmp_ordered("<", value, other), later)


def _sift_up(module: ir.Module) -> ir.Function:
    """void f(values, ids, place, value, id): put an element at the end of a heap of `place` elements."""
    b = ir_build.function(module, "sglc_sift_up", ir.VoidType(), PF, P32, I64, F32, I32)
    b.function.linkage = "internal"
    values, ids, start, value, id = b.function.args
    place = ir_build.variable(b, start)
    with ir_build.looping(b) as done:
        here = b.load(place)
        ir_build.leave_if(b, b.icmp_signed("==", here, I64(0)), done)
        parent = b.lshr(b.sub(here, I64(1)), I64(1))
        above, above_id = ir_build.load(b, values, parent), ir_build.load(b, ids, parent)
        ir_build.leave_if(b, b.not_(_worse(b, value, id, above, above_id)), done)
        ir_build.store(b, above, values, here)
        ir_build.store(b, above_id, ids, here)
        b.store(parent, place)
    here = b.load(place)
    ir_build.store(b, value, values, here)
    ir_build.store(b, id, ids, here)
    b.ret_void()
    return b.function


def _sift_down(module: ir.Module) -> ir.Function:
    """void f(values, ids, n, value, id): put an element in place of the root of a heap of n elements."""
    b = ir_build.function(module, "sglc_sift_down", ir.VoidType(), PF, P32, I64, F32, I32)
    b.function.linkage = "internal"
    values, ids, n, value, id = b.function.args
    place = ir_build.variable(b, I64(0))
    with ir_build.looping(b) as done:
        here = b.load(place)
        left = b.add(b.shl(here, I64(1)), I64(1))
        ir_build.leave_if(b, b.icmp_signed(">=", left, n), done)
        child = ir_build.variable(b, left)
        right = b.add(left, I64(1))
        with b.if_then(b.icmp_signed("<", right, n)):
            pair = (
                ir_build.load(b, values, right),
                ir_build.load(b, ids, right),
                ir_build.load(b, values, left),
                ir_build.load(b, ids, left),
            )
            with b.if_then(_worse(b, *pair)):
                b.store(right, child)
        below = b.load(child)
        least, least_id = ir_build.load(b, values, below), ir_build.load(b, ids, below)
        ir_build.leave_if(b, b.not_(_worse(b, least, least_id, value, id)), done)
        ir_build.store(b, least, values, here)
        ir_build.store(b, least_id, ids, here)
        b.store(below, place)
    here = b.load(place)
    ir_build.store(b, value, values, here)
    ir_build.store(b, id, ids, here)
    b.ret_void()
    return b.function


def _top(module: ir.Module, name: str, sift_up: ir.Function, sift_down: ir.Function, masked: bool) -> None:
    b = ir_build.function(module, name, I64, PF, P32, I64, I64, PF, P32)
    logits, mask, size, k, values, ids = b.function.args
    held, border = ir_build.variable(b, I64(0)), ir_build.variable(b, _LOWEST)
    """The heap's elements; what an element must pass to get in."""

    def offer(index: ir.Value) -> None:
        value, id = ir_build.load(b, logits, index), b.trunc(index, I32)
        # A comparison that NaN fails.
        with b.if_then(b.fcmp_ordered(">", value, b.load(border))):
            n = b.load(held)
            with b.if_else(b.icmp_signed("<", n, k)) as (grow, replace):
                with grow:
                    b.call(sift_up, [values, ids, n, value, id])
                    b.store(b.add(n, I64(1)), held)
                with replace:
                    b.call(sift_down, [values, ids, k, value, id])
            with b.if_then(b.icmp_signed("==", b.load(held), k)):
                b.store(ir_build.load(b, values, I64(0)), border)

    whole = b.lshr(size, I64(5))
    with ir_build.counted(b, I64(0), whole) as index:
        bits = ir_build.load(b, mask, index) if masked else I32(-1)
        with b.if_then(b.icmp_signed("!=", bits, I32(0))):
            first = b.shl(index, I64(5))
            lanes = ir_build.load(b, logits, first, _VF)
            larger = b.fcmp_ordered(">", lanes, ir_build.splat(b, b.load(border), FLOAT_LANES))
            hits = ir_build.variable(b, b.and_(b.bitcast(larger, I32), bits))
            with ir_build.looping(b) as done:
                left = b.load(hits)
                ir_build.leave_if(b, b.icmp_signed("==", left, I32(0)), done)
                b.store(b.and_(left, b.sub(left, I32(1))), hits)
                offer(b.add(first, b.zext(b.cttz(left, I1(1)), I64)))
    with ir_build.counted(b, b.shl(whole, I64(5)), size) as index:
        if masked:
            bit = b.trunc(b.lshr(ir_build.load(b, mask, whole), b.trunc(b.and_(index, I64(31)), I32)), I1)
            with b.if_then(bit):
                offer(index)
        else:
            offer(index)

    found = b.load(held)
    with ir_build.counted(b, I64(1), found) as taken:
        last = b.sub(found, taken)
        value, id = ir_build.load(b, values, last), ir_build.load(b, ids, last)
        worst, worst_id = ir_build.load(b, values, I64(0)), ir_build.load(b, ids, I64(0))
        b.call(sift_down, [values, ids, last, value, id])
        ir_build.store(b, worst, values, last)
        ir_build.store(b, worst_id, ids, last)
    b.ret(found)
