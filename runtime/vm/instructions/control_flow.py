"""Instructions on the flow of control: jumps, iteration, calls, errors."""

from __future__ import annotations

from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.frame import Frame, Handler, Signal, take
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.values import Cursor, ErrorValue, failure, kind, wrong_kind
from sglc.types.arithmetic import is_number
from sglc.types.language.membership import is_member
from sglc.types.values import RecordValue


def do_jump(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Go on at instruction `a`."""
    frame.pc = a
    return None


def do_jump_if_false(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a condition and go on at instruction `a` if it is false."""
    if not frame.stack.pop():
        frame.pc = a
    return None


def do_jump_if_true(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a condition and go on at instruction `a` if it is true."""
    if frame.stack.pop():
        frame.pc = a
    return None


def do_iterate(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`iterable -> iterator`: over items, characters, or the keys that a map has now."""
    value = frame.stack[-1]
    if isinstance(value, dict):
        value = list(value)
    if not isinstance(value, list | tuple | str | range):
        raise failure(f"{kind(value)} cannot be iterated over")
    frame.stack[-1] = Cursor(value)
    return None


def do_next(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Store the next item in slot `b`, or go on at instruction `a` where no item is left."""
    cursor = frame.stack[-1]
    assert isinstance(cursor, Cursor)
    if cursor.index >= len(cursor.items):
        frame.pc = a
    else:
        frame.slots[b] = cursor.items[cursor.index]
        # a new cursor, because the old one may be kept in a snapshot
        frame.stack[-1] = Cursor(cursor.items, cursor.index + 1)
    return None


def do_is_variant(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Whether the newest item is the variant that `a` names as `Union.Variant`."""
    union, _, variant = machine.program.names[a].rpartition(".")
    value = frame.stack[-1]
    frame.stack[-1] = isinstance(value, RecordValue) and value.type == union and value.variant == variant
    return None


def do_is_type(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Whether the newest item is a member of type `a`."""
    frame.stack[-1] = is_member(frame.stack[-1], machine.program.types[a], machine.program.table)
    return None


def do_call(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Call code `a` with the newest `b` items. `Strand.push` says in which conversation it runs."""
    code = machine.program.codes[a]
    arguments = take(frame, b)
    machine.push(code, arguments, frame, frame.allowances)
    if machine.run.listeners and code.kind != "pure":
        machine.emit("call", {"function": code.name})
    return Signal.SWITCH


def do_return(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Leave the frame with the newest item as its result. The frame frees what it holds."""
    value = frame.stack.pop()
    frames = machine.frames
    if len(frames) > 1:
        if machine.run.listeners and frame.code.kind != "pure":
            machine.emit("return", {"function": frame.code.name})
        frames.pop()
        frame.leave()
        frames[-1].stack.append(value)
    else:
        frames.pop()
        machine.last = frame
        machine.result = value
    return Signal.SWITCH


def do_raise(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Raise the error of name `a`, with the newest `b` items as its fields."""
    name = machine.program.names[a]
    values = take(frame, b)
    names = machine.run.prepared.errors.get(name, ("message",))
    fields = dict(zip(names, values, strict=False))
    message = ", ".join(machine.show(value) for value in values)
    raise SglError(name, message, fields=fields)


def do_reraise(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Raise a caught error again, with its first place."""
    error = frame.stack.pop()
    if not isinstance(error, ErrorValue):
        raise failure(f"{kind(error)} cannot be raised again")
    raise error.raised


def do_try(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Open a handler, whose arms begin at instruction `a`. It notes stack depth and conversation."""
    mark = frame.conversation.mark() if frame.conversation is not None else None
    frame.handlers.append(Handler(a, len(frame.stack), mark))
    return None


def do_end_try(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Drop the newest handler: its block has ended without an error."""
    frame.handlers.pop()
    return None


def do_catch(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Whether the error that was caught last has name `a`; the empty name stands for any error."""
    name = machine.program.names[a]
    frame.stack.append(frame.caught is not None and name in ("", frame.caught.name))
    return None


def do_error(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Push the error that was caught last."""
    error = frame.caught
    assert error is not None
    frame.stack.append(ErrorValue(error.name, error.message, dict(error.fields), error))
    return None


def do_limit(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`n -> n - 1`. Raises Budget where `n` is 0; `a` is the name that the message gives the loop."""
    left = frame.stack[-1]
    if not is_number(left):
        raise wrong_kind(left)
    if left <= 0:
        raise SglError("Budget", f"{machine.program.names[a] or 'the loop'} went beyond its limit")
    frame.stack[-1] = left - 1
    return None
