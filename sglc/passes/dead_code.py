"""Removes what cannot be reached or is never used, and joins blocks that always follow each other.

    ^a:                          ^a:
      %0 = const 1                 text "x"
      store $unused %0      →      return %1
      text "x"
      jump ^b
    ^b:
      return %1
    ^c:
      ...

Gone are: blocks that nothing leads to, results of harmless operations that nothing uses, stores to variables
that nothing reads (here or in a fork body), and functions of other modules that nothing calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sglc.ir import ops, terminators
from sglc.ir.flow import calls, predecessor_counts, reachable
from sglc.ir.module import Block, Function, HoleInfo, Module
from sglc.ir.shape import TOTAL, operands, result
from sglc.passes.rewrite import numbered, relabelled, with_unnumbered


def run(module: Module, tidy: Module | None = None) -> Module:
    """The module without its dead code, repeated until none is left: a dropped store frees the value that it
    stored, which may leave a block empty, which may free a condition.

    `tidy` is a module that this pass has given back: functions that are the same objects in it have no dead
    code, but for stores that only a fork body has read.
    """
    known = {id(function) for function in tidy.functions} if tidy is not None else set()
    given = {function.name: function for function in module.functions}
    functions = given
    changed = [function for function in module.functions if id(function) not in known]
    while changed:
        functions = _called({**functions, **{each.name: _flow(each) for each in changed}}, module.holes)
        read = _read_slots(_families(functions, changed))
        changed = []
        for name in read:
            smaller = _unused(functions[name], read[name])
            if smaller is not functions[name]:
                functions[name] = smaller
                changed.append(smaller)
    kept = tuple([each if each is given[name] else numbered(each) for name, each in functions.items()])
    if len(kept) == len(given) and all([a is b for a, b in zip(kept, module.functions, strict=True)]):
        return module
    return replace(module, functions=kept)


def _families(functions: Mapping[str, Function], changed: Sequence[Function]) -> list[Function]:
    """The functions that have changed, those they are fork bodies of, and all fork bodies of these."""

    def head(function: Function) -> str:
        while function.parent is not None and function.parent in functions:
            function = functions[function.parent]
        return function.name

    heads = {head(function) for function in changed}
    return [function for function in functions.values() if head(function) in heads]


# -- flow ------------------------------------------------------------------------------------------


def _flow(function: Function) -> Function:
    """Live blocks only, empty ones skipped, chains joined; repeated until nothing changes."""
    while True:
        smaller = with_unnumbered(function, _join(_thread(_live(function))))
        if smaller is function:
            return function
        function = smaller


def _live(function: Function) -> Function:
    live = reachable(function)
    if len(live) == len(function.blocks):
        return function
    return replace(function, blocks=tuple(live.values()))


def _thread(function: Function) -> Function:
    """Jumps to a block that only jumps on go to where it leads; branches to one place become jumps."""
    onward: dict[str, str] = {}
    first = function.blocks[0].label
    for block in function.blocks:
        if not block.ops and type(block.end) is terminators.Jump and block.label != first:
            onward[block.label] = block.end.target
    for label in list(onward):
        seen = {label}
        target = onward[label]
        while target in onward and target not in seen:
            seen.add(target)
            target = onward[target]
        if target in seen:
            # A loop of empty blocks: it runs for ever, and stays.
            del onward[label]
        else:
            onward[label] = target
    changed = []
    same = True
    for block in function.blocks:
        end = relabelled(block.end, onward) if onward else block.end
        if type(end) is terminators.Branch and end.then == end.otherwise:
            end = terminators.Jump(end.then, end.span)
        same = same and end is block.end
        changed.append(block if end is block.end else replace(block, end=end))
    return function if same else _live(replace(function, blocks=tuple(changed)))


def _join(function: Function) -> tuple[Block, ...]:
    """A block that ends in a jump takes in the block it goes to, if nothing else goes there."""
    counts = predecessor_counts(function)
    blocks = {block.label: block for block in function.blocks}
    gone: set[str] = set()
    joined: list[Block] = []
    for block in function.blocks:
        if block.label in gone:
            continue
        current = blocks[block.label]
        while isinstance(current.end, terminators.Jump):
            target = current.end.target
            if counts[target] != 1 or target == current.label or target not in blocks:
                break
            following = blocks.pop(target)
            gone.add(target)
            current = Block(current.label, current.ops + following.ops, following.end)
        if current is not block:
            blocks[block.label] = current
        joined.append(current)
    # A block taken in may have stood before the one that took it.
    return tuple(block for block in joined if block.label not in gone)


# -- uses ------------------------------------------------------------------------------------------


def _read_slots(functions: Sequence[Function]) -> dict[str, set[str]]:
    """For each function, the variables that it or a fork body inside it reads."""
    read: dict[str, set[str]] = {}
    for function in functions:
        found = {policy.slot for policy in function.retries}
        for block in function.blocks:
            found.update(op.slot for op in block.ops if type(op) is ops.Load)
            if isinstance(block.end, terminators.Next):
                found.add(block.end.iterator)
        read[function.name] = found
    for function in reversed(functions):
        if function.parent is not None and function.parent in read:
            read[function.parent] |= read[function.name]
    return read


def _unused(function: Function, read: set[str]) -> Function:
    return with_unnumbered(function, tuple([_without_unused(block, read) for block in function.blocks]))


def _without_unused(block: Block, read: set[str]) -> Block:
    """The block without harmless operations whose result, or stored value, nothing uses."""
    used = set(operands(block.end))
    harmless: set[int | None] | None = None
    kept: list[ops.Op] = []
    for op in reversed(block.ops):
        if type(op) in TOTAL:
            if result(op) not in used:
                continue
        elif type(op) is ops.Store and op.slot not in read:
            if harmless is None:
                harmless = {result(other) for other in block.ops if type(other) in TOTAL}
            if op.value in harmless:
                continue
        used.update(operands(op))
        kept.append(op)
    return block if len(kept) == len(block.ops) else replace(block, ops=tuple(reversed(kept)))


def _called(functions: dict[str, Function], holes: Sequence[HoleInfo]) -> dict[str, Function]:
    """Functions of the main module, tests, conditions of types, and all that these and the holes lead to."""
    live: set[str] = set()
    work = [f.name for f in functions.values() if f.of_program and f.kind != "fork"]
    work += [name for hole in holes for name in hole.validators]
    work += [name for name, function in functions.items() if function.is_condition]
    while work:
        name = work.pop()
        if name in live or name not in functions:
            continue
        live.add(name)
        work += calls(functions[name])
    return functions if len(live) == len(functions) else {n: f for n, f in functions.items() if n in live}
