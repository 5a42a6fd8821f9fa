"""The walk of a sorted list of words as LLVM IR; `sglc.kernels.reference_words` says what it does."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from sglc.kernels.llvm.structured import I8, I32, I64, P8, P32, P64, Function
from sglc.kernels.reference_words import BACKSLASH

NAMES = ("sglc_walk_words",)
_TRIE = {"byte": P8, "depth": P32, "end": P32, "token": P32, "duplicates": P32}


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="word_walk")
    _walk_words(module)
    return str(module)


def _walk_words(module: ir.Module) -> None:
    f = Function(
        module, "sglc_walk_words", I64,
        {**_TRIE, "entries": P32, "count": I64, "words": P8, "starts": P64, "low": I64, "high": I64,
         "read": I64, "first": P8, "escapes": I64, "lows": P64, "highs": P64, "nexts": P64, "mask": P32,
         "exits": P32, "asides": P32, "origins": P64, "found": P64},
    )  # fmt: skip
    b = f.b
    entry, out, aside = f.variable(I64(0)), f.variable(I64(0)), f.variable(I64(0))
    one = I64(1)

    def byte(word: ir.Value, at: ir.Value) -> ir.Value:
        return f.load("words", b.add(f.load("starts", word), at))

    def ends(word: ir.Value, at: ir.Value) -> ir.Value:
        size = b.sub(f.load("starts", b.add(word, one)), f.load("starts", word))
        return b.icmp_signed("==", size, at)

    def search(left: ir.Value, right: ir.Value, below: Callable[[ir.Value], ir.Value]) -> ir.Value:
        """The first word that is not below."""
        low, high = f.variable(left), f.variable(right)
        with f.loop() as (_, done):
            f.leave_unless(b.icmp_signed("<", f.get(low), f.get(high)), done)
            middle = b.lshr(b.add(f.get(low), f.get(high)), one)
            less = below(middle)
            f.set(low, b.select(less, b.add(middle, one), f.get(low)))
            f.set(high, b.select(less, f.get(high), middle))
        return f.get(low)

    def push(level: ir.Value, low: ir.Value, high: ir.Value, at: ir.Value) -> None:
        f.store("lows", level, low)
        f.store("highs", level, high)
        f.store("nexts", level, b.add(low, b.zext(ends(low, at), I64)))

    with f.loop() as (_, done):
        f.leave_unless(b.icmp_signed("<", f.get(entry), f.arg["count"]), done)
        top = f.long(f.load("entries", f.get(entry)))
        base = b.sub(f.long(f.load("depth", top)), one)
        push(base, f.arg["low"], f.arg["high"], f.arg["read"])
        node = f.variable(top)
        stop = f.long(f.load("end", top))
        with f.loop() as (visit, over):
            here = f.get(node)
            f.leave_unless(b.icmp_signed("<", here, stop), over)
            above = b.sub(f.long(f.load("depth", here)), one)
            at = b.add(f.arg["read"], b.sub(above, base))
            low, high = f.load("lows", above), f.load("highs", above)
            left = f.variable(f.load("nexts", above))
            wanted = f.load("byte", here)
            ending = f.both(
                b.icmp_unsigned("!=", f.load("first", b.zext(wanted, I64)), I8(0)),
                b.icmp_signed(">", above, base),
                ends(low, at),
            )
            with f.when(ending):
                f.store("exits", f.get(out), b.trunc(here, I32))
                f.set(out, b.add(f.get(out), one))
            escape = f.both(
                b.icmp_signed("!=", f.arg["escapes"], I64(0)),
                b.icmp_unsigned("==", wanted, I8(BACKSLASH)),
            )
            with f.when(escape):
                f.store("asides", f.get(aside), b.trunc(here, I32))
                row = b.mul(f.get(aside), I64(3))
                for column, value in enumerate((low, high, at)):
                    f.store("origins", b.add(row, I64(column)), value)
                f.set(aside, b.add(f.get(aside), one))
            with f.when(b.icmp_signed(">=", f.get(left), high)):
                f.set(node, f.long(f.load("end", here)))
                b.branch(visit)
            with f.when(b.icmp_unsigned("<", byte(f.get(left), at), wanted)):
                found = search(f.get(left), high, lambda word: b.icmp_unsigned("<", byte(word, at), wanted))
                f.set(left, found)
                f.store("nexts", above, found)
                with f.when(b.icmp_signed(">=", found, high)):
                    f.set(node, f.long(f.load("end", here)))
                    b.branch(visit)
            with f.when(b.icmp_unsigned("!=", byte(f.get(left), at), wanted)):
                f.set(node, f.long(f.load("end", here)))
                b.branch(visit)
            right = f.variable(high)
            with f.when(b.icmp_unsigned("!=", byte(b.sub(high, one), at), wanted)):
                f.set(
                    right,
                    search(f.get(left), high, lambda word: b.icmp_unsigned("<=", byte(word, at), wanted)),
                )
            push(b.add(above, one), f.get(left), f.get(right), b.add(at, one))
            f.set_bits(here)
            f.set(node, b.add(here, one))
        f.set(entry, b.add(f.get(entry), one))
    f.store("found", I64(0), f.get(out))
    f.store("found", I64(1), f.get(aside))
    b.ret(f.get(out))
