"""What each function does beside computing its result: a least fixed point over the calls.

    effects(module) -> {name: FunctionEffects}

A function without holes that calls none with holes only computes, whatever it writes into its own
conversation. `fn`s that ask the model may be begun before the program gets to their calls, for nothing is
seen of them but their results; so may functions of Python that only read. What a test does (mocks,
expectations) and what writes outside of the program has its place in time and is never begun early.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from sglc.ir import ops
from sglc.ir.module import Function, Module


class Effect(IntEnum):
    """What a call does at most. A greater one includes those below it."""

    NONE = 0
    """It computes, and writes into a conversation."""
    MODEL = 1
    """It asks the model, or calls Python that writes nothing."""
    ORDERED = 2
    """It has its place in time: mocks, expectations, writes outside of the program."""


@dataclass(frozen=True, slots=True)
class FunctionEffects:
    """`calls` are the functions of kinds `STARTED` called in the function's conversation, or in a copy of
    it: by the function itself, by the parts that it calls, and by the bodies of its forks."""

    effect: Effect
    calls: frozenset[str]


NOTHING = FunctionEffects(Effect.NONE, frozenset())
"""What a function does that the module does not have."""

_OWN = {
    ops.Generate: Effect.MODEL,
    ops.SelectOption: Effect.MODEL,
    ops.NextPart: Effect.MODEL,
    ops.MockHole: Effect.ORDERED,
    ops.SetFuzz: Effect.ORDERED,
    ops.ExpectTrue: Effect.ORDERED,
    ops.ExpectError: Effect.ORDERED,
    ops.Witness: Effect.ORDERED,
    ops.BeginGolden: Effect.ORDERED,
    ops.EndGolden: Effect.ORDERED,
    ops.ReplayTrace: Effect.ORDERED,
}
STARTED = ("fn", "extern")
"""Kinds of functions that may be begun before the program gets to their calls."""
_PYTHON = {"pure": Effect.MODEL, "model": Effect.MODEL, "read": Effect.MODEL, "write": Effect.ORDERED}
"""Of functions of Python. One that is pure takes its time too, so that it is worth to be begun early."""
_CALLS = frozenset({ops.Call, ops.OpenStream, ops.CallPart, ops.RunFork})


def effects(module: Module) -> dict[str, FunctionEffects]:
    """The effects of every function of a module."""
    kinds = {function.name: function.kind for function in module.functions}
    effect: dict[str, Effect] = {}
    calls: dict[str, set[str]] = {}
    called: dict[str, set[str]] = {}
    for function in module.functions:
        name = function.name
        effect[name], called[name] = _own(function)
        calls[name] = {callee for callee in called[name] if kinds.get(callee) in STARTED}
    changed = True
    while changed:
        changed = False
        for name, callees in called.items():
            for callee in callees & effect.keys():
                if effect[callee] > effect[name]:
                    effect[name], changed = effect[callee], True
                if kinds[callee] in ("part", "fork") and not calls[callee] <= calls[name]:
                    calls[name] |= calls[callee]
                    changed = True
    return {name: FunctionEffects(effect[name], frozenset(calls[name])) for name in effect}


def _own(function: Function) -> tuple[Effect, set[str]]:
    """What the operations of a function do, and what it calls."""
    effect = Effect.ORDERED if function.kind == "test" else Effect.NONE
    called: set[str] = set()
    for block in function.blocks:
        for op in block.ops:
            kind = type(op)
            if kind in _CALLS:
                called.add(op.function)  # type: ignore[union-attr]
            elif kind in _OWN:
                effect = max(effect, _OWN[kind])
            elif isinstance(op, ops.CallPython):
                effect = max(effect, _PYTHON[op.spec.effect])
    return effect, called


def of_op(op: ops.Op, table: dict[str, FunctionEffects]) -> FunctionEffects:
    """What one operation does: as an effect, and as `fn`s called in this conversation."""
    match op:
        case ops.Call(function=name) | ops.OpenStream(function=name):
            found = table.get(name, NOTHING)
            return FunctionEffects(found.effect, frozenset({name}))
        case ops.CallPart(function=name) | ops.RunFork(function=name):
            return table.get(name, NOTHING)
    own = _OWN.get(type(op))
    return NOTHING if own is None else FunctionEffects(own, frozenset())
