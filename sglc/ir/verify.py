"""Says what is wrong with a module. Sound modules are what every pass takes and gives.

A fault here is a fault of the compiler, not of the program: faults are sentences, not diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterator

from sglc.callables.tool_text import CALL_PARTS
from sglc.ir.flow import after_closing, assigned_slots, block_map, forward, opened_at
from sglc.ir.module import Block, Function, Module
from sglc.ir.ops import (
    Binary,
    Call,
    CallPart,
    CallPython,
    CallText,
    CheckGiven,
    Generate,
    Iterate,
    Load,
    MakeMap,
    MakeRecord,
    MakeVariant,
    OfferTools,
    Op,
    OpenStream,
    RunFork,
    SelectOption,
    Snapshot,
    Start,
    Store,
    TryAgain,
    Unary,
)
from sglc.ir.print import print_op
from sglc.ir.shape import operands, result, successors
from sglc.ir.terminators import Next, RaiseError, Return, Terminator
from sglc.types.dependent import given_values
from sglc.types.type import Named, RecordType, UnionType

UNARY_OPERATORS = frozenset({"-", "not"})
BINARY_OPERATORS = frozenset(
    {"+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"}
    | {"matches", "contains", "both"}
)


CALLEES = {
    Call: ("fn", "pure", "extern"),
    Start: ("fn", "extern"),
    OpenStream: ("fn",),
    CallPart: ("part",),
}
"""Kinds of the functions that each operation may name."""


def verify(module: Module) -> list[str]:
    """Every fault, each as a sentence that begins with its place; empty for a sound module."""
    faults: list[str] = []
    functions: dict[str, Function] = {}
    for function in module.functions:
        if function.name in functions:
            faults.append(f"@{function.name}: two functions of this name")
        functions[function.name] = function
    at_forks: dict[str, frozenset[str]] = {}
    errors = {error.name: len(error.fields) for error in reversed(module.errors)}
    for function in module.functions:
        faults += _Checker(module, functions, errors, function, at_forks).run()
    return faults


class _Checker:
    """The checks of one function.

    `errors` says how many fields each declared error has; `at_forks` gathers what is assigned where each fork
    body is started.
    """

    def __init__(
        self,
        module: Module,
        functions: dict[str, Function],
        errors: dict[str, int],
        function: Function,
        at_forks: dict[str, frozenset[str]],
    ) -> None:
        self.module = module
        self.functions = functions
        self.errors = errors
        self.function = function
        self.at_forks = at_forks
        self.blocks = block_map(function)
        self.faults: list[str] = []

    def fault(self, block: Block, op: Op | Terminator, reason: str) -> None:
        self.faults.append(f"@{self.function.name} ^{block.label}: {print_op(op)}: {reason}")

    def run(self) -> list[str]:
        function = self.function
        if not self._labels():
            return self.faults
        start = frozenset(parameter.slot for parameter in function.parameters)
        if function.kind == "fork":
            if len(function.parameters) != 1 or function.parent not in self.functions:
                return [f"@{function.name}: a fork body has one parameter and a parent"]
            start |= self.at_forks.get(function.name, frozenset())
        for policy in function.retries:
            if policy.hole >= len(self.module.holes):
                self.faults.append(f"@{function.name}: a retry of the unknown hole h{policy.hole}")
        self._temps()
        # What control cannot reach is not asked for its variables, nor is a body that no fork starts.
        if function.kind != "fork" or function.name in self.at_forks:
            self._slots(start)
        self._handlers()
        if function.retries:
            self._snapshots()
        for block in function.blocks:
            for op in (*block.ops, block.end):
                for reason in self._details(op, block):
                    self.fault(block, op, reason)
        return self.faults

    def _labels(self) -> bool:
        function = self.function
        labels = {block.label for block in function.blocks}
        if not function.blocks or len(labels) != len(function.blocks):
            self.faults.append(f"@{function.name}: no blocks, or two of one label")
            return False
        for block in function.blocks:
            for label in successors(block.end):
                if label not in labels:
                    self.fault(block, block.end, f"no block ^{label}")
        return not self.faults

    def _temps(self) -> None:
        written: set[int] = set()
        for block in self.function.blocks:
            here: set[int] = set()
            for op in (*block.ops, block.end):
                for temp in operands(op):
                    if temp not in here:
                        self.fault(block, op, f"%{temp} has no value here")
                made = result(op)
                if made is not None:
                    if made in written:
                        self.fault(block, op, f"%{made} is written twice")
                    written.add(made)
                    here.add(made)

    def _slots(self, start: frozenset[str]) -> None:
        iterators = {b.end.iterator for b in self.function.blocks if isinstance(b.end, Next)}
        for label, entry in assigned_slots(self.function, start).items():
            block = self.blocks[label]
            assigned = set(entry)
            made: set[int] = set()
            for op in (*block.ops, block.end):
                match op:
                    case Iterate(result=temp):
                        made.add(temp)
                    case Load(slot=slot) if slot not in assigned or slot in iterators:
                        self.fault(block, op, f"${slot} is no variable with a value here")
                    case Next(iterator=slot) if slot not in assigned:
                        self.fault(block, op, f"${slot} has no iterator here")
                    case Next(iterator=slot, item=item) if slot == item or item in iterators:
                        self.fault(block, op, f"${item} holds an iterator")
                    case Store(slot=slot, value=temp):
                        assigned.add(slot)
                        if (temp in made) != (slot in iterators):
                            self.fault(block, op, "an iterator is kept in a slot of its own")
                    case RunFork(function=name):
                        known = self.at_forks.get(name)
                        here = frozenset(assigned - iterators)
                        self.at_forks[name] = here if known is None else known & here

    def _handlers(self) -> None:
        for label, ways in opened_at(self.function).items():
            block = self.blocks[label]
            if len(ways) != 1:
                self.faults.append(f"@{self.function.name} ^{label}: handlers are not balanced")
                continue
            (opened,) = ways
            for op in block.ops:
                behind = after_closing(opened, op)
                if behind is None:
                    self.fault(block, op, "what it closes or reads is not the newest that is open")
                    break
                opened = behind
            else:
                if isinstance(block.end, Return) and opened:
                    self.fault(block, block.end, "a handler, a mark or a stream is still open")

    def _snapshots(self) -> None:
        def through(state: frozenset[int], block: Block) -> frozenset[int]:
            return state | {op.retry for op in block.ops if isinstance(op, Snapshot)}

        nothing: frozenset[int] = frozenset()
        states = forward(
            self.function, nothing, through, lambda state, _end, _target: state, lambda a, b: a & b
        )
        for label, entry in states.items():
            block = self.blocks[label]
            taken = set(entry)
            for op in block.ops:
                if isinstance(op, Snapshot):
                    taken.add(op.retry)
                elif isinstance(op, TryAgain) and op.retry not in taken:
                    self.fault(block, op, "its snapshot may not have been taken")

    def _details(self, op: Op | Terminator, block: Block) -> Iterator[str]:
        match op:
            case Unary(operator=operator) if operator not in UNARY_OPERATORS:
                yield "unknown operator"
            case Binary(operator=operator) if operator not in BINARY_OPERATORS:
                yield "unknown operator"
            case MakeMap(items=items) if len(items) % 2:
                yield "keys and values come in pairs"
            case MakeRecord(type=type_, items=items):
                record = self.module.table.get(type_.name) if isinstance(type_, Named) else None
                if not isinstance(record, RecordType) or len(record.fields) != len(items):
                    yield "no record type with so many fields"
            case CheckGiven(type=type_, values=values):
                count = len(given_values(type_))
                if not count or len(values) != count + 1:
                    yield "other values than the type depends on"
            case MakeVariant(name=name, items=items):
                union, _, variant = name.rpartition(".")
                declared = self.module.table.get(union)
                shape = declared.variant(variant) if isinstance(declared, UnionType) else None
                if shape is None or len(shape.fields) != len(items):
                    yield "no variant with so many fields"
            case (
                Call(function=name, arguments=arguments)
                | Start(function=name, arguments=arguments)
                | OpenStream(function=name, arguments=arguments)
                | CallPart(function=name, arguments=arguments)
            ):
                kinds = CALLEES[type(op)]
                callee = self.functions.get(name)
                if callee is None or callee.kind not in kinds:
                    yield "no such function"
                elif len(callee.parameters) != len(arguments):
                    yield f"it takes {len(callee.parameters)} arguments"
            case CallPython(spec=spec, arguments=arguments):
                if self.function.kind != "extern":
                    yield "in a function that is no `extern`"
                elif fault := spec.fault(len(arguments)):
                    yield fault
            case OfferTools() if self.function.kind != "fn" or block is not self.function.blocks[0]:
                yield "tools are offered where a `fn` begins"
            case CallText(part=part) if part not in CALL_PARTS:
                yield "no such part of a call"
            case RunFork(function=name):
                callee = self.functions.get(name)
                if callee is None or callee.kind != "fork" or callee.parent != self.function.name:
                    yield "no such fork body here"
            case Generate(hole=hole, options=options) | SelectOption(hole=hole, options=options):
                selects = isinstance(op, SelectOption)
                if hole >= len(self.module.holes):
                    yield "no such hole"
                elif (self.module.holes[hole].mode == "select") != selects:
                    yield "the hole is of another mode"
                elif len(self.module.holes[hole].options) != len(options):
                    yield "the hole has another number of options"
                elif any(
                    name not in self.functions or self.functions[name].kind != "pure"
                    for name in self.module.holes[hole].validators
                ):
                    yield "a validator of the hole is no pure function"
                elif (decoding := self.module.holes[hole].decoding) is not None and decoding.fault():
                    yield decoding.fault()
            case Snapshot(retry=retry) | TryAgain(retry=retry) if retry >= len(self.function.retries):
                yield "no such retry"
            case RaiseError(name=name, arguments=arguments):
                due = self.errors.get(name)
                if due is not None and due != len(arguments):
                    yield f"the error has {due} fields"
