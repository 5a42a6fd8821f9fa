"""Questions about the flow of control inside one function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from sglc.ir.module import Block, Function
from sglc.ir.ops import (
    Call,
    CallPart,
    CloseStream,
    EndTry,
    Forget,
    GetPart,
    Mark,
    NextPart,
    Op,
    OpenStream,
    RunFork,
    Start,
    Store,
)
from sglc.ir.shape import successors
from sglc.ir.terminators import Next, Terminator, Try

State = TypeVar("State")
_CALLS = frozenset({Call, Start, OpenStream, CallPart, RunFork})


def calls(function: Function) -> list[str]:
    """The functions that a function calls, as often as it does; the bodies of its forks among them."""
    return [op.function for block in function.blocks for op in block.ops if type(op) in _CALLS]  # type: ignore[union-attr]


def block_map(function: Function) -> dict[str, Block]:
    """The blocks of a function by label."""
    return {block.label: block for block in function.blocks}


def reachable(function: Function) -> dict[str, Block]:
    """Blocks that control can reach, in the order of the function."""
    blocks = block_map(function)
    seen = {function.blocks[0].label}
    work = [function.blocks[0].label]
    while work:
        for label in successors(blocks[work.pop()].end):
            if label not in seen:
                seen.add(label)
                work.append(label)
    return {label: block for label, block in blocks.items() if label in seen}


def predecessor_counts(function: Function) -> dict[str, int]:
    """How many edges lead to each block; the way in counts as one for the first."""
    counts = {block.label: 0 for block in function.blocks}
    counts[function.blocks[0].label] = 1
    for block in function.blocks:
        for label in successors(block.end):
            counts[label] += 1
    return counts


def forward(
    function: Function,
    start: State,
    through: Callable[[State, Block], State],
    edge: Callable[[State, Terminator, str], State],
    meet: Callable[[State, State], State],
) -> dict[str, State]:
    """The state at the beginning of each reachable block: the least informed fixpoint of a forward analysis.

    `through` takes a state to the end of a block, `edge` over one of its edges, `meet` joins two roads. The
    states must form a lattice of finite height, and `meet` must only ever lose information.
    """
    blocks = block_map(function)
    states: dict[str, State] = {function.blocks[0].label: start}
    work = [function.blocks[0].label]
    while work:
        label = work.pop()
        block = blocks[label]
        out = through(states[label], block)
        for target in successors(block.end):
            new = edge(out, block.end, target)
            if target in states:
                new = meet(states[target], new)
                if new == states[target]:
                    continue
            states[target] = new
            work.append(target)
    return states


def assigned_slots(function: Function, start: frozenset[str]) -> dict[str, frozenset[str]]:
    """Variables that surely have a value at the beginning of each reachable block.

    An error may come before any store of a try's body, so its handler knows only what held at the `try`.
    """

    def through(state: frozenset[str], block: Block) -> frozenset[str]:
        stored = [op.slot for op in block.ops if type(op) is Store]
        return state.union(stored) if stored else state

    def edge(state: frozenset[str], end: Terminator, target: str) -> frozenset[str]:
        if isinstance(end, Next) and target == end.body:
            return state | {end.item}
        return state

    return forward(function, start, through, edge, frozenset.intersection)


Opened = tuple[type, ...]
"""Classes of the operations that are open, handlers (`Try`), marks (`Mark`) and streams (`OpenStream`), the
newest last."""
_OPENS: dict[type, type] = {EndTry: Try, Forget: Mark, CloseStream: OpenStream}
"""What an operation closes."""


def after_closing(opened: Opened, op: Op) -> Opened | None:
    """What is open behind an operation; None where it closes or reads what is not the newest."""
    kind = type(op)
    if kind is Mark or kind is OpenStream:
        return (*opened, kind)
    if kind is NextPart or kind is GetPart:
        return opened if opened and opened[-1] is OpenStream else None
    closes = _OPENS.get(kind)
    if closes is None:
        return opened
    return opened[:-1] if opened and opened[-1] is closes else None


def opened_at(function: Function) -> dict[str, frozenset[Opened]]:
    """What may be open at the beginning of each reachable block; one for each where it is sound.

    What is not sound, or more than 64 deep, is not followed further.
    """

    def through(state: frozenset[Opened], block: Block) -> frozenset[Opened]:
        for op in block.ops:
            if type(op) in _SEEN:
                behind = [after_closing(opened, op) for opened in state]
                state = frozenset(each for each in behind if each is not None and len(each) <= 64)
        return state

    def edge(state: frozenset[Opened], end: Terminator, target: str) -> frozenset[Opened]:
        if isinstance(end, Try) and target == end.body:
            return frozenset((*opened, Try) for opened in state if len(opened) < 64)
        return state

    start: frozenset[Opened] = frozenset({()})
    return forward(function, start, through, edge, frozenset.union)


_SEEN = frozenset({EndTry, Mark, Forget, OpenStream, NextPart, GetPart, CloseStream})


def reverse_postorder(function: Function) -> list[str]:
    """The reachable blocks, each before those that it leads to, but for ways back (reverse postorder)."""
    blocks = block_map(function)
    order: list[str] = []
    seen = {function.blocks[0].label}
    work: list[tuple[str, Iterator[str]]] = [
        (function.blocks[0].label, iter(reversed(successors(function.blocks[0].end))))
    ]
    while work:
        label, targets = work[-1]
        target = next((t for t in targets if t not in seen), None)
        if target is None:
            order.append(label)
            work.pop()
        else:
            seen.add(target)
            work.append((target, iter(reversed(successors(blocks[target].end)))))
    return order[::-1]


def natural_loops(function: Function) -> dict[str, frozenset[str]]:
    """By first block of a loop: the blocks of the loop."""
    blocks = block_map(function)
    order = {label: at for at, label in enumerate(reverse_postorder(function))}
    before: dict[str, list[str]] = {label: [] for label in order}
    for label in order:
        for target in successors(blocks[label].end):
            before[target].append(label)
    found: dict[str, frozenset[str]] = {}
    for label in order:
        for header in successors(blocks[label].end):
            if order[header] > order[label]:
                continue
            members, work = {header}, [label]
            while work:
                here = work.pop()
                if here not in members:
                    members.add(here)
                    work += before[here]
            found[header] = found.get(header, frozenset()) | members
    return found
