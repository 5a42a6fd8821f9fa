"""How values look as text: what `${value}` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal

from sglc.types.number_text import decimal_text, number_text
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import TAG, RecordType, Type, TypeTable, UnionType
from sglc.types.values import EnumValue, RecordValue
from sglc.values.kinds import TEXT_LIMIT, MachineValue, ValueFault


def spelled(value: int | float | Decimal) -> str:
    """A number as it is put into text: decimals with 10 digits after the point at most."""
    try:
        return decimal_text(value) if isinstance(value, Decimal) else number_text(value)
    except ValueError:
        raise ValueFault(f"{value} is not a number that can be written") from None


def display(value: object, table: TypeTable) -> str:
    """The text that `${value}` writes: raw for scalars, JSON in its one spelling for everything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, EnumValue):
        return value.name
    if isinstance(value, MachineValue):
        return display(value.shown(), table)
    return json_text(value, table)


def json_text(value: object, table: TypeTable) -> str:
    """A value as JSON with `, ` and `: ` between its parts; absent optional fields are left out."""
    writer = _Writer(table)
    try:
        writer.write(value)
    except RecursionError:
        raise ValueFault("a value is nested too deeply to be written") from None
    return "".join(writer.parts)


def written_as(value: object, type: Type, table: TypeTable) -> str:
    """The text of a value in the form of its type. Raises ValueFault where it has none."""
    plain = value.shown() if isinstance(value, MachineValue) else value
    try:
        text = print_value(plain, type, table)
    except PrintError as fault:
        raise ValueFault(str(fault)) from None
    except RecursionError:
        raise ValueFault("a value is nested too deeply to be written") from None
    if len(text) > TEXT_LIMIT:
        raise ValueFault(f"a text grew beyond {TEXT_LIMIT} characters")
    return text


class _Writer:
    """Writes JSON up to a length. Values may share parts, so a text may be far larger than its value."""

    def __init__(self, table: TypeTable) -> None:
        self.parts: list[str] = []
        self._table = table
        self._room = TEXT_LIMIT

    def put(self, text: str) -> None:
        self._room -= len(text)
        if self._room < 0:
            raise ValueFault(f"a text grew beyond {TEXT_LIMIT} characters")
        self.parts.append(text)

    def write(self, value: object) -> None:
        if value is None:
            self.put("null")
        elif isinstance(value, bool):
            self.put("true" if value else "false")
        elif isinstance(value, int | float | Decimal):
            self.put(spelled(value))
        elif isinstance(value, str):
            self.put(json.dumps(value, ensure_ascii=False))
        elif isinstance(value, EnumValue):
            self.put(json.dumps(value.name, ensure_ascii=False))
        elif isinstance(value, RecordValue):
            optional = _absent_fields(value, self._table)
            shown = {n: item for n, item in value.fields.items() if not (item is None and n in optional)}
            self._object(shown if value.variant is None else {TAG: value.variant, **shown})
        elif isinstance(value, dict):
            self._object(value)
        elif isinstance(value, list | tuple | range):
            self.put("[")
            for index, item in enumerate(value):
                if index:
                    self.put(", ")
                self.write(item)
            self.put("]")
        else:
            self.put(json.dumps(display(value, self._table), ensure_ascii=False))

    def _object(self, items: Mapping[str, object]) -> None:
        self.put("{")
        for index, (name, item) in enumerate(items.items()):
            if index:
                self.put(", ")
            self.put(json.dumps(str(name), ensure_ascii=False) + ": ")
            self.write(item)
        self.put("}")


def declaration_of(value: RecordValue, table: TypeTable) -> RecordType | None:
    """The record or variant that a value is of."""
    declared = table.get(value.type)
    if isinstance(declared, RecordType):
        return declared
    if isinstance(declared, UnionType):
        return declared.variant(value.variant)
    return None


def _absent_fields(value: RecordValue, table: TypeTable) -> frozenset[str]:
    declared = declaration_of(value, table)
    return frozenset(f.name for f in declared.fields if f.optional) if declared is not None else frozenset()
