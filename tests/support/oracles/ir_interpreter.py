"""A tiny interpreter of the IR: the definition of what passes must preserve.

It knows no model: holes answer from a fixed rule, and everything seen from outside goes into a trace. It
shares no code with the machine.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from sglc.ir import ops, terminators
from sglc.ir.module import Function, Module


class Raised(Exception):
    """An error of the language."""

    def __init__(self, name: str, fields: tuple[Any, ...] = ()) -> None:
        super().__init__(name)
        self.name = name
        self.fields = fields


@dataclass(frozen=True)
class Caught:
    """An error as a value."""

    name: str
    fields: tuple[Any, ...]

    def __str__(self) -> str:
        return self.name


@dataclass
class Conversation:
    """Messages as (role, text); `fresh` and `glued` as the language's law on separators has them."""

    messages: list[list[str]] = field(default_factory=lambda: [["", ""]])
    fresh: bool = True
    glued: bool = False

    def write(self, text: str) -> None:
        self.messages[-1][1] += text
        if text:
            self.fresh = False


@dataclass
class Frame:
    function: Function
    slots: dict[str, Any]
    conversation: Conversation
    handlers: list[tuple[str | None, Conversation, bool]] = field(default_factory=list)
    """Where an error goes on, None for a mark; the conversation there; whether it is quiet."""
    snapshots: dict[int, Any] = field(default_factory=dict)
    caught: Raised | None = None


class Interpreter:
    """Runs functions of one module. `trace` is what an observer sees, neighbouring texts joined."""

    def __init__(self, module: Module, limit: int = 5000) -> None:
        self.module = module
        self.trace: list[tuple[Any, ...]] = []
        self.left = limit
        self.holes = 0

    def run(self, name: str, arguments: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The trace of a call, which ends with its result or its error and the conversation."""
        conversation = Conversation()
        try:
            outcome = ("result", self.call(self.module.function(name), arguments, conversation))
        except Raised as error:
            outcome = ("error", error.name, error.fields)
        return [*self.trace, outcome, ("said", [tuple(message) for message in conversation.messages])]

    def see(self, *event: Any) -> None:
        if event[0] == "text":
            if not event[1]:
                return
            if self.trace and self.trace[-1][0] == "text":
                event = ("text", self.trace.pop()[1] + event[1])
        self.trace.append(event)

    def call(self, function: Function, arguments: tuple[Any, ...], conversation: Conversation) -> Any:
        slots = {p.slot: value for p, value in zip(function.parameters, arguments, strict=True)}
        return self.execute(Frame(function, slots, conversation))

    def execute(self, frame: Frame) -> Any:
        blocks = {block.label: block for block in frame.function.blocks}
        label, start = frame.function.blocks[0].label, 0
        while True:
            block = blocks[label]
            temps: dict[int, Any] = {}
            # After a retry the block is entered in the middle; what was computed before is computed again.
            for op in block.ops[:start]:
                if isinstance(op, ops.Const):
                    temps[op.result] = plain(op.value)
            try:
                at = start
                start = 0
                while at < len(block.ops):
                    self.left -= 1
                    if self.left < 0:
                        raise AssertionError("the random program runs too long")
                    again = self.step(frame, block.ops[at], temps, (label, at + 1))
                    at += 1
                    if again is not None:
                        label, start = again
                        break
                else:
                    done, value = self.leave(frame, block.end, temps)
                    if done:
                        return value
                    label = value
            except Raised as error:
                while frame.handlers and frame.handlers[-1][0] is None:
                    frame.handlers.pop()
                if not frame.handlers:
                    raise
                label, kept, quiet = frame.handlers.pop()
                if quiet:
                    continue
                frame.caught = error
                self.restore(frame, kept)
                self.see("caught", error.name)

    def restore(self, frame: Frame, kept: Conversation) -> None:
        kept = copy.deepcopy(kept)
        conversation = frame.conversation
        conversation.messages, conversation.fresh, conversation.glued = kept.messages, kept.fresh, kept.glued

    def leave(self, frame: Frame, end: terminators.Terminator, temps: dict[int, Any]) -> tuple[bool, Any]:
        match end:
            case terminators.Jump(target=target):
                return False, target
            case terminators.Branch(condition=condition, then=then, otherwise=otherwise):
                return False, then if temps[condition] else otherwise
            case terminators.Next(iterator=iterator, item=item, body=body, done=done):
                items = frame.slots[iterator]
                if not items:
                    return False, done
                frame.slots[item], frame.slots[iterator] = items[0], items[1:]
                return False, body
            case terminators.Try(body=body, handler=handler, quiet=quiet):
                frame.handlers.append((handler, copy.deepcopy(frame.conversation), quiet))
                return False, body
            case terminators.Return(value=value):
                return True, temps[value]
            case terminators.RaiseError(name=name, arguments=arguments):
                raise Raised(name, tuple(temps[a] for a in arguments))
            case terminators.Reraise(error=error):
                raise Raised(temps[error].name, temps[error].fields)
        raise AssertionError(end)

    def step(self, frame: Frame, op: ops.Op, temps: dict[int, Any], after: tuple[str, int]) -> Any:
        """Carry out one operation; the place to resume at if it is not the next one."""
        conversation, slots = frame.conversation, frame.slots
        match op:
            case ops.Const(result=r, value=value):
                temps[r] = plain(value)
            case ops.Load(result=r, slot=slot):
                temps[r] = slots[slot]
            case ops.Store(slot=slot, value=value):
                slots[slot] = temps[value]
            case ops.MakeList(result=r, items=items) | ops.MakeTuple(result=r, items=items):
                temps[r] = tuple(temps[i] for i in items)
            case ops.Append(result=r, items=items, item=item):
                temps[r] = (*temps[items], temps[item])
            case ops.Iterate(result=r, value=value):
                if not isinstance(temps[value], tuple | str):
                    raise Raised("Failure", ("iterate",))
                temps[r] = tuple(temps[value])
            case ops.Concat(result=r, parts=parts):
                temps[r] = "".join(show(temps[p]) for p in parts)
            case ops.Unary(result=r, operator=operator, operand=operand):
                temps[r] = unary(operator, temps[operand])
            case ops.Binary(result=r, operator=operator, left=left, right=right):
                temps[r] = binary(operator, temps[left], temps[right])
            case ops.CallMethod(result=r, name=name, arguments=arguments):
                self.see("method", name, tuple(temps[a] for a in arguments))
                temps[r] = len(arguments)
            case ops.Catch(result=r, name=name):
                temps[r] = frame.caught is not None and name in ("", frame.caught.name)
            case ops.HandledError(result=r):
                assert frame.caught is not None
                temps[r] = Caught(frame.caught.name, frame.caught.fields)
            case ops.EndTry():
                frame.handlers.pop()
            case ops.Mark():
                frame.handlers.append((None, copy.deepcopy(frame.conversation), False))
            case ops.Forget():
                _, kept, _ = frame.handlers.pop()
                self.restore(frame, kept)
            case ops.Limit(result=r, count=count, name=name):
                if temps[count] <= 0:
                    raise Raised("Budget", (name,))
                temps[r] = temps[count] - 1
            case ops.OpenRole(role=role):
                conversation.messages.append([role, ""])
                conversation.fresh, conversation.glued = True, False
                self.see("role", role)
            case ops.CloseRole():
                self.see("end role")
            case ops.Line():
                if not conversation.fresh and not conversation.glued:
                    conversation.write("\n")
                    self.see("text", "\n")
                conversation.fresh = conversation.glued = False
            case ops.Glue():
                conversation.glued = True
            case ops.Text(text=text):
                conversation.write(text)
                self.see("text", text)
            case ops.Insert(value=value):
                conversation.write(show(temps[value]))
                self.see("text", show(temps[value]))
            case ops.Generate(result=r, hole=hole, options=options):
                self.holes += 1
                name = self.module.holes[hole].name
                temps[r] = self.holes % 7
                conversation.write(str(temps[r]))
                self.see("hole", name, tuple(temps[o] for o in options), temps[r])
            case ops.Call(result=r, function=name, arguments=arguments):
                temps[r] = self.call(
                    self.module.function(name), tuple(temps[a] for a in arguments), Conversation()
                )
            case ops.Start():
                pass  # a hint changes nothing
            case ops.CallPart(result=r, function=name, arguments=arguments):
                temps[r] = self.call(
                    self.module.function(name), tuple(temps[a] for a in arguments), conversation
                )
            case ops.Snapshot(retry=retry):
                attempts = frame.function.retries[retry].attempts
                kept = (after, dict(slots), len(frame.handlers), copy.deepcopy(conversation))
                frame.snapshots[retry] = [attempts, kept]
            case ops.TryAgain(retry=retry, reason=reason):
                left, kept = frame.snapshots[retry]
                policy = frame.function.retries[retry]
                hole = self.module.holes[policy.hole].name
                self.see("retry", hole, policy.strategy, show(temps[reason]), left)
                if left > 0:
                    frame.snapshots[retry][0] = left - 1
                    place, old, handlers, said = kept
                    slots.clear()
                    slots.update(old)
                    del frame.handlers[handlers:]
                    self.restore(frame, said)
                    return place
            case ops.RecordCheck(passed=passed, reason=reason):
                self.see("check", passed, temps[reason])
            case ops.SetSeed(value=value):
                self.see("seed", temps[value])
            case ops.RunFork(result=r, function=name, items=items):
                body = self.module.function(name)
                values = []
                for item in temps[items]:
                    inner = {**slots, body.parameters[0].slot: item}
                    values.append(self.execute(Frame(body, inner, copy.deepcopy(conversation))))
                temps[r] = tuple(values)
            case _:
                raise AssertionError(f"the random programs have no {op}")
        return None


def show(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(show, value)) + "]"
    return str(value)


def unary(operator: str, value: Any) -> Any:
    if operator == "not":
        return not value
    if isinstance(value, int) and not isinstance(value, bool):
        return -value
    raise Raised("Failure", (operator,))


def plain(value: Any) -> Any:
    """A constant as the interpreter has values: lists are tuples."""
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


def is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def same(left: Any, right: Any) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def smaller(operator: str, left: Any, right: Any) -> bool:
    """Whether `left < right`: of texts and integers, and of lists by the first items that differ."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        for one, other in zip(left, right, strict=False):
            if not same(one, other):
                return smaller(operator, one, other)
        return len(left) < len(right)
    if (isinstance(left, str) and isinstance(right, str)) or (is_integer(left) and is_integer(right)):
        return left < right
    raise Raised("Failure", (operator,))


def binary(operator: str, left: Any, right: Any) -> Any:
    kinds = (type(left), type(right))
    match operator:
        case "==":
            return same(left, right)
        case "!=":
            return not same(left, right)
        case "<":
            return smaller(operator, left, right)
        case ">=":
            return same(left, right) or not smaller(operator, left, right)
        case "+" if kinds in ((str, str), (tuple, tuple)):
            return left + right
        case "*" if kinds in ((str, int), (tuple, int), (int, str), (int, tuple)):
            return left * right
    if not (is_integer(left) and is_integer(right)):
        raise Raised("Failure", (operator,))
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            if right == 0:
                raise Raised("Failure", (operator,))
            return left // right
    raise AssertionError(operator)
