"""Puts the body of a `part` where it is called.

    part @greet(name $name: Str()) {        fn @f() {
    ^entry:                                 ^entry:
      line                                    %0 = const "Ada"
      text "Hello"                            store $greet.name %0
      %0 = const null                         jump ^greet
      return %0                             ^greet:
    }                                  →      line
    fn @f() {                                 text "Hello"
    ^entry:                                   %1 = const null
      %0 = const "Ada"                        store $greet.result %1
      %1 = call_part @greet (%0)              jump ^entry.1
      ...                                   ^entry.1:
                                              %2 = load $greet.result

A part is put in place if it is small (or called once and not large), does not lead back to itself, and has
neither a budget nor forks of its own. Its holes keep the names they have. A called part that nothing
calls any more is removed if it is not from the main module (`dead_code`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sglc.ir import ops, terminators
from sglc.ir.module import Block, Function, Module
from sglc.ir.ops import Op
from sglc.ir.shape import operands, result, slots_of
from sglc.passes.rewrite import Part, each_function, relabelled, renamed, with_blocks

SMALL = 30
"""Most operations of a part that is put in place wherever it is called."""
ONCE = 120
"""Most operations of one that is called once; a chain of such parts is copied at each of its links."""
LARGE = 2_000
"""Most operations that a function may grow to by this pass."""


def run(module: Module) -> Module:
    """The module with its parts put in place, innermost calls first."""
    calls: dict[str, int] = {}
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if type(op) is ops.CallPart:
                    calls[op.function] = calls.get(op.function, 0) + 1
    if not calls:
        return module
    done: dict[str, Function] = {f.name: f for f in module.functions}
    forking = {f.parent for f in module.functions if f.parent is not None}
    looping = _recursive(module)
    order = _callees_first(module)

    def fits(name: str) -> bool:
        part = done.get(name)
        if part is None or part.kind != "part" or name in looping or name in forking:
            return False
        return part.within is None and _size(part) <= (ONCE if calls.get(name) == 1 else SMALL)

    for name in order:
        function = done[name]
        if function.kind != "fork":
            done[name] = _Inliner(function, {n: done[n] for n in _part_calls(function) if fits(n)}).run()
    return each_function(module, lambda function: done[function.name])


def _size(function: Function) -> int:
    return sum(len(block.ops) + 1 for block in function.blocks)


def _part_calls(function: Function) -> list[str]:
    return [op.function for block in function.blocks for op in block.ops if type(op) is ops.CallPart]


def _recursive(module: Module) -> set[str]:
    """Parts that lead back to themselves through calls of parts."""
    edges = {function.name: set(_part_calls(function)) for function in module.functions}
    above: dict[str, list[str]] = {}
    for name, below in edges.items():
        for other in below:
            above.setdefault(other, []).append(name)
    left = {name: len([other for other in below if other in edges]) for name, below in edges.items()}
    ended = [name for name, count in left.items() if not count]
    for name in ended:  # grows meanwhile: what leads to these alone leads to no cycle
        for other in above.get(name, ()):
            left[other] -= 1
            if not left[other]:
                ended.append(other)
    found: set[str] = set()
    for name in edges.keys() - set(ended):
        seen: set[str] = set()
        work = list(edges[name])
        while work:
            other = work.pop()
            if other not in seen:
                seen.add(other)
                work.extend(edges.get(other, ()))
        if name in seen:
            found.add(name)
    return found


def _callees_first(module: Module) -> list[str]:
    """Names of the functions, parts before those that call them (where that is possible)."""
    functions = {function.name: function for function in module.functions}
    order: list[str] = []
    state: dict[str, bool] = {}
    for start in functions:
        work: list[tuple[str, bool]] = [(start, False)]
        while work:
            name, leaving = work.pop()
            if leaving:
                order.append(name)
            elif name not in state and name in functions:
                state[name] = True
                work.append((name, True))
                work.extend((callee, False) for callee in _part_calls(functions[name]))
    return order


class _Inliner:
    """Rebuilds one function around the parts that it calls."""

    def __init__(self, function: Function, parts: dict[str, Function]) -> None:
        self.function = function
        self.parts = parts
        self.size = _size(function)
        self.retries = list(function.retries)
        self.labels = {block.label for block in function.blocks}
        self.slots = {parameter.slot for parameter in function.parameters}
        self.temps = 0
        for block in function.blocks:
            for op in block.ops:
                temp = result(op)
                self.temps = self.temps if temp is None else max(self.temps, temp + 1)
                self.slots.update(slots_of(op))
            self.slots.update(slots_of(block.end))

    def run(self) -> Function:
        if not any(name in self.parts for name in _part_calls(self.function)):
            return self.function
        blocks: list[Block] = []
        for block in self.function.blocks:
            self._block(block, blocks)
        return with_blocks(replace(self.function, retries=tuple(self.retries)), tuple(blocks))

    def _block(self, block: Block, blocks: list[Block]) -> None:
        label = block.label
        pending: list[Op] = []
        names: dict[int, int] = {}
        made: set[int] = set()
        remaining = list(block.ops)
        while remaining:
            op = remaining.pop(0)
            part = self.parts.get(op.function) if isinstance(op, ops.CallPart) else None
            if not isinstance(op, ops.CallPart) or part is None or self.size + _size(part) > LARGE:
                pending.append(renamed(op, names))
                temp = result(op)
                if temp is not None:
                    made.add(temp)
                continue
            call = renamed(op, names)
            self.size += _size(part)
            # Temporaries do not outlive a block: those that are needed after the call go through slots.
            later = {t for o in (*remaining, block.end) for t in operands(o)}
            kept = {}
            for temp in sorted(made & later):
                slot = self._fresh("%kept", self.slots)
                pending.append(ops.Store(slot, names.get(temp, temp)))
                kept[temp] = slot
            slots = self._slot_names(part)
            for parameter, argument in zip(part.parameters, call.arguments, strict=True):
                pending.append(ops.Store(slots[parameter.slot], argument, call.span))
            outcome = self._fresh(f"%{part.name}.result", self.slots)
            entry, following = self._body(part, slots, outcome, blocks, label)
            blocks.append(Block(label, tuple(pending), terminators.Jump(entry, call.span)))
            blocks.extend(self.inlined)
            label, pending = following, []
            for temp, slot in kept.items():
                names[temp] = self._temp()
                pending.append(ops.Load(names[temp], slot))
            names[call.result] = self._temp()
            pending.append(ops.Load(names[call.result], outcome, call.span))
            made.add(call.result)
        blocks.append(Block(label, tuple(pending), renamed(block.end, names)))

    def _body(
        self, part: Function, slots: dict[str, str], outcome: str, blocks: list[Block], label: str
    ) -> tuple[str, str]:
        """Copy the blocks of a part; the labels of its first block and of the block after it."""
        labels = {b.label: self._fresh(f"{_plain(part.name)}.{b.label}", self.labels) for b in part.blocks}
        following = self._fresh(f"{label.split('.after')[0]}.after", self.labels)
        first_retry = len(self.retries)
        for policy in part.retries:
            self.retries.append(replace(policy, slot=slots[policy.slot]))
        base = self.temps
        self.inlined: list[Block] = []
        for block in part.blocks:
            copies: list[Op] = []
            for op in block.ops:
                copies.append(self._copied(op, slots, base, first_retry))
            if isinstance(block.end, terminators.Return):
                copies.append(ops.Store(outcome, block.end.value + base, block.end.span))
                end: terminators.Terminator = terminators.Jump(following, block.end.span)
            else:
                end = relabelled(self._copied(block.end, slots, base, first_retry), labels)
            self.inlined.append(Block(labels[block.label], tuple(copies), end))
        return labels[part.blocks[0].label], following

    def _copied(self, op: Part, slots: dict[str, str], base: int, first_retry: int) -> Part:
        changes: dict[str, Any] = {}
        for name in ("slot", "iterator"):
            if hasattr(op, name):
                changes[name] = slots[getattr(op, name)]
        if isinstance(op, terminators.Next):
            changes["item"] = slots[op.item]
        if isinstance(op, ops.Snapshot | ops.TryAgain):
            changes["retry"] = op.retry + first_retry
        copy: Any = replace(op, **changes) if changes else op
        temp = result(copy)
        if temp is not None:
            copy = replace(copy, result=temp + base)
            self.temps = max(self.temps, temp + base + 1)
        shifted: Part = renamed(copy, _Shifted(base))
        return shifted

    def _slot_names(self, part: Function) -> dict[str, str]:
        """New names for the variables of a part, unique in this function."""
        names: dict[str, str] = {}
        found = [parameter.slot for parameter in part.parameters]
        for block in part.blocks:
            for op in (*block.ops, block.end):
                found.extend(slots_of(op))
        found.extend(policy.slot for policy in part.retries)
        for slot in found:
            if slot not in names:
                # A leading per cent sign marks the compiler's own variables; it stays in front.
                mark = "%" if slot.startswith("%") else ""
                names[slot] = self._fresh(f"{mark}{part.name}.{slot.lstrip('%')}", self.slots)
        return names

    def _fresh(self, stem: str, taken: set[str]) -> str:
        name, number = stem, 2
        while name in taken:
            name = f"{stem}.{number}"
            number += 1
        taken.add(name)
        return name

    def _temp(self) -> int:
        self.temps += 1
        return self.temps - 1


class _Shifted(dict[int, int]):
    """Maps every temporary to the one that many numbers on."""

    def __init__(self, base: int) -> None:
        super().__init__()
        self._base = base

    def get(self, key: int, default: object = None) -> int:
        return key + self._base


def _plain(name: str) -> str:
    return "".join(char if char.isalnum() or char in "._" else "_" for char in name)
