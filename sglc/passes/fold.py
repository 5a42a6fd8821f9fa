"""Computes what is known at compile time, above all the text that every run writes alike.

    line                              line
    text "Answer with JSON like"      text "Answer with JSON like"
    line                         →    text "\\n"
    %0 = const "{...}"                text "{...}"
    insert %0                         branch gone, if its condition is known
    ...

Newlines: whether a `line` begins with one is known wherever the message has begun on every road to it. The
first line of a message stays a `line`, for it tells the conversation that the message has begun. Constants:
operators on small integers, texts and booleans, strings with inserts, variables that are set once to a
constant, branches on a known condition.
"""

from __future__ import annotations

from typing import Literal, TypeGuard

from sglc.ir import ops, terminators
from sglc.ir.flow import forward
from sglc.ir.module import Block, Function, Module
from sglc.passes.rewrite import each_function, with_blocks
from sglc.types.values import EnumValue, Value

LineState = Literal["first", "begun", "glued", "unknown"]
"""What the next `line` does: nothing yet written in the message, written, glued, or not known."""

_SMALL = 10**15
_LONG = 1_000_000


class _Missing:
    """What stands for a value that is not known."""


_MISSING = _Missing()


def run(module: Module) -> Module:
    """The module with everything known computed."""
    slots = {function.name: _slots(function) for function in module.functions}
    parents = {function.name: function.parent for function in module.functions}

    def change(function: Function) -> Function:
        inherited: set[str] = set()
        parent = function.parent
        while parent is not None and parent in slots:
            inherited |= slots[parent]
            parent = parents[parent]
        return _function(function, inherited)

    return each_function(module, change)


def _slots(function: Function) -> set[str]:
    """All variables that a function writes."""
    found = {parameter.slot for parameter in function.parameters}
    for block in function.blocks:
        found.update(op.slot for op in block.ops if type(op) is ops.Store)
        if isinstance(block.end, terminators.Next):
            found.update((block.end.iterator, block.end.item))
    return found


def _function(function: Function, inherited: set[str]) -> Function:
    """Folded until nothing changes: a folded value can make a variable constant, or a branch known."""
    while True:
        known = _constant_slots(function, inherited)
        states = _line_states(function)
        blocks = [_Folder(known).block(block, states.get(block.label)) for block in function.blocks]
        folded = with_blocks(function, tuple(blocks))
        if folded is function:
            return function
        function = folded


# -- variables -------------------------------------------------------------------------------------


def _constant_slots(function: Function, inherited: set[str]) -> dict[str, Value]:
    """Variables written once in the whole function, with a constant: every load sees that value."""
    written: dict[str, Value] = {}
    several = set(inherited)
    several.update(parameter.slot for parameter in function.parameters)
    several.update(policy.slot for policy in function.retries)
    for block in function.blocks:
        values: dict[int, Value] = {}
        for op in block.ops:
            if type(op) is ops.Const:
                values[op.result] = op.value
            elif type(op) is ops.Store:
                if op.slot in written or op.value not in values:
                    several.add(op.slot)
                else:
                    written[op.slot] = values[op.value]
        if isinstance(block.end, terminators.Next):
            several.update((block.end.iterator, block.end.item))
    return {slot: value for slot, value in written.items() if slot not in several}


# -- lines -----------------------------------------------------------------------------------------


def _line_states(function: Function) -> dict[str, LineState]:
    """What is known of the message at the beginning of each block."""
    start: LineState = "first" if function.kind == "fn" else "unknown"

    def through(state: LineState, block: Block) -> LineState:
        for op in block.ops:
            if type(op) in _TEXTUAL:
                state = _after(state, op)
        return state

    return forward(
        function, start, through, lambda state, _end, _target: state, lambda a, b: a if a == b else "unknown"
    )


def _after(state: LineState, op: ops.Op) -> LineState:
    match op:
        case ops.OpenRole():
            return "first"
        case ops.Line():
            return "begun"
        case ops.Glue():
            return "glued"
        case ops.CloseRole() | ops.CallPart() | ops.AdoptBranch():
            return "unknown"
        case ops.Text(text=text) if not text:
            return state
        case ops.Text() | ops.Insert() | ops.Generate() | ops.SelectOption():
            # Text before any line begins the message too.
            return "unknown" if state == "first" else state
    return state


_TEXTUAL = frozenset(
    {ops.OpenRole, ops.CloseRole, ops.Line, ops.Glue, ops.Text, ops.Insert, ops.Generate, ops.SelectOption}
    | {ops.CallPart, ops.AdoptBranch}
)
"""Operations that `_after` tells apart."""
_FOLDED = frozenset({ops.Const, ops.Load, ops.Line, ops.Insert, ops.Unary, ops.Binary, ops.Concat})
"""Operations that `_Folder._op` knows something about."""


# -- one block -------------------------------------------------------------------------------------


class _Folder:
    """Folds one block. `values` are the constants among its temporaries."""

    def __init__(self, slots: dict[str, Value]) -> None:
        self.slots = slots
        self.values: dict[int, Value] = {}
        self.out: list[ops.Op] = []

    def block(self, block: Block, state: LineState | None) -> Block:
        state = "unknown" if state is None else state
        changed = False
        for op in block.ops:
            new = self._op(op, state) if type(op) in _FOLDED else op
            if type(op) in _TEXTUAL:
                state = _after(state, op)
            changed = changed or new is not op
            if new is None:
                continue
            glue = self._glue() if type(new) is ops.Line else None
            if glue is not None:
                del self.out[glue]
                changed = True
                continue
            self.out.append(new)
        end = self._end(block.end)
        if not changed and end is block.end:
            return block
        return Block(block.label, tuple(self.out), end)

    def _glue(self) -> int | None:
        """Place of a `glue` after which nothing has touched the conversation or could fail."""
        for index in range(len(self.out) - 1, -1, -1):
            if type(self.out[index]) is ops.Glue:
                return index
            if type(self.out[index]) not in ops.QUIET:
                return None
        return None

    def _op(self, op: ops.Op, state: LineState) -> ops.Op | None:
        match op:
            case ops.Const(result=result, value=value):
                self.values[result] = value
            case ops.Load(result=result, slot=slot) if slot in self.slots:
                self.values[result] = self.slots[slot]
                return ops.Const(result, self.slots[slot], op.span)
            case ops.Line() if state == "begun":
                return ops.Text("\n", op.span)
            case ops.Insert(value=temp):
                text = display(self.values.get(temp, _MISSING))
                if text is not None:
                    return ops.Text(text, op.span)
            case ops.Unary(result=result, operator=operator, operand=temp):
                return self._folded(op, result, fold_unary(operator, self.values.get(temp, _MISSING)))
            case ops.Binary(result=result, operator=operator, left=left, right=right):
                values = self.values.get(left, _MISSING), self.values.get(right, _MISSING)
                return self._folded(op, result, fold_binary(operator, *values))
            case ops.Concat(result=result, parts=parts):
                texts = [display(self.values.get(temp, _MISSING)) for temp in parts]
                if all(text is not None for text in texts):
                    whole = "".join(text for text in texts if text is not None)
                    if len(whole) < _LONG:
                        return self._folded(op, result, whole)
        return op

    def _folded(self, op: ops.Op, result: int, value: Value | _Missing) -> ops.Op:
        if isinstance(value, _Missing):
            return op
        self.values[result] = value
        return ops.Const(result, value, op.span)

    def _end(self, end: terminators.Terminator) -> terminators.Terminator:
        if isinstance(end, terminators.Branch):
            value = self.values.get(end.condition, _MISSING)
            if isinstance(value, bool):
                return terminators.Jump(end.then if value else end.otherwise, end.span)
        return end


def display(value: Value | _Missing) -> str | None:
    """The text that `${value}` writes; None where only the machine knows."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if abs(value) < _SMALL else None
        case None:
            return "null"
        case EnumValue(name=name):
            return name
    return None


def fold_unary(operator: str, value: Value | _Missing) -> Value | _Missing:
    """The result, or a marker where it is not known."""
    if operator == "not" and isinstance(value, bool):
        return not value
    if operator == "-" and _is_int(value):
        return -value
    return _MISSING


def fold_binary(operator: str, left: Value | _Missing, right: Value | _Missing) -> Value | _Missing:
    """The result, or a marker where it is not known or the machine might refuse."""
    result: Value | _Missing = _MISSING
    if _is_int(left) and _is_int(right):
        match operator:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "<":
                result = left < right
            case "<=":
                result = left <= right
            case ">":
                result = left > right
            case ">=":
                result = left >= right
            case "==":
                result = left == right
            case "!=":
                result = left != right
    elif isinstance(left, str) and isinstance(right, str):
        match operator:
            case "+" if len(left) + len(right) < _LONG:
                result = left + right
            case "==":
                result = left == right
            case "!=":
                result = left != right
    elif operator == "both" and isinstance(left, bool) and isinstance(right, bool):
        result = left and right
    elif type(left) is type(right) and isinstance(left, bool | EnumValue) and operator in ("==", "!="):
        result = (left == right) == (operator == "==")
    return result


def _is_int(value: Value | _Missing) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _SMALL
