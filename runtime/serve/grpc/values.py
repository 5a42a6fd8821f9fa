"""Values of the language as messages, and messages as what JSON would give.

A message is read as plain data, which the type of the parameter then checks as it checks JSON. A value is
written by its type, which says which arm of a choice it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING

from sglc.targets.proto.description import (
    EnumItem,
    Item,
    MessageItem,
    ProtoField,
    ProtoFile,
    ProtoMessage,
    ScalarItem,
)
from sglc.targets.proto.own import OPTIONS
from sglc.targets.proto.shapes import LEAST, MOST, Shape, Shapes
from sglc.types.json_text import json_text
from sglc.types.language.membership import MemberError, arm_of
from sglc.types.number_text import number_text
from sglc.types.text.plain_json import MAX_DECIMAL_TEXT, decimal_of_text, parse_json, to_json, write_json
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    InForm,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declared_type,
)
from sglc.types.values import EnumValue, RecordValue, Value

if TYPE_CHECKING:
    from google.protobuf.message import Message

OPTIONS_ITEM = MessageItem(OPTIONS)
_NULL = (ScalarItem("null"), ScalarItem("json"))
"""Items that have a word for null."""
MOST_DEPTH = 98
"""Messages inside each other in a value: readers take 100, and a reply stands in an event."""
_WHOLE = re.compile(r"-?[0-9]+")


class NotSaid(ValueError):
    """A value that no message can have; carries a sentence."""


class Codec:
    """Reads and writes messages of one file."""

    def __init__(self, file: ProtoFile, table: TypeTable) -> None:
        self._table = table
        self._shapes = Shapes(table)
        self._depth = 0
        """Of the message that is being written: nothing else is written meanwhile."""
        self._messages = {each.name: each for each in file.messages}
        self._fields = {each.name: {field.key: field for field in each.fields} for each in file.messages}
        self._arms: dict[str, dict[Shape, ProtoField]] = {
            each.name: {field.shape: field for field in each.fields if field.shape is not None}
            for each in file.messages
        }
        self._members = {
            each.name: {member.number: member.key for member in each.members if member.number}
            for each in file.enums
        }
        self._numbers = {
            name: {key: number for number, key in members.items()} for name, members in self._members.items()
        }

    # -- from messages --------------------------------------------------------------------------------------

    def arguments(self, message: Message, name: str) -> dict[str, Value]:
        """The arguments in a request, as JSON would give them. Raises MemberError for what is no value."""
        return self._record(message, self._messages[name], "")

    def _record(self, message: Message, described: ProtoMessage, path: str) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for field in described.fields:
            if field.item == OPTIONS_ITEM:
                continue
            if not field.has_presence or message.HasField(field.name):
                here = f"{path}.{field.key}" if path else field.key
                found[field.key] = self._part(message, field, here)
            elif field.null:
                found[field.key] = None
        return found

    def _part(self, message: Message, field: ProtoField, path: str) -> Value:
        raw = getattr(message, field.name)
        if field.label == "repeated":
            return [self._item(each, field.item, f"{path}[{index}]") for index, each in enumerate(raw)]
        if field.label == "map":
            # Maps have no order here, so that of the keys is taken: the same call is the same conversation.
            return {key: self._item(raw[key], field.item, f"{path}[{json_text(key)}]") for key in sorted(raw)}
        return self._item(raw, field.item, path)

    def _item(self, raw: object, item: Item, path: str) -> Value:
        match item:
            case ScalarItem(kind):
                return _scalar(raw, kind, path)
            case EnumItem(name):
                member = self._members[name].get(raw) if isinstance(raw, int) else None
                if member is None:
                    raise MemberError(path, f"expected a member of {name}, found {raw}")
                return member
            case MessageItem(name):
                return self._message(raw, self._messages[name], path)

    def _message(self, message: Message, described: ProtoMessage, path: str) -> Value:
        match described.role:
            case "record":
                return self._record(message, described, path)
            case "union" | "choice":
                arm = self._set_arm(message, described, path)
                found = self._part(message, arm, path)
                if described.role == "choice":
                    return found
                assert isinstance(found, dict), "a variant is a record"
                return {TAG: arm.key, **found}
            case "tuple":
                return [
                    self._present(message, each, f"{path}[{at}]") for at, each in enumerate(described.fields)
                ]
        (only,) = described.fields  # of a list, a map, a maybe
        return self._present(message, only, path)

    def _present(self, message: Message, field: ProtoField, path: str) -> Value:
        """A part without which there is no value. Raises MemberError where it is missing."""
        if not field.has_presence or message.HasField(field.name):
            return self._part(message, field, path)
        if field.null:
            return None
        raise MemberError(path, f"the message has no `{field.name}`")

    def _set_arm(self, message: Message, described: ProtoMessage, path: str) -> ProtoField:
        name = message.WhichOneof(described.oneofs[0]) if described.oneofs else None
        found = next((each for each in described.fields if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in described.fields)
            raise MemberError(path, f"one of {known} must be there")
        return found

    # -- to messages ----------------------------------------------------------------------------------------

    def set(self, message: Message, field: ProtoField, value: Value, type: Type) -> None:
        """Write a value into a field. Raises NotSaid for one that no message can have."""
        if field.label == "repeated":
            self._extend(getattr(message, field.name), field.item, value, type)
        elif field.label == "map":
            self._enter(getattr(message, field.name), field.item, value, type)
        elif isinstance(field.item, MessageItem):
            described = self._messages[field.item.name]
            if value is not None or field.oneof or described.role == "maybe":
                self._write(getattr(message, field.name), described, value, type)
        elif value is not None or (field.item in _NULL and not field.null):
            setattr(message, field.name, self._plain(value, field.item, type))

    def _write(self, message: Message, described: ProtoMessage, value: Value, type: Type) -> None:
        with self._inside():
            message.SetInParent()
            self._write_parts(message, described, value, type)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """One message deeper while the block runs. Raises NotSaid where that is too deep."""
        self._depth += 1
        try:
            if self._depth > MOST_DEPTH:
                raise NotSaid("it is nested deeper than messages may be")
            yield
        finally:
            self._depth -= 1

    def _write_parts(self, message: Message, described: ProtoMessage, value: Value, type: Type) -> None:
        fields = described.fields
        match described.role:
            case "record" | "union":
                self._write_record(message, described, value, self._bare(value, type))
            case "tuple":
                bare = self._bare(value, type)
                assert isinstance(bare, TupleOf) and isinstance(value, tuple), "the shape is a tuple"
                for field, part, part_type in zip(fields, value, bare.items, strict=True):
                    self.set(message, field, part, part_type)
            case "choice":
                bare = self._bare(value, type)
                self.set(message, self._arms[described.name][self._shapes.of(bare)], value, bare)
            case _:
                self.set(message, fields[0], value, type)

    def _write_record(self, message: Message, described: ProtoMessage, value: Value, type: Type) -> None:
        assert isinstance(value, RecordValue) and isinstance(type, Named | Applied), "the shape is declared"
        declared = declared_type(type.name, self._table)
        if isinstance(declared, RecordType):
            self._write_fields(message, described, value, declared)
            return
        assert isinstance(declared, UnionType), "what has fields is a record or a union"
        arm, variant = self._fields[described.name][value.variant or ""], declared.variant(value.variant)
        assert variant is not None and isinstance(arm.item, MessageItem), "the value has a variant"
        with self._inside():
            inner = getattr(message, arm.name)
            inner.SetInParent()
            self._write_fields(inner, self._messages[arm.item.name], value, variant)

    def _write_fields(
        self, message: Message, described: ProtoMessage, value: RecordValue, record: RecordType
    ) -> None:
        fields = self._fields[described.name]
        for each in record.fields:
            self.set(message, fields[each.name], value.fields.get(each.name), each.type)  # type: ignore[arg-type]

    def _extend(self, items: object, item: Item, value: Value, type: Type) -> None:
        bare = self._bare(value, type)
        assert isinstance(bare, ListOf) and isinstance(value, list), "the shape is a list"
        for each in value:
            if isinstance(item, MessageItem):
                added = items.add()  # type: ignore[attr-defined]
                self._write(added, self._messages[item.name], each, bare.item)
            else:
                items.append(self._plain(each, item, bare.item))  # type: ignore[attr-defined]

    def _enter(self, entries: object, item: Item, value: Value, type: Type) -> None:
        bare = self._bare(value, type)
        assert isinstance(bare, MapOf) and isinstance(value, Mapping), "the shape is a map"
        with self._inside():  # an entry is a message, too
            for key, each in value.items():
                if isinstance(item, MessageItem):
                    made = entries[key]  # type: ignore[index]
                    self._write(made, self._messages[item.name], each, bare.value)
                else:
                    entries[key] = self._plain(each, item, bare.value)  # type: ignore[index]

    def _plain(self, value: Value, item: Item, type: Type) -> object:
        """A value without parts."""
        if isinstance(item, EnumItem):
            assert isinstance(value, EnumValue), "the shape is an enum"
            return self._numbers[item.name][value.name]
        assert isinstance(item, ScalarItem), "the shape has no parts"
        match item.kind:
            case "integer":
                assert isinstance(value, int), "the shape is an integer"
                if not LEAST <= value <= MOST:
                    raise NotSaid(f"{number_text(value)[:40]} does not fit an int64")
                return value
            case "wide" | "decimal":
                assert isinstance(value, int | Decimal), "the shape is a number"
                return number_text(value)
            case "json":
                return write_json(to_json(value, type, self._table))
            case "null":
                return 0
        return value

    def _bare(self, value: Value, type: Type) -> Type:
        """The type that a value has behind names, forms and unions."""
        while True:
            match type:
                case InForm(item=item):
                    type = item
                case Optional(item=item):
                    type = Null() if value is None else item
                case Alternatives():
                    type = arm_of(value, type, self._table)
                case Named(name) | Applied(name):
                    declared = declared_type(name, self._table)
                    if not isinstance(declared, AliasType):
                        return type
                    type = declared.type
                case _:
                    return type


def _scalar(raw: object, kind: str, path: str) -> Value:
    match raw:
        case str() if kind == "decimal":
            return decimal_of_text(raw, path)
        case str() if kind == "wide":
            if len(raw) > MAX_DECIMAL_TEXT or not _WHOLE.fullmatch(raw):
                raise MemberError(path, f"expected an integer as text, found {json_text(raw[:40])}")
            return int(raw)
        case str() if kind == "json":
            try:
                return parse_json(raw)
            except MemberError as wrong:
                raise MemberError(path, wrong.reason) from None
        case float():
            if not isfinite(raw):
                raise MemberError(path, f"{raw} is no number of the language")
            return raw
        case str() | bool() | int():
            return None if kind == "null" else raw
    raise MemberError(path, f"expected a {kind}")
