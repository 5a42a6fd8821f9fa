"""Making values of parts, and the parts of values: records, ranges, fields, items, slices, changed copies.

What cannot be done raises `ValueFault`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglc.types.type import RecordType, TypeTable, UnionType
from sglc.types.values import EnumValue, RecordValue
from sglc.values.kinds import ITEMS_LIMIT, TEXT_LIMIT, MachineValue, ValueFault, as_kind, kind, wrong_kind
from sglc.values.operators import contains
from sglc.values.text import display


def record(name: str, items: Sequence[object], table: TypeTable) -> RecordValue:
    """A record of the type of that name, its fields in declared order."""
    declared = table[name]
    assert isinstance(declared, RecordType)
    return RecordValue(name, {f.name: item for f, item in zip(declared.fields, items, strict=True)})


def variant(name: str, items: Sequence[object], table: TypeTable) -> RecordValue:
    """A variant, by its name `Union.Variant`, its fields in declared order."""
    union, _, tag = name.rpartition(".")
    declared = table[union]
    assert isinstance(declared, UnionType)
    shape = declared.variant(tag)
    assert shape is not None
    return RecordValue(union, {f.name: item for f, item in zip(shape.fields, items, strict=True)}, tag)


def mapping(items: Sequence[object]) -> dict[object, object]:
    """A map of keys and values in turn. Of equal keys the last counts."""
    return dict(zip(items[::2], items[1::2], strict=True))


def joined(parts: Sequence[object], table: TypeTable) -> str:
    """The texts of values, joined. Raises ValueFault beyond TEXT_LIMIT characters."""
    text = "".join([display(part, table) for part in parts])
    if len(text) > TEXT_LIMIT:
        raise ValueFault(f"a text grew beyond {TEXT_LIMIT} characters")
    return text


def span(start: object, stop: object, *, inclusive: bool) -> range:
    """The integers from one to another. Raises ValueFault beyond ITEMS_LIMIT of them."""
    if not isinstance(start, int) or not isinstance(stop, int):
        raise ValueFault("the ends of a range are integers")
    last = stop if inclusive else stop - 1
    if last - start >= ITEMS_LIMIT:
        raise ValueFault(f"a range has at most {ITEMS_LIMIT} items")
    return range(start, last + 1)


def items_of(value: object) -> Sequence[object]:
    """What a loop goes over: items, characters, or the keys that a map has now."""
    if isinstance(value, dict):
        return list(value)
    if not isinstance(value, list | tuple | str | range):
        raise ValueFault(f"{kind(value)} cannot be iterated over")
    return value


def is_variant(value: object, name: str) -> bool:
    """Whether a value is the variant of the name `Union.Variant`."""
    union, _, tag = name.rpartition(".")
    return isinstance(value, RecordValue) and value.type == union and value.variant == tag


def field_of(value: object, name: str) -> object:
    """A field of a record, error, branch, scored choice or enum member."""
    if isinstance(value, RecordValue):
        if name in value.fields:
            return value.fields[name]
    elif isinstance(value, MachineValue):
        try:
            return value.attribute(name)
        except KeyError:
            pass
    elif isinstance(value, EnumValue) and name == "name":
        return value.name
    raise ValueFault(f"{kind(value)} has no field `{name}`")


def item_of(value: object, index: object) -> object:
    """An item, a character, an entry or a field. A negative index counts from the end."""
    if isinstance(value, dict):
        if contains(value, index):
            return value[index]
        raise ValueFault(f"the map has no entry `{index}`")
    if (
        isinstance(value, list | tuple | str | range)
        and isinstance(index, int)
        and not isinstance(index, bool)
    ):
        if -len(value) <= index < len(value):
            return value[index]
        raise ValueFault(f"index {index} is outside of {kind(value)} of length {len(value)}")
    if isinstance(value, RecordValue) and isinstance(index, str) and index in value.fields:
        return value.fields[index]
    raise ValueFault(f"{kind(value)} has no item {index}")


def slice_of(value: object, start: object, stop: object) -> object:
    """A part by Python's rules: ends beyond the value are cut, a null one is absent. Of a range: a list."""
    if not isinstance(value, list | tuple | str | range):
        raise ValueFault(f"{kind(value)} has no parts")
    if not (isinstance(start, int | None) and isinstance(stop, int | None)):
        raise wrong_kind(stop if isinstance(start, int | None) else start)
    part = value[start:stop]
    return list(part) if isinstance(part, range) else part


def appended(items: object, item: object, *, in_place: bool = False) -> list[object]:
    """The list with one more item: itself where it may be changed, else a copy."""
    if not isinstance(items, list | tuple | range):
        raise wrong_kind(items)
    if len(items) >= ITEMS_LIMIT:
        raise ValueFault(f"a list grew beyond {ITEMS_LIMIT} items")
    if in_place:
        found = as_kind(items, list)
        found.append(item)
        return found
    return [*items, item]


def with_item(container: object, key: object, value: object, *, in_place: bool = False) -> object:
    """The list or map with one item set: itself where it may be changed, else a copy."""
    if isinstance(container, dict):
        if len(container) >= ITEMS_LIMIT:
            raise ValueFault(f"a map grew beyond {ITEMS_LIMIT} entries")
        changed = container if in_place else container.copy()
        changed[key] = value
        return changed
    if isinstance(container, list):
        item_of(container, key)
        items = container if in_place else container.copy()
        items[as_kind(key, int)] = value
        return items
    raise ValueFault(f"an item of {kind(container)} cannot be set")


def with_field(value: object, name: str, item: object) -> RecordValue:
    """A copy of the record with one field set."""
    if not isinstance(value, RecordValue) or name not in value.fields:
        raise ValueFault(f"{kind(value)} has no field `{name}`")
    return RecordValue(value.type, {**value.fields, name: item}, value.variant)
