"""One function of the IR to one code object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sglc.bytecode.code import Code, Instruction, ParameterSpec, Place, RetryPoint
from sglc.bytecode.opcodes import BY_NAME
from sglc.callables.extern_spec import ExternSpec
from sglc.emit.pools import NOWHERE, Pools
from sglc.emit.stack import Home, plan
from sglc.ir import ops, terminators
from sglc.ir.flow import reachable
from sglc.ir.module import TEST_MARK, Block, Function
from sglc.ir.shape import operands, result

_NUMBER = {name: opcode.number for name, opcode in BY_NAME.items()}
_LOAD, _STORE, _POP, _JUMP = (_NUMBER[name] for name in ("LOAD", "STORE", "POP", "JUMP"))

# Operations whose operands are two numbers found in the pools: opcode and the functions that give them.
_BY_COUNT = {
    ops.MakeList: ("LIST", "items"),
    ops.MakeTuple: ("TUPLE", "items"),
    ops.MakeMap: ("MAP", "items"),
    ops.Concat: ("STRING", "parts"),
}
_BY_NAME = {
    ops.Unary: ("UNARY", "operator"),
    ops.Binary: ("BINARY", "operator"),
    ops.GetField: ("ATTRIBUTE", "name"),
    ops.WithField: ("WITH_FIELD", "name"),
    ops.IsVariant: ("IS_VARIANT", "name"),
    ops.Catch: ("CATCH", "name"),
    ops.Limit: ("LIMIT", "name"),
    ops.NextPart: ("STREAM_NEXT", "hole"),
    ops.ReplayTrace: ("REPLAY", "path"),
    ops.OpenRole: ("ROLE", "role"),
    ops.CallText: ("CALL_TEXT", "part"),
}
_BY_NAME_AND_COUNT = {
    ops.MakeVariant: ("VARIANT", "items"),
    ops.CallBuiltin: ("BUILTIN", "arguments"),
    ops.CallMethod: ("METHOD", "arguments"),
    terminators.RaiseError: ("RAISE", "arguments"),
}
_PLAIN = {
    ops.Append: "APPEND",
    ops.GetItem: "INDEX",
    ops.GetSlice: "SLICE",
    ops.WithItem: "WITH_ITEM",
    ops.Iterate: "ITERATE",
    ops.EndTry: "END_TRY",
    ops.Mark: "MARK",
    ops.Forget: "FORGET",
    ops.CloseStream: "END_STREAM",
    ops.HandledError: "ERROR",
    ops.CloseRole: "END_ROLE",
    ops.Line: "LINE",
    ops.Glue: "GLUE",
    ops.Insert: "INSERT",
    ops.SetSeed: "SEED",
    ops.AdoptBranch: "ADOPT",
    ops.ExpectTrue: "EXPECT",
    ops.BeginGolden: "GOLDEN",
    ops.EndGolden: "END_GOLDEN",
    terminators.Return: "RETURN",
    terminators.Reraise: "RERAISE",
}


class FunctionEmitter:
    """Emits one function; the pools and the indices of all functions are shared by the program."""

    def __init__(
        self, function: Function, pools: Pools, codes: Mapping[str, int], inherited: Sequence[str]
    ) -> None:
        self.function = function
        self.pools = pools
        self.codes = codes
        self.instructions: list[Instruction] = []
        self.places: list[Place] = []
        self.place = pools.place(function.span) if function.span is not None else NOWHERE
        self.slots: dict[str, int] = {name: index for index, name in enumerate(inherited)}
        for parameter in function.parameters:
            self.slot(parameter.slot)
        self.starts: dict[str, int] = {}
        self.fixups: list[tuple[int, str]] = []
        self.landings: dict[str, tuple[str, Place]] = {}
        """Where loops end, by label: the block they go on to and the place of the loop."""
        self.extern: ExternSpec | None = None

    def slot(self, name: str) -> int:
        """The number of a variable; a new one gets the next."""
        index = self.slots.get(name)
        if index is None:
            index = self.slots[name] = len(self.slots)
        return index

    def put(self, op: int, a: int = 0, b: int = 0) -> None:
        """Append an instruction, at the current place of the source."""
        self.instructions.append(Instruction(op, a, b))
        self.places.append(self.place)

    def jump(self, op: int, label: str, b: int = 0) -> None:
        """Append a jump to a label, whose number is filled in at the end."""
        self.fixups.append((len(self.instructions), label))
        self.put(op, 0, b)

    def emit(self) -> Code:
        """The code object of the function: blocks that can be reached, then what catches their errors."""
        function = self.function
        blocks = list(reachable(function).values())
        for index, block in enumerate(blocks):
            self.starts[block.label] = len(self.instructions)
            self._block(block, blocks[index + 1].label if index + 1 < len(blocks) else None)
        for landing, (done, place) in self.landings.items():
            self.place = place
            self.starts[landing] = len(self.instructions)
            self.put(_POP)
            self.jump(_JUMP, done)
        for at, label in self.fixups:
            op, _, b = self.instructions[at]
            self.instructions[at] = Instruction(op, self.starts[label], b)
        retries = tuple(
            RetryPoint(policy.strategy, policy.attempts, policy.hole, self.slot(policy.slot))
            for policy in function.retries
        )
        is_fork = function.kind == "fork"
        parameters = tuple(
            ParameterSpec(p.name, self.pools.type(p.type), p.has_default, p.default)
            for p in (() if is_fork else function.parameters)
        )
        return Code(
            name=function.name.removeprefix(TEST_MARK) if function.kind == "test" else function.name,
            kind=function.kind,
            parameters=parameters,
            result=None if function.result is None else self.pools.type(function.result),
            slots=tuple(self.slots),
            instructions=tuple(self.instructions),
            places=tuple(self.places),
            retries=retries,
            within=function.within,
            public=function.public,
            doc=function.doc,
            raises=function.raises,
            fork_slot=self.slots[function.parameters[0].slot] if is_fork else 0,
            tags=function.tags,
            copy_of=function.copy_of,
            extern=self.extern,
        )

    def _block(self, block: Block, following: str | None) -> None:
        homes = plan(block)
        self.makers: dict[int, ops.Op] = {}
        self.spilled: dict[int, str] = {}
        place = self.pools.place
        for op in (*block.ops, block.end):
            if op.span is not None:
                self.place = place(op.span)
            for temp in operands(op):
                home = homes[temp]
                if home == "again":
                    self._operation(self.makers[temp])
                elif home == "slot":
                    self.put(_LOAD, self.slot(self.spilled[temp]))
            temp_or_none = result(op)
            if temp_or_none is None:
                if isinstance(op, terminators.TERMINATORS):
                    self._terminator(op, following)  # type: ignore[arg-type]
                else:
                    self._operation(op)
                continue
            self._valued(op, temp_or_none, homes[temp_or_none])

    def _valued(self, op: Any, temp: int, home: Home) -> None:
        if home == "again":
            self.makers[temp] = op
            return
        if home == "skip":
            return
        self._operation(op)
        if home == "slot":
            name = f"%{len(self.spilled)}"
            self.spilled[temp] = name
            self.put(_STORE, self.slot(name))
        elif home == "drop":
            self.put(_POP)

    def _operation(self, op: Any) -> None:
        """The instruction of an operation that is no terminator, its operands on the stack."""
        cls = type(op)
        number, pools = _NUMBER, self.pools
        match op:
            case ops.Const():
                self.put(number["CONSTANT"], pools.constant(op.value))
            case ops.Load():
                self.put(_LOAD, self.slot(op.slot))
            case ops.Store():
                self.put(_STORE, self.slot(op.slot))
            case ops.Text():
                self.put(number["TEXT"], pools.constant(op.text))
            case ops.MakeRecord():
                self.put(number["RECORD"], pools.type(op.type), len(op.items))
            case ops.MakeRange():
                self.put(number["RANGE"], int(op.inclusive))
            case ops.CheckType():
                self.put(number["CHECK_TYPE"], pools.type(op.type))
            case ops.CheckGiven():
                self.put(number["CHECK_GIVEN"], pools.type(op.type), len(op.values))
            case ops.WriteAs():
                self.put(number["WRITE_AS"], pools.type(op.type))
            case ops.IsType():
                self.put(number["IS_TYPE"], pools.type(op.type))
            case ops.Call():
                self.put(number["CALL"], self.codes[op.function], len(op.arguments))
            case ops.Start():
                self.put(number["START"], self.codes[op.function], len(op.arguments))
            case ops.OpenStream():
                self.put(number["STREAM"], self.codes[op.function], len(op.arguments))
            case ops.GetPart():
                self.put(number["STREAM_PART"], pools.type(op.type))
            case ops.CallPart():
                self.put(number["CALL_PART"], self.codes[op.function], len(op.arguments))
            case ops.OfferTools():
                self.put(number["TOOLS"], pools.constant(op.tools))
            case ops.CallPython():
                self.extern = op.spec
                self.put(number["PYTHON"], len(op.arguments))
            case ops.Generate():
                self.put(number["GEN"], op.hole, len(op.options))
            case ops.SelectOption():
                self.put(number["SELECT"], op.hole, len(op.options))
            case ops.Snapshot():
                self.put(number["SNAPSHOT"], op.retry)
            case ops.TryAgain():
                self.put(number["RETRY"], op.retry)
            case ops.RecordCheck():
                self.put(number["RECORD_CHECK"], int(op.passed))
            case ops.RunFork():
                self.put(number["FORK"], self.codes[op.function], int(op.skip))
            case ops.MockHole():
                self.put(number["MOCK"], pools.name(op.name), int(op.always))
            case ops.Witness():
                self.put(number["WITNESS"], pools.name(op.text))
            case ops.SetFuzz():
                self.put(number["FUZZ"], int(op.on))
            case ops.ExpectError():
                self.put(number["EXPECT_RAISES"], pools.name(op.name), int(op.missing))
            case _ if cls in _PLAIN:
                self.put(number[_PLAIN[cls]])
            case _ if cls in _BY_NAME:
                opcode, field = _BY_NAME[cls]
                self.put(number[opcode], pools.name(getattr(op, field)))
            case _ if cls in _BY_COUNT:
                opcode, field = _BY_COUNT[cls]
                self.put(number[opcode], len(getattr(op, field)))
            case _:
                opcode, field = _BY_NAME_AND_COUNT[cls]
                self.put(number[opcode], pools.name(op.name), len(getattr(op, field)))

    def _terminator(self, op: terminators.Terminator, following: str | None) -> None:
        number = _NUMBER
        match op:
            case terminators.Jump(target=target):
                if target != following:
                    self.jump(_JUMP, target)
            case terminators.Branch(then=then, otherwise=otherwise):
                if otherwise == following:
                    self.jump(number["JUMP_IF_TRUE"], then)
                    return
                self.jump(number["JUMP_IF_FALSE"], otherwise)
                if then != following:
                    self.jump(_JUMP, then)
            case terminators.Next(iterator=iterator, item=item, body=body, done=done):
                # At the end the iterator is still on the stack: a landing of its own takes it off.
                landing = f"{done} landing"
                self.put(_LOAD, self.slot(iterator))
                self.jump(number["NEXT"], landing, self.slot(item))
                self.put(_STORE, self.slot(iterator))
                if body != following:
                    self.jump(_JUMP, body)
                self.landings.setdefault(landing, (done, self.place))
            case terminators.Try(body=body, handler=handler, quiet=quiet):
                self.jump(number["TRY"], handler, int(quiet))
                if body != following:
                    self.jump(_JUMP, body)
            case _:
                self._operation(op)
