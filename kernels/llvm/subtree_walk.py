"""The walks of token subtrees as LLVM IR; `sglc.kernels.reference_walk` says what each does.

`sglc_walk_rows` steps rows of configurations, `sglc_walk_leaf` the rows of one text automaton together with
a count of characters, `sglc_walk_literal` follows fixed bytes. All go through a list of subtrees, set the
mask bits of the tokens they reach and, but for the first, write down the nodes where the next part of the
constraint has to take over.
"""

from __future__ import annotations

from llvmlite import ir

from sglc.kernels.llvm.structured import I8, I32, I64, P8, P32, P64, Function

NAMES = ("sglc_walk_rows", "sglc_walk_leaf", "sglc_walk_literal")
_TRIE = {"byte": P8, "depth": P32, "end": P32, "token": P32, "duplicates": P32}


def build() -> str:
    """The module's IR text."""
    module = ir.Module(name="subtree_walk")
    _walk_rows(module)
    _walk_leaf(module)
    _walk_literal(module)
    return str(module)


class _Subtrees:
    """The two loops that both resumable walks share: over the entries, and over the nodes of a subtree."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.entry = f.variable(f.load("cursor", I64(0)))
        self.node = f.variable(f.load("cursor", I64(1)))

    def pause(self, result: ir.Value) -> None:
        """Keep the place in the cursor and return."""
        f = self.f
        f.store("cursor", I64(0), f.get(self.entry))
        f.store("cursor", I64(1), f.get(self.node))
        f.b.ret(result)


def _walk_rows(module: ir.Module) -> None:
    f = Function(
        module, "sglc_walk_rows", I64,
        {**_TRIE, "entries": P32, "count": I64, "base": I32, "rows": P32, "row_of": P32, "stack": P32,
         "cursor": P64, "mask": P32},
    )  # fmt: skip
    b = f.b
    place = _Subtrees(f)
    with f.loop() as (_, done):
        f.leave_unless(b.icmp_signed("<", f.get(place.entry), f.arg["count"]), done)
        top = f.long(f.load("entries", f.get(place.entry)))
        with f.when(b.icmp_signed("<", f.get(place.node), I64(0))):
            f.set(place.node, top)
            f.store("stack", b.sub(f.long(f.load("depth", top)), I64(1)), f.arg["base"])
        stop = f.long(f.load("end", top))
        with f.loop() as (visit, over):
            node = f.get(place.node)
            f.leave_unless(b.icmp_signed("<", node, stop), over)
            level = f.long(f.load("depth", node))
            above = f.load("stack", b.sub(level, I64(1)))
            row = f.load("row_of", f.long(above))
            with f.when(b.icmp_signed("<", row, I32(0))):
                place.pause(f.long(above))
            cell = b.add(b.shl(f.long(row), I64(8)), b.zext(f.load("byte", node), I64))
            following = f.load("rows", cell)
            with f.when(b.icmp_signed("==", following, I32(0))):
                f.set(place.node, f.long(f.load("end", node)))
                b.branch(visit)
            f.store("stack", level, following)
            f.set_bits(node)
            f.set(place.node, b.add(node, I64(1)))
        f.set(place.node, I64(-1))
        f.set(place.entry, b.add(f.get(place.entry), I64(1)))
    b.ret(I64(-1))


def _walk_leaf(module: ir.Module) -> None:
    f = Function(
        module, "sglc_walk_leaf", I64,
        {**_TRIE, "entries": P32, "count": I64, "start": I32, "least": I32, "most": I32, "eager": I32,
         "rows": P32, "flags": P8, "lo": P32, "hi": P32, "labels": P64, "width": I64, "open": P64,
         "first": P8, "below": P64, "quiet": P8, "quiet0": I64, "quiet1": I64, "home": I32, "states": P32,
         "counts": P32,
         "cursor": P64, "mask": P32, "exits": P32, "ends": P32},
    )  # fmt: skip
    b = f.b
    place = _Subtrees(f)
    out = f.variable(f.load("cursor", I64(2)))
    calm = f.variable(f.load("cursor", I64(3)))
    reach = f.variable(f.load("cursor", I64(4)))
    with f.loop() as (_, done):
        f.leave_unless(b.icmp_signed("<", f.get(place.entry), f.arg["count"]), done)
        top = f.long(f.load("entries", f.get(place.entry)))
        base = b.sub(f.long(f.load("depth", top)), I64(1))
        with f.when(b.icmp_signed("<", f.get(place.node), I64(0))):
            f.set(place.node, top)
            f.store("states", base, f.arg["start"])
            f.store("counts", base, I32(0))
            f.set(calm, base)
        stop = f.long(f.load("end", top))
        with f.loop() as (visit, over):
            node = f.get(place.node)
            f.leave_unless(b.icmp_signed("<", node, stop), over)
            level = f.long(f.load("depth", node))
            above = b.sub(level, I64(1))
            state = f.load("states", above)
            taken = f.load("counts", above)
            flags = f.load("flags", f.long(state))
            with f.when(b.icmp_unsigned("==", b.and_(flags, I8(4)), I8(0))):
                f.store("cursor", I64(2), f.get(out))
                f.store("cursor", I64(3), f.get(calm))
                f.store("cursor", I64(4), f.get(reach))
                place.pause(f.long(state))
            byte = b.zext(f.load("byte", node), I64)
            ending = f.both(
                b.icmp_unsigned("!=", b.and_(flags, I8(2)), I8(0)),
                b.icmp_signed(">", b.add(above, f.long(f.arg["eager"])), base),
                b.icmp_signed(">=", taken, f.arg["least"]),
                b.icmp_unsigned("!=", f.load("first", byte), I8(0)),
            )
            with f.when(ending):
                f.store("exits", f.get(out), b.trunc(node, I32))
                f.store("ends", f.get(out), state)
                f.set(out, b.add(f.get(out), I64(1)))
            target = f.load("rows", b.add(b.shl(f.long(state), I64(8)), byte))
            with f.when(b.icmp_signed("<", target, I32(0))):
                f.set(place.node, f.long(f.load("end", node)))
                b.branch(visit)
            place_of = f.long(target)
            whole = b.zext(b.and_(f.load("flags", place_of), I8(1)), I32)
            now = b.add(taken, whole)
            legal = f.both(
                b.icmp_signed("<=", f.load("lo", place_of), b.sub(f.arg["most"], now)),
                b.icmp_signed(">=", f.load("hi", place_of), b.sub(f.arg["least"], now)),
            )
            with f.when(b.not_(legal)):
                f.set(place.node, f.long(f.load("end", node)))
                b.branch(visit)
            with f.when(b.icmp_signed(">", f.arg["width"], I64(0))):
                word, shared = f.variable(I64(0)), f.variable(I64(0))
                with f.loop() as (_, compared):
                    f.leave_unless(b.icmp_signed("<", f.get(word), f.arg["width"]), compared)
                    at = b.add(b.mul(place_of, f.arg["width"]), f.get(word))
                    both = b.and_(f.load("labels", at), f.load("open", f.get(word)))
                    f.set(shared, b.or_(f.get(shared), both))
                    f.set(word, b.add(f.get(word), I64(1)))
                with f.when(b.icmp_unsigned("==", f.get(shared), I64(0))):
                    f.set(place.node, f.long(f.load("end", node)))
                    b.branch(visit)
            # `calm` is the level down to which the path has only had quiet bytes.
            with f.when(b.icmp_signed(">", f.get(calm), above)):
                f.set(calm, above)
            silent = f.both(
                b.icmp_signed("==", f.get(calm), above),
                b.icmp_unsigned("!=", f.load("quiet", byte), I8(0)),
                b.or_(
                    b.or_(b.icmp_signed("<", f.arg["home"], I32(0)), b.icmp_unsigned("==", whole, I32(0))),
                    b.icmp_signed("==", target, f.arg["home"]),
                ),
            )
            with f.when(silent):
                f.set(calm, level)
                pair = b.shl(node, I64(1))
                rest = b.or_(
                    b.and_(f.load("below", pair), b.not_(f.arg["quiet0"])),
                    b.and_(f.load("below", b.add(pair, I64(1))), b.not_(f.arg["quiet1"])),
                )
                with f.when(b.icmp_unsigned("==", rest, I64(0))):
                    # A token of whole characters is known to the caller, one that ends inside of one is not.
                    with f.when(b.icmp_unsigned("==", whole, I32(0))):
                        f.set_bits(node)
                        with f.when(b.icmp_signed(">", f.long(now), f.get(reach))):
                            f.set(reach, f.long(now))
                    f.set(place.node, f.long(f.load("end", node)))
                    b.branch(visit)
            with f.when(b.icmp_signed(">", f.long(now), f.get(reach))):
                f.set(reach, f.long(now))
            f.store("states", level, target)
            f.store("counts", level, now)
            f.set_bits(node)
            f.set(place.node, b.add(node, I64(1)))
        f.set(place.node, I64(-1))
        f.set(place.entry, b.add(f.get(place.entry), I64(1)))
    f.store("cursor", I64(2), f.get(out))
    f.store("cursor", I64(4), f.get(reach))
    b.ret(I64(-1))


def _walk_literal(module: ir.Module) -> None:
    f = Function(
        module, "sglc_walk_literal", I64,
        {**_TRIE, "entries": P32, "count": I64, "data": P8, "size": I64, "mask": P32,
         "exits": P32},
    )  # fmt: skip
    b = f.b
    entry = f.variable(I64(0))
    out = f.variable(I64(0))
    with f.loop() as (_, done):
        f.leave_unless(b.icmp_signed("<", f.get(entry), f.arg["count"]), done)
        node = f.variable(f.long(f.load("entries", f.get(entry))))
        read = f.variable(I64(0))
        # `node` and its later siblings up to `stop` are the candidates for byte number `read`; the first
        # candidate of all has no siblings, it was chosen by whoever made the entries.
        stop = f.variable(b.add(f.get(node), I64(1)))
        with f.loop() as (_, lost):
            with f.loop() as (again, found):
                f.leave_unless(b.icmp_signed("<", f.get(node), f.get(stop)), lost)
                same = b.icmp_unsigned("!=", f.load("byte", f.get(node)), f.load("data", f.get(read)))
                f.leave_unless(same, found)
                f.set(node, f.long(f.load("end", f.get(node))))
                b.branch(again)
            here = f.get(node)
            f.set_bits(here)
            f.set(read, b.add(f.get(read), I64(1)))
            last = f.long(f.load("end", here))
            f.set(stop, last)
            f.set(node, b.add(here, I64(1)))
            with f.when(b.icmp_signed("==", f.get(read), f.arg["size"])):
                with f.loop() as (_, gone):
                    child = f.get(node)
                    f.leave_unless(b.icmp_signed("<", child, last), gone)
                    f.store("exits", f.get(out), b.trunc(child, I32))
                    f.set(out, b.add(f.get(out), I64(1)))
                    f.set(node, f.long(f.load("end", child)))
                b.branch(lost)
        f.set(entry, b.add(f.get(entry), I64(1)))
    b.ret(f.get(out))
