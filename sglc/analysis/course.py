"""The course of a region: its operations in the order in which they run, and what happens between them.

    ^entry: %0 = load $x           position 0
            store $y %0            1
            branch …               2: the end of the block, with the gap behind it (see `regions`)
    ^done:  …                      3

A position stands for the place before what stands there. What is asked of a course: where a variable was
stored last, which positions ask the model, which call a `fn` in this conversation, where retries begin and
go back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sglc.analysis.effects import Effect, FunctionEffects, of_op
from sglc.analysis.known_values import BRIEF, COMPUTING, Again, Given, Known
from sglc.analysis.regions import Region
from sglc.ir import ops
from sglc.ir.module import Block
from sglc.ir.shape import operands, result
from sglc.ir.terminators import Next


@dataclass(slots=True)
class BlockFacts:
    """What a block does as a whole."""

    stores: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    """`fn`s that are called in this conversation."""
    asks: bool = False
    moves: bool = False
    """Whether the conversation gets another seed, or goes on as another one."""
    snapshots: set[int] = field(default_factory=set)
    retries: set[int] = field(default_factory=set)

    def add(self, op: ops.Op, table: dict[str, FunctionEffects]) -> None:
        """Count one operation in."""
        match op:
            case ops.Store(slot=slot):
                self.stores.add(slot)
            case ops.Snapshot(retry=retry):
                self.snapshots.add(retry)
            case ops.TryAgain(retry=retry):
                self.retries.add(retry)
            case ops.SetSeed() | ops.AdoptBranch():
                self.moves = True
            case _:
                found = of_op(op, table)
                self.calls |= found.calls
                self.asks = self.asks or found.effect >= Effect.MODEL

    def add_block(self, block: Block, table: dict[str, FunctionEffects]) -> None:
        """Count all operations of a block in."""
        for op in block.ops:
            self.add(op, table)
        if isinstance(block.end, Next):
            self.stores |= {block.end.iterator, block.end.item}

    def merge(self, other: BlockFacts) -> None:
        """Count all that another block does in."""
        self.stores |= other.stores
        self.calls |= other.calls
        self.asks = self.asks or other.asks
        self.moves = self.moves or other.moves
        self.snapshots |= other.snapshots
        self.retries |= other.retries


class Blocks:
    """The blocks of one function. `table` are the effects of all functions, `brief` the pure functions whose
    calls may be done again."""

    def __init__(
        self,
        blocks: Mapping[str, Block],
        table: dict[str, FunctionEffects],
        brief: Mapping[str, int],
    ) -> None:
        self.blocks = blocks
        self.table = table
        self.brief = brief
        self._whole: dict[str, BlockFacts] = {}

    def whole(self, label: str) -> BlockFacts:
        """What a block does as a whole."""
        found = self._whole.get(label)
        if found is None:
            found = self._whole[label] = BlockFacts()
            found.add_block(self.blocks[label], self.table)
        return found


_SEEN = frozenset(
    {ops.Store, ops.Snapshot, ops.TryAgain, ops.SetSeed, ops.AdoptBranch, ops.Call, ops.CallPart}
    | {ops.OpenStream, ops.NextPart, ops.RunFork, ops.Generate, ops.SelectOption}
)
"""Operations that facts are about."""
_NOTHING = BlockFacts()
"""What all others do; nobody adds to it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Before operation `index` of a block; before its terminator where there are no more."""

    label: str
    index: int


class Course:
    """The positions of one region."""

    def __init__(self, region: Region, known: Blocks) -> None:
        self.region = region
        self.blocks = known.blocks
        self.brief = known.brief
        self.places: list[Place] = []
        self.facts: list[BlockFacts] = []
        self.ends: dict[str, int] = {}
        """The position of each block's end."""
        self.stores: dict[str, list[int]] = {}
        """Positions that store each variable."""
        self._made: dict[int, int] = {}
        """For each temporary of the region, the position of its operation."""
        self._again: dict[int, Known | None] = {}
        self._asking: list[int] = []
        """Positions that ask the model."""
        self._retrying: list[int] = []
        """Positions from which a retry may go back."""
        self._since: list[int] = []
        """For each of them the last place that it surely goes back to; -1 where that is before the region."""
        for label, gap, faults in zip(region.blocks, region.gaps, region.faults, strict=True):
            self._block(label, gap, faults, known)
        taken: dict[int, int] = {}
        for position, facts in enumerate(self.facts):
            for slot in facts.stores:
                self.stores.setdefault(slot, []).append(position)
            taken.update(dict.fromkeys(facts.snapshots, position))
            if facts.asks:
                self._asking.append(position)
            if facts.retries:
                self._retrying.append(position)
                self._since.append(min(taken.get(retry, -1) for retry in facts.retries))

    def _block(self, label: str, gap: frozenset[str], faults: frozenset[str], known: Blocks) -> None:
        block = self.blocks[label]
        for index, op in enumerate(block.ops):
            temp = result(op)
            if temp is not None:
                self._made[temp] = len(self.places)
            facts = _NOTHING
            if type(op) in _SEEN:
                facts = BlockFacts()
                facts.add(op, known.table)
            self.places.append(Place(label, index))
            self.facts.append(facts)
        facts = BlockFacts()
        if isinstance(block.end, Next):
            facts.stores |= {block.end.iterator, block.end.item}
        for inner in gap:
            facts.merge(known.whole(inner))
        for inner in faults:
            # Only retries lead back from there to the expected course.
            found = known.whole(inner)
            facts.snapshots |= found.snapshots
            facts.retries |= found.retries
        self.ends[label] = len(self.places)
        self.places.append(Place(label, len(block.ops)))
        self.facts.append(facts)

    def op(self, position: int) -> ops.Op | None:
        """The operation that stands at a position; None at the end of a block."""
        place = self.places[position]
        every = self.blocks[place.label].ops
        return every[place.index] if place.index < len(every) else None

    def asks_between(self, first: int, last: int) -> bool:
        """Whether anything from position `first` to before `last` asks the model."""
        index = bisect_left(self._asking, first)
        return index < len(self._asking) and self._asking[index] < last

    def last_store(self, slot: str, before: int) -> int | None:
        """The last position before another that stores a variable."""
        positions = self.stores.get(slot, [])
        index = bisect_left(positions, before)
        return positions[index - 1] if index else None

    def next_store(self, slot: str, after: int) -> int:
        """The next position from another on that stores a variable; the end where none does."""
        positions = self.stores.get(slot, [])
        index = bisect_left(positions, after)
        return positions[index] if index < len(positions) else len(self.places)

    def behind_retries(self, first: int, last: int) -> int:
        """The earliest position from `first` on from which no retry goes back on the way to `last`, but to
        a snapshot on that way: what is begun there is begun once."""
        for index in range(bisect_left(self._retrying, first), bisect_left(self._retrying, last)):
            if self._since[index] < first:
                first = self._retrying[index] + 1
        return first

    def iterated(self, iterator: int) -> tuple[int, int]:
        """Of the temporary that holds an iterator: the position of its `iterate`, and what it goes over."""
        position = self._made[iterator]
        op = self.op(position)
        assert isinstance(op, ops.Iterate)
        return position, op.value

    def variable(self, slot: str, at: int) -> Known:
        """The value that a variable has at a position, and where else it has it."""
        stored = self.last_store(slot, at)
        first = 0 if stored is None else stored + 1
        return Known(Again(ops.Load(-1, slot), ()), first, self.next_store(slot, at), 1)

    # -- values ------------------------------------------------------------------------------------

    def known(self, temp: int) -> Known:
        """How the value of a temporary of this region can be had earlier, what was stored looked through."""
        found = self._again.get(temp)
        if found is None:
            for needed in self._needed(temp):
                found = self._again[needed] = self._find(needed, True)
        assert found is not None
        return found

    def _needed(self, temp: int) -> list[int]:
        """What the value of a temporary is made of and not known yet, itself last: variables may be made of
        each other in any number."""
        found: set[int] = set()
        work = [temp]
        while work:
            here = work.pop()
            if here in found or here in self._again:
                continue
            found.add(here)
            op = self.op(self._made[here])
            if isinstance(op, ops.Load):
                stored = self.last_store(op.slot, self._made[here])
                store = None if stored is None else self.op(stored)
                if isinstance(store, ops.Store):
                    work.append(store.value)
            elif op is not None and self._is_cheap(op):
                work += operands(op)
        return sorted(found, key=self._made.__getitem__)

    def known_here(self, temp: int) -> Known:
        """The same from the variables that the operation itself loads: never as early, but for longer."""
        return self._find(temp, False)

    def _find(self, temp: int, through: bool) -> Known:
        position = self._made[temp]
        op = self.op(position)
        end = self.ends[self.places[position].label]
        given = Known(Given(temp), position + 1, end, 0)
        if isinstance(op, ops.Load):
            return self._loaded(op, position, through)
        if op is None or not self._is_cheap(op):
            return given
        parts = [self.known(part) if through else self.known_here(part) for part in operands(op)]
        size = 1 + sum(part.size for part in parts)
        if isinstance(op, ops.Call):
            size += self.brief[op.function]
        first = max((part.first for part in parts), default=0)
        last = min((part.last for part in parts), default=len(self.places))
        if size > BRIEF or first > last:
            return given
        return Known(Again(op, tuple(part.value for part in parts)), first, last, size)

    def _is_cheap(self, op: ops.Op) -> bool:
        return op.function in self.brief if isinstance(op, ops.Call) else type(op) in COMPUTING

    def _loaded(self, op: ops.Load, position: int, through: bool) -> Known:
        stored = self.last_store(op.slot, position)
        last = self.next_store(op.slot, position)
        if stored is None:
            return Known(Again(op, ()), 0, last, 1)
        store = self.op(stored)
        if through and isinstance(store, ops.Store):
            found = self.known(store.value)
            if isinstance(found.value, Again) and not given_in(found.value):
                return found
        return Known(Again(op, ()), stored + 1, last, 1)


def given_in(value: Again | Given) -> bool:
    """Whether a value needs a temporary that is not done again."""
    return isinstance(value, Given) or any(given_in(part) for part in value.parts)


def loads_in(values: Iterable[Again | Given]) -> set[str]:
    """The variables that values are done again from."""
    found: set[str] = set()
    for value in values:
        if isinstance(value, Again):
            if isinstance(value.op, ops.Load):
                found.add(value.op.slot)
            found |= loads_in(value.parts)
    return found
