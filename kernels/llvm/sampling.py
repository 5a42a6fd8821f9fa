"""Reductions over the legal logits as LLVM IR, 32 lanes at a time, one mask word being 32 lane bits.

`sglc_masked_max(logits, mask, size, out)`: largest legal logit into out[0], its lowest index returned (-1).
`sglc_masked_sum(logits, mask, size, top, scale)`: sum of exp((logit - top) * scale) over the legal ones.
The `sglc_all_…` forms take no notice of the mask. `sglc_count(mask, words)`: the number of set bits.
Words without a set bit are skipped after one load, so sparse masks cost next to nothing.

exp is computed in float32 by the usual reduction to 2^n · e^r with |r| ≤ ln2 / 2 and the polynomial of
degree 6 that Cephes uses (S. Moshier, expf), error below 2 ulp; sums are kept in float64.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from sglc.kernels.llvm.ir_build import FLOAT_LANES

_I1, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_F32, _F64 = ir.FloatType(), ir.DoubleType()
_VF = ir.VectorType(_F32, FLOAT_LANES)
_VD = ir.VectorType(_F64, FLOAT_LANES)
_VI = ir.VectorType(_I32, FLOAT_LANES)
_VB = ir.VectorType(_I1, FLOAT_LANES)
_COEFFICIENTS = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)

NAMES = ("sglc_masked_max", "sglc_all_max", "sglc_masked_sum", "sglc_all_sum", "sglc_count")


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="sampling")
    for masked in (True, False):
        _maximum(module, masked)
        _sum(module, masked)
    _count(module)
    return str(module)


def _splat(value: float, kind: ir.VectorType = _VF) -> ir.Constant:
    return ir.Constant(kind, [value] * FLOAT_LANES)


Body = Callable[[ir.IRBuilder, ir.Value, ir.Value, ir.Value, list[ir.Value]], list[ir.Value]]
"""Makes the code of one word: builder, first token, bits, logits, accumulators; gives the new ones."""


class _Loop:
    """A loop over mask words that are not empty.

    The last word may be cut short by `size`: lanes past the end are cleared in its bits and read as -inf
    by a masked load.
    """

    def __init__(
        self,
        module: ir.Module,
        function: ir.Function,
        logits: ir.Value,
        mask: ir.Value | None,
        size: ir.Value,
    ) -> None:
        self.module, self.function = module, function
        self.logits, self.mask, self.size = logits, mask, size

    def run(self, b: ir.IRBuilder, accumulators: list[ir.Value], body: Body) -> list[ir.Value]:
        """Emit the loop; the accumulators behind it."""
        before = b.block
        head = self.function.append_basic_block("word")
        look = self.function.append_basic_block("look")
        work = self.function.append_basic_block("work")
        step = self.function.append_basic_block("step")
        done = self.function.append_basic_block("done")
        words = b.lshr(b.add(self.size, _I64(FLOAT_LANES - 1)), _I64(5))
        b.branch(head)

        b.position_at_end(head)
        index = b.phi(_I64, "index")
        index.add_incoming(_I64(0), before)
        values = []
        for start in accumulators:
            value = b.phi(start.type)
            value.add_incoming(start, before)
            values.append(value)
        b.cbranch(b.icmp_unsigned("<", index, words), look, done)

        b.position_at_end(look)
        first = b.shl(index, _I64(5))
        left = b.sub(self.size, first)
        inside = b.icmp_unsigned(">=", left, _I64(FLOAT_LANES))
        partial = b.sub(b.shl(_I32(1), b.trunc(b.and_(left, _I64(31)), _I32)), _I32(1))
        bits = b.select(inside, _I32(-1), partial)
        if self.mask is not None:
            bits = b.and_(bits, b.load(b.gep(self.mask, [index], inbounds=True)))
        b.cbranch(b.icmp_unsigned("==", bits, _I32(0)), step, work)

        b.position_at_end(work)
        lanes = b.bitcast(bits, _VB)
        place = b.bitcast(b.gep(self.logits, [first], inbounds=True), _VF.as_pointer())
        data = b.call(self._masked_load(place.type), [place, _I32(4), lanes, _splat(float("-inf"))])
        new = body(b, first, bits, data, values)
        after = b.block
        b.branch(step)

        b.position_at_end(step)
        following = []
        for value, changed in zip(values, new, strict=True):
            joined = b.phi(value.type)
            joined.add_incoming(value, look)
            joined.add_incoming(changed, after)
            following.append(joined)
        index.add_incoming(b.add(index, _I64(1)), step)
        for value, joined in zip(values, following, strict=True):
            value.add_incoming(joined, step)
        b.branch(head)
        b.position_at_end(done)
        return values

    def _masked_load(self, pointer: ir.Type) -> ir.Function:
        kind = ir.FunctionType(_VF, [pointer, _I32, _VB, _VF])
        return _declare(self.module, f"llvm.masked.load.v{FLOAT_LANES}f32.p0", kind)


def _declare(module: ir.Module, name: str, kind: ir.FunctionType) -> ir.Function:
    return module.globals.get(name) or ir.Function(module, kind, name=name)


def _maximum(module: ir.Module, masked: bool) -> None:
    kind = ir.FunctionType(_I64, [_F32.as_pointer(), _I32.as_pointer(), _I64, _F32.as_pointer()])
    function = ir.Function(module, kind, name="sglc_masked_max" if masked else "sglc_all_max")
    logits, mask, size, out = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    loop = _Loop(module, function, logits, mask if masked else None, size)

    def larger(
        b: ir.IRBuilder, first: ir.Value, bits: ir.Value, data: ir.Value, values: list[ir.Value]
    ) -> list[ir.Value]:
        # Ordered comparison: NaN is never larger.
        return [b.select(b.fcmp_ordered(">", data, values[0]), data, values[0])]

    (lanes,) = loop.run(b, [_splat(float("-inf"))], larger)
    top = b.extract_element(lanes, _I32(0))
    for lane in range(1, FLOAT_LANES):
        other = b.extract_element(lanes, _I32(lane))
        top = b.select(b.fcmp_ordered(">", other, top), other, top)
    b.store(top, out)
    none = function.append_basic_block("none")
    find = function.append_basic_block("find")
    b.cbranch(b.fcmp_ordered("==", top, _F32(float("-inf"))), none, find)
    b.position_at_end(none)
    b.ret(_I64(-1))

    b.position_at_end(find)
    wanted = b.insert_element(ir.Constant(_VF, ir.Undefined), top, _I32(0))
    wanted = b.shuffle_vector(wanted, ir.Constant(_VF, ir.Undefined), ir.Constant(_VI, [0] * FLOAT_LANES))

    def equal(
        b: ir.IRBuilder, first: ir.Value, bits: ir.Value, data: ir.Value, values: list[ir.Value]
    ) -> list[ir.Value]:
        hits = b.and_(b.bitcast(b.fcmp_ordered("==", data, wanted), _I32), bits)
        found = function.append_basic_block("found")
        onward = function.append_basic_block("onward")
        b.cbranch(b.icmp_unsigned("==", hits, _I32(0)), onward, found)
        b.position_at_end(found)
        trailing = b.cttz(hits, _I1(1))
        b.ret(b.add(first, b.zext(trailing, _I64)))
        b.position_at_end(onward)
        return []

    loop.run(b, [], equal)
    b.ret(_I64(-1))


def _sum(module: ir.Module, masked: bool) -> None:
    kind = ir.FunctionType(_F64, [_F32.as_pointer(), _I32.as_pointer(), _I64, _F32, _F32])
    function = ir.Function(module, kind, name="sglc_masked_sum" if masked else "sglc_all_sum")
    logits, mask, size, top, scale = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))

    def spread(value: ir.Value) -> ir.Value:
        lanes = b.insert_element(ir.Constant(_VF, ir.Undefined), value, _I32(0))
        return b.shuffle_vector(lanes, ir.Constant(_VF, ir.Undefined), ir.Constant(_VI, [0] * FLOAT_LANES))

    tops, scales = spread(top), spread(scale)
    loop = _Loop(module, function, logits, mask if masked else None, size)

    def add(
        b: ir.IRBuilder, first: ir.Value, bits: ir.Value, data: ir.Value, values: list[ir.Value]
    ) -> list[ir.Value]:
        shifted = b.fmul(b.fsub(data, tops), scales)
        # Below -87 the result is under the smallest normal number; NaN fails the comparison as well.
        counts = b.fcmp_ordered(">=", shifted, _splat(-87.0))
        power = _exp(module, b, b.select(counts, shifted, _splat(-87.0)))
        power = b.select(counts, power, _splat(0.0))
        return [b.fadd(values[0], b.fpext(power, _VD))]

    (lanes,) = loop.run(b, [_splat(0.0, _VD)], add)
    total = b.extract_element(lanes, _I32(0))
    for lane in range(1, FLOAT_LANES):
        total = b.fadd(total, b.extract_element(lanes, _I32(lane)))
    b.ret(total)


def _exp(module: ir.Module, b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """exp of 32 floats in -87..0; products and sums may be fused."""
    fused = ("contract",)
    floor = _declare(module, f"llvm.floor.v{FLOAT_LANES}f32", ir.FunctionType(_VF, [_VF]))
    n = b.call(floor, [b.fadd(b.fmul(x, _splat(1.44269504088896341), flags=fused), _splat(0.5), flags=fused)])
    r = b.fsub(x, b.fmul(n, _splat(0.693359375), flags=fused), flags=fused)
    r = b.fsub(r, b.fmul(n, _splat(-2.12194440e-4), flags=fused), flags=fused)
    p = _splat(_COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        p = b.fadd(b.fmul(p, r, flags=fused), _splat(coefficient), flags=fused)
    p = b.fadd(b.fmul(b.fmul(p, r, flags=fused), r, flags=fused), b.fadd(r, _splat(1.0)), flags=fused)
    exponent = b.shl(b.add(b.fptosi(n, _VI), _splat(127, _VI)), _splat(23, _VI))
    return b.fmul(p, b.bitcast(exponent, _VF))


def _count(module: ir.Module) -> None:
    kind = ir.FunctionType(_I64, [_I32.as_pointer(), _I64])
    function = ir.Function(module, kind, name="sglc_count")
    mask, words = function.args
    entry, head, body, done = (function.append_basic_block(n) for n in ("entry", "head", "body", "done"))
    b = ir.IRBuilder(entry)
    b.branch(head)
    b.position_at_end(head)
    index, total = b.phi(_I64), b.phi(_I64)
    index.add_incoming(_I64(0), entry)
    total.add_incoming(_I64(0), entry)
    b.cbranch(b.icmp_unsigned("<", index, words), body, done)
    b.position_at_end(body)
    bits = b.ctpop(b.load(b.gep(mask, [index], inbounds=True)))
    total.add_incoming(b.add(total, b.zext(bits, _I64)), body)
    index.add_incoming(b.add(index, _I64(1)), body)
    b.branch(head)
    b.position_at_end(done)
    b.ret(total)
