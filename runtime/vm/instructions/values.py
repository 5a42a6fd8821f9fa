"""Instructions on values: constants, variables, construction, operators, built-ins."""

from __future__ import annotations

from sglc.runtime.vm.instructions.builtins import call_function, call_method
from sglc.runtime.vm.instructions.operators import BINARY, UNARY, add, contains, extend
from sglc.runtime.vm.state.coerce import coerce, fault_of
from sglc.runtime.vm.state.frame import Frame, may_change, take
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.values import (
    ITEMS_LIMIT,
    TEXT_LIMIT,
    BranchValue,
    ErrorValue,
    Scored,
    as_kind,
    failure,
    kind,
    wrong_kind,
)
from sglc.types.language.membership import MemberError, check_member
from sglc.types.type import Named, RecordType, UnionType
from sglc.types.values import EnumValue, RecordValue


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
    declared = machine.program.table[named.name]
    assert isinstance(declared, RecordType)
    values = take(frame, b)
    fields = {field.name: value for field, value in zip(declared.fields, values, strict=True)}
    frame.stack.append(RecordValue(named.name, fields))
    return None


def do_variant(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """A variant, by its name `Union.Variant`, with the newest `b` items as its fields."""
    union, _, variant = machine.program.names[a].rpartition(".")
    declared = machine.program.table[union]
    assert isinstance(declared, UnionType)
    shape = declared.variant(variant)
    assert shape is not None
    values = take(frame, b)
    fields = {field.name: value for field, value in zip(shape.fields, values, strict=True)}
    frame.stack.append(RecordValue(union, fields, variant))
    return None


def do_string(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """The texts of the newest `a` items, joined. Raises Failure beyond TEXT_LIMIT characters."""
    text = "".join([machine.show(part) for part in take(frame, a)])
    if len(text) > TEXT_LIMIT:
        raise failure(f"a text grew beyond {TEXT_LIMIT} characters")
    frame.stack.append(text)
    return None


def do_append(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`list item -> list`: changed in place where nothing else holds the list (`may_change`), else a copy."""
    item = frame.stack.pop()
    items = frame.stack.pop()
    if not isinstance(items, list | tuple | range):
        raise wrong_kind(items)
    if len(items) >= ITEMS_LIMIT:
        raise failure(f"a list grew beyond {ITEMS_LIMIT} items")
    if type(items) is list and may_change(frame, items):
        items.append(item)
    else:
        items = [*items, item]
    frame.stack.append(items)
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
        raise failure(f"there is no operator `{machine.program.names[a]}`")
    left = frame.stack.pop()
    if operation is add and type(left) is list and type(right) is list and may_change(frame, left):
        extend(left, right)
    else:
        left = operation(left, right)
    frame.stack.append(left)
    return None


def do_range(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`start stop -> range`; with `a` it includes its stop. Raises Failure beyond ITEMS_LIMIT items."""
    stop = frame.stack.pop()
    start = frame.stack[-1]
    if not isinstance(start, int) or not isinstance(stop, int):
        raise failure("the ends of a range are integers")
    last = stop if a else stop - 1
    if last - start >= ITEMS_LIMIT:
        raise failure(f"a range has at most {ITEMS_LIMIT} items")
    frame.stack[-1] = range(start, last + 1)
    return None


def do_attribute(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Field `a` of a record, error, branch, scored choice or enum member. Raises Failure for none."""
    name = machine.program.names[a]
    frame.stack[-1] = _attribute_of(frame.stack[-1], name)
    return None


def _attribute_of(value: object, name: str) -> object:
    if isinstance(value, RecordValue):
        if name in value.fields:
            return value.fields[name]
    elif isinstance(value, BranchValue):
        if name in value.holes:
            return value.holes[name]
        if name == "value":
            return value.value
    elif isinstance(value, Scored):
        if name == "top":
            return value.top
        if name == "margin":
            return value.margin
    elif isinstance(value, ErrorValue):
        if name in value.fields:
            return value.fields[name]
        if name in ("name", "message"):
            return getattr(value, name)
    elif isinstance(value, EnumValue) and name == "name":
        return value.name
    raise failure(f"{kind(value)} has no field `{name}`")


def _item_of(value: object, index: object) -> object:
    if isinstance(value, dict):
        if contains(value, index):
            return value[index]
        raise failure(f"the map has no entry `{index}`")
    if (
        isinstance(value, list | tuple | str | range)
        and isinstance(index, int)
        and not isinstance(index, bool)
    ):
        if -len(value) <= index < len(value):
            return value[index]
        raise failure(f"index {index} is outside of {kind(value)} of length {len(value)}")
    if isinstance(value, RecordValue) and isinstance(index, str) and index in value.fields:
        return value.fields[index]
    raise failure(f"{kind(value)} has no item {index}")


def do_index(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`value index -> item`. A negative index counts from the end. Raises Failure for no item."""
    index = frame.stack.pop()
    frame.stack[-1] = _item_of(frame.stack[-1], index)
    return None


def do_slice(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`value start stop -> part` by Python's rules: ends beyond the value are cut. Of a range: a list."""
    value, start, stop = take(frame, 3)
    if not isinstance(value, list | tuple | str | range):
        raise failure(f"{kind(value)} has no parts")
    if not (isinstance(start, int | None) and isinstance(stop, int | None)):
        raise wrong_kind(stop if isinstance(start, int | None) else start)
    part = value[start:stop]
    frame.stack.append(list(part) if isinstance(part, range) else part)
    return None


def do_with_item(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`container key value -> container`: a copy, or itself where nothing else holds it."""
    container, key, value = take(frame, 3)
    if isinstance(container, dict):
        if len(container) >= ITEMS_LIMIT:
            raise failure(f"a map grew beyond {ITEMS_LIMIT} entries")
        if not may_change(frame, container):
            container = container.copy()
        container[key] = value
    elif isinstance(container, list):
        _item_of(container, key)
        if not may_change(frame, container):
            container = container.copy()
        container[as_kind(key, int)] = value
    else:
        raise failure(f"an item of {kind(container)} cannot be set")
    frame.stack.append(container)
    return None


def do_with_field(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """`record value -> record`: a copy with field `a` set. Raises Failure where there is no such field."""
    value = frame.stack.pop()
    record = frame.stack[-1]
    name = machine.program.names[a]
    if not isinstance(record, RecordValue) or name not in record.fields:
        raise failure(f"{kind(record)} has no field `{name}`")
    frame.stack[-1] = RecordValue(record.type, {**record.fields, name: value}, record.variant)
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


def do_check_type(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Hold the newest item against type `a`. Numbers are widened, plain JSON is read as the type.

    Raises Failure with the place inside the value that does not fit.
    """
    program = machine.program
    type, table = program.types[a], program.table
    value = coerce(frame.stack[-1], type, table)
    try:
        check_member(value, type, table)
    except MemberError as fault:
        why = fault_of(frame.stack[-1], type, table, fault)
        raise failure(f"a value is outside of its type: {why}") from None
    frame.stack[-1] = value
    return None
