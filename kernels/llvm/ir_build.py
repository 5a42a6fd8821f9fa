"""Helpers that write LLVM IR: types, loops, vectors of 16 mask words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

I1, I8, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
F32 = ir.FloatType()
WORD_LANES, FLOAT_LANES = 16, 32
"""Mask words, and logits, that are worked on at once."""
P8, P32, P64, PF = I8.as_pointer(), I32.as_pointer(), I64.as_pointer(), F32.as_pointer()


def function(module: ir.Module, name: str, result: ir.Type, *arguments: ir.Type) -> ir.IRBuilder:
    """A new function; the builder stands at its beginning."""
    made = ir.Function(module, ir.FunctionType(result, arguments), name=name)
    return ir.IRBuilder(made.append_basic_block("entry"))


def intrinsic(module: ir.Module, name: str, result: ir.Type, *arguments: ir.Type) -> ir.Function:
    """An intrinsic function of LLVM, declared once a module."""
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, arguments), name=name)


def variable(b: ir.IRBuilder, start: ir.Value) -> ir.Value:
    """A mutable local; the optimiser keeps it in a register. Made in the entry block, set here."""
    with b.goto_entry_block():
        slot = b.alloca(start.type)
    b.store(start, slot)
    return slot


def at(b: ir.IRBuilder, array: ir.Value, index: ir.Value, kind: ir.Type | None = None) -> ir.Value:
    """The place of an array's element, as a place of `kind` if that is given."""
    place = b.gep(array, [index], inbounds=True)
    return place if kind is None else b.bitcast(place, kind.as_pointer())


def load(b: ir.IRBuilder, array: ir.Value, index: ir.Value, kind: ir.Type | None = None) -> ir.Value:
    """An element, or a vector of elements that begins there; elements are aligned, vectors need not be."""
    return b.load(at(b, array, index, kind), align=None if kind is None else 4)


def store(b: ir.IRBuilder, value: ir.Value, array: ir.Value, index: ir.Value) -> None:
    """Set an element, or a vector of elements."""
    vector = isinstance(value.type, ir.VectorType)
    b.store(value, at(b, array, index, value.type if vector else None), align=4 if vector else None)


def lanes_of(b: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """The bits of a mask word as 32 lanes of a bit. Processors without mask registers compare each lane's
    own bit; the cast that means the same makes them spread bytes, which takes several times as long."""
    words = ir.VectorType(I32, FLOAT_LANES)
    own = ir.Constant(words, [1 << lane for lane in range(FLOAT_LANES)])
    return b.icmp_unsigned("!=", b.and_(splat(b, bits, FLOAT_LANES), own), ir.Constant(words, None))


def legal_logits(b: ir.IRBuilder, place: ir.Value, bits: ir.Value, partial: bool) -> ir.Value:
    """The 32 logits of a mask word, -inf where a bit is not set; all of them where `bits` is a constant.
    `partial` reads nothing behind the set bits."""
    kind = ir.VectorType(F32, FLOAT_LANES)
    least = ir.Constant(kind, [float("-inf")] * FLOAT_LANES)
    if not partial:
        data = b.load(place, align=4)
        return data if isinstance(bits, ir.Constant) else b.select(lanes_of(b, bits), data, least)
    flags = ir.VectorType(I1, FLOAT_LANES)
    name = f"llvm.masked.load.v{FLOAT_LANES}f32.p0"
    read = intrinsic(b.module, name, kind, kind.as_pointer(), I32, flags, kind)
    return b.call(read, [place, I32(4), lanes_of(b, bits), least])


@contextmanager
def counted(b: ir.IRBuilder, start: ir.Value, stop: ir.Value, step: int = 1) -> Iterator[ir.Value]:
    """A loop over start, start + step, … below stop (i64, signed)."""
    before = b.block
    head, body, after = (b.append_basic_block(name) for name in ("head", "body", "after"))
    b.branch(head)
    b.position_at_end(head)
    index = b.phi(start.type)
    index.add_incoming(start, before)
    b.cbranch(b.icmp_signed("<", index, stop), body, after)
    b.position_at_end(body)
    yield index
    index.add_incoming(b.add(index, start.type(step)), b.block)
    b.branch(head)
    b.position_at_end(after)


@contextmanager
def looping(b: ir.IRBuilder) -> Iterator[ir.Block]:
    """A loop without an end of its own; yields the block to branch to in order to leave it."""
    head, after = b.append_basic_block("head"), b.append_basic_block("after")
    b.branch(head)
    b.position_at_end(head)
    yield after
    b.branch(head)
    b.position_at_end(after)


def leave_if(b: ir.IRBuilder, condition: ir.Value, block: ir.Block) -> None:
    """Branch to a block if the condition holds, go on here if not."""
    onward = b.append_basic_block("onward")
    b.cbranch(condition, block, onward)
    b.position_at_end(onward)


def splat(b: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    """A vector with the value in every lane."""
    kind = ir.VectorType(value.type, lanes)
    if isinstance(value, ir.Constant):
        return ir.Constant(kind, [value.constant] * lanes)
    first = b.insert_element(ir.Constant(kind, ir.Undefined), value, I32(0))
    zeros = ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    return b.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)
