"""Says early which calls will come, so that calls that do not depend on each other run together.

    %0 = load $mail                     %0 = load $mail
    %1 = call @mood (%0)                start @desk (%0)
    store $a %1                         %1 = load $mail
    %2 = load $mail              →      %2 = call @mood (%1)
    %3 = call @desk (%2)                store $a %2
    store $b %3                         %3 = load $mail
                                        %4 = call @desk (%3)
                                        store $b %4

A `start` is a hint: the calls stay where they are, and take over what was begun for them. So this pass cannot
change what a program does, only when the model is asked. `sglc.analysis.independence` says which starts pay.
Above nothing runs before the first call, so that it is not started; were both of one function, it would be,
for starts of a function come in the order of its calls.

What computes the arguments is done again for the start. Where that could fail it stands in a quiet `try`,
whose error is nobody's: the starts behind it are left out, and the program meets the error at its own place.
A loop is copied with what its starts need:

    ^entry:                                     ^entry:
      …                                           try ^starts ^go true
      %1 = iterate %0                           ^starts:
      store $%iterator %1                         %0 = load $mails
      jump ^each                                  %1 = iterate %0
    ^each:                                        store $%ahead %1
      next $%iterator $mail ^take ^done           jump ^start_each
    ^take:                               →      ^start_each:
      %2 = load $%found                           next $%ahead $%each ^start_one ^started
      %3 = load $mail                           ^start_one:
      %4 = call @desk (%3)                        %2 = load $%each
      %5 = append %2 %4                           start @desk (%2)
      store $%found %5                            jump ^start_each
      jump ^each                                ^started:
                                                  end_try
                                                  jump ^go
                                                ^go:
                                                  …

How many calls run at a time is for the machine to say. A function that has starts is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sglc.analysis.effects import effects
from sglc.analysis.independence import Ahead, CallAhead, LoopAhead, independence, startable_functions
from sglc.analysis.known_values import Again, Given, brief_functions
from sglc.ir import ops, terminators
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import operands, result, slots_of
from sglc.passes.rewrite import each_function, renamed, with_blocks, with_operands


def run(module: Module) -> Module:
    """The module with a start for each call that can begin before its turn."""
    table = effects(module)
    startable = startable_functions(module.functions, table)
    originals = {each.name: each.copy_of for each in module.functions if each.copy_of}
    if not startable:
        return module
    brief = brief_functions(module)
    declared = frozenset(error.name for error in module.errors)

    def change(function: Function) -> Function:
        if function.kind in ("test", "pure", "extern") or not _calls(function, startable):
            return function
        found = independence(function, table, startable, brief, declared, originals)
        return _Writer(function).run(found) if found else function

    return each_function(module, change)


def _calls(function: Function, startable: frozenset[str]) -> bool:
    """Whether a function calls what can be started, and starts nothing yet."""
    found = False
    for block in function.blocks:
        for op in block.ops:
            if type(op) is ops.Start:
                return False
            found = found or (type(op) is ops.Call and op.function in startable)
    return found


class _Writer:
    """Writes the starts of one function into its blocks."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.labels = {block.label for block in function.blocks}
        self.slots = {parameter.slot for parameter in function.parameters}
        self.temps = 0
        for block in function.blocks:
            for op in (*block.ops, block.end):
                temp = result(op)
                self.temps = self.temps if temp is None else max(self.temps, temp + 1)
                self.slots.update(slots_of(op))
        self.blocks: list[Block] = []
        self.label = ""
        self.ops: list[ops.Op] = []

    def run(self, found: Sequence[Ahead]) -> Function:
        by_place: dict[str, dict[int, list[CallAhead | LoopAhead]]] = {}
        for ahead in found:
            by_place.setdefault(ahead.place.label, {}).setdefault(ahead.place.index, []).append(ahead.what)
        for block in self.function.blocks:
            if block.label in by_place:
                self._block(block, by_place[block.label])
            else:
                self.blocks.append(block)
        return with_blocks(self.function, tuple(self.blocks))

    # -- blocks ------------------------------------------------------------------------------------

    def _block(self, block: Block, starts: Mapping[int, Sequence[CallAhead | LoopAhead]]) -> None:
        """Rebuild a block around the starts in it, by the index of the operation that follows them."""
        self.label, self.ops = block.label, []
        names: dict[int, int] = {}
        """What the temporaries of the block are called here."""
        made: list[int] = []
        for index, op in enumerate((*block.ops, block.end)):
            if index in starts:
                wanted = starts[index]
                if all(isinstance(what, CallAhead) and _cannot_fail(what) for what in wanted):
                    for call in wanted:
                        assert isinstance(call, CallAhead)
                        _Copy(self, names, {}).start(call)
                else:
                    self._apart(wanted, block, index, made, names)
            if isinstance(op, terminators.Terminator):
                self._end(renamed(op, names))
                return
            self.ops.append(renamed(op, names))
            temp = result(op)
            if temp is not None:
                made.append(temp)

    def _apart(
        self,
        wanted: Sequence[CallAhead | LoopAhead],
        block: Block,
        index: int,
        made: Sequence[int],
        names: dict[int, int],
    ) -> None:
        """Starts in blocks of their own. Temporaries that are needed in them or behind go through slots."""
        later = {temp for op in (*block.ops[index:], block.end) for temp in operands(op)}
        inside = {temp for what in wanted for temp in _given(what)}
        kept: dict[int, str] = {}
        for temp in made:
            if temp in later or temp in inside:
                kept[temp] = self.slot("%kept")
                self.ops.append(ops.Store(kept[temp], names.get(temp, temp)))
        body, go = self._fresh("starts"), self._fresh("go")
        self._end(terminators.Try(body, go, True))
        self.label = body
        given = {temp: self.value(ops.Load, kept[temp]) for temp in inside}
        for number, what in enumerate(wanted):
            if isinstance(what, CallAhead):
                _Copy(self, given, {}).start(what)
                continue
            self._loop(what, given)
            if number + 1 < len(wanted):
                given = {temp: self.value(ops.Load, kept[temp]) for temp in inside}
        self.ops.append(ops.EndTry())
        self._end(terminators.Jump(go))
        self.label = go
        for temp, slot in kept.items():
            if temp in later:
                names[temp] = self.value(ops.Load, slot)

    def _loop(self, loop: LoopAhead, given: Mapping[int, int]) -> None:
        """A loop of starts; what follows goes on in its last block."""
        iterator, variable = self.slot("%ahead"), self.slot("%each")
        items = _Copy(self, given, {}).value(loop.items)
        self.ops.append(ops.Store(iterator, self.value(ops.Iterate, items)))
        each, one, done = (self._fresh(stem) for stem in ("start_each", "start_one", "started"))
        self._end(terminators.Jump(each))
        self.label = each
        self._end(terminators.Next(iterator, variable, one, done))
        self.label = one
        for step in loop.steps:
            copy = _Copy(self, {}, {loop.variable: variable})
            if isinstance(step, CallAhead):
                copy.start(step)
                continue
            wanted = self._fresh("start_one")
            then, otherwise = (wanted, each) if step.holds else (each, wanted)
            self._end(terminators.Branch(copy.value(step.condition), then, otherwise))
            self.label = wanted
        self._end(terminators.Jump(each))
        self.label = done

    # -- parts -------------------------------------------------------------------------------------

    def _end(self, end: terminators.Terminator) -> None:
        self.blocks.append(Block(self.label, tuple(self.ops), end))
        self.ops = []

    def value(self, cls: Callable[..., ops.Op], *parts: object) -> int:
        """Append an operation with a fresh result."""
        self.temps += 1
        self.ops.append(cls(self.temps - 1, *parts))
        return self.temps - 1

    def again(self, op: ops.Op, parts: Sequence[int], slots: Mapping[str, str]) -> int:
        """Append an operation of the program again, on other operands and variables."""
        self.temps += 1
        if isinstance(op, ops.Load):
            copy: ops.Op = ops.Load(self.temps - 1, slots.get(op.slot, op.slot), op.span)
        else:
            copy = with_operands(op, parts, self.temps - 1)
        self.ops.append(copy)
        return self.temps - 1

    def slot(self, stem: str) -> str:
        """A fresh variable."""
        return _unused(stem, self.slots)

    def _fresh(self, stem: str) -> str:
        return _unused(stem, self.labels)


class _Copy:
    """Does values again in the current block. `given` are temporaries that are there, `slots` other variables
    to load from."""

    def __init__(self, writer: _Writer, given: Mapping[int, int], slots: Mapping[str, str]) -> None:
        self.writer = writer
        self.given = given
        self.slots = slots
        self.done: dict[int, int] = {}

    def value(self, value: Again | Given) -> int:
        """The temporary that holds a value."""
        if isinstance(value, Given):
            return self.given.get(value.temp, value.temp)
        if id(value) not in self.done:
            parts = [self.value(part) for part in value.parts]
            self.done[id(value)] = self.writer.again(value.op, parts, self.slots)
        return self.done[id(value)]

    def start(self, call: CallAhead) -> None:
        """The start of a call, behind the values of its arguments."""
        arguments = tuple([self.value(argument) for argument in call.arguments])
        self.writer.ops.append(ops.Start(call.function, arguments, call.span))


def _cannot_fail(call: CallAhead) -> bool:
    return all(isinstance(argument, Given) or argument.total for argument in call.arguments)


def _given(what: CallAhead | LoopAhead) -> set[int]:
    """The temporaries of its block that a start needs."""
    found: set[int] = set()
    work = [what.items] if isinstance(what, LoopAhead) else list(what.arguments)
    while work:
        value = work.pop()
        if isinstance(value, Given):
            found.add(value.temp)
        else:
            work += value.parts
    return found


def _unused(stem: str, taken: set[str]) -> str:
    name, number = stem, 2
    while name in taken:
        name = f"{stem}.{number}"
        number += 1
    taken.add(name)
    return name
