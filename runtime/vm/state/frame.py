"""Frames, handlers and snapshots: the machine's explicit call stack."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto
from sys import getrefcount
from typing import TYPE_CHECKING

from sglc.bytecode.code import Code
from sglc.bytecode.opcodes import BY_NAME
from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.seed import Seeds

if TYPE_CHECKING:
    from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
    from sglc.runtime.vm.state.streams import CallStream
    from sglc.runtime.vm.state.tasks import Task
    from sglc.runtime.vm.state.values import BranchValue


@dataclass(frozen=True, slots=True)
class KnownText:
    """A text for a hole, by its index, where the conversation is as it was foreseen."""

    hole: int
    messages: tuple[tuple[str, str], ...]
    text: str


class Signal(Enum):
    """What a step tells the loop."""

    SWITCH = auto()
    """The newest frame is another one now."""


@dataclass(slots=True)
class Allowance:
    """A token budget shared by everything that runs under it."""

    limit: int
    source: str
    fatal: bool = False
    spent: int = 0
    slack: int = 1 << 60
    """So many tokens less would have made no difference to any hole so far; negative where none were left."""

    @property
    def left(self) -> int:
        """Tokens that may still be spent; never below 0."""
        return max(0, self.limit - self.spent)


@dataclass(frozen=True, slots=True)
class Handler:
    """A `try`: where its arms begin, and what is restored before they run. Nobody hears of a `quiet` one.

    One without a target is a mark: it catches nothing, and its text is what `forget` goes back to.
    """

    target: int | None
    depth: int
    mark: Transcript | None
    quiet: bool = False
    stream: CallStream | None = None
    """The call that is read, where this is no handler but a stream; one without a target, too."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Where a condition had failed before its hole was drawn again, with the value that was rejected."""

    resume: int
    slots: list[object]
    stack: list[object]
    texts: dict[int, str]
    mark: Transcript | None


@dataclass(slots=True)
class Snapshot:
    """What a retry goes back to, and what its earlier attempts left behind."""

    resume: int
    slots: list[object]
    handlers: int
    mark: Transcript | None
    left: int
    used: int = 0
    excluded: set[bytes] = field(default_factory=set)
    repairs: list[tuple[str, str]] = field(default_factory=list)
    """Rejected texts with the reasons, oldest first."""
    failed: Failed | None = None
    """Of the retry that was made last among those of its hole."""


@dataclass(slots=True)
class Frame:
    """One running function. `owns` says that the conversation was opened for it."""

    code: Code
    slots: list[object]
    conversation: Conversation | None
    owns: bool
    allowances: tuple[Allowance, ...]
    seeds: Seeds
    """Of its conversation: a part shares those of its caller. A pure function draws nothing."""
    pc: int = 0
    stack: list[object] = field(default_factory=list)
    handlers: list[Handler] = field(default_factory=list)
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    again: set[int] = field(default_factory=set)
    """Snapshots that are taken anew because another retry of their hole went back further."""
    caught: SglError | None = None
    """The error caught last; an arm keeps it in a slot if it needs it later."""
    holes: dict[str, object] = field(default_factory=dict)
    """Values of the holes filled so far, by their short names."""
    texts: dict[int, str] = field(default_factory=dict)
    """Texts of the holes filled so far, by their index in the program."""
    forks: list[list[BranchValue]] = field(default_factory=list)
    tree: PrefixTree | None = None
    """What walks have learnt that draw samples of one hole; None for a hole by itself."""
    wanted: int = 1
    """How many texts beams are to find for a hole."""

    ahead: deque[KnownText] = field(default_factory=deque)
    """Texts that a request gave for holes that are still to come."""
    tasks: dict[int, deque[Task]] | None = None
    """Calls that are to come in this frame, by code and in order; None where no hint told of any."""

    def leave(self) -> None:
        """Free what the frame holds of the engine."""
        self.drop_handlers(0)
        self.drop_tasks()
        self.drop_branches()
        if self.owns and self.conversation is not None:
            self.conversation.close()

    def drop_handlers(self, kept: int) -> None:
        """Drop handlers, marks and streams but for the oldest; the calls of streams are stopped."""
        while len(self.handlers) > kept:
            stream = self.handlers.pop().stream
            if stream is not None:
                stream.drop()

    def drop_tasks(self) -> None:
        """End the calls that run ahead: other calls may come now."""
        if self.tasks is not None:
            for queue in self.tasks.values():
                for task in queue:
                    task.drop()
            self.tasks = None

    def drop_branches(self) -> None:
        """Free the branches of its forks that were not adopted."""
        for group in self.forks:
            for branch in group:
                if branch.conversation is not None:
                    branch.conversation.close()
                    branch.conversation = None


def take(frame: Frame, count: int) -> list[object]:
    """The newest `count` items of the stack, oldest first."""
    if not count:
        return []
    items = frame.stack[-count:]
    del frame.stack[-count:]
    return items


_STORE = BY_NAME["STORE"].number


def _references(value: object) -> int:
    return getrefcount(value)


def _alone() -> int:
    """What `may_change` counts of a value that one slot and one variable of its caller hold."""

    def counted(value: object) -> int:
        return _references(value)

    slots: list[object] = [[]]
    value = slots[0]
    return counted(value)


_ALONE = _alone()


def may_change(frame: Frame, value: object) -> bool:
    """Whether a list or map that was taken from the stack may be changed instead of copied.

    It may be changed if the next instruction stores the result in the slot that holds it, and nothing else
    holds it: no other slot, snapshot, iterator, branch or constant. So a loop that appends takes linear time.
    """
    op, slot, _ = frame.code.instructions[frame.pc]
    return op == _STORE and frame.slots[slot] is value and _references(value) <= _ALONE
