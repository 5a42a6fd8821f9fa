"""Instructions on the flow of control: jumps, iteration, errors."""

from __future__ import annotations

from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.frame import Frame, Handler, take
from sglc.runtime.vm.state.predicates import decide
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.values import Cursor, ErrorValue, failure
from sglc.types.arithmetic import is_number
from sglc.types.language.membership import is_member
from sglc.values.kinds import kind, wrong_kind
from sglc.values.parts import is_variant, items_of


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
    frame.stack[-1] = Cursor(items_of(frame.stack[-1]))
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
    frame.stack[-1] = is_variant(frame.stack[-1], machine.program.names[a])
    return None


def do_is_type(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Whether the newest item is a member of type `a`."""
    value = frame.stack[-1]
    found = frame.stack[-1] = is_member(value, machine.program.types[a], machine.program.table)
    return decide(machine, frame, value, a) if found and machine.run.prepared.predicates.of(a) else None


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
    """Open a handler, whose arms begin at instruction `a`. It notes stack depth and conversation.

    With `b` it is quiet: what it stands around leaves the conversation alone.
    """
    mark = frame.conversation.mark() if frame.conversation is not None and not b else None
    frame.handlers.append(Handler(a, len(frame.stack), mark, bool(b)))
    return None


def do_end_try(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Drop the newest handler: its block has ended without an error."""
    frame.handlers.pop()
    return None


def do_mark(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Keep the conversation as it is."""
    assert frame.conversation is not None
    frame.handlers.append(Handler(None, len(frame.stack), frame.conversation.mark()))
    machine.emit("mark", {})
    return None


def do_forget(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Go back to the conversation of the newest mark, and drop that."""
    handler = frame.handlers.pop()
    assert handler.mark is not None and frame.conversation is not None
    frame.conversation.restore(handler.mark)
    machine.emit("forget", {})
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
    frame.stack.append(ErrorValue(error.name, error.message, error.parts, error))
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
