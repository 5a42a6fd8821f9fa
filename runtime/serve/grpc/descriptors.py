"""Descriptors of protocol buffers at run time, from the description that `sglc proto` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from google.protobuf import descriptor_pb2, message_factory, struct_pb2
from google.protobuf.descriptor_pool import DescriptorPool

from sglc.targets.proto.description import (
    STRUCT,
    EnumItem,
    Gone,
    Item,
    MessageItem,
    ProtoEnum,
    ProtoField,
    ProtoFile,
    ProtoMessage,
    ScalarItem,
    entry_name,
    free_names,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

_Kind = descriptor_pb2.FieldDescriptorProto
_SCALARS = {"string": _Kind.TYPE_STRING, "int64": _Kind.TYPE_INT64, "double": _Kind.TYPE_DOUBLE}
_SCALARS["bool"] = _Kind.TYPE_BOOL


def file_descriptor(file: ProtoFile) -> descriptor_pb2.FileDescriptorProto:
    """The descriptor that protoc makes of the text of a file."""
    made = descriptor_pb2.FileDescriptorProto(name=file.name, package=file.package, syntax="proto3")
    if file.uses_null:
        made.dependency.append(STRUCT)
    by_path: dict[str, descriptor_pb2.DescriptorProto] = {}
    for message in _outer_first(file.messages):
        outer, _, name = message.name.rpartition(".")
        here = by_path[outer].nested_type.add() if outer else made.message_type.add()
        here.name = name
        by_path[message.name] = here
    for message in file.messages:
        _fill(by_path[message.name], message, file.package)
    for enum in file.enums:
        _enum(made.enum_type.add(), enum)
    service = made.service.add(name=file.service)
    for each in file.methods:
        service.method.add(
            name=each.name,
            input_type=f".{file.package}.{each.request}",
            output_type=f".{file.package}.{each.reply}",
            server_streaming=each.streamed or None,
        )
    return made


def _outer_first(messages: Iterable[ProtoMessage]) -> list[ProtoMessage]:
    """In their order, what is inside of others behind them."""
    return sorted(messages, key=lambda each: each.name.count("."))


def _fill(made: descriptor_pb2.DescriptorProto, message: ProtoMessage, package: str) -> None:
    oneofs = {name: index for index, name in enumerate(message.oneofs)}
    for name in oneofs:
        made.oneof_decl.add(name=name)
    for each in message.fields:
        field = made.field.add(name=each.name, number=each.number, label=_Kind.LABEL_OPTIONAL)
        if each.label == "map":
            field.label, field.type = _Kind.LABEL_REPEATED, _Kind.TYPE_MESSAGE
            field.json_name = _json_name(each.name)
            field.type_name = f".{package}.{message.name}.{entry_name(each.name)}"
            _entry(made.nested_type.add(), each, package)
            continue
        if each.label == "repeated":
            field.label = _Kind.LABEL_REPEATED
        _typed(field, each.item, package)
        if each.oneof:
            field.oneof_index = oneofs[each.oneof]
    _presence(made, message)
    for gone in message.gone:
        made.reserved_range.add(start=gone.number, end=gone.number + 1)
    made.reserved_name.extend(_free(message.gone, (each.name for each in message.fields)))


def _presence(made: descriptor_pb2.DescriptorProto, message: ProtoMessage) -> None:
    """A oneof of one field for each that is `optional`, as protoc makes them: `_name`, with an X before it as
    often as it is taken."""
    taken = {each.name for each in made.field} | {each.name for each in made.oneof_decl}
    for each, field in zip(message.fields, made.field, strict=True):
        if each.label != "optional":
            continue
        name = each.name if each.name.startswith("_") else f"_{each.name}"
        while name in taken:
            name = f"X{name}"
        taken.add(name)
        field.proto3_optional, field.oneof_index = True, len(made.oneof_decl)
        made.oneof_decl.add(name=name)


def _entry(made: descriptor_pb2.DescriptorProto, field: ProtoField, package: str) -> None:
    made.name = entry_name(field.name)
    made.options.map_entry = True
    key = made.field.add(name="key", number=1, label=_Kind.LABEL_OPTIONAL)
    _typed(key, ScalarItem("text"), package)
    _typed(made.field.add(name="value", number=2, label=_Kind.LABEL_OPTIONAL), field.item, package)


def _json_name(name: str) -> str:
    """The name that protoc gives a field in JSON: a letter behind underscores is a capital."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _typed(field: descriptor_pb2.FieldDescriptorProto, item: Item, package: str) -> None:
    field.json_name = _json_name(field.name)
    match item:
        case ScalarItem(kind="null"):
            field.type, field.type_name = _Kind.TYPE_ENUM, item.notation
        case ScalarItem():
            field.type = _SCALARS[item.notation]
        case EnumItem(name):
            field.type, field.type_name = _Kind.TYPE_ENUM, f".{package}.{name}"
        case MessageItem(name):
            field.type, field.type_name = _Kind.TYPE_MESSAGE, f".{package}.{name}"


def _enum(made: descriptor_pb2.EnumDescriptorProto, enum: ProtoEnum) -> None:
    made.name = enum.name
    for each in enum.members:
        made.value.add(name=each.name, number=each.number)
    for gone in enum.gone:
        made.reserved_range.add(start=gone.number, end=gone.number)
    made.reserved_name.extend(_free(enum.gone, (each.name for each in enum.members)))


def _free(gone: Iterable[Gone], used: Iterable[str]) -> list[str]:
    return free_names(gone, frozenset(used))


def pool_of(files: Iterable[ProtoFile]) -> DescriptorPool:
    """A pool of its own with some files and what they mention. Raises TypeError for a file that is none."""
    pool = DescriptorPool()
    pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
    for file in files:
        pool.AddSerializedFile(file_descriptor(file).SerializeToString())
    return pool


def message_class(pool: DescriptorPool, file: ProtoFile, name: str) -> type[Message]:
    """The class of a message by its path in a file."""
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{name}"))
