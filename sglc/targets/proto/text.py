"""A file of protocol buffers as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sglc.targets.proto.description import (
    STRUCT,
    Gone,
    ProtoEnum,
    ProtoField,
    ProtoFile,
    ProtoMessage,
    ProtoMethod,
    entry_name,
    free_names,
)

_ENDS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_STEP = "  "


def text_of(file: ProtoFile) -> str:
    """The text: service, messages, enums."""
    parts = [_head(file), _service(file)]
    outer = [each for each in file.messages if "." not in each.name]
    parts += ["\n".join(_message(each, file, frozenset())) for each in outer if each.role != "own"]
    parts += ["\n".join(_enum(each)) for each in file.enums]
    parts += ["\n".join(_message(each, file, frozenset())) for each in outer if each.role == "own"]
    return "\n\n".join(parts) + "\n"


def _head(file: ProtoFile) -> str:
    lines = ["// Written by `sglc proto`.", "", 'syntax = "proto3";', "", f"package {file.package};"]
    if file.uses_null:
        lines += ["", f'import "{STRUCT}";']
    return "\n".join(lines)


def _service(file: ProtoFile) -> str:
    lines = [f"service {file.service} {{"]
    for each in file.methods:
        lines += _indented(_comment(each.doc) + [_method(each)])
    return "\n".join([*lines, "}"])


def _method(method: ProtoMethod) -> str:
    stream = "stream " if method.streamed else ""
    return f"rpc {method.name}({method.request}) returns ({stream}{method.reply});"


def _message(message: ProtoMessage, file: ProtoFile, hidden: frozenset[str]) -> list[str]:
    """The lines of a message, those inside of it first. `hidden` are names that stand for something else
    here than in the file."""
    short = message.name.rpartition(".")[2]
    inside = [each for each in file.messages if each.name.rpartition(".")[0] == message.name]
    hidden |= {each.name.rpartition(".")[2] for each in inside}
    hidden |= {entry_name(each.name) for each in message.fields if each.label == "map"}
    body: list[str] = []
    for inner in inside:
        body += [*_message(inner, file, hidden), ""]
    body += _reserved(message.gone, {each.name for each in message.fields})
    oneof = ""
    for each in message.fields:
        if each.oneof != oneof:
            body += (["}"] if oneof else []) + ([f"oneof {each.oneof} {{"] if each.oneof else [])
            oneof = each.oneof
        lines = [*_comment(each.doc), _field(each, message.name, file.package, hidden)]
        body += _indented(lines) if oneof else lines
    if oneof:
        body.append("}")
    return [*_comment(message.doc), f"message {short} {{", *_indented(body), "}"]


def _field(field: ProtoField, message: str, package: str, hidden: frozenset[str]) -> str:
    kind = field.item.notation
    if kind.startswith(f"{message}."):
        kind = kind.removeprefix(f"{message}.")
    elif kind.partition(".")[0] in hidden:
        kind = f".{package}.{kind}"
    if field.label == "map":
        kind = f"map<string, {kind}>"
    elif field.label:
        kind = f"{field.label} {kind}"
    note = f"  // {_line(field.note)}" if field.note else ""
    return f"{kind} {field.name} = {field.number};{note}"


def _enum(enum: ProtoEnum) -> list[str]:
    body = _reserved(enum.gone, {each.name for each in enum.members})
    for each in enum.members:
        body += [*_comment(each.doc), f"{each.name} = {each.number};"]
    return [*_comment(enum.doc), f"enum {enum.name} {{", *_indented(body), "}"]


def _reserved(gone: Sequence[Gone], used: set[str]) -> list[str]:
    """Numbers that are not given again, and names as far as none uses them."""
    if not gone:
        return []
    names = free_names(gone, used)
    lines = [f"reserved {', '.join(str(each.number) for each in gone)};"]
    quoted = ", ".join(f'"{name}"' for name in names)
    return [*lines, f"reserved {quoted};"] if names else lines


def _comment(text: str) -> list[str]:
    return [f"// {_line(line)}".rstrip() for line in text.split("\n")] if text else []


def _line(text: str) -> str:
    """A text that ends no comment: what ends lines is a space."""
    return _ENDS.sub(" ", text).rstrip("\\ ")


def _indented(lines: Iterable[str]) -> list[str]:
    return [_STEP + line if line else line for line in lines]
