"""Values that can be computed again at an earlier place: from which operations, and from where on.

    %0 = load $n
    %1 = const 1
    %2 = binary "+" %0 %1           Again(binary "+", (Again(load $n), Again(const 1))), known where $n is
    store $m %2
    ...
    %3 = load $m                    the same: what was stored is looked through
    %4 = call @f (%3)

Only operations that compute are done again, and of those a bounded number. Calls of pure functions are among
them where the function is *brief*: no loop, no recursion, at most `BRIEF` operations with all that it calls,
and none that a trace tells of, such as a `check` or a handler that catches an error. The copy is done in
addition to the computation that the program asks for, so it must cost next to nothing beside the token that
it lets begin earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sglc.analysis.regions import Graph, dominators
from sglc.ir import ops
from sglc.ir.module import Function, Module
from sglc.ir.shape import TOTAL, successors
from sglc.ir.terminators import Branch, Jump, RaiseError, Return

BRIEF = 60
"""Most operations of a computation that is done twice, those of pure functions included. An operation takes
the machine about a microsecond, a token a thousand of them."""

COMPUTING = frozenset(
    {ops.Const, ops.Load, ops.MakeList, ops.MakeTuple, ops.MakeMap, ops.MakeRecord, ops.MakeVariant}
    | {ops.Concat, ops.Unary, ops.Binary, ops.MakeRange, ops.GetField, ops.GetItem, ops.GetSlice}
    | {ops.WithItem, ops.WithField, ops.CallBuiltin, ops.CallMethod, ops.CheckType, ops.WriteAs}
    | {ops.CheckGiven, ops.IsVariant, ops.IsType}
)
"""Operations whose result depends on their operands alone, and that change nothing. `Append` is none of them:
it may change its list."""


_BRIEF = COMPUTING | {ops.Store, ops.Append, ops.Call}
_BRIEF_ENDS = (Jump, Branch, Return, RaiseError)
"""What a brief function consists of."""


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """An operation to do again, on operands that are done again. Equal ones are the same object."""

    op: ops.Op
    parts: tuple[Again | Given, ...]

    @property
    def total(self) -> bool:
        """Whether nothing in it can fail."""
        return type(self.op) in TOTAL and all(isinstance(p, Given) or p.total for p in self.parts)


@dataclass(frozen=True, slots=True)
class Given:
    """A temporary of the block itself, whose operation is not done again."""

    temp: int


@dataclass(frozen=True, slots=True)
class Known:
    """A value with the positions of its region at which it can be had: from `first` to `last`, before the
    operation that stands there. `size` is how many operations it takes."""

    value: Again | Given
    first: int
    last: int
    size: int


def brief_functions(module: Module) -> dict[str, int]:
    """Pure functions whose calls may be done again, with the operations of a call at most."""
    pure = {function.name: function for function in module.functions if function.kind == "pure"}
    sizes: dict[str, int | None] = {}
    for name in pure:
        _size(name, pure, sizes)
    return {name: size for name, size in sizes.items() if size is not None}


def _size(name: str, pure: Mapping[str, Function], sizes: dict[str, int | None]) -> int | None:
    """Operations of one call at most; None where there is no bound, or a great one."""
    if name in sizes:
        return sizes[name]
    sizes[name] = None  # what leads back here has no bound
    function = pure.get(name)
    if function is None or _loops(function):
        return None
    total = 0
    for block in function.blocks:
        total += len(block.ops) + 1
        if not isinstance(block.end, _BRIEF_ENDS):
            return None
        for op in block.ops:
            if type(op) not in _BRIEF:
                return None
            if isinstance(op, ops.Call):
                inner = _size(op.function, pure, sizes)
                if inner is None:
                    return None
                total += inner
        if total > BRIEF:
            return None
    sizes[name] = total
    return total


def _loops(function: Function) -> bool:
    flow: Graph = {block.label: successors(block.end) for block in function.blocks}
    number = {label: index for index, label in enumerate(dominators(function.blocks[0].label, flow))}
    return any(number[target] <= number[label] for label in number for target in flow[label])
