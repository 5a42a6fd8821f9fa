"""The text that conversations begin with, known before anything runs.

    fn @f(x $x: Str()) {                        f: system "Be kind.", user "Name: "…
    ^entry:
      role "system"
      %0 = call_part @tone ()                   (which writes "Be kind.")
      end_role
      role "user"
      text "Name: "
      %1 = load $x
      insert %1
      ...

A model is asked at holes only, so a prefix is what stands before its first hole on every road: through jumps,
loops, handlers and called parts, with the constant arguments that these are given. Where roads come together
the prefix is what both have written. Operations that leave the conversation alone end no prefix: where one of
them fails, no model is asked. What the values of the hole certainly begin with (`HoleInfo.begins`) is the end
of the prefix. This is a forward data flow over texts (Kildall 1973). It ends because texts that meet only
become shorter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from sglc.bytecode.code import Prefix, PrefixMessage
from sglc.ir import ops
from sglc.ir.flow import forward, reachable
from sglc.ir.module import TEST_MARK, Block, Function, HoleInfo, Module
from sglc.ir.terminators import Next, Return, Terminator
from sglc.types.model_use import MAIN_VIEW, ModelView
from sglc.types.type import TypeTable
from sglc.types.values import Value
from sglc.values.kinds import ValueFault
from sglc.values.text import display

WORK = 16
"""Times the operations of a module: what is walked at most. Calls of parts are walked anew wherever they
stand, so a chain of parts that call each other twice would take exponential time. What is not walked counts
as unknown."""
LEAST_WORK = 10_000
"""Operations that are walked in any case."""


Messages = tuple[PrefixMessage, ...]


def constant_prefixes(module: Module) -> tuple[Prefix, ...]:
    """All prefixes of a module, each once a model that reads it: those of its functions, of calls with
    constant arguments where these are longer, and what any two of them share. Those that few functions begin
    with come first."""
    found = [prefix for view in _views(module) for prefix in _prefixes_of(module, view)]
    return tuple(sorted(found, key=lambda prefix: len(prefix.functions)))


def _views(module: Module) -> dict[ModelView, None]:
    """The models that fill holes of a module."""
    return {view: None for hole in module.holes for view in _readers(hole)}


def _readers(hole: HoleInfo) -> tuple[ModelView, ...]:
    return (MAIN_VIEW,) if hole.models is None else hole.models.views


def _prefixes_of(module: Module, view: ModelView) -> list[Prefix]:
    """Those that one model reads, without the text that it does not get to see."""
    walk = _Walk(module, view)
    users: dict[Messages, set[str]] = {}
    ahead: dict[Messages, int] = {}
    originals = {function.name: function.copy_of or function.name for function in module.functions}
    for name, constants in _roots(module):
        state = walk.prefix(name, constants)
        if state is not None and state.messages:
            messages = _without(state.messages, view.without)
            users.setdefault(messages, set()).add(originals[name])
            ahead[messages] = max(0 if view.without else state.ahead, ahead.get(messages, 0))
    ordered = sorted(users, key=_place)
    for messages in map(_common, ordered, ordered[1:]):
        if any(each.text for each in messages):
            users.setdefault(messages, set())
    order: dict[str, int] = {}
    for place, function in enumerate(module.functions):
        order.setdefault(originals[function.name], place)
    return [
        Prefix(messages, tuple(sorted(names, key=order.__getitem__)), ahead.get(messages, 0), view)
        for messages, names in _with_longer(users).items()
    ]


def _without(messages: Messages, text: str) -> Messages:
    if not text:
        return messages
    return tuple(PrefixMessage(each.role, each.text.replace(text, ""), each.complete) for each in messages)


def _place(messages: Messages) -> list[tuple[str, str, bool]]:
    """Puts conversations in an order in which neighbours share the most, and beginnings come first."""
    return [(each.role, each.text, each.complete) for each in messages]


def _with_longer(users: Mapping[Messages, set[str]]) -> dict[Messages, set[str]]:
    """The users of each beginning, with those of all longer ones."""
    every = {messages: set(names) for messages, names in users.items()}
    open_: list[Messages] = []
    for messages in sorted(users, key=_place):
        while open_ and _common(messages, open_[-1]) != open_[-1]:
            open_.pop()
        for beginning in open_:
            every[beginning] |= users[messages]
        open_.append(messages)
    return every


# -- where to begin ----------------------------------------------------------------------------------

Constants = tuple[tuple[str, str], ...]
"""Variables of parameters and the texts that are known of them."""


def _roots(module: Module) -> dict[tuple[str, Constants], None]:
    """The functions with a conversation of their own, and the calls that give them constants."""
    functions = {function.name: function for function in module.functions if function.kind == "fn"}
    roots: dict[tuple[str, Constants], None] = {(name, ()): None for name in functions}
    for function in module.functions:
        if function.name.startswith(TEST_MARK):
            continue  # tests, and the forks in them, ask no model
        for block in function.blocks:
            if not any(type(op) is ops.Call for op in block.ops):
                continue
            texts = _Texts(block, {}, module.table)
            for op in block.ops:
                if type(op) is ops.Call and op.function in functions:
                    given = _given(functions[op.function], op.arguments, texts)
                    if given:
                        roots[op.function, given] = None
    return roots


def _given(callee: Function, arguments: tuple[int, ...], texts: _Texts) -> Constants:
    pairs = zip(callee.parameters, arguments, strict=True)
    known = [(parameter.slot, texts.of(argument)) for parameter, argument in pairs]
    return tuple([(slot, text) for slot, text in known if text is not None])


class _Texts:
    """The texts that temporaries of a block are known to have, found when they are asked for."""

    def __init__(self, block: Block, constants: Mapping[str, str], table: TypeTable) -> None:
        self._block, self._constants, self._table = block, constants, table
        self._sources: dict[int, ops.Const | ops.Load] | None = None

    def of(self, temp: int) -> str | None:
        """The text of a temporary, None if it is not known."""
        if self._sources is None:
            kinds = ops.Const | ops.Load
            self._sources = {op.result: op for op in self._block.ops if isinstance(op, kinds)}
        match self._sources.get(temp):
            case ops.Const(value=value):
                return _shown(value, self._table)
            case ops.Load(slot=slot):
                return self._constants.get(slot)
        return None


def _shown(value: Value, table: TypeTable) -> str | None:
    """The text that an insert of a constant writes; None for one that is too long or too deep."""
    try:
        return display(value, table)
    except ValueFault:
        return None


# -- states ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _State:
    """A conversation at one place of a function: its messages, and what the next `line` does.

    `exact` says that the messages are all of it; else they are what it begins with, and stay so. The last
    `ahead` characters are those that a hole begins with.
    """

    messages: Messages = ()
    begun: bool = False
    glued: bool = False
    exact: bool = True
    ahead: int = 0

    def stopped(self) -> _State:
        """The same beginning, of a conversation that goes on in ways that are not known."""
        return _State(self.messages, exact=False, ahead=self.ahead) if self.exact else self

    def write(self, text: str) -> _State:
        """With text in the open message, or in a function without roles."""
        if not text:
            return self
        if not self.messages:
            return _State((PrefixMessage("", text, False),), True, self.glued)
        last = self.messages[-1]
        if last.complete:
            return self.stopped()
        longer = PrefixMessage(last.role, last.text + text, False)
        return _State((*self.messages[:-1], longer), True, self.glued)


_UNKNOWN = _State(exact=False)


def _meet(first: _State | None, second: _State | None) -> _State | None:
    """What is known where two roads come together; None is a road on which a hole came before."""
    if first is None or second is None or first == second:
        return second if first is None else first
    return _State(_common(first.messages, second.messages), exact=False)


def _common(first: Messages, second: Messages) -> Messages:
    """What two conversations both begin with."""
    same: list[PrefixMessage] = []
    for one, other in zip(first, second, strict=False):
        if one != other:
            if one.role == other.role:
                same.append(PrefixMessage(one.role, _common_text(one.text, other.text), False))
            break
        same.append(one)
    return tuple(same)


def _common_text(first: str, second: str) -> str:
    if second.startswith(first):
        return first
    return first[: next(at for at, char in enumerate(first) if second[at : at + 1] != char)]


# -- walking -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Of a walk through a function: the conversation where it returns without a hole, and the first holes of
    all roads together; None where there is no such road."""

    after: _State | None
    asked: _State | None


class _Walk:
    """Walks functions of one module from states to states."""

    def __init__(self, module: Module, view: ModelView) -> None:
        self._view = view
        self._functions = {function.name: function for function in module.functions}
        self._holes, self._table = module.holes, module.table
        size = sum(len(block.ops) + 1 for function in module.functions for block in function.blocks)
        self._left = max(LEAST_WORK, WORK * size)
        self._known: dict[tuple[str, _State, Constants], _Outcome] = {}
        self._active: set[str] = set()

    def prefix(self, name: str, constants: Constants) -> _State | None:
        """What conversations of a function begin with at every hole; None if it has none."""
        return self._outcome(name, _State(), constants).asked

    def _outcome(self, name: str, state: _State, constants: Constants) -> _Outcome:
        key = (name, state, constants)
        known = self._known.get(key)
        if known is None:
            function = self._functions.get(name)
            if function is None or name in self._active or not state.exact:
                return _Outcome(state.stopped(), state.stopped())
            self._active.add(name)
            known = self._known[key] = self._walked(function, state, dict(constants))
            self._active.remove(name)
        return known

    def _walked(self, function: Function, start: _State, constants: dict[str, str]) -> _Outcome:
        blocks = reachable(function)
        for block in blocks.values():
            for op in block.ops:
                if type(op) is ops.Store:
                    constants.pop(op.slot, None)
            if isinstance(block.end, Next):
                constants.pop(block.end.item, None)

        # Of each block what the last walk found; that was the walk from its final state.
        ends: dict[str, _State | None] = {}
        holes: dict[str, list[_State]] = {}

        def through(state: _State | None, block: Block) -> _State | None:
            found: list[_State] = []
            holes[block.label], ends[block.label] = found, self._through(state, block, constants, found)
            return ends[block.label]

        begun: _State | None = start
        forward(function, begun, through, _along, _meet)
        after = [ends[label] for label, block in blocks.items() if isinstance(block.end, Return)]
        asked = [state for found in holes.values() for state in found]
        return _Outcome(reduce(_meet, after, None), reduce(_meet, asked, None))

    def _through(
        self, state: _State | None, block: Block, constants: Mapping[str, str], asked: list[_State]
    ) -> _State | None:
        """The state at the end of a block, None behind a hole; the state at a hole is added to `asked`."""
        self._left -= len(block.ops) + 1
        if self._left < 0:
            state = _UNKNOWN
        texts = _Texts(block, constants, self._table)
        for op in block.ops:
            if state is None:
                return None
            kind = type(op)
            if kind in _WRITING:
                state = _written(state, op, texts) if state.exact else state
            elif kind in _HOLES:
                hole = self._holes[op.hole]  # type: ignore[union-attr,index]
                if self._view in _readers(hole):
                    asked.append(self._asked(state, hole))
                    state = None
                else:
                    state = state.stopped()  # what another model writes is not known
            elif type(op) is ops.CallPart:
                outcome = self._called(state, op, texts)
                asked += [] if outcome.asked is None else [outcome.asked]
                state = outcome.after
            elif kind is ops.Forget:
                state = _UNKNOWN  # no hole stood in what is forgotten, whose text is not known here
            elif type(op) is ops.RunFork:
                outcome = self._outcome(op.function, state, ())
                asked += [] if outcome.asked is None else [outcome.asked]
        return state

    def _called(self, state: _State, op: ops.CallPart, texts: _Texts) -> _Outcome:
        callee = self._functions.get(op.function)
        given = () if callee is None else _given(callee, op.arguments, texts)
        return self._outcome(op.function, state, given)

    @staticmethod
    def _asked(state: _State, hole: HoleInfo) -> _State:
        """The state at a hole, with what its value begins with."""
        if not state.exact or not hole.begins:
            return state.stopped()
        written = state.write(hole.begins)
        return _State(written.messages, exact=False, ahead=len(hole.begins) if written.exact else 0)


def _along(state: _State | None, _end: Terminator, _target: str) -> _State | None:
    # A handler goes on in the conversation as it was at its `try`: the state at the end of that block.
    return state


def _written(state: _State, op: ops.Op, texts: _Texts) -> _State:
    """A state with all of its messages behind an operation of `_WRITING`."""
    match op:
        case ops.OpenRole(role=role):
            return _State((*state.messages, PrefixMessage(role, "", False)))
        case ops.CloseRole() if state.messages:
            last = state.messages[-1]
            ended = PrefixMessage(last.role, last.text, True)
            return _State((*state.messages[:-1], ended), state.begun, state.glued)
        case ops.Line():
            newline = "\n" if state.begun and not state.glued else ""
            written = state.write(newline)
            return _State(written.messages, True, exact=written.exact)
        case ops.Glue():
            return _State(state.messages, state.begun, True)
        case ops.Text(text=text):
            return state.write(text)
        case ops.Insert(value=value):
            known = texts.of(value)
            return state.stopped() if known is None else state.write(known)
    return state.stopped()


_WRITING = frozenset(
    {ops.OpenRole, ops.CloseRole, ops.Line, ops.Glue, ops.Text, ops.Insert, ops.AdoptBranch}
) | {
    ops.OfferTools,
    ops.CallText,
}
"""Operations that change a conversation, besides holes and calls of parts."""
_HOLES = frozenset({ops.Generate, ops.SelectOption})
