"""Writes outside of the program that a run would do again: a `write` without a key in a retry or a fork.

    ^entry:
      snapshot r0
      %0 = gen h0 ()
      %1 = call @send (%0)        between a snapshot and its retry: done once an attempt
      …
      retry r0 %3

A `retry` goes back to the snapshot of its hole and takes the way from there anew; the branches of a fork take
one body many times, side by side. Whatever lies there and writes, by itself or through what it calls, writes
again. A `write` with a key does not: of calls with one key the first is made, and its result is kept. `try`
repeats nothing: an `except` arm runs instead of what failed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from sglc.ir import ops
from sglc.ir.module import Function, Module
from sglc.ir.shape import successors
from sglc.source import Span

Spot = tuple[str, int]
"""Label of a block and index in it; the terminator stands behind the last operation."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A call that would write again. `path` are the functions from the call to the one that writes."""

    function: str
    span: Span | None
    path: tuple[str, ...]
    again: str
    """What repeats it: `retry` or `fork`."""
    around: Span | None
    """Where that stands."""


def replays(module: Module) -> list[Replay]:
    """All of them, in the order of the module, each call once."""
    functions = {function.name: function for function in module.functions}
    writers = {f.name for f in functions.values() if _writes(f)}
    if not writers:
        return []
    found: dict[int, Replay] = {}
    for function in module.functions:
        if function.kind == "test":
            continue
        if function.kind == "fork":
            for block in function.blocks:
                for op in block.ops:
                    _add(found, functions, writers, function, op, "fork", function.span)
        for number in range(len(function.retries)):
            for op, around in _between(function, number):
                _add(found, functions, writers, function, op, "retry", around)
    return list(found.values())


def _writes(function: Function) -> bool:
    """Whether it is a function of Python that writes, and has no key."""
    return any(
        isinstance(op, ops.CallPython) and op.spec.effect == "write" and op.spec.key is None
        for block in function.blocks
        for op in block.ops
    )


def _add(
    found: dict[int, Replay],
    functions: dict[str, Function],
    writers: set[str],
    function: Function,
    op: ops.Op,
    again: str,
    around: Span | None,
) -> None:
    if not isinstance(op, ops.Call | ops.CallPart | ops.RunFork) or id(op) in found:
        return
    path = path_to(functions, op.function, writers)
    if path:
        found[id(op)] = Replay(function.name, op.span, path, again, around)


def path_to(functions: dict[str, Function], start: str, goals: set[str]) -> tuple[str, ...]:
    """The shortest way by calls from a function to one of some; empty where there is none."""
    before: dict[str, str | None] = {start: None}
    work = deque([start])
    while work:
        name = work.popleft()
        if name in goals:
            path = [name]
            while (previous := before[path[-1]]) is not None:
                path.append(previous)
            return tuple(reversed(path))
        if name not in functions:
            continue
        for block in functions[name].blocks:
            for op in block.ops:
                if isinstance(op, ops.Call | ops.CallPart | ops.RunFork) and op.function not in before:
                    before[op.function] = name
                    work.append(op.function)
    return ()


def _between(function: Function, retry: int) -> list[tuple[ops.Op, Span | None]]:
    """The operations on a way from a snapshot to its retry, with the place of the retry."""
    blocks = {block.label: block for block in function.blocks}
    following: dict[Spot, list[Spot]] = {}
    before: dict[Spot, list[Spot]] = {}
    starts: list[Spot] = []
    ends: list[Spot] = []
    around: Span | None = None
    for block in function.blocks:
        for index, op in enumerate(block.ops):
            following[block.label, index] = [(block.label, index + 1)]
            if isinstance(op, ops.Snapshot) and op.retry == retry:
                starts.append((block.label, index))
            if isinstance(op, ops.TryAgain) and op.retry == retry:
                ends.append((block.label, index))
                around = around or op.span
        following[block.label, len(block.ops)] = [(label, 0) for label in successors(block.end)]
    for spot, targets in following.items():
        for target in targets:
            before.setdefault(target, []).append(spot)
    ahead = _reached(starts, following, set(starts))
    behind = _reached(ends, before, set(starts))
    spots = [spot for spot in following if spot in ahead and spot in behind]
    return [(blocks[label].ops[index], around) for label, index in spots if index < len(blocks[label].ops)]


def _reached(starts: list[Spot], ways: dict[Spot, list[Spot]], stops: set[Spot]) -> set[Spot]:
    """What lies behind the starts, not going on at the stops."""
    seen: set[Spot] = set()
    work = [target for start in starts for target in ways.get(start, ())]
    while work:
        spot = work.pop()
        if spot not in seen:
            seen.add(spot)
            if spot not in stops:
                work += ways.get(spot, ())
    return seen
