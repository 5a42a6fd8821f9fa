"""From bytecode back to the IR, as far as analyses of conversations need it.

    LOAD 0            ^0:
    INSERT       →      %0 = load $theme
    GEN 0 0             insert %0
    STORE 1             %1 = gen h0 ()
                        store $member %1

So a plan of a source and one of its artefact are made in the same way, and an old artefact can be compared.
What writes, asks, calls and branches is lifted as it was. Of operations that only compute, a `concat` of
their operands is left: what a value is made from, not how.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sglc.bytecode.code import Code, Instruction, Program
from sglc.bytecode.opcodes import OPCODES
from sglc.ir import ops
from sglc.ir import terminators as ends
from sglc.ir.module import Block, Function, HoleInfo, Module, Parameter, RetryPolicy
from sglc.ir.terminators import Terminator
from sglc.source import Source, Span

_ENDS = {"JUMP", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "NEXT", "TRY", "RETURN", "RAISE", "RERAISE"}
_FORK = ".fork."


def lift(program: Program) -> Module:
    """The functions of a verified program, without its tests."""
    sources = tuple(Source(name, text) for name, text in zip(program.files, program.sources, strict=False))
    holes = tuple(
        HoleInfo(
            hole.name,
            hole.mode,
            None if hole.type is None else program.types[hole.type],
            hole.options,
            hole.stops,
            hole.end_of_message,
            hole.by,
            hole.condition,
            tuple(program.codes[index].name for index in hole.validators),
            decoding=hole.decoding,
            models=hole.models,
            told=hole.told,
        )
        for hole in program.holes
    )
    functions = tuple(_Lifter(program, code, sources).run() for code in program.codes if code.kind != "test")
    return Module(program.name, functions, holes, program.table, sources=sources)


@dataclass(slots=True)
class _Open:
    """The block that is being made."""

    label: str
    made: list[ops.Op] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)
    loaded: dict[int, str] = field(default_factory=dict)
    """By temporary: the variable that it was loaded from."""


class _Lifter:
    def __init__(self, program: Program, code: Code, sources: tuple[Source, ...]) -> None:
        self.program, self.code, self.sources = program, code, sources
        self.temps = 0
        self.depths: dict[int, int] = {0: 0}
        """By first instruction of a block that is reached: the items on the stack there."""

    def run(self) -> Function:
        code, types = self.code, self.program.types
        starts = sorted(self._starts())
        following = dict(zip(starts, [*starts[1:], len(code.instructions)], strict=True))
        blocks: dict[int, Block] = {}
        while missing := [start for start in self.depths if start not in blocks]:
            for start in missing:
                blocks[start] = self._block(start, following[start])
        parameters = [
            Parameter(p.name, code.slots[at], types[p.type]) for at, p in enumerate(code.parameters)
        ]
        parent = None
        if code.kind == "fork":
            variable = code.slots[code.fork_slot]
            parameters = [Parameter(variable, variable, types[0] if types else None)]  # type: ignore[arg-type]
            parent = code.name.rpartition(_FORK)[0]
        retries = tuple(
            RetryPolicy(each.strategy, each.attempts, each.hole, code.slots[each.hole_slot])
            for each in code.retries
        )
        return Function(
            code.name,
            code.kind,
            tuple(parameters),
            tuple(blocks[start] for start in sorted(blocks)),
            None if code.result is None else types[code.result],
            retries,
            code.within,
            code.public,
            code.doc,
            code.raises,
            parent=parent,
        )

    def _starts(self) -> set[int]:
        """The first instructions of blocks."""
        found = {0}
        for at, (op, a, _) in enumerate(self.code.instructions):
            row = OPCODES[op]
            if "target" in row.operands:
                found.add(a)
            if row.name == "NEXT":
                found.update((at + 2, self._behind(a)))
            elif row.name in _ENDS and at + 1 < len(self.code.instructions):
                found.add(at + 1)
        return found

    def _behind(self, landing: int) -> int:
        """Where a loop goes on. What NEXT jumps to takes the iterator off the stack first."""
        op, target, _ = self.code.instructions[landing + 1]
        return target if OPCODES[op].name == "JUMP" else landing + 1

    # -- blocks --------------------------------------------------------------------------------------

    def _block(self, start: int, following: int) -> Block:
        block = _Open(str(start))
        for depth in range(self.depths[start]):
            temp = self._temp(block)
            block.made.append(ops.Load(temp, f"%stack{depth}"))
        for at in range(start, following):
            instruction = self.code.instructions[at]
            if OPCODES[instruction.op].name in _ENDS:
                return self._closed(block, self._end(block, instruction, at))
            self._operation(block, instruction, at)
        return self._closed(block, self._jump(block, following))

    def _closed(self, block: _Open, end: Terminator) -> Block:
        return Block(block.label, tuple(block.made), end)

    def _temp(self, block: _Open) -> int:
        """A new temporary, on the stack."""
        self.temps += 1
        block.stack.append(self.temps - 1)
        return self.temps - 1

    def _leave(self, block: _Open, *targets: int) -> None:
        """Keep what is on the stack for the blocks that follow."""
        for depth, temp in enumerate(block.stack):
            block.made.append(ops.Store(f"%stack{depth}", temp))
        for target in targets:
            self.depths[target] = len(block.stack)

    def _jump(self, block: _Open, target: int) -> Terminator:
        self._leave(block, target)
        return ends.Jump(str(target))

    def _end(self, block: _Open, instruction: Instruction, at: int) -> Terminator:
        op, a, b = instruction
        name, span, stack = OPCODES[op].name, self._span(at), block.stack
        match name:
            case "JUMP":
                return self._jump(block, a)
            case "JUMP_IF_FALSE" | "JUMP_IF_TRUE":
                condition = stack.pop()
                self._leave(block, a, at + 1)
                then, otherwise = (at + 1, a) if name == "JUMP_IF_FALSE" else (a, at + 1)
                return ends.Branch(condition, str(then), str(otherwise), span)
            case "NEXT":
                # The verifier has seen to it that the iterator comes from a variable and goes back to it.
                iterator, behind = block.loaded[stack.pop()], self._behind(a)
                block.made.pop()
                self._leave(block, behind, at + 2)
                return ends.Next(iterator, self.code.slots[b], str(at + 2), str(behind), span)
            case "TRY":
                self._leave(block, a, at + 1)
                return ends.Try(str(at + 1), str(a), bool(b), span)
            case "RETURN":
                return ends.Return(stack.pop(), span)
            case "RERAISE":
                return ends.Reraise(stack.pop(), span)
        given = self._pop(block, b)
        return ends.RaiseError(self.program.names[a], given, span)

    def _pop(self, block: _Open, count: int) -> tuple[int, ...]:
        if not count:
            return ()
        taken = tuple(block.stack[-count:])
        del block.stack[-count:]
        return taken

    # -- operations ----------------------------------------------------------------------------------

    def _operation(self, block: _Open, instruction: Instruction, at: int) -> None:
        op, a, b = instruction
        row = OPCODES[op]
        if row.name == "DUPLICATE":
            block.stack.append(block.stack[-1])
            return
        if row.name == "POP":
            block.stack.pop()
            return
        count = row.pops
        if count is None:
            count = dict(zip(row.operands, (a, b), strict=False))["count"] + row.extra
        given = self._pop(block, count)
        make = _MAKERS.get(row.name)
        span = self._span(at)
        if make is not None:
            made = make(self, a, b, given, span)
            if made is not None:
                block.made.append(made)
            return
        result = self._temp(block) if row.pushes else None
        if result is None:
            return
        block.made.append(self._valued(row.name, result, a, b, given, span))
        if row.name == "LOAD":
            block.loaded[result] = self.code.slots[a]

    def _valued(
        self, name: str, result: int, a: int, b: int, given: tuple[int, ...], span: Span | None
    ) -> ops.Op:
        program = self.program
        match name:
            case "CONSTANT":
                return ops.Const(result, program.constants[a], span)
            case "LOAD":
                return ops.Load(result, self.code.slots[a], span)
            case "LIST":
                return ops.MakeList(result, given, span)
            case "TUPLE":
                return ops.MakeTuple(result, given, span)
            case "RANGE":
                return ops.MakeRange(result, given[0], given[1], bool(a), span)
            case "ITERATE":
                return ops.Iterate(result, given[0], span)
            case "CALL":
                return ops.Call(result, program.codes[a].name, given, span)
            case "STREAM_NEXT":
                return ops.NextPart(result, program.names[a], span)
            case "STREAM_PART":
                return ops.GetPart(result, program.types[a], span)
            case "END_STREAM":
                return ops.CloseStream(result, span)
            case "PYTHON" if self.code.extern is not None:
                return ops.CallPython(result, self.code.extern, given, span)
            case "CALL_PART":
                return ops.CallPart(result, program.codes[a].name, given, span)
            case "CATCH":
                return ops.Catch(result, program.names[a], span)
            case "ERROR":
                return ops.HandledError(result, span)
            case "LIMIT":
                return ops.Limit(result, given[0], program.names[a], span)
            case "GEN":
                return ops.Generate(result, a, given, span)
            case "SELECT":
                return ops.SelectOption(result, a, given, span)
            case "FORK":
                return ops.RunFork(result, program.codes[a].name, given[0], bool(b), span)
        return ops.Concat(result, given, span)

    def _span(self, at: int) -> Span | None:
        place = self.code.places[at]
        if place.file >= len(self.sources):
            return None
        return Span(self.sources[place.file], place.start, place.end)


_Maker = Callable[[_Lifter, int, int, tuple[int, ...], "Span | None"], "ops.Op | None"]


def _text(lifter: _Lifter, a: int, b: int, given: tuple[int, ...], span: Span | None) -> ops.Op:
    return ops.Text(str(lifter.program.constants[a]), span)


_MAKERS: dict[str, _Maker] = {
    "STORE": lambda lifter, a, b, given, span: ops.Store(lifter.code.slots[a], given[0], span),
    "START": lambda lifter, a, b, given, span: ops.Start(lifter.program.codes[a].name, given, span),
    "STREAM": lambda lifter, a, b, given, span: ops.OpenStream(lifter.program.codes[a].name, given, span),
    "END_TRY": lambda lifter, a, b, given, span: ops.EndTry(span),
    "MARK": lambda lifter, a, b, given, span: ops.Mark(span),
    "FORGET": lambda lifter, a, b, given, span: ops.Forget(span),
    "TOOLS": lambda lifter, a, b, given, span: ops.OfferTools(str(lifter.program.constants[a]), span),
    "CALL_TEXT": lambda lifter, a, b, given, span: ops.CallText(lifter.program.names[a], span),
    "ROLE": lambda lifter, a, b, given, span: ops.OpenRole(lifter.program.names[a], span),
    "END_ROLE": lambda lifter, a, b, given, span: ops.CloseRole(span),
    "LINE": lambda lifter, a, b, given, span: ops.Line(span),
    "GLUE": lambda lifter, a, b, given, span: ops.Glue(span),
    "TEXT": _text,
    "INSERT": lambda lifter, a, b, given, span: ops.Insert(given[0], span),
    "SNAPSHOT": lambda lifter, a, b, given, span: ops.Snapshot(a, span),
    "RETRY": lambda lifter, a, b, given, span: ops.TryAgain(a, given[0], span),
    "ADOPT": lambda lifter, a, b, given, span: ops.AdoptBranch(given[0], span),
}
"""What instructions without a result become, as far as layouts look at them; others are left out."""
