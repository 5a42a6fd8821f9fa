"""Loops, conditions and variables over llvmlite's builder, so that kernels read like the code they mirror.

Variables live in stack slots; LLVM's optimiser turns them into registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
P8, P32, P64 = I8.as_pointer(), I32.as_pointer(), I64.as_pointer()


class Function:
    """A function under construction; `self.b` is the builder, arguments are attributes of `arg`."""

    def __init__(self, module: ir.Module, name: str, result: ir.Type, arguments: dict[str, ir.Type]) -> None:
        kind = ir.FunctionType(result, list(arguments.values()))
        self.function = ir.Function(module, kind, name=name)
        self.arg: dict[str, ir.Value] = dict(zip(arguments, self.function.args, strict=True))
        for key, value in self.arg.items():
            value.name = key
            if isinstance(value.type, ir.PointerType):
                value.add_attribute("noalias")
        self._slots = self.function.append_basic_block("slots")
        start = self.function.append_basic_block("start")
        self.b = ir.IRBuilder(self._slots)
        self._jump = self.b.branch(start)
        self.b.position_at_end(start)

    def variable(self, initial: ir.Value) -> ir.Value:
        """A stack slot with a first value."""
        here = self.b.block
        self.b.position_before(self._jump)
        slot = self.b.alloca(initial.type)
        self.b.position_at_end(here)
        self.b.store(initial, slot)
        return slot

    def get(self, slot: ir.Value) -> ir.Value:
        return self.b.load(slot)

    def set(self, slot: ir.Value, value: ir.Value) -> None:
        self.b.store(value, slot)

    def load(self, array: str, index: ir.Value) -> ir.Value:
        """`array[index]` of a pointer argument."""
        return self.b.load(self.b.gep(self.arg[array], [index], inbounds=True))

    def store(self, array: str, index: ir.Value, value: ir.Value) -> None:
        self.b.store(value, self.b.gep(self.arg[array], [index], inbounds=True))

    def long(self, value: ir.Value) -> ir.Value:
        """A signed 32-bit number as 64 bits."""
        return self.b.sext(value, I64)

    def both(self, *conditions: ir.Value) -> ir.Value:
        found = conditions[0]
        for condition in conditions[1:]:
            found = self.b.and_(found, condition)
        return found

    @contextmanager
    def loop(self) -> Iterator[tuple[ir.Block, ir.Block]]:
        """`while True`; yields (head, exit): branch to the head to continue, to the exit to leave."""
        head = self.function.append_basic_block("head")
        leave = self.function.append_basic_block("leave")
        self.b.branch(head)
        self.b.position_at_end(head)
        yield head, leave
        if not self.b.block.is_terminated:
            self.b.branch(head)
        self.b.position_at_end(leave)

    def leave_unless(self, condition: ir.Value, target: ir.Block) -> None:
        """Go on only if the condition holds, else branch to `target`."""
        more = self.function.append_basic_block("more")
        self.b.cbranch(condition, more, target)
        self.b.position_at_end(more)

    @contextmanager
    def when(self, condition: ir.Value) -> Iterator[None]:
        """The block runs only if the condition holds. It may end with a branch of its own."""
        then = self.function.append_basic_block("then")
        after = self.function.append_basic_block("after")
        self.b.cbranch(condition, then, after)
        self.b.position_at_end(then)
        yield
        if not self.b.block.is_terminated:
            self.b.branch(after)
        self.b.position_at_end(after)

    def set_bits(self, node: ir.Value) -> None:
        """Set the mask bits of the tokens at a trie node (`token`, `duplicates`, `mask` are arguments)."""
        b = self.b
        token = self.load("token", node)
        with self.when(b.icmp_signed(">=", token, I32(0))):
            self._set_bit(token)
        with self.when(b.icmp_signed("<", token, I32(-1))):
            place = self.variable(self.long(b.sub(I32(-2), token)))
            with self.loop() as (_, done):
                same = self.load("duplicates", self.get(place))
                self.leave_unless(b.icmp_signed(">=", same, I32(0)), done)
                self._set_bit(same)
                self.set(place, b.add(self.get(place), I64(1)))

    def _set_bit(self, token: ir.Value) -> None:
        b = self.b
        place = b.gep(self.arg["mask"], [b.zext(b.lshr(token, I32(5)), I64)], inbounds=True)
        bit = b.shl(I32(1), b.and_(token, I32(31)))
        b.store(b.or_(b.load(place), bit), place)


def arguments(names: Sequence[str], kinds: Sequence[ir.Type]) -> dict[str, ir.Type]:
    return dict(zip(names, kinds, strict=True))
