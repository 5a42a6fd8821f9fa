"""Instructions on values: constants, variables, construction, operators, built-ins."""

from __future__ import annotations

from sglc.runtime.vm.state.frame import Frame, may_change, take
from sglc.runtime.vm.state.predicates import hold
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.types.type import Named
from sglc.values.builtins import call_function, call_method
from sglc.values.coerce import checked
from sglc.values.kinds import ValueFault
from sglc.values.operators import BINARY, UNARY, add, extend
from sglc.values.parts import (
    appended,
    field_of,
    item_of,
    joined,
    record,
    slice_of,
    span,
    variant,
    with_field,
    with_item,
)
from sglc.values.text import written_as


def do_constant(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Push constant `a` of the program."""
    frame.stack.append(machine.program.constants[a])
    return None


def do_load(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Push the value of slot `a`."""
    frame.stack.append(frame.slots[a])
    return None


def do_store(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a value into slot `a`."""
    frame.slots[a] = frame.stack.pop()
    return None


def do_duplicate(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Push the newest item once more."""
    frame.stack.append(frame.stack[-1])
    return None


def do_pop(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Drop the newest item."""
    frame.stack.pop()
    return None


def do_list(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """A list of the newest `a` items."""
    frame.stack.append(take(frame, a))
    return None


def do_tuple(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """A tuple of the newest `a` items."""
    frame.stack.append(tuple(take(frame, a)))
    return None


def do_map(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """A map of the newest `a` items, which are keys and values in turn. Of equal keys the last counts."""
    items = take(frame, a)
    frame.stack.append(dict(zip(items[::2], items[1::2], strict=True)))
    return None


def do_record(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """A record of type `a` with the newest `b` items as its fields, in declared order."""
    named = machine.program.types[a]
    assert isinstance(named, Named)
    frame.stack.append(record(named.name, take(frame, b), machine.program.table))
    return None


def do_variant(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """A variant, by its name `Union.Variant`, with the newest `b` items as its fields."""
    frame.stack.append(variant(machine.program.names[a], take(frame, b), machine.program.table))
    return None


def do_string(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The texts of the newest `a` items, joined."""
    frame.stack.append(joined(take(frame, a), machine.program.table))
    return None


def do_append(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`list item -> list`: changed in place where nothing else holds the list (`may_change`), else a copy."""
    item = frame.stack.pop()
    items = frame.stack.pop()
    in_place = type(items) is list and may_change(frame, items)
    frame.stack.append(appended(items, item, in_place=in_place))
    return None


def do_unary(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The operator of name `a` on the newest item."""
    frame.stack[-1] = UNARY[machine.program.names[a]](frame.stack[-1])
    return None


def do_binary(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The operator of name `a` on the two newest items. `+` extends a list in place where it may."""
    right = frame.stack.pop()
    operation = BINARY.get(machine.program.names[a])
    if operation is None:
        raise ValueFault(f"there is no operator `{machine.program.names[a]}`")
    left = frame.stack.pop()
    if operation is add and type(left) is list and type(right) is list and may_change(frame, left):
        extend(left, right)
    else:
        left = operation(left, right)
    frame.stack.append(left)
    return None


def do_range(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`start stop -> range`; with `a` it includes its stop."""
    stop = frame.stack.pop()
    frame.stack[-1] = span(frame.stack[-1], stop, inclusive=bool(a))
    return None


def do_attribute(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Field `a` of a record, error, branch, scored choice or enum member."""
    frame.stack[-1] = field_of(frame.stack[-1], machine.program.names[a])
    return None


def do_index(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`value index -> item`."""
    index = frame.stack.pop()
    frame.stack[-1] = item_of(frame.stack[-1], index)
    return None


def do_slice(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`value start stop -> part`."""
    value, start, stop = take(frame, 3)
    frame.stack.append(slice_of(value, start, stop))
    return None


def do_with_item(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`container key value -> container`: changed in place where nothing else holds it, else a copy."""
    container, key, value = take(frame, 3)
    in_place = isinstance(container, dict | list) and may_change(frame, container)
    frame.stack.append(with_item(container, key, value, in_place=in_place))
    return None


def do_with_field(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`record value -> record`: a copy with field `a` set."""
    value = frame.stack.pop()
    frame.stack[-1] = with_field(frame.stack[-1], machine.program.names[a], value)
    return None


def do_builtin(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The built-in function of name `a` on the newest `b` items."""
    arguments = take(frame, b)
    frame.stack.append(call_function(machine.program.names[a], arguments, machine.program.table))
    return None


def do_method(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The method of name `a`; the newest `b` items are its receiver and arguments."""
    arguments = take(frame, b)
    frame.stack.append(call_method(machine.program.names[a], arguments, machine.program.table))
    return None


def do_write_as(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The text of the newest item in the form of type `a`."""
    program = machine.program
    frame.stack[-1] = written_as(frame.stack[-1], program.types[a], program.table)
    return None


def do_check_type(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Hold the newest item against type `a`. Numbers are widened, plain JSON is read as the type.

    Raises Failure with the place inside the value that does not fit.
    """
    program = machine.program
    value = frame.stack[-1] = checked(frame.stack[-1], program.types[a], program.table)
    return hold(machine, value, a) if machine.run.prepared.predicates.of(a) else None


def do_check_given(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Hold the first of the newest `b` items against type `a`, which depends on the others; it stays.

    Raises Failure with the place inside the value that does not fit.
    """
    program = machine.program
    value, *given = take(frame, b)
    machine.run.prepared.bound.hold(value, a, program.types[a], given, program.table)
    frame.stack.append(value)
    return None
