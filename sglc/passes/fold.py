"""Computes what is known at compile time, above all the text that every run writes alike.

    line                              line
    text "Answer with JSON like"      text "Answer with JSON like"
    line                         →    text "\\n"
    %0 = const "{...}"                text "{...}"
    insert %0                         branch gone, if its condition is known
    ...

Newlines: whether a `line` begins with one is known wherever the message has begun on every road to it. The
first line of a message stays a `line`, for it tells the conversation that the message has begun.

Constants: every operation that only computes (`evaluate`), where its operands are known; branches on a known
condition. A variable is known that is set once, to a constant, and one that was set to a constant last on the
only road to the place. What fails stays, and fails at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from sglc.ir import ops, terminators
from sglc.ir.flow import forward, predecessor_counts, reachable
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import QUIET, operands, result, successors
from sglc.passes.evaluate import EVALUATED, Budget, Unknown, text_of, value_of
from sglc.passes.rewrite import each_function, with_blocks
from sglc.types.type import TypeTable

LineState = Literal["first", "begun", "glued", "unknown"]
"""What the next `line` does: nothing yet written in the message, written, glued, or not known."""

Calls = Callable[[str, list[object]], object]
"""The result of a pure function. Raises Unknown."""


def run(module: Module) -> Module:
    """The module with everything known computed, but for calls."""
    return folded(module, Budget(), None)


def folded(module: Module, budget: Budget, calls: Calls | None) -> Module:
    """The module with everything known computed; with `calls` the calls of pure functions too."""
    around = slots_around(module)
    return each_function(
        module, lambda function: fold_function(function, around[function.name], module.table, budget, calls)
    )


def slots_around(module: Module) -> dict[str, set[str]]:
    """For each function, the variables of those that it is a fork body of."""
    forking = {function.parent for function in module.functions if function.parent is not None}
    slots = {function.name: _slots(function) for function in module.functions if function.name in forking}
    parents = {function.name: function.parent for function in module.functions}
    around: dict[str, set[str]] = {}
    for function in module.functions:
        found = around[function.name] = set()
        parent = function.parent
        while parent is not None and parent in slots:
            found |= slots[parent]
            parent = parents[parent]
    return around


def _slots(function: Function) -> set[str]:
    """All variables that a function writes."""
    found = {parameter.slot for parameter in function.parameters}
    for block in function.blocks:
        found.update([op.slot for op in block.ops if type(op) is ops.Store])
        if isinstance(block.end, terminators.Next):
            found.update((block.end.iterator, block.end.item))
    return found


def fold_function(
    function: Function, inherited: set[str], table: TypeTable, budget: Budget, calls: Calls | None = None
) -> Function:
    """One function with everything known computed, repeated while that makes another variable or road known.

    `inherited` are the variables of the functions that a fork body stands in.
    """
    while True:
        live = tuple(reachable(function).values())  # what a road writes that nobody takes means nothing
        if len(live) < len(function.blocks):
            function = with_blocks(function, live)
        folder = _Folder(function, inherited, table, budget, calls)
        changed = with_blocks(function, folder.blocks())
        if changed is function or not folder.more:
            return changed
        function = changed


# -- variables -------------------------------------------------------------------------------------


def _written_once(function: Function, inherited: set[str]) -> set[str]:
    """Variables that one operation writes: where that is a constant, every load sees it."""
    counts: dict[str, int] = dict.fromkeys(inherited, 2)
    counts.update((parameter.slot, 2) for parameter in function.parameters)
    counts.update((policy.slot, 2) for policy in function.retries)
    for block in function.blocks:
        for op in block.ops:
            if type(op) is ops.Store:
                counts[op.slot] = counts.get(op.slot, 0) + 1
        if isinstance(block.end, terminators.Next):
            counts[block.end.iterator] = counts[block.end.item] = 2
    return {slot for slot, count in counts.items() if count == 1}


# -- lines -----------------------------------------------------------------------------------------


def _line_states(function: Function) -> dict[str, LineState]:
    """What is known of the message at the beginning of each block."""
    start: LineState = "first" if function.kind == "fn" else "unknown"

    def through(state: LineState, block: Block) -> LineState:
        for op in block.ops:
            if type(op) in _TEXTUAL:
                state = _after(state, op)
        return state

    return forward(
        function, start, through, lambda state, _end, _target: state, lambda a, b: a if a == b else "unknown"
    )


def _after(state: LineState, op: ops.Op) -> LineState:
    match op:
        case ops.OpenRole():
            return "first"
        case ops.Line():
            return "begun"
        case ops.Glue():
            return "glued"
        case ops.CloseRole() | ops.CallPart() | ops.AdoptBranch() | ops.Forget():
            return "unknown"
        case ops.Text(text=text) if not text:
            return state
        case ops.Text() | ops.Insert() | ops.Generate() | ops.SelectOption():
            # Text before any line begins the message too.
            return "unknown" if state == "first" else state
    return state


_TEXTUAL = frozenset(
    {ops.OpenRole, ops.CloseRole, ops.Line, ops.Glue, ops.Text, ops.Insert, ops.Generate, ops.SelectOption}
    | {ops.CallPart, ops.AdoptBranch, ops.Forget}
)
"""Operations that `_after` tells apart."""
_FOLDED = EVALUATED | {ops.Const, ops.Load, ops.Store, ops.Line, ops.Insert, ops.Call}
"""Operations that `_Folder._op` knows something about."""


# -- one function ----------------------------------------------------------------------------------


class _Folder:
    """Goes once through a function. `values` are the known temporaries of a block."""

    def __init__(
        self,
        function: Function,
        inherited: set[str],
        table: TypeTable,
        budget: Budget,
        calls: Calls | None,
    ) -> None:
        self.function = function
        self.table = table
        self.budget = budget
        self.calls = calls
        self.once = _written_once(function, inherited)
        self.known: dict[str, object] = {}
        """Variables that have this value wherever they are read."""
        self.here: dict[str, object] = {}
        """Variables that have this value at this place."""
        self.missed: set[str] = set()
        """Variables read before their value was known."""
        self.more = False
        """Whether another round may find more."""

    def blocks(self) -> tuple[Block, ...]:
        """The blocks, folded."""
        states = _line_states(self.function)
        counts = predecessor_counts(self.function)
        alone: dict[str, dict[str, object]] = {}
        done = []
        for block in self.function.blocks:
            self.here = alone.pop(block.label, {})
            new = self._block(block, states.get(block.label, "unknown"))
            done.append(new)
            self.more = self.more or type(new.end) is not type(block.end)
            if self.here and not isinstance(new.end, terminators.Try | terminators.Next):
                # A block that is reached from here alone begins with what is known here.
                below = [label for label in set(successors(new.end)) if counts[label] == 1]
                alone.update((label, dict(self.here)) for label in below)
        return tuple(done)

    def _block(self, block: Block, state: LineState) -> Block:
        self.values: dict[int, object] = {}
        self.out: list[ops.Op] = []
        self.unmade: set[int] = set()
        changed = False
        for op in block.ops:
            new: ops.Op = self._op(op, state) if type(op) in _FOLDED else op
            if type(op) in _TEXTUAL:
                state = _after(state, op)
            changed = changed or new is not op
            glue = self._glue() if type(new) is ops.Line else None
            if glue is not None:
                del self.out[glue]
                changed = True
                continue
            self.out.append(new)
        end = self._end(block.end)
        if self.unmade:
            changed = self._drop_unmade(end) or changed
        if not changed and end is block.end:
            return block
        return Block(block.label, tuple(self.out), end)

    def _glue(self) -> int | None:
        """Place of a `glue` after which nothing has touched the conversation or could fail."""
        for index in range(len(self.out) - 1, -1, -1):
            if type(self.out[index]) is ops.Glue:
                return index
            if type(self.out[index]) not in QUIET:
                return None
        return None

    def _drop_unmade(self, end: terminators.Terminator) -> bool:
        """Drop operations that surely succeed, and whose value, which no constant holds, nothing uses."""
        used = {temp for op in self.out for temp in operands(op)} | set(operands(end))
        kept = [op for op in self.out if result(op) not in self.unmade or result(op) in used]
        dropped = len(kept) != len(self.out)
        self.out = kept
        return dropped

    def _op(self, op: Any, state: LineState) -> Any:
        cls = type(op)
        if cls is ops.Const:
            self.values[op.result] = op.value
        elif cls is ops.Load:
            return self._load(op)
        elif cls is ops.Store:
            self._store(op)
        elif cls is ops.Line:
            return ops.Text("\n", op.span) if state == "begun" else op
        elif cls is ops.Insert:
            if op.value in self.values:
                try:
                    return ops.Text(text_of(self.values[op.value], self.table, self.budget), op.span)
                except Unknown:
                    pass
        else:
            return self._computed(op)
        return op

    def _load(self, op: ops.Load) -> ops.Op:
        for facts in (self.known, self.here):
            if op.slot in facts:
                return self._constant(op, op.result, facts[op.slot])
        if op.slot in self.once:
            self.missed.add(op.slot)
        return op

    def _store(self, op: ops.Store) -> None:
        if op.value not in self.values or op.value in self.unmade:
            self.here.pop(op.slot, None)
        elif op.slot in self.once:
            self.known[op.slot] = self.values[op.value]
            self.more = self.more or op.slot in self.missed
        else:
            self.here[op.slot] = self.values[op.value]

    def _computed(self, op: Any) -> Any:
        values = self.values
        given: list[object] = []
        for temp in operands(op):
            if temp not in values:
                return op
            given.append(values[temp])
        try:
            if type(op) is not ops.Call:
                found = value_of(op, given, self.table, self.budget)
            elif self.calls is not None:
                found = self.calls(op.function, given)
            else:
                return op
        except Unknown:
            return op
        if isinstance(found, range):
            values[op.result] = found
            self.unmade.add(op.result)
            return op
        return self._constant(op, op.result, found)

    def _constant(self, op: Any, temp: int, value: Any) -> ops.Op:
        self.values[temp] = value
        return ops.Const(temp, value, op.span)

    def _end(self, end: terminators.Terminator) -> terminators.Terminator:
        if isinstance(end, terminators.Branch):
            value = self.values.get(end.condition)
            if isinstance(value, bool):
                return terminators.Jump(end.then if value else end.otherwise, end.span)
        return end
