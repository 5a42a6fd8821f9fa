"""What the lowering of one function knows: the checker's tables, the function under construction, and what
surrounds the current statement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sglc.check.core.result import CheckedModule, DependentType
from sglc.ir.builder import FunctionBuilder
from sglc.ir.module import Function, HoleInfo, RetryPolicy
from sglc.ir.ops import CloseRole, CloseStream, EndTry, Forget, Snapshot
from sglc.syntax.tree import ast
from sglc.types.type import TypeTable

HoleNode = ast.Gen | ast.Choose | ast.Select


def told_slot(slot: str) -> str:
    """The variable that holds what the strategy of a hole found; the hole fills `slot`."""
    return f"%told.{slot}"


@dataclass(slots=True)
class ProgramContext:
    """What all functions of a program share: its types, its holes and its functions, in their final order."""

    table: TypeTable
    holes: list[HoleInfo] = field(default_factory=list)
    functions: list[Function | None] = field(default_factory=list)
    """None holds the place of a function that is being lowered, so that fork bodies come after it."""
    offered: dict[str, dict[str, object]] = field(default_factory=dict)
    """By function, its tools as chat templates expect them, by name."""


@dataclass(frozen=True, slots=True)
class Surrounding:
    """One thing that a jump out of the current statement has to leave."""

    kind: Literal["loop", "try", "role", "forget", "stream"]
    done: str = ""
    again: str = ""


class Context:
    """The function that is being lowered. A fork body has a context of its own."""

    def __init__(
        self, program: ProgramContext, checked: CheckedModule, name: str, root: str, known_as: str
    ) -> None:
        self.program = program
        self.checked = checked
        self.name = name
        self.root = root
        """The function that fork bodies belong to."""
        self.known_as = known_as
        """What holes are named after: the function, or the one with type parameters that it is a copy of."""
        self.build = FunctionBuilder()
        self.surroundings: list[Surrounding] = []
        self.elements: list[str] = []
        """Slots of the elements that are called `it`, innermost last."""
        self.caught: list[str] = []
        """Slots of the errors that the `except` arms around caught, innermost last."""
        self.witnesses: dict[int, str] = {}
        """Expressions, by identity, whose values an expectation shows where it does not hold: their texts."""
        self.given: dict[str, tuple[DependentType, tuple[str, ...]]] = {}
        """Of variables whose type depends on values of the run: the type, and the slots of these values."""
        self.result: DependentType | None = None
        """The type of the result, where it depends on values of the run."""
        self.retry_of: dict[int, int] = {}
        self.fork_numbers = itertools.count()
        self.policies: dict[int, list[int]] = {}
        """For each hole, by identity, the conditions (by identity) that draw it again."""

    def of_fork(self, name: str) -> Context:
        """The context of a fork body inside this function."""
        inner = Context(self.program, self.checked, name, self.root, self.known_as)
        inner.policies = self.policies
        inner.fork_numbers = self.fork_numbers
        inner.elements = list(self.elements)
        inner.caught = list(self.caught)
        # Slots of the compiler's own must not clash with those of the function around.
        inner.build.slot_counts = self.build.slot_counts
        return inner

    def slot_of(self, node: object) -> str:
        """The variable that a node binds or names."""
        return self.checked.slot_of(node)

    def leave(self, until: Literal["loop", "function"]) -> Surrounding | None:
        """Emit what closes the surroundings inside the nearest loop, or inside the whole function."""
        for surrounding in reversed(self.surroundings):
            if surrounding.kind == "loop" and until == "loop":
                return surrounding
            if surrounding.kind == "try":
                self.build.add(EndTry())
            elif surrounding.kind == "forget":
                self.build.add(Forget())
            elif surrounding.kind == "stream":
                self.build.value(CloseStream)
            elif surrounding.kind == "role":
                self.build.add(CloseRole())
        return None

    def snapshots(self, node: HoleNode, hole: int, slot: str) -> None:
        """Take the snapshots that conditions further down go back to."""
        for condition in self.policies.get(id(node), ()):
            self.retry_of[condition] = len(self.build.retries)
            self.build.add(Snapshot(len(self.build.retries), node.span))
            # Strategy and attempts are filled in when the condition itself is lowered.
            self.build.retries.append(RetryPolicy("resample", 0, hole, slot))

    def policy(self, node: ast.Ensure) -> int | None:
        """The retry of a condition, completed with what it says; None if it has none."""
        index = self.retry_of.get(id(node))
        if index is not None and node.retry is not None:
            attempts = self.checked.count_of(node.retry.count)
            strategy: Any = node.retry.strategy
            known = self.build.retries[index]
            self.build.retries[index] = replace(known, strategy=strategy, attempts=attempts)
        return index
