"""From the blocks of a function to its layout: what it writes into its conversation, in order.

    layout(module, function) -> Layout

`sglc.analysis.layout_items` says what a layout is made of. It follows the structure of the source, which is
read back from the blocks: two ways that meet again are arms of a `Choice`, blocks around a way back a `Loop`.

Parts are expanded where they are called, with the origins of their arguments. A part that calls itself is
not expanded in itself, and none is any more where LARGEST operations have been read: its items are missing
then. The IR may be that of any level.
"""

from __future__ import annotations

from sglc.analysis.layout_items import (
    Again,
    Attempt,
    Called,
    Choice,
    Constant,
    Filled,
    Forgotten,
    Forked,
    Inserted,
    Item,
    Layout,
    Leave,
    Loop,
    MessageEnd,
    Role,
)
from sglc.analysis.lengths import known_lengths, length_of, slot_of
from sglc.analysis.origins import SAME, FunctionOrigins, Origins, origins
from sglc.callables.tool_text import PLAIN_CALL, plain_tools
from sglc.ir import ops, terminators
from sglc.ir.flow import block_map, natural_loops, reverse_postorder
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import successors
from sglc.source import Span

SILENT = ("pure", "extern")
"""Kinds of functions that write no conversation."""
LARGEST = 20_000
"""Most operations that are read for one layout, parts that are expanded in it included: some thousand lines
of text. Parts that call others twice, twenty deep, would have a million."""


def layout(module: Module, function: Function) -> Layout:
    """The layout of a function of the module."""
    items = _Reader(module, function, origins(module, function), (function.name,), _Room()).items()
    return Layout(function.name, items, function.within)


class _Room:
    """How many operations may still be expanded."""

    def __init__(self) -> None:
        self.left = LARGEST

    def takes(self, function: Function) -> bool:
        """Whether there is room for a function; if so, it is taken."""
        size = sum(len(block.ops) + 1 for block in function.blocks)
        if size > self.left:
            self.left = 0
            return False
        self.left -= size
        return True


class _Reader:
    """Reads the blocks of one function back into the structure that they were made from."""

    def __init__(
        self,
        module: Module,
        function: Function,
        known: FunctionOrigins,
        within: tuple[str, ...],
        room: _Room,
    ) -> None:
        self._module = module
        self._room = room
        self._function = function
        self._origins = known
        self._within = within
        """Names of the functions that are being read: a part is not expanded in itself."""
        self._blocks = block_map(function)
        self._order = {label: at for at, label in enumerate(reverse_postorder(function))}
        self._ahead = self._reachable_ahead()
        self._loops = natural_loops(function)
        self._attempts: dict[int, int] = {}
        for retry in function.retries:
            self._attempts[retry.hole] = self._attempts.get(retry.hole, 1) + retry.attempts
        self._known = known_lengths(function)
        self._seen: set[str] = set()
        self._started: set[str] = set()
        """Functions of which a call may have been started ahead."""
        self._behind: set[str] = set()
        """Where the loops go on that are being read."""
        self._headers: set[str] = set()
        """The headers of these loops: a way that comes to one has ended its round."""
        self._stops: frozenset[str] = frozenset()
        """The blocks of `until` that the ways of the last `_run` have come to."""
        self._begun: bool | None = None
        """Whether the message has text already; None where it has on some ways only."""
        self._glued = False
        self._marks: list[tuple[int, list[Item], bool | None, bool, Span | None]] = []
        """Marks of the conversation that are open: where in which list of items, and what held there."""

    def items(self) -> tuple[Item, ...]:
        return tuple(self._run(self._function.blocks[0].label, frozenset()))

    # -- structure -----------------------------------------------------------------------------------

    def _run(self, label: str | None, until: frozenset[str], inside: str = "") -> list[Item]:
        """The items from a block on, up to one of `until`. `inside` is the header of the loop being read."""
        found: list[Item] = []
        self._stops = frozenset()
        while label is not None and label not in until:
            if label in self._seen:
                return _joined(
                    found
                )  # Ways that join where no structure of the language joins them are read once.
            if label in self._loops and label != inside:
                item, label = self._loop(label, until)
                if not _says_nothing(item.items):
                    found.append(item)
                continue
            self._seen.add(label)
            block = self._blocks[label]
            self._block(block, found)
            label = self._end(block, until, found)
        if label is not None:
            self._stops = frozenset((label,))
        return _joined(found)

    def _end(self, block: Block, until: frozenset[str], found: list[Item]) -> str | None:
        """What a terminator adds to the items; the block to go on with."""
        end = block.end
        self._stops = frozenset()
        match end:
            case terminators.Jump(target):
                return target
            case terminators.Return():
                found.append(Leave("return", end.span))
                return None
            case terminators.RaiseError() | terminators.Reraise():
                found.append(Leave("raise", end.span))
                return None
        first, second = successors(end)
        join = self._join(first, second, until, isinstance(end, terminators.Try))
        around = until | {join} if join is not None else until
        state = self._begun, self._glued
        arms = []
        ends = []
        stops = []
        for target in (first, second):
            self._begun, self._glued = state
            arms.append(tuple(self._run(target, around)))
            ends.append((self._begun, self._glued))
            stops.append(self._stops)
        if not self._headers.issuperset(stops[0] | stops[1]):  # one way goes on in the round
            for at, stop in enumerate(stops):
                if stop and self._headers.issuperset(stop):
                    arms[at], stops[at] = (*arms[at], Leave("round")), frozenset()
        self._stops = stops[0] | stops[1]
        self._begun = ends[0][0] if ends[0][0] == ends[1][0] else None
        self._glued = ends[0][1] and ends[1][1]
        if all(map(_says_nothing, arms)):
            found += [item for arm in arms for item in arm if isinstance(item, Again)]
        else:
            if isinstance(end, terminators.Try):
                found.append(Attempt(arms[0], arms[1], end.span))
            else:
                temps = self._origins.of_temps(self._module, block)
                found.append(Choice(self._origins.of_end(self._module, block, temps), tuple(arms), end.span))
        return join

    def _join(self, first: str, second: str, until: frozenset[str], tries: bool) -> str | None:
        """Where two ways meet again; None where each is read to its end.

        Where they never meet, one of them goes on behind the other, which leaves the loop or the function: of
        two that leave, the one that does not only raise, then the longer one.
        """
        for leaving, other in ((first, second), (second, first)):
            if leaving in until:
                return other if leaving in self._behind and other not in until else None
        common = self._ahead[first] & self._ahead[second]
        if common:
            return min(common, key=self._order.__getitem__)
        leaves = [label for label in (second, first) if not self._goes_back(label)]
        if not leaves or tries:
            return None
        if len(leaves) == 1:
            return first if leaves[0] == second else second
        return max(leaves, key=lambda label: (self._returns(label), len(self._ahead[label])))

    def _returns(self, label: str) -> bool:
        return any(isinstance(self._blocks[t].end, terminators.Return) for t in self._ahead[label])

    def _goes_back(self, label: str) -> bool:
        """Whether a way from a block leads back into a loop that it is in."""
        return any(
            self._order[target] <= self._order[here]
            for here in self._ahead[label]
            for target in successors(self._blocks[here].end)
        )

    def _loop(self, header: str, until: frozenset[str]) -> tuple[Loop, str | None]:
        """The loop with this header, and the block behind it."""
        members = self._loops[header]
        block = self._blocks[header]
        outside = [
            target
            for label in sorted(members, key=self._order.__getitem__)
            for target in successors(self._blocks[label].end)
            if target not in members
        ]
        end = block.end
        if isinstance(end, terminators.Next):
            behind: str | None = end.done
        else:
            behind = next((t for t in successors(end) if t not in members), None)
            if behind is None and outside:
                behind = min(outside, key=self._order.__getitem__)
        self._begun = None if self._begun is not True else True
        self._seen.add(header)
        self._headers.add(header)
        items: list[Item] = []
        self._block(block, items)
        around = until | {header}
        if behind is not None:
            around |= {behind}
            self._behind.add(behind)
        if isinstance(end, terminators.Next):
            items += self._run(end.body, around)
        elif isinstance(end, terminators.Jump):
            items += self._run(end.target, around)
        else:
            inner = [target for target in successors(end) if target in members]
            if len(inner) == 1:
                items += self._run(inner[0], around)
            else:
                join = self._end(block, around, items)
                items += self._run(join, around)
        self._behind.discard(behind or "")
        self._headers.discard(header)
        temps = self._origins.of_temps(self._module, block)
        decides = self._origins.of_end(self._module, block, temps)
        early = len(outside) > 1
        loop = Loop(decides, tuple(_joined(items)), self._times(block, early), end.span)
        return loop, behind

    def _times(self, block: Block, early: bool) -> tuple[int, int | None]:
        """The least and the greatest number of rounds; a loop that may be left early may end at once."""
        if not isinstance(block.end, terminators.Next):
            return 0, self._limit(block)
        low, high = self._known.rounds.get(block.end.iterator, (0, None))
        return (0 if early else low), high

    def _limit(self, header: Block) -> int | None:
        """What `while … limit n` allows."""
        for label in self._loops[header.label]:
            for op in self._blocks[label].ops:
                if isinstance(op, ops.Limit):
                    return self._known.limits.get(slot_of(self._blocks[label], op.count))
        return None

    # -- one block -----------------------------------------------------------------------------------

    def _block(self, block: Block, found: list[Item]) -> None:
        temps: dict[int, Origins] | None = None
        values: dict[int, object] = {}

        def of(temp: int) -> Origins:
            nonlocal temps
            if temps is None:
                temps = self._origins.of_temps(self._module, block)
            return temps.get(temp, SAME)

        for op in block.ops:
            match op:
                case ops.Const(result=temp, value=value):
                    values[temp] = value
                case ops.OpenRole(role, span):
                    self._begun, self._glued = False, False
                    found.append(Role(role, span))
                case ops.CloseRole(span):
                    found.append(MessageEnd(span))
                case ops.Line(span):
                    if self._begun is not False and not self._glued:
                        found.append(_constant("\n", span))
                    self._begun, self._glued = True, False
                case ops.Glue():
                    self._glued = True
                case ops.CallText(part, span):
                    self._begun = True
                    found.append(_constant(PLAIN_CALL[part], span))
                case ops.OfferTools(tools, span):
                    found.append(Role("system", span))
                    found.append(_constant(plain_tools(tools), span))
                    found.append(MessageEnd(span))
                case ops.Text(text, span):
                    self._begun = True
                    found.append(_constant(text, span))
                case ops.Insert(value=temp, span=span):
                    self._begun = True
                    found.append(Inserted(of(temp), span))
                case (
                    ops.Generate(hole=hole, options=given, span=span)
                    | ops.SelectOption(hole=hole, options=given, span=span)
                ):
                    self._begun = True
                    names = self._module.holes[hole].options
                    options = {
                        name: values[temp] for name, temp in zip(names, given, strict=True) if temp in values
                    }
                    found.append(Filled(hole, self._attempts.get(hole, 1), options, span))
                case ops.Mark(span):
                    self._marks.append((len(found), found, self._begun, self._glued, span))
                case ops.Forget():
                    self._forget(found)
                case ops.TryAgain(retry=index, span=span):
                    retry = self._function.retries[index]
                    found.append(Again(retry.hole, retry.attempts, span))
                case ops.Start(function=name):
                    self._started.add(name)
                case ops.Call(function=name, arguments=given, span=span) if self._kind(name) not in SILENT:
                    around, started = SAME.union(*map(of, given)), name in self._started
                    found.append(Called(name, self._kind(name), around, started=started, span=span))
                case ops.OpenStream(function=name, arguments=given, span=span):
                    found.append(Called(name, "fn", SAME.union(*map(of, given)), span=span))
                case ops.CallPart(function=name, arguments=given, span=span):
                    found.append(self._part(name, [of(temp) for temp in given], span))
                    self._begun = None if self._begun is not True else True
                case ops.RunFork(function=name, items=temp):
                    found.append(self._fork(op, of(temp), length_of(block, temp, self._known.lengths)))

    def _forget(self, found: list[Item]) -> None:
        """What stands behind the newest mark of a list of items becomes one item. A way that leaves what is
        forgotten early has no mark in its own list."""
        for number in reversed(range(len(self._marks))):
            at, items, begun, glued, span = self._marks[number]
            if items is found:
                found[at:] = [Forgotten(tuple(_joined(found[at:])), span)]
                self._begun, self._glued = begun, glued
                del self._marks[number:]
                return

    def _kind(self, name: str) -> str:
        return self._module.function(name).kind

    def _part(self, name: str, given: list[Origins], span: Span | None) -> Called:
        around = SAME.union(*given)
        part = self._module.function(name)
        if name in self._within or not self._room.takes(part):
            return Called(name, "part", around, span=span)
        slots = {p.slot: each for p, each in zip(part.parameters, given, strict=True)}
        known, within = origins(self._module, part, slots), (*self._within, name)
        reader = _Reader(self._module, part, known, within, self._room)
        reader._begun, reader._glued = self._begun, self._glued
        items = tuple(item for item in reader.items() if not _is_last_return(item))
        return Called(name, "part", around, items, span=span)

    def _fork(self, fork: ops.RunFork, of: Origins, times: tuple[int, int | None]) -> Forked:
        name = fork.function
        body = self._module.function(name)
        slots = {parameter.slot: of for parameter in body.parameters}
        known = origins(self._module, body, slots, self._origins.slots)
        reader = _Reader(self._module, body, known, (*self._within, name), self._room)
        reader._begun, reader._glued = self._begun, self._glued
        items = tuple(item for item in reader.items() if not _is_last_return(item))
        return Forked(name, of, times, items, fork.skip, fork.span)

    # -- the graph -----------------------------------------------------------------------------------

    def _forward(self, label: str) -> list[str]:
        """Successors that are no way back."""
        here = self._order[label]
        return [t for t in successors(self._blocks[label].end) if self._order.get(t, -1) > here]

    def _reachable_ahead(self) -> dict[str, frozenset[str]]:
        """By block: the blocks that control may come to from it without a way back, itself included."""
        found: dict[str, frozenset[str]] = {}
        for label in sorted(self._order, key=self._order.__getitem__, reverse=True):
            found[label] = frozenset({label}).union(*[found[t] for t in self._forward(label)])
        return found


# -- helpers -----------------------------------------------------------------------------------------


def _joined(items: list[Item]) -> list[Item]:
    """The items with neighbouring constants as one."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        if isinstance(item, Constant) and isinstance(last, Constant):
            found[-1] = Constant(last.text + item.text, last.spans + item.spans, last.sizes + item.sizes)
        else:
            found.append(item)
    return found


def _constant(text: str, span: Span | None) -> Constant:
    return Constant(text) if span is None else Constant(text, (span,), (len(text),))


def _says_nothing(items: tuple[Item, ...]) -> bool:
    """Whether nothing is written or asked in them: they leave by an error or go back to a hole at most."""
    return all(
        isinstance(item, Again) or (isinstance(item, Leave) and item.kind == "raise") for item in items
    )


def _is_last_return(item: Item) -> bool:
    return isinstance(item, Leave) and item.kind == "return"
