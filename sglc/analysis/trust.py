"""Where text that is not trusted goes: into the system's message, what is written outside, before a hole.

    pub fn answer(mail: untrusted str) -> str:     mail comes from outside
        let topic = first(mail)                    a text made of it is no better
        system: | The topic is ${topic}.           here it could speak as the program

Not trusted are parameters that say so, what functions of Python give that do more than compute, and messages
of errors where such functions are called. What is made of a value is as little trusted as the value; answers
to questions (comparisons, lengths) are. `trust(x)` is trusted. What a model writes is the program's own, as
its type bounds it, but for parts that it copies: `span of x` and `one of xs` are as trusted as x.

Each function has a summary in terms of its parameters (Sharir and Pnueli, 1981: the functional approach), so
that one call with a hostile argument says nothing of another. The summaries are a least fixed point.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sglc.ir import ops
from sglc.ir.flow import forward
from sglc.ir.module import Block, Function, Module
from sglc.ir.shape import operands, result
from sglc.ir.terminators import Next, Return, Terminator
from sglc.source import Span

ROUNDS = 200
"""Most rounds of the fixed point; a chain of calls takes one a function, and more are not followed."""
_ASKING = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in", "matches", "contains"})
_TRUSTED = frozenset({"trust", "len", "any", "all"})
"""Built-in functions whose result says nothing of its own."""
_ROLE = "%role"
_SEEN = "%seen"
"""What has been inserted into the conversation."""
_CALLER = "of the caller"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: a parameter of the function at hand, by its slot, or a source in words."""

    parameter: str = ""
    source: str = ""
    span: Span | None = None
    via: tuple[str, ...] = field(default=(), compare=False)
    """The functions that it came through, the innermost first."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a value arrives: `system`, a `write` by name, a message of the caller of a part, or a hole."""

    what: str
    span: Span | None
    hole: int | None = None
    """The hole that reads it, by its number in the module."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A source that reaches a goal. `path` are the functions from the one with the source to the goal's."""

    origin: Origin
    goal: Goal
    path: tuple[str, ...]


@dataclass(slots=True)
class _Summary:
    """What a function gives back, and what arrives where through it, with the functions on the way."""

    returns: set[Origin] = field(default_factory=set)
    arrivals: dict[tuple[Origin, Goal], tuple[str, ...]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.returns) + len(self.arrivals)


State = frozenset[tuple[str, Origin | str]]
"""Variables with their origins, and under `%role` the roles of the message that may be open."""
Taint = frozenset[Origin]
NOTHING: Taint = frozenset()


def flows(module: Module) -> list[Leak]:
    """All ways to goals, holes too, in the order of the module, each pair of source and goal once."""
    reading = _Reading(module)
    for _ in range(ROUNDS):
        before = sum(each.size for each in reading.summaries.values()) + sum(map(len, reading.forks.values()))
        for function in reversed(module.functions):
            reading.read(function)
        after = sum(each.size for each in reading.summaries.values()) + sum(map(len, reading.forks.values()))
        if after == before:
            break
    found: dict[tuple[Span | None, Goal], Leak] = {}
    for name, summary in reading.summaries.items():
        for (origin, goal), path in summary.arrivals.items():
            if origin.source and goal.what != _CALLER:
                leak = Leak(origin, goal, (*reversed(origin.via), name, *path))
                known = found.get((origin.span, goal))
                if known is None or len(known.path) > len(leak.path):
                    found[origin.span, goal] = leak
    return list(found.values())


def leaks(module: Module) -> list[Leak]:
    """The ways to where such text must not get: all of `flows` but those to holes."""
    return [each for each in flows(module) if each.goal.hole is None]


class _Reading:
    """The summaries of all functions, as far as they are known."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.functions = {function.name: function for function in module.functions}
        self.summaries = {name: _Summary() for name in self.functions}
        self.forks: dict[str, State] = {name: frozenset() for name, f in self.functions.items() if f.parent}
        """What the variables of a function may hold where a fork in it begins."""
        self.outside = _reaching(module)

    def read(self, function: Function) -> None:
        """Add to the summary of a function what is known now."""
        state: set[tuple[str, Origin | str]] = set(self.forks.get(function.name, ()))
        if function.kind != "fork":
            state.add((_ROLE, _CALLER if function.kind == "part" else ""))
            for parameter in function.parameters:
                state.add((parameter.slot, Origin(parameter=parameter.slot)))
                if parameter.untrusted:
                    source = f"`{parameter.name}` of `{function.name}`"
                    state.add((parameter.slot, Origin(source=source, span=function.span)))
        states = forward(
            function,
            frozenset(state),
            lambda entry, block: self._through(function, entry, block, False),
            _along,
            frozenset.union,
        )
        for block in function.blocks:
            if block.label in states:
                self._through(function, states[block.label], block, True)

    def _through(self, function: Function, state: State, block: Block, noting: bool) -> State:
        """The state behind a block; what arrives somewhere is noted in the last pass."""
        temps: dict[int, Taint] = {}
        for op in block.ops:
            made = result(op)
            if isinstance(op, ops.Store):
                state = _stored(state, op.slot, temps.get(op.value, NOTHING))
            elif isinstance(op, ops.OpenRole | ops.CloseRole):
                role = op.role if isinstance(op, ops.OpenRole) else ""
                state = frozenset({pair for pair in state if pair[0] != _ROLE} | {(_ROLE, role)})
            elif isinstance(op, ops.Insert):
                taint = temps.get(op.value, NOTHING)
                for role in _roles(state) if noting else ():
                    if role in ("system", _CALLER):
                        self._arrive(function, taint, Goal(role, op.span), ())
                state = state | {(_SEEN, origin) for origin in taint}
            elif isinstance(op, ops.CallPart):
                taint = self._inserted(op, [temps.get(temp, NOTHING) for temp in operands(op)])
                state = state | {(_SEEN, origin) for origin in taint}
            elif isinstance(op, ops.Generate | ops.SelectOption) and noting:
                self._arrive(function, _of(state, _SEEN), Goal("a hole", op.span, op.hole), ())
            if made is not None:
                temps[made] = self._value(function, state, op, temps, noting)
        if noting and isinstance(block.end, Return):
            self.summaries[function.name].returns |= temps.get(block.end.value, NOTHING)
        return state

    def _value(
        self, function: Function, state: State, op: ops.Op, temps: dict[int, Taint], noting: bool
    ) -> Taint:
        given = [temps.get(temp, NOTHING) for temp in operands(op)]
        match op:
            case ops.Load(slot=slot):
                return _of(state, slot)
            case ops.IsType() | ops.IsVariant() | ops.Catch() | ops.Const():
                return NOTHING
            case ops.Binary(operator=operator) if operator in _ASKING:
                return NOTHING
            case ops.CallBuiltin(name=name) if name in _TRUSTED:
                return NOTHING
            case ops.HandledError() if function.name in self.outside:
                return frozenset({Origin(source="the message of an error", span=op.span)})
            case ops.Generate(hole=hole) | ops.SelectOption(hole=hole):
                names = self.module.holes[hole].options
                copied = [t for n, t in zip(names, given, strict=True) if n == "options" or n[:5] == "given"]
                return NOTHING.union(*copied)
            case ops.Call(function=name) | ops.CallPart(function=name):
                return self._called(function, state, name, given, op.span, noting)
            case ops.CheckGiven():
                return given[0]
            case ops.RunFork(function=name):
                return self._forked(function, state, name, given[0], noting)
        return NOTHING.union(*given)

    def _inserted(self, op: ops.CallPart, given: list[Taint]) -> Taint:
        """What a part writes into the message of its caller."""
        callee = self.functions[op.function]
        bound = {p.slot: taint for p, taint in zip(callee.parameters, given, strict=True)}
        found: Taint = NOTHING
        for origin, goal in self.summaries[op.function].arrivals:
            if goal.what == _CALLER:
                taint = bound.get(origin.parameter, NOTHING) if origin.parameter else frozenset({origin})
                found = found | taint
        return found

    def _called(
        self,
        function: Function,
        state: State,
        name: str,
        given: list[Taint],
        span: Span | None,
        noting: bool,
    ) -> Taint:
        """What a call gives; what it lets arrive is noted for the caller."""
        callee = self.functions[name]
        python = next(
            (op.spec for block in callee.blocks for op in block.ops if isinstance(op, ops.CallPython)), None
        )
        if python is not None:
            if python.effect == "write" and noting:
                self._arrive(function, NOTHING.union(*given), Goal(f"`{name}`", span), ())
            if python.effect == "pure":
                return NOTHING.union(*given)
            return frozenset({Origin(source=f"what `{name}` gives", span=span)})
        bound = {p.slot: taint for p, taint in zip(callee.parameters, given, strict=True)}
        summary = self.summaries[name]
        if noting:
            for (origin, goal), path in tuple(summary.arrivals.items()):
                if goal.what == _CALLER:
                    for role in _roles(state):
                        if role in ("system", _CALLER):
                            taint = bound.get(origin.parameter, NOTHING)
                            taint = taint if origin.parameter else frozenset({origin})
                            self._arrive(function, taint, Goal(role, goal.span), (name, *path))
                elif origin.parameter:
                    self._arrive(function, bound.get(origin.parameter, NOTHING), goal, (name, *path))
        found: set[Origin] = set()
        for origin in summary.returns:
            if origin.parameter:
                found |= bound.get(origin.parameter, NOTHING)
            else:
                via = origin.via if name in origin.via else (*origin.via, name)
                found.add(Origin(source=origin.source, span=origin.span, via=via))
        return frozenset(found)

    def _forked(self, function: Function, state: State, name: str, items: Taint, noting: bool) -> Taint:
        """The body sees the variables around it. What arrives in it arrives in the function around it."""
        body = self.functions[name]
        variable = {(body.parameters[0].slot, origin) for origin in items}
        self.forks[name] = self.forks[name] | state | variable
        summary = self.summaries[name]
        if noting:
            own = self.summaries[function.name].arrivals
            for key, path in tuple(summary.arrivals.items()):
                if key[0].parameter or key[1].what == _CALLER:
                    own.setdefault(key, path)
        return frozenset(summary.returns)

    def _arrive(self, function: Function, taint: Taint, goal: Goal, path: tuple[str, ...]) -> None:
        own = self.summaries[function.name].arrivals
        for origin in taint:
            own.setdefault((origin, goal), path)


def _reaching(module: Module) -> set[str]:
    """Functions that may call Python that does more than compute."""
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for function in module.functions:
        calls[function.name] = set()
        for block in function.blocks:
            for op in block.ops:
                if isinstance(op, ops.CallPython) and op.spec.effect != "pure":
                    found.add(function.name)
                elif isinstance(op, ops.Call | ops.CallPart | ops.RunFork):
                    calls[function.name].add(op.function)
    changed = True
    while changed:
        more = {name for name, callees in calls.items() if name not in found and callees & found}
        changed = bool(more)
        found |= more
    return found


def _roles(state: State) -> list[str]:
    return [value for slot, value in state if slot == _ROLE and isinstance(value, str)]


def _of(state: State, slot: str) -> Taint:
    return frozenset(value for name, value in state if name == slot and isinstance(value, Origin))


def _stored(state: State, slot: str, taint: Taint) -> State:
    return frozenset({pair for pair in state if pair[0] != slot} | {(slot, origin) for origin in taint})


def _along(state: State, end: Terminator, target: str) -> State:
    if isinstance(end, Next) and target == end.body:
        return _stored(state, end.item, _of(state, end.iterator))
    return state
