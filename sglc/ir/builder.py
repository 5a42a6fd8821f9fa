"""Builds one function block by block, keeping the numbers and names unique."""

from __future__ import annotations

from collections.abc import Callable

from sglc.ir.module import Block, RetryPolicy
from sglc.ir.ops import Const, Load, Op, Store
from sglc.ir.shape import successors
from sglc.ir.terminators import Jump, Terminator
from sglc.source import Span
from sglc.types.values import Value


class FunctionBuilder:
    """The blocks of a function under construction.

    Operations go into the current block. After a terminator there is none until `start` opens the next;
    what is emitted meanwhile (code after a `return`) is dropped, for nothing can reach it.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.retries: list[RetryPolicy] = []
        self.label: str | None = "entry"
        self._ops: list[Op] = []
        self._temps = 0
        self._labels: dict[str, int] = {"entry": 1}
        self.slot_counts: dict[str, int] = {}
        """How many variables of the compiler's own there are, by stem; fork bodies go on counting."""
        self._targets: set[str] = set()

    @property
    def open(self) -> bool:
        """Whether there is a current block, that is, whether control gets here."""
        return self.label is not None

    def temp(self) -> int:
        """A fresh temporary."""
        self._temps += 1
        return self._temps - 1

    def fresh_label(self, stem: str) -> str:
        """A label that no block has yet; `stem` says what the block is for."""
        count = self._labels.get(stem, 0)
        self._labels[stem] = count + 1
        return f"{stem}{count}" if count else stem

    def fresh_slot(self, stem: str) -> str:
        """A fresh variable of the compiler's own; `stem` says what it holds."""
        count = self.slot_counts.get(stem, 0)
        self.slot_counts[stem] = count + 1
        return f"%{stem}{count}" if count else f"%{stem}"

    def add(self, op: Op) -> None:
        """Append an operation without a result."""
        if self.label is not None:
            self._ops.append(op)

    def value(self, cls: Callable[..., Op], *parts: object, span: Span | None = None) -> int:
        """Append an operation with a fresh result; the temporary."""
        temp = self._temps
        self._temps = temp + 1
        if self.label is not None:
            self._ops.append(cls(temp, *parts, span=span))
        return temp

    def const(self, value: Value, span: Span | None = None) -> int:
        """Append a constant; its temporary."""
        return self.value(Const, value, span=span)

    def load(self, slot: str, span: Span | None = None) -> int:
        """Append the reading of a variable; its temporary."""
        return self.value(Load, slot, span=span)

    def store(self, slot: str, value: int, span: Span | None = None) -> None:
        """Append the writing of a temporary into a variable."""
        self.add(Store(slot, value, span))

    def end(self, terminator: Terminator) -> None:
        """Close the current block."""
        if self.label is not None:
            self.blocks.append(Block(self.label, tuple(self._ops), terminator))
            self._targets.update(successors(terminator))
            self._ops = []
            self.label = None

    def start(self, label: str) -> None:
        """Open a block; control falls into it from the current one, if there is one."""
        if self.label is not None:
            self.end(Jump(label))
        self.label = label

    def join(self, label: str) -> None:
        """Open a block if control gets there; else what follows is dead."""
        if self.label is not None or label in self._targets:
            self.start(label)
