"""What a function writes into its conversation, as far as that is one list whatever its arguments are.

user: | Hello ${name}        →   Message("user", ["Hello ", Reference("name")])
assistant: | ?{mood: Mood}       Message("assistant", [Hole(…)])

The intermediate code is walked once from its beginning. Loops over constants are gone through; what depends
on arguments or answers in any other way than by being put into a text is a loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sglc.ir import ops, terminators
from sglc.ir.flow import block_map
from sglc.ir.module import Block, Function, HoleInfo, Module
from sglc.targets.projection.core.loss import Loss
from sglc.types.values import RecordValue
from sglc.values.text import display, written_as

STEPS = 100_000
"""Operations that are walked through before a loop counts as one that a list cannot hold."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A value of the run: an argument, an answer, or a field of one (`member.name`)."""

    path: str


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole, with its options by name: constants, or what else they are."""

    info: HoleInfo
    options: Mapping[str, object]
    name: str
    """Its name without its function; with a number behind it where the hole was filled before."""

    @property
    def place(self) -> str:
        """As losses name it."""
        return f"hole {self.info.name}"


Part = str | Reference | Hole


@dataclass(slots=True)
class Message:
    """A message, or with an empty role the text of a function without messages."""

    role: str
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Script:
    """All messages of a function. `whole` is false where a loss has ended the walk."""

    function: Function
    messages: tuple[Message, ...]
    losses: tuple[Loss, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Joined:
    """A text that is made of constants and references."""

    parts: tuple[str | Reference, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a hole gives beside what its strategy found."""

    value: object


class _Unknown:
    """A value that the run computes."""


@dataclass(frozen=True, slots=True)
class _Cursor:
    items: tuple[object, ...]


class _Lost(Exception):
    """What ends the walk."""

    def __init__(self, construct: str) -> None:
        self.construct = construct


_UNKNOWN = _Unknown()


def scripts_of(module: Module) -> tuple[Script, ...]:
    """The functions of the main module that ask a model, in their order."""
    asking = _asking(module)
    return tuple(
        _Walk(module, function).script()
        for function in module.functions
        if function.kind == "fn" and not function.module and function.name in asking
    )


def _asking(module: Module) -> frozenset[str]:
    """Functions that have holes, in themselves, their parts or their forks."""
    found: set[str] = set()
    while True:
        size = len(found)
        for function in module.functions:
            for op in (op for block in function.blocks for op in block.ops):
                if isinstance(op, ops.Generate | ops.SelectOption) or (
                    isinstance(op, ops.CallPart | ops.RunFork) and op.function in found
                ):
                    found.add(function.name)
        if len(found) == size:
            return frozenset(found)


class _Walk:
    """One function, walked from its beginning to where it returns."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.messages: list[Message] = []
        self.losses: dict[Loss, None] = {}
        self.left = STEPS
        self.begun = self.glued = False
        self.filled: dict[str, int] = {}
        """How often each hole was filled."""

    def script(self) -> Script:
        whole = True
        try:
            self.run(self.function, [Reference(parameter.name) for parameter in self.function.parameters])
        except _Lost as lost:
            self.losses[Loss(lost.construct, self.function.name)] = None
            whole = False
        return Script(self.function, tuple(self.messages), tuple(self.losses), whole)

    def run(self, function: Function, arguments: Sequence[object]) -> object:
        """Walk a function, or a part that it calls; what it returns."""
        slots: dict[str, object] = {
            parameter.slot: value for parameter, value in zip(function.parameters, arguments, strict=True)
        }
        blocks = block_map(function)
        block = function.blocks[0]
        while True:
            temps: dict[int, object] = {}
            for op in block.ops:
                self.spend()
                self.op(op, temps, slots)
            self.spend()
            if isinstance(block.end, terminators.Return):
                return temps[block.end.value]
            block = blocks[self.following(block, blocks, temps, slots)]

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Lost(f"a loop of more than {STEPS:,} steps")

    def following(
        self, block: Block, blocks: Mapping[str, Block], temps: dict[int, object], slots: dict[str, object]
    ) -> str:
        """The block that comes next whatever is answered."""
        match block.end:
            case terminators.Jump(target=target):
                return target
            case terminators.Branch(condition=condition, then=then, otherwise=otherwise):
                known = temps[condition]
                if isinstance(known, bool):
                    return then if known else otherwise
                if not _is_check(blocks[otherwise]):
                    raise _Lost("what depends on arguments or answers")
                self.lose("a condition on arguments or answers", "the requests without it")
                return then
            case terminators.Next(iterator=iterator, item=item, body=body, done=done):
                cursor = slots[iterator]
                if not isinstance(cursor, _Cursor):
                    raise _Lost("a loop over values of the run")
                if not cursor.items:
                    return done
                slots[item], slots[iterator] = cursor.items[0], _Cursor(cursor.items[1:])
                return body
            case terminators.Try(body=body):
                self.lose("the handling of errors", "the requests without it")
                return body
        raise _Lost("an error that is always raised")

    def lose(self, construct: str, instead: str) -> None:
        self.losses[Loss(construct, self.function.name, instead)] = None

    # -- operations ------------------------------------------------------------------------------------

    def op(self, op: ops.Op, temps: dict[int, object], slots: dict[str, object]) -> None:
        match op:
            case ops.Store(slot=slot, value=value):
                slots[slot] = temps[value]
            case ops.OpenRole(role=role):
                self.messages.append(Message(role))
                self.begun = self.glued = False
            case ops.Line():
                self.line()
            case ops.Glue():
                self.glued = True
            case ops.Text(text=text):
                self.put(text)
            case ops.Insert(value=value):
                self.insert(temps[value])
            case ops.RunFork() | ops.AdoptBranch():
                raise _Lost("a fork")
            case ops.Mark() | ops.Forget():
                raise _Lost("text that is forgotten")
            case ops.EndTry() | ops.CloseRole() | ops.Snapshot() | ops.TryAgain() | ops.RecordCheck():
                pass
            case ops.SetSeed():
                self.lose("a seed of the function", "the requests without it")
            case _:
                if (result := getattr(op, "result", None)) is not None:
                    temps[result] = self.value(op, temps, slots)

    def value(self, op: object, temps: dict[int, object], slots: dict[str, object]) -> object:
        """The result of an operation, as far as it is known."""
        match op:
            case ops.Const(value=value):
                return value
            case ops.Load(slot=slot):
                return slots.get(slot, _UNKNOWN)
            case ops.MakeList(items=items):
                return _all_known([temps[item] for item in items], list)
            case ops.MakeTuple(items=items):
                return _all_known([temps[item] for item in items], tuple)
            case ops.Append(items=items, item=item):
                so_far = temps[items]
                return [*so_far, temps[item]] if isinstance(so_far, list) and known(temps[item]) else _UNKNOWN
            case ops.MakeRange(start=start, stop=stop, inclusive=inclusive):
                low, high = temps[start], temps[stop]
                if isinstance(low, int) and isinstance(high, int):
                    return range(low, high + inclusive)
                return _UNKNOWN
            case ops.Iterate(value=value):
                found = temps[value]
                return _Cursor(tuple(found)) if isinstance(found, _ITERABLE) else _UNKNOWN
            case ops.WriteAs(value=value, type=type):
                found = temps[value]
                if isinstance(found, Reference) or not known(found):
                    return found
                return written_as(found, type, self.module.table)
            case ops.Concat(parts=parts):
                return self.joined([temps[part] for part in parts])
            case ops.GetField(value=value, name=name):
                owner = temps[value]
                if isinstance(owner, _Told):
                    return owner.value if name == "value" else _UNKNOWN
                if isinstance(owner, Reference):
                    return Reference(f"{owner.path}.{name}")
                return owner.fields[name] if isinstance(owner, RecordValue) else _UNKNOWN
            case ops.GetItem(value=value, index=index):
                owner, at = temps[value], temps[index]
                if isinstance(owner, Reference) and isinstance(at, int):
                    return Reference(f"{owner.path}[{at}]")
                return owner[at] if isinstance(owner, list | tuple) and isinstance(at, int) else _UNKNOWN
            case ops.Generate(hole=hole, options=options) | ops.SelectOption(hole=hole, options=options):
                found = self.hole(self.module.holes[hole], [temps[option] for option in options])
                return _Told(found) if self.module.holes[hole].told else found
            case ops.CallPart(function=name, arguments=arguments):
                return self.run(self.module.function(name), [temps[argument] for argument in arguments])
        return _UNKNOWN

    # -- text ------------------------------------------------------------------------------------------

    def message(self) -> Message:
        if not self.messages:
            self.messages.append(Message(""))
        return self.messages[-1]

    def line(self) -> None:
        if self.begun and not self.glued:
            self.put("\n")
        self.begun, self.glued = True, False

    def put(self, part: Part) -> None:
        parts = self.message().parts
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part != "":
            parts.append(part)

    def insert(self, value: object) -> None:
        joined = self.joined([value])
        if not isinstance(joined, _Joined):
            raise _Lost("a computed value in a text")
        for part in joined.parts:
            self.put(part)

    def joined(self, values: Sequence[object]) -> _Joined | _Unknown:
        """The texts of values, one behind the other."""
        parts: list[str | Reference] = []
        for value in values:
            if isinstance(value, _Joined):
                parts += value.parts
            elif isinstance(value, Reference):
                parts.append(value)
            elif known(value):
                parts.append(display(value, self.module.table))
            else:
                return _UNKNOWN
        return _Joined(tuple(parts))

    def hole(self, info: HoleInfo, given: Sequence[object]) -> object:
        name = info.name.rpartition(".")[2]
        times = self.filled[name] = self.filled.get(name, 0) + 1
        options = dict(zip(info.options, given, strict=True))
        hole = Hole(info, options, name if times == 1 else f"{name}_{times}")
        self.put(hole)
        return Reference(hole.name) if info.mode != "select" else _UNKNOWN


_ITERABLE: Any = list | tuple | range | str | dict


def known(value: object) -> bool:
    """Whether a value is the same in every run."""
    if isinstance(value, list | tuple):
        return all(map(known, value))
    return not isinstance(value, Reference | _Joined | _Unknown | _Cursor)


def _all_known(values: list[object], make: Callable[[list[object]], object]) -> object:
    return make(values) if all(map(known, values)) else _UNKNOWN


def _is_check(block: Block) -> bool:
    """Whether a block is where a condition of the program does not hold: a retry, a record, an error."""
    if isinstance(block.end, terminators.RaiseError):
        return True
    return any(isinstance(op, ops.TryAgain | ops.RecordCheck) for op in block.ops)
