"""The lines of execution of a debugged run: the run itself, branches of forks, calls of streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from sglc.bytecode.code import Code
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Strand

Key = tuple[tuple[int, int], ...]
"""The place of a strand: which of its parent's forks or streams, and which branch, at each level."""


@dataclass(slots=True, eq=False)
class StrandState:
    """One strand. Its key and its counts are the same whenever the run goes the same way."""

    machine: Strand
    key: Key
    parent: StrandState | None
    number: int
    """Its number for users; 1 is the run itself."""
    alone: bool
    """Whether nothing goes on beside it but what it has started itself, and what waits for it."""
    holes: int = 0
    """Holes that it has come to."""
    forks: int = 0
    """Forks and streams that it has opened."""

    @property
    def alive(self) -> bool:
        """Whether it has a frame left."""
        return bool(self.machine.frames)

    def descends(self, other: StrandState) -> bool:
        """Whether it is another strand, or was started by it or by one of those that it started."""
        found: StrandState | None = self
        while found is not None:
            if found is other:
                return True
            found = found.parent
        return False

    @property
    def title(self) -> str:
        """How users see it."""
        frames = self.machine.frames
        head = f"branch {self.machine.branch}" if self.machine.branch else "run"
        if self.machine.stream is not None:
            head = "stream"
        return f"{head}: {shown_name(frames[-1].code)}" if frames else head


def shown_name(code: Code) -> str:
    """A function as users know it; a body of a fork by the function that it stands in."""
    name = known_name(code)
    return f"fork in {name.partition('.fork')[0]}" if code.kind == "fork" else name


class Strands:
    """All strands that were seen, and those that are alive."""

    def __init__(self) -> None:
        self._all: WeakKeyDictionary[Strand, StrandState] = WeakKeyDictionary()
        self._forking: dict[tuple[int, ...], tuple[StrandState, int, bool]] = {}
        self._next = 1

    def begin(self, machine: Strand) -> StrandState:
        """The run itself."""
        self._all.clear()
        return self._enter(machine, (), None, True)

    def _enter(self, machine: Strand, key: Key, parent: StrandState | None, alone: bool) -> StrandState:
        made = self._all[machine] = StrandState(machine, key, parent, self._next, alone)
        self._next += 1
        return made

    def of(self, machine: Strand) -> StrandState | None:
        """The strand of a machine; None of one that computes something beside another."""
        found = self._all.get(machine)
        if found is not None or machine.nested:
            return found
        opened = self._forking.get(machine.path[:-1])
        if opened is None or not machine.path:
            return None
        parent, ordinal, alone = opened
        return self._enter(machine, (*parent.key, (ordinal, machine.path[-1])), parent, alone)

    def forks(self, state: StrandState, branches: int) -> None:
        """A strand is about to start others."""
        state.forks += 1
        self._forking[state.machine.path] = (state, state.forks, state.alone and branches < 2)

    def streams(self, state: StrandState, machine: Strand) -> None:
        """A strand has opened a stream, which a machine runs in turn with it."""
        self._enter(machine, (*state.key, (state.forks, 0)), state, False)

    def alive(self) -> Iterator[StrandState]:
        """Those that have a frame left, by their numbers."""
        yield from sorted((each for each in self._all.values() if each.alive), key=lambda each: each.number)
