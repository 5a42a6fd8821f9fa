"""Puts the body of a loop over a constant once for each item, where that makes its text or its values known.

    %0 = const ["a", "b"]              %0 = const "a"
    %1 = iterate %0                    store $x.1 %0
    store $%iterator %1                jump ^body.1
    jump ^each                       ^body.1:
  ^each:                               %1 = load $x.1
    next $%iterator $x ^body ^done →   insert %1
  ^body:                               %2 = const "b"
    %2 = load $x                       store $x.2 %2
    insert %2                          jump ^body.2
    jump ^each                       ^body.2:
                                       ...

The rule. A loop is unrolled if its body only computes and writes text, and

- it inserts a value that depends on nothing but the item, so that more of the text is constant; or
- all that it does is known: the loop goes, and what it has computed is a constant.

Text that is constant is merged, tokenised when a model is loaded and shared between calls. A body with a
hole, a call of a `fn` or `part`, a fork, a retry or a handler stays: the text behind a hole begins nothing
that could be shared, and more copies of the hole would gain nothing.

Calls of pure functions on constants are evaluated too (`calls`), and everything is folded after each round,
for an inner loop may go over what an outer one has made known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sglc.ir import ops, terminators
from sglc.ir.flow import block_map, reachable
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import SHAPES, operands, result, slots_of, successors
from sglc.passes.calls import Calls
from sglc.passes.evaluate import EVALUATED, Budget, Unknown, value_of
from sglc.passes.fold import fold_function, slots_around
from sglc.passes.rewrite import each_function, numbered, relabelled, with_unnumbered

MOST = 600
"""Most operations that the copies of one loop may have before they are folded: some hundred lines of text, or
a list of a hundred computed items. An artefact holds what is left of them."""
LARGE = 2_000
"""Most operations that a function may grow to by this pass, as by `inline`."""

_TEXT = frozenset({ops.OpenRole, ops.CloseRole, ops.Line, ops.Glue, ops.Text, ops.Insert})
_COPIED = EVALUATED | _TEXT | {ops.Const, ops.Load, ops.Store, ops.Iterate, ops.Call}
"""Operations of a body that is unrolled. Of calls those of pure functions."""
_ENDS = (terminators.Jump, terminators.Branch, terminators.Next)


def run(module: Module) -> Module:
    """The module with its constant loops unrolled, calls on constants evaluated, and the results folded.

    Functions are taken as `fold` leaves them: what it has not made a constant is none here.
    """
    unrolling = Unrolling(module, Budget())
    around = slots_around(module)

    def change(function: Function) -> Function:
        if function.kind == "test":
            return function  # it runs once, and what it tests shall run with it
        if _calls_pure(function, unrolling.calls):
            return unrolling.function(function, around[function.name])
        return unrolling.folded(function, around[function.name])

    return each_function(module, change)


class Unrolling:
    """What the functions of a module share: its types, its pure functions, the work that is left."""

    def __init__(self, module: Module, budget: Budget) -> None:
        self.table = module.table
        self.budget = budget
        self.calls = Calls(module, budget)

    def function(self, function: Function, around: set[str]) -> Function:
        """One function, folded and unrolled in turn until nothing changes. See `fold_function`."""
        return self.folded(self._fold(function, around), around)

    def folded(self, function: Function, around: set[str]) -> Function:
        """`function` for one that is folded already, all but its calls."""
        while any(type(block.end) is terminators.Next for block in function.blocks):
            unrolled = _Unroller(function, around, self.budget, self.calls).run()
            if unrolled is function:
                break
            function = self._fold(unrolled, around)
            if function is unrolled:
                function = numbered(function)
        return function

    def _fold(self, function: Function, around: set[str]) -> Function:
        return fold_function(function, around, self.table, self.budget, self.calls.result)


def _calls_pure(function: Function, calls: Calls) -> bool:
    """Whether a function calls a pure one: whether folding it again may find more."""
    return any(
        type(op) is ops.Call and op.function in calls.functions
        for block in function.blocks
        for op in block.ops
    )


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over known items.

    `before` is the block that makes the iterator; `body` has all blocks of the loop but the one with the
    `next`, in the order of the function.
    """

    before: str
    head: str
    next: terminators.Next
    items: Sequence[object]
    body: tuple[str, ...]


class _Unroller:
    """Unrolls the loops of one function that stand in no other one that is unrolled."""

    def __init__(self, function: Function, inherited: set[str], budget: Budget, calls: Calls) -> None:
        self.function = function
        self.inherited = inherited
        self.budget = budget
        self.pure = calls.functions
        self.blocks = block_map(function)
        self.size = sum(len(block.ops) + 1 for block in function.blocks)
        self.above: dict[str, list[str]] = {label: [] for label in self.blocks}
        for label, block in reachable(function).items():
            for target in successors(block.end):
                self.above[target].append(label)
        self.labels = set(self.blocks)
        self.slots = set(inherited).union(*(slots_of(op) for b in function.blocks for op in (*b.ops, b.end)))
        self.stores: dict[str, int] = {}
        for block in function.blocks:
            for op in block.ops:
                if type(op) is ops.Store:
                    self.stores[op.slot] = self.stores.get(op.slot, 0) + 1

    def run(self) -> Function:
        """The function with its loops unrolled, its temporaries not numbered; itself if there is none."""
        gone: set[str] = set()
        replaced: dict[str, list[Block]] = {}
        for block in self.function.blocks:
            if type(block.end) is not terminators.Next or block.label in gone:
                continue
            loop = self._loop(block)
            if loop is None or gone & {loop.before, *loop.body} or not self._pays(loop):
                continue
            gone |= {loop.head, *loop.body}
            replaced[loop.head] = self._copies(loop)
            before = replaced.pop(loop.before, [self.blocks[loop.before]])
            replaced[loop.before] = [self._without_iterator(each, loop) for each in before]
        if not replaced:
            return self.function
        blocks: list[Block] = []
        for block in self.function.blocks:
            if block.label in replaced:
                blocks += replaced[block.label]
            elif block.label not in gone:
                blocks.append(block)
        return with_unnumbered(self.function, tuple(blocks))

    # -- which loops ---------------------------------------------------------------------------------

    def _loop(self, head: Block) -> Loop | None:
        """The loop of a block that takes the next item, if its items are known and its body may be copied."""
        end = head.end
        assert isinstance(end, terminators.Next)
        if head.ops or self.stores.get(end.iterator) != 1 or end.iterator in self.inherited:
            return None
        before = [label for label in self.above[head.label] if self._makes(label, end.iterator)]
        if len(before) != 1 or type(self.blocks[before[0]].end) is not terminators.Jump:
            return None
        items = self._items(self.blocks[before[0]], end.iterator)
        if items is None:
            return None
        body: set[str] = set()
        work = [label for label in self.above[head.label] if label != before[0]]
        while work:
            label = work.pop()
            if label not in body and label != head.label:
                body.add(label)
                work += self.above[label]
        order = tuple([block.label for block in self.function.blocks if block.label in body])
        if before[0] in body or end.body not in body or self.function.blocks[0].label in body:
            return None
        if not all(self._copied(self.blocks[label]) for label in order) or self._has_cycle(order):
            return None
        return Loop(before[0], head.label, end, items, order)

    def _has_cycle(self, body: Sequence[str]) -> bool:
        """Whether a round has a cycle, other than a loop over items."""
        left = dict.fromkeys(body, 0)
        for label in body:
            for target in _onward(self.blocks[label]):
                if target in left:
                    left[target] += 1
        ended = [label for label, count in left.items() if not count]
        for label in ended:  # grows meanwhile
            for target in _onward(self.blocks[label]):
                if target in left:
                    left[target] -= 1
                    if not left[target]:
                        ended.append(target)
        return len(ended) < len(left)

    def _makes(self, label: str, iterator: str) -> bool:
        return any(type(op) is ops.Store and op.slot == iterator for op in self.blocks[label].ops)

    def _items(self, block: Block, iterator: str) -> Sequence[object] | None:
        """What the iterator that a block makes goes over, if that is known."""
        values: dict[int, object] = {}
        made: dict[int, int] = {}
        for op in block.ops:
            if type(op) is ops.Const:
                values[op.result] = op.value
            elif type(op) is ops.MakeRange and op.start in values and op.stop in values:
                try:
                    values[op.result] = value_of(op, [values[op.start], values[op.stop]], {}, self.budget)
                except Unknown:
                    return None
            elif type(op) is ops.Iterate:
                made[op.result] = op.value
            elif type(op) is ops.Store and op.slot == iterator:
                items = values.get(made[op.value])
                if isinstance(items, dict):
                    items = list(items)
                return items if isinstance(items, list | tuple | str | range) else None
        return None

    def _copied(self, block: Block) -> bool:
        for op in block.ops:
            if type(op) not in _COPIED or (type(op) is ops.Call and op.function not in self.pure):
                return False
        return isinstance(block.end, _ENDS)

    def _pays(self, loop: Loop) -> bool:
        """Whether the rule holds for a loop, and its copies are within the bounds."""
        body = [self.blocks[label] for label in loop.body]
        size = sum(len(block.ops) + 1 for block in body) * len(loop.items)
        if size > MOST or self.size + size > LARGE:
            return False
        known = _Known(loop, body, self._constant_before(loop), self._local(loop))
        if known.writes or known.all:
            self.size += size
            return True
        return False

    def _constant_before(self, loop: Loop) -> set[str]:
        """Variables that the block before the loop sets to a constant."""
        constants: set[int] = set()
        found: set[str] = set()
        for op in self.blocks[loop.before].ops:
            if type(op) is ops.Const:
                constants.add(op.result)
            elif type(op) is ops.Store:
                (found.add if op.value in constants else found.discard)(op.slot)
        return found

    # -- copies --------------------------------------------------------------------------------------

    def _without_iterator(self, block: Block, loop: Loop) -> Block:
        if block.label != loop.before:
            return block
        store = next(op for op in block.ops if type(op) is ops.Store and op.slot == loop.next.iterator)
        kept = tuple([op for op in block.ops if op is not store and result(op) != store.value])
        return replace(block, ops=kept)

    def _copies(self, loop: Loop) -> list[Block]:
        """The blocks that take the place of the loop's head and body."""
        local = self._local(loop)
        heads = [loop.head, *[self._label(f"{loop.head}.{at}") for at in range(1, len(loop.items))]]
        made: list[Block] = []
        span = loop.next.span
        if not loop.items:
            return [Block(loop.head, (), terminators.Jump(loop.next.done, span))]
        for at, item in enumerate(loop.items):
            labels = {label: self._label(f"{label}.{at}") for label in loop.body}
            labels[loop.head] = heads[at + 1] if at + 1 < len(heads) else loop.next.done
            slots = {slot: self._slot(f"{slot}.{at}") for slot in local}
            slot = slots.get(loop.next.item, loop.next.item)
            first = ops.Const(0, item, span), ops.Store(slot, 0, span)  # type: ignore[arg-type]
            made.append(Block(heads[at], first, terminators.Jump(labels[loop.next.body], span)))
            for label in loop.body:
                block = self.blocks[label]
                copied = tuple([_in_slots(op, slots) for op in block.ops])
                end = relabelled(_in_slots(block.end, slots), labels)
                made.append(Block(labels[label], copied, end))
        return made

    def _local(self, loop: Loop) -> set[str]:
        """Variables that only the body writes and reads. Each copy has its own, which is written once.

        Every load of such a variable has a store before it in the same round: in the first round there is no
        other.
        """
        written: dict[str, int] = {}
        others: set[str] = set(self.inherited) | {policy.slot for policy in self.function.retries}
        others |= {parameter.slot for parameter in self.function.parameters}
        for block in self.function.blocks:
            inside = block.label in loop.body
            for op in block.ops:
                if type(op) is ops.Store:
                    if inside:
                        written[op.slot] = written.get(op.slot, 0) + 1
                    else:
                        others.add(op.slot)
                elif type(op) is ops.Load and not inside:
                    others.add(op.slot)  # where an error leaves the loop
            if isinstance(block.end, terminators.Next):
                if inside or block.label == loop.head:
                    written[block.end.item] = written[block.end.iterator] = 1
                else:
                    others |= {block.end.item, block.end.iterator}
        return written.keys() - others

    def _label(self, stem: str) -> str:
        return _fresh(stem, self.labels)

    def _slot(self, stem: str) -> str:
        return _fresh(stem, self.slots)


def _onward(block: Block) -> tuple[str, ...]:
    """Where control goes on, but for another round of a loop over items."""
    return (block.end.done,) if isinstance(block.end, terminators.Next) else successors(block.end)


def _fresh(stem: str, taken: set[str]) -> str:
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    taken.add(name)
    return name


class _Known:
    """What is known of a loop's body when its item is: whether it `writes` such a value, whether `all` is.

    `before` are variables that are constants before the loop, `local` those that only the body writes.
    """

    def __init__(self, loop: Loop, body: list[Block], before: set[str], local: set[str]) -> None:
        stored = {op.slot for block in body for op in block.ops if type(op) is ops.Store}
        inner = {block.end.item for block in body if isinstance(block.end, terminators.Next)}
        self.carried = (stored & before) - local
        self.slots = {loop.next.item} | self.carried | (stored & local) | (inner & local)
        """Known variables, until something unknown is found to be stored in one."""
        size = -1
        while size != len(self.slots):
            size = len(self.slots)
            self.writes, self.all = False, True
            for block in body:
                self._block(block)

    def _block(self, block: Block) -> None:
        known: dict[int, bool] = {}
        """Known temporaries; True for those that depend on the item or on what the loop computes."""
        op: Any
        for op in block.ops:
            cls = type(op)
            if cls is ops.Const:
                known[op.result] = False
            elif cls is ops.Load and op.slot in self.slots:
                known[op.result] = True
            elif cls is ops.Store and op.value not in known:
                self.slots.discard(op.slot)
            elif cls in _TEXT:
                self.all = False
                self.writes = self.writes or (cls is ops.Insert and known.get(op.value, False))
            elif cls in EVALUATED or cls is ops.Iterate or cls is ops.Call:
                given = operands(op)
                if all(temp in known for temp in given):
                    known[op.result] = any(known[temp] for temp in given)
            if SHAPES[cls].has_result and op.result not in known:
                self.all = False
        end = block.end
        if isinstance(end, terminators.Branch) and end.condition not in known:
            self.all = False
            self.slots -= self.carried  # behind the branch either value may be in one
        elif isinstance(end, terminators.Next) and end.iterator not in self.slots:
            self.all = False
            self.slots.discard(end.item)


def _in_slots(op: Any, slots: dict[str, str]) -> Any:
    """The operation on other variables."""
    if not any(slot in slots for slot in slots_of(op)):
        return op
    if isinstance(op, terminators.Next):
        item, iterator = slots.get(op.item, op.item), slots.get(op.iterator, op.iterator)
        return replace(op, item=item, iterator=iterator)
    slot = slots[op.slot]
    return ops.Load(op.result, slot, op.span) if type(op) is ops.Load else ops.Store(slot, op.value, op.span)
