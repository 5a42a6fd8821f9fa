"""Gives a function that is called with constants a copy, where that makes its roads or texts known.

    fn @main() {                          fn @main() {
      %0 = const "ice"                      %0 = const "ice"
      %1 = const ["a", "b"]                 %1 = const ["a", "b"]
      %2 = call @rate (%0, %1)              %2 = call @"rate#1" ()
      ...                                   ...
    fn @rate(x $x, shown $shown) {   →    fn @"rate#1"() {
    ^entry:                                 copy @rate
      ...                                 ^entry:
      next $%each $one ^body ^done          text "Example: a\\nExample: b"
      ...                                   ...

The rule. A copy pays if a branch or a loop of the function is decided by the constants, or if a text that it
computes becomes constant. A parameter that is merely inserted makes no copy: that the text of such a call
begins alike is known without one (`sglc.analysis.prefix`).

Nothing can be seen of a copy: seeds, events, errors, checks and accounts have the name of the original
(`Function.copy_of`). Equal calls share a copy. Functions that fork, and calls in tests, are left as they are:
a test runs the function that it names. The original stays where it can be called from outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sglc.ir import ops, terminators
from sglc.ir.flow import reachable
from sglc.ir.literal import print_literal
from sglc.ir.module import Block, Function, Module
from sglc.passes.evaluate import EVALUATED, Budget
from sglc.passes.rewrite import with_blocks
from sglc.passes.unroll import Unrolling
from sglc.types.values import Value

COPIES = 4
"""Most copies of one function: what is called with more different constants is called with data."""
LARGEST = 300
"""Most operations of a function that is copied: some sixty lines."""
GROWTH = 2_000
"""Most operations of all copies of a module, before they are folded. An artefact holds what is left."""


def run(module: Module) -> Module:
    """The module with copies for calls with constants, and these calls changed to them."""
    return _Specialiser(module).run()


class _Specialiser:
    """The functions of a module, as far as they are done.

    `copies` are the names of those for calls that were seen, None where none pays.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.unrolling = Unrolling(module, Budget())
        self.functions = {function.name: function for function in module.functions}
        forking = {function.parent for function in module.functions}
        self.eligible = {
            name
            for name, function in self.functions.items()
            if function.parameters and name not in forking and function.kind in ("fn", "part", "pure")
        }
        self.copies: dict[tuple[str, str], str | None] = {}
        self.counts: Counter[str] = Counter()
        self.left = GROWTH

    def run(self) -> Module:
        """The module after the pass."""
        names = [name for name, function in self.functions.items() if function.kind != "test"]
        for name in names:  # grows meanwhile: a copy may call others with what it knows
            before = len(self.functions)
            self.functions[name] = self._calling(self.functions[name])
            names += list(self.functions)[before:]
        done = tuple(self.functions.values())
        if len(done) == len(self.module.functions):
            return self.module
        return replace(self.module, functions=done)

    def _calling(self, function: Function) -> Function:
        """The function with its calls changed."""
        blocks = tuple([self._block(block) for block in function.blocks])
        return with_blocks(function, blocks)

    def _block(self, block: Block) -> Block:
        known: dict[int, Value] = {}
        changed: dict[int, ops.Op] = {}
        for at, op in enumerate(block.ops):
            if type(op) is ops.Const:
                known[op.result] = op.value
            elif isinstance(op, ops.Call | ops.CallPart) and op.function in self.eligible:
                given = {n: known[temp] for n, temp in enumerate(op.arguments) if temp in known}
                copy = self._copy(self.functions[op.function], given) if given else None
                if copy is not None:
                    rest = tuple([temp for n, temp in enumerate(op.arguments) if n not in given])
                    changed[at] = replace(op, function=copy, arguments=rest)
        if not changed:
            return block
        return replace(block, ops=tuple([changed.get(at, op) for at, op in enumerate(block.ops)]))

    def _copy(self, function: Function, given: Mapping[int, Value]) -> str | None:
        """The name of the copy for some constant arguments, made if there is none yet; None if none pays."""
        original = function.copy_of or function.name
        key = (function.name, print_literal([(n, value) for n, value in given.items()]))
        if key not in self.copies:
            self.copies[key] = None
            size = sum(len(block.ops) + 1 for block in function.blocks)
            if size > min(LARGEST, self.left) or self.counts[original] == COPIES:
                return None
            self.left -= size
            name = f"{original}#{self.counts[original] + 1}"
            made = self.unrolling.function(_with_constants(function, name, given), set())
            if _pays(function, made):
                self.counts[original] += 1
                self.functions[name] = made
                if made.parameters:
                    self.eligible.add(name)
                self.copies[key] = name
        return self.copies[key]


def _with_constants(function: Function, name: str, given: Mapping[int, Value]) -> Function:
    """A copy whose parameters that are given are variables, which it sets first."""
    first: list[ops.Op] = []
    for temp, (n, value) in enumerate(given.items()):
        first += (ops.Const(temp, value), ops.Store(function.parameters[n].slot, temp))
    label = "constants"
    while any(block.label == label for block in function.blocks):
        label += "_"
    entry = Block(label, tuple(first), terminators.Jump(function.blocks[0].label))
    rest = tuple([parameter for n, parameter in enumerate(function.parameters) if n not in given])
    copy = replace(
        function,
        name=name,
        copy_of=function.copy_of or function.name,
        parameters=rest,
        public=False,
        doc="",
    )
    return with_blocks(copy, (entry, *function.blocks))


def _pays(function: Function, copy: Function) -> bool:
    """Whether a copy has fewer branches and loops, or writes fewer values and computes less."""
    before, after = _counts(function), _counts(copy)
    return after[0] < before[0] or (after[1] < before[1] and after[2] < before[2])


def _counts(function: Function) -> tuple[int, int, int]:
    """Branches and loops, values that are written, and operations that compute."""
    roads = writes = computes = 0
    for block in reachable(function).values():
        roads += isinstance(block.end, terminators.Branch | terminators.Next)
        for op in block.ops:
            writes += type(op) is ops.Insert
            computes += type(op) in EVALUATED
    return roads, writes, computes
