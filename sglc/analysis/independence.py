"""Which calls of a function do not depend on what runs before them, and where the first place is at which all
that they need is known.

    independence(function, …) -> [Ahead(place, CallAhead | LoopAhead)]

A call is worth a start where something that asks the model lies between the start and the call. The laws of
the table:

* Calls that may not be reached are not in it: those in the arms of an `if`, behind `break` or `return`.
  Errors are not expected (see `regions`).
* Starts of one `fn` come in the order of its calls, with none left out between. So a call in between whose
  arguments are not known, or that may not be reached, holds back those behind it.
* No start stands where a `retry` goes back over it, and none crosses a `seed` or an `adopt`.
* Of a function whose conditions lie too deep in each other (MOST_BETWEEN), nothing is in it.
* A loop over known items, with calls whose arguments depend on the item and on what the loop leaves alone, is
  started as a whole, if nothing leaves it early. Conditions in it that depend on the same are asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sglc.analysis.course import Blocks, Course, Place, given_in, loads_in
from sglc.analysis.effects import NOTHING, STARTED, Effect, FunctionEffects, of_op
from sglc.analysis.known_values import Again, Given, Known
from sglc.analysis.regions import (
    OUT,
    Between,
    Graph,
    Region,
    TooDeep,
    expected_flow,
    leading_out,
    regions,
    regions_from,
)
from sglc.ir import ops
from sglc.ir.module import Block, Function
from sglc.ir.shape import result
from sglc.ir.terminators import Branch, Next
from sglc.source import Span


@dataclass(frozen=True, slots=True)
class CallAhead:
    """A call that can be started. In a loop its arguments are loaded from the loop variable, too."""

    function: str
    arguments: tuple[Again | Given, ...]
    span: Span | None


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which a round of a loop goes on; else it ends where it says `holds`."""

    condition: Again
    holds: bool


@dataclass(frozen=True, slots=True)
class LoopAhead:
    """A loop all of whose rounds can be started: over which items, in which variable, and what to do."""

    items: Again | Given
    variable: str
    steps: tuple[Guard | CallAhead, ...]


@dataclass(frozen=True, slots=True)
class Ahead:
    """What can be started, and the first place for it."""

    place: Place
    what: CallAhead | LoopAhead


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to have what a start needs: from position `first` to `last`."""

    what: CallAhead | LoopAhead
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Coming:
    """A call or loop on the course of a region; `due` is its position."""

    due: int
    functions: frozenset[str]
    ways: tuple[_Way, ...]


@dataclass(frozen=True, slots=True)
class _Planned:
    at: int
    coming: _Coming
    what: CallAhead | LoopAhead


@dataclass(slots=True)
class _Context:
    """What all regions of one function share."""

    blocks: dict[str, Block]
    flow: Graph
    table: dict[str, FunctionEffects]
    startable: frozenset[str]
    facts: Blocks
    originals: Mapping[str, str]
    """By copy of a function: the function. Calls of all copies take turns, as those of one function do."""
    between: Between = field(default_factory=Between)
    covered: dict[str, set[str]] = field(default_factory=dict)
    """By block: the functions whose calls in it are started by a loop around."""

    def original(self, name: str) -> str:
        """The function of which this is a copy; itself where it is none."""
        return self.originals.get(name, name)


def startable_functions(
    functions: Sequence[Function], table: Mapping[str, FunctionEffects]
) -> frozenset[str]:
    """Functions that ask the model or read what lies outside, and do nothing else that is seen."""
    return frozenset(
        function.name
        for function in functions
        if function.kind in STARTED and table.get(function.name, NOTHING).effect == Effect.MODEL
    )


def independence(
    function: Function,
    table: dict[str, FunctionEffects],
    startable: frozenset[str],
    brief: Mapping[str, int],
    declared: frozenset[str],
    originals: Mapping[str, str],
) -> list[Ahead]:
    """The calls and loops of a function that can be started before their turn, in the order of their turns
    within each place. `declared` are the errors that the program declares, `originals` the functions of which
    there are copies, by copy."""
    blocks = {block.label: block for block in function.blocks}
    facts = Blocks(blocks, table, brief)
    context = _Context(blocks, expected_flow(function, declared), table, startable, facts, originals)
    found: list[Ahead] = []
    try:
        for region in regions(function, context.flow, context.between):
            found += _region(region, context)
    except TooDeep:
        return []
    return found


def _region(region: Region, context: _Context) -> list[Ahead]:
    inside = {*region.blocks, *(label for gap in region.gaps for label in gap)}
    if not any(
        isinstance(op, ops.Call) and op.function in context.startable
        for label in inside
        for op in context.blocks[label].ops
    ):
        return []
    course = Course(region, context.facts)
    loops = _loops(course, context)
    planned = _useful(_plan(course, loops, context), course)
    for one in planned:
        if isinstance(one.what, LoopAhead):
            label = course.places[one.coming.due].label
            for inner in region.gaps[region.blocks.index(label)]:
                context.covered.setdefault(inner, set()).update(one.coming.functions)
    planned.sort(key=lambda one: (one.at, one.coming.due))
    return [Ahead(course.places[one.at], one.what) for one in planned]


# -- one region ------------------------------------------------------------------------------------


def _plan(course: Course, loops: dict[int, _Coming], context: _Context) -> list[_Planned]:
    """All calls and loops with the earliest position of each, in the order of their turns."""
    planned: list[_Planned] = []
    ready: dict[str, int] = {}
    """By function: the position before which no further start of it may stand."""
    barrier = 0
    covered_at: dict[int, frozenset[str]] = {}

    def plan(coming: _Coming, behind: int) -> bool:
        least = max([barrier, *(ready.get(name, 0) for name in coming.functions)])
        for way in coming.ways:
            at = course.behind_retries(max(least, way.first), coming.due)
            if at <= min(way.last, coming.due):
                planned.append(_Planned(at, coming, way.what))
                ready.update(dict.fromkeys(coming.functions, at))
                return True
        ready.update(dict.fromkeys(coming.functions, behind))
        return False

    for position, facts in enumerate(course.facts):
        loop = loops.get(position)
        if loop is not None:
            end = course.ends[course.places[position].label]
            if plan(loop, end + 1):
                covered_at[end] = loop.functions
        label = course.places[position].label
        hidden = context.covered.get(label, set()) | covered_at.get(position, frozenset())
        op = course.op(position)
        if isinstance(op, ops.Call) and op.function in context.startable:
            if context.original(op.function) not in hidden:
                plan(_call(op, position, course, context), position + 1)
        else:
            called = {context.original(name) for name in facts.calls}
            ready.update(dict.fromkeys(called - hidden, position + 1))
        if facts.moves:
            barrier = position + 1
    return planned


def _call(op: ops.Call, position: int, course: Course, context: _Context) -> _Coming:
    ways = []
    for known in (course.known, course.known_here):
        arguments = [known(temp) for temp in op.arguments]
        call = CallAhead(op.function, tuple(argument.value for argument in arguments), op.span)
        ways.append(_way(call, arguments, position))
    return _Coming(position, frozenset({context.original(op.function)}), tuple(ways))


def _way(what: CallAhead | LoopAhead, values: Sequence[Known], due: int) -> _Way:
    first = max((value.first for value in values), default=0)
    return _Way(what, first, min((value.last for value in values), default=due))


def _useful(planned: list[_Planned], course: Course) -> list[_Planned]:
    """Those that gain anything: something asks the model between start and turn, or the rounds of a loop run
    together. With each the earlier ones of its function that it may not overtake."""
    kept: list[_Planned] = []
    needed: dict[str, int] = {}
    """By function: the earliest start that is kept."""
    for one in reversed(planned):
        due, functions = one.coming.due, one.coming.functions
        overtaken = any(needed.get(name, due + 1) <= due for name in functions)
        if overtaken or isinstance(one.what, LoopAhead) or course.asks_between(one.at, due):
            kept.append(one)
            for name in functions:
                needed[name] = min(one.at, needed.get(name, one.at))
    return kept


# -- loops -----------------------------------------------------------------------------------------


def _loops(course: Course, context: _Context) -> dict[int, _Coming]:
    """The loops between the blocks of a region that can be started, by the position of their `iterate`."""
    found: dict[int, _Coming] = {}
    region = course.region
    for index, label in enumerate(region.blocks):
        targets = context.flow[label]
        header = context.blocks.get(targets[0]) if len(targets) == 1 else None
        if header is None or header.label not in region.gaps[index] or header.ops:
            continue
        end = header.end
        if isinstance(end, Next) and end.done not in region.gaps[index]:
            coming = _loop(course, label, header, end, region.gaps[index], context)
            if coming is not None:
                found[coming.due] = coming
    return found


def _loop(
    course: Course, label: str, header: Block, end: Next, gap: frozenset[str], context: _Context
) -> _Coming | None:
    position = course.last_store(end.iterator, course.ends[label])
    store = None if position is None else course.op(position)
    if not isinstance(store, ops.Store) or course.places[position].label != label:  # type: ignore[index]
        return None
    due, items = course.iterated(store.value)
    steps = _steps(header, end, gap, context)
    if not steps:
        return None
    calls = [step for step in steps if isinstance(step, CallAhead)]
    values = [value for step in calls for value in step.arguments]
    values += [step.condition for step in steps if isinstance(step, Guard)]
    outside = [course.variable(slot, due) for slot in loads_in(values) - {end.item}]
    ways = tuple(
        _way(LoopAhead(known.value, end.item, steps), [known, *outside], due)
        for known in (course.known(items), course.known_here(items))
    )
    return _Coming(due, frozenset(context.original(call.function) for call in calls), ways)


def _steps(header: Block, end: Next, gap: frozenset[str], context: _Context) -> tuple[Guard | CallAhead, ...]:
    """What a round of a loop starts, in order; nothing where the loop cannot be started."""
    body = gap - {header.label}
    flow: Graph = {}
    for label in body:
        targets = context.flow[label]
        if any(target not in gap for target in targets):
            return ()
        flow[label] = tuple(OUT if target == header.label else target for target in targets)
    if end.body not in flow:
        return ()
    chain, guards = _chain(end.body, flow, context)
    stores = {end.item: 1}
    for label in body:
        for op in context.blocks[label].ops:
            if isinstance(op, ops.SetSeed | ops.AdoptBranch):
                return ()
            if isinstance(op, ops.Store):
                stores[op.slot] = stores.get(op.slot, 0) + 1
        inner = context.blocks[label].end
        if isinstance(inner, Next):
            for slot in (inner.iterator, inner.item):
                stores[slot] = stores.get(slot, 0) + 1
    return _Rounds(chain, guards, stores, end.item, context).steps(body)


def _chain(root: str, flow: Graph, context: _Context) -> tuple[Region, dict[str, bool]]:
    """The blocks that every round goes through unless a guard ends it. A guard is one of these blocks that
    either ends the round or goes on; with each comes whether the round goes on where its condition holds."""
    guards: dict[str, bool] = {}
    while True:
        (chain,) = regions_from(root, flow, context.blocks, context.between, context.flow, only_first=True)
        last = chain.blocks[-1]
        branch = context.blocks[last].end
        if not isinstance(branch, Branch) or len(flow[last]) < 2 or OUT not in flow[last]:
            return chain, guards
        rest = {**flow, last: tuple(target for target in flow[last] if target != OUT)}
        if leading_out(rest) != rest:
            return chain, guards
        flow = rest
        guards[last] = branch.then in flow[last]


class _Rounds:
    """Finds what the rounds of one loop start, along the chain of blocks that every round goes through."""

    def __init__(
        self,
        chain: Region,
        guards: dict[str, bool],
        stores: dict[str, int],
        variable: str,
        context: _Context,
    ) -> None:
        self.chain = chain
        self.guards = guards
        self.stores = stores
        self.variable = variable
        self.context = context
        self.course = Course(chain, context.facts)

    def steps(self, body: frozenset[str]) -> tuple[Guard | CallAhead, ...]:
        found: list[Guard | CallAhead] = []
        started: set[int] = set()
        """Results of the calls that are started."""
        for label in self.chain.blocks:
            block = self.context.blocks[label]
            for op in block.ops:
                if isinstance(op, ops.Call) and op.function in self.context.startable:
                    arguments = [self._value(temp) for temp in op.arguments]
                    if None not in arguments:
                        found.append(CallAhead(op.function, tuple(arguments), op.span))  # type: ignore[arg-type]
                        started.add(op.result)
            if label in self.guards:
                assert isinstance(block.end, Branch)
                condition = self._value(block.end.condition)
                if condition is None:
                    break
                found.append(Guard(condition, self.guards[label]))
        hidden = self.context.covered
        partly = {
            name
            for label in body
            for op in self.context.blocks[label].ops
            if result(op) not in started
            for name in of_op(op, self.context.table).calls
        }
        partly |= {name for label in body for name in hidden.get(label, ())}
        kept = [step for step in found if isinstance(step, Guard) or step.function not in partly]
        while kept and isinstance(kept[-1], Guard):
            kept.pop()
        return tuple(kept)

    def _value(self, temp: int) -> Again | None:
        """A value that depends on the loop variable and on what the loop leaves alone; else None."""
        value = self.course.known(temp).value
        if isinstance(value, Given) or given_in(value):
            return None
        changing = any(
            slot in self.stores and not (slot == self.variable and self.stores[slot] == 1)
            for slot in loads_in([value])
        )
        return None if changing else value
