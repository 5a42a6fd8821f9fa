"""Sums over the geometric mixture of two distributions as LLVM IR, 32 lanes at a time.

`sglc_masked_moments(base, teacher, mask, size, p, q, base_top, teacher_top, out)`: with
x = p · (base - base_top) + q · (teacher - teacher_top) and d = (teacher - teacher_top) - (base - base_top) of
the legal tokens, out (float64[4]) becomes the largest x, Σ w, Σ w·d and Σ w·d² with w = exp(x - largest).
Tokens with a logit that is not finite are left out. The `sglc_all_…` form takes no notice of the mask.
`sglc_mixture(base, teacher, size, p, q, out)`: p · base + q · teacher, -inf where either is -inf.

A group of 16 words is read twice: first for its largest x, then for its sums, from a copy of x and d on the
stack. So no weight overflows, whatever p and q are, and each logit is loaded once. Sums are float32 within a
group and float64 over the groups. exp is that of `sglc.kernels.llvm.sampling`.
"""

from __future__ import annotations

from llvmlite import ir

from sglc.kernels.llvm import ir_build, sampling
from sglc.kernels.llvm.ir_build import F32, FLOAT_LANES, I1, I32, I64, P32, PF
from sglc.kernels.llvm.sampling import exponential, splat, total_of

GROUP = 16
"""Words that are summed in float32: 512 tokens, 16 for a lane, whose sum is off by 1e-6 at most."""
_F64 = ir.DoubleType()
_PD = _F64.as_pointer()
_VF, _VD, _VB = (ir.VectorType(kind, FLOAT_LANES) for kind in (F32, _F64, I1))
_LOWEST = F32(float("-inf"))


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="mix")
    for masked in (True, False):
        _moments(module, masked)
    _mixture(module)
    return str(module)


def _moments(module: ir.Module, masked: bool) -> None:
    name = "sglc_masked_moments" if masked else "sglc_all_moments"
    b = ir_build.function(module, name, ir.VoidType(), PF, PF, P32, I64, F32, F32, F32, F32, _PD)
    size, out = b.function.args[3], b.function.args[8]
    with b.goto_entry_block():
        scratch = [b.alloca(_VF, GROUP) for _ in range(2)]
    largest = ir_build.variable(b, _LOWEST)
    sums = [ir_build.variable(b, splat(0.0, _VD)) for _ in range(3)]
    count, highest = ir_build.variable(b, I64(0)), ir_build.variable(b, splat(float("-inf")))
    for start, stop, partial in sampling.stretches(b, size):
        with ir_build.counted(b, start, stop, GROUP) as first:
            b.store(I64(0), count)
            b.store(splat(float("-inf")), highest)
            after = b.add(first, I64(GROUP))
            with ir_build.counted(b, first, b.select(b.icmp_signed("<", after, stop), after, stop)) as word:
                _read(b, masked, partial, word, scratch, count, highest)
            top = _top(b, b.load(highest))
            with b.if_then(b.fcmp_ordered(">", top, _LOWEST)):
                before = b.load(largest)
                new = b.select(b.fcmp_ordered(">", top, before), top, before)
                with b.if_then(b.fcmp_ordered(">", new, before)):
                    _rescale(b, b.fsub(before, new), sums)
                    b.store(new, largest)
                _add(b, scratch, b.load(count), ir_build.splat(b, new, FLOAT_LANES), sums)
    b.store(b.fpext(b.load(largest), _F64), ir_build.at(b, out, I64(0)))
    for place, total in enumerate(sums, start=1):
        b.store(total_of(b, b.load(total)), ir_build.at(b, out, I64(place)))
    b.ret_void()


def _read(
    b: ir.IRBuilder,
    masked: bool,
    partial: bool,
    word: ir.Value,
    scratch: list[ir.Value],
    count: ir.Value,
    highest: ir.Value,
) -> None:
    """Put x and d of a word's tokens into the scratch, if any is legal; x is -inf where it does not count.

    `partial` as in `sampling.stretches`.
    """
    base, teacher, mask, size, p, q, base_top, teacher_top, _ = b.function.args
    with sampling.word(b, mask if masked else None, size, word, partial) as (first, bits):
        rows = []
        for row, shift in ((base, base_top), (teacher, teacher_top)):
            data = ir_build.legal_logits(b, ir_build.at(b, row, first, _VF), bits, partial)
            rows.append(b.fsub(data, ir_build.splat(b, shift, FLOAT_LANES)))
        x = b.fadd(
            b.fmul(ir_build.splat(b, p, FLOAT_LANES), rows[0]),
            b.fmul(ir_build.splat(b, q, FLOAT_LANES), rows[1]),
        )
        # x is finite where both are: infinity times zero, and what is no number, stay what they are.
        finite = b.fcmp_ordered("ord", b.fsub(x, x), splat(0.0))
        x = b.select(finite, x, splat(float("-inf")))
        d = b.select(finite, b.fsub(rows[1], rows[0]), splat(0.0))
        place = b.load(count)
        for value, array in zip((x, d), scratch, strict=True):
            b.store(value, b.gep(array, [place]))
        b.store(b.add(place, I64(1)), count)
        known = b.load(highest)
        b.store(b.select(b.fcmp_ordered(">", x, known), x, known), highest)


def _add(
    b: ir.IRBuilder, scratch: list[ir.Value], count: ir.Value, top: ir.Value, sums: list[ir.Value]
) -> None:
    """Add the weights of what the scratch holds, and their products with d and d²."""
    parts = [ir_build.variable(b, splat(0.0)) for _ in range(3)]
    for part in parts:
        b.store(splat(0.0), part)
    with ir_build.counted(b, I64(0), count) as place:
        x, d = (b.load(b.gep(array, [place])) for array in scratch)
        shifted = b.fsub(x, top)
        # Below -87 a weight is under the smallest normal number.
        counts = b.fcmp_ordered(">=", shifted, splat(-87.0))
        weight = exponential(b.module, b, b.select(counts, shifted, splat(-87.0)))
        weight = b.select(counts, weight, splat(0.0))
        for part in parts:
            b.store(b.fadd(b.load(part), weight, flags=("contract",)), part)
            weight = b.fmul(weight, d, flags=("contract",))
    for part, total in zip(parts, sums, strict=True):
        b.store(b.fadd(b.load(total), b.fpext(b.load(part), _VD)), total)


def _rescale(b: ir.IRBuilder, shift: ir.Value, sums: list[ir.Value]) -> None:
    """Multiply the sums by exp(shift), where the largest x has grown; -inf and what is far below is 0."""
    counts = b.fcmp_ordered(">=", shift, F32(-87.0))
    power = exponential(b.module, b, ir_build.splat(b, b.select(counts, shift, F32(-87.0)), FLOAT_LANES))
    factor = b.select(counts, b.extract_element(power, I32(0)), F32(0.0))
    wide = ir_build.splat(b, b.fpext(factor, _F64), FLOAT_LANES)
    for total in sums:
        b.store(b.fmul(b.load(total), wide), total)


def _top(b: ir.IRBuilder, lanes: ir.Value) -> ir.Value:
    reduce = ir_build.intrinsic(b.module, f"llvm.vector.reduce.fmax.v{FLOAT_LANES}f32", F32, _VF)
    return b.call(reduce, [lanes])


def _mixture(module: ir.Module) -> None:
    b = ir_build.function(module, "sglc_mixture", ir.VoidType(), PF, PF, I64, F32, F32, PF)
    base, teacher, size, p, q, out = b.function.args
    with ir_build.counted(b, I64(0), size) as index:
        first, second = ir_build.load(b, base, index), ir_build.load(b, teacher, index)
        mixed = b.fadd(b.fmul(p, first), b.fmul(q, second))
        never = b.or_(b.fcmp_ordered("==", first, _LOWEST), b.fcmp_ordered("==", second, _LOWEST))
        b.store(b.select(never, _LOWEST, mixed), ir_build.at(b, out, index))
    b.ret_void()
