"""A file of protocol buffers as data: what its text, the descriptors of a server and the reading of messages
are all made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from sglc.targets.proto.shapes import Plain, Shape

SCALARS: dict[Plain, str] = {
    "text": "string",
    "integer": "int64",
    "wide": "string",
    "decimal": "string",
    "float": "double",
    "bool": "bool",
    "json": "string",
    "null": ".google.protobuf.NullValue",
}
"""How values without parts are called."""
STRUCT = "google/protobuf/struct.proto"
"""The file that has NullValue."""

Label = Literal["", "optional", "repeated", "map"]
Role = Literal["record", "union", "list", "map", "tuple", "choice", "maybe", "reply", "event", "own"]
"""What a message stands for: a record or variant, a union, values that need a message of their own, or what
sglc itself says ("reply", "event", "own")."""


@dataclass(frozen=True, slots=True)
class ScalarItem:
    """A value without parts."""

    kind: Plain

    @property
    def notation(self) -> str:
        """As a text of the notation has it."""
        return SCALARS[self.kind]


@dataclass(frozen=True, slots=True)
class EnumItem:
    """A member of an enum."""

    name: str

    @property
    def notation(self) -> str:
        """As a text of the notation has it."""
        return self.name


@dataclass(frozen=True, slots=True)
class MessageItem:
    """A message, by its path in the file: `Crew.NotesList`."""

    name: str

    @property
    def notation(self) -> str:
        """As a text of the notation has it."""
        return self.name


Item = ScalarItem | EnumItem | MessageItem


@dataclass(frozen=True, slots=True)
class ProtoField:
    """A field of a message. `key` is what it is in the value: a field, a parameter, a variant."""

    key: str
    name: str
    item: Item
    label: Label = ""
    number: int = 0
    oneof: str = ""
    shape: Shape | None = None
    """Of an arm of a choice: the types of this shape are held by it."""
    null: bool = False
    """Whether a field that is not there stands for null; else its key is not there either."""
    doc: str = ""
    note: str = ""
    """What it may hold, in the notation of the language."""

    @property
    def type_text(self) -> str:
        """What decides whether two fields of one number are read alike."""
        label = f"{self.label} " if self.label in ("repeated", "map") else ""
        return label + self.item.notation

    @property
    def has_presence(self) -> bool:
        """Whether a reader sees that it is not there."""
        if self.label in ("repeated", "map"):
            return False
        return bool(self.label or self.oneof) or isinstance(self.item, MessageItem)


@dataclass(frozen=True, slots=True)
class Gone:
    """A number and a name that were used once and are not used again. The name may be in use."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class ProtoMessage:
    """A message by its path; its oneofs are those of its fields."""

    name: str
    role: Role
    fields: tuple[ProtoField, ...] = ()
    doc: str = ""
    gone: tuple[Gone, ...] = ()

    @property
    def oneofs(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(dict.fromkeys(each.oneof for each in self.fields if each.oneof))


@dataclass(frozen=True, slots=True)
class ProtoMember:
    """A member of an enum; `key` is its name in the language, empty for the one that no value has."""

    key: str
    name: str
    number: int = 0
    doc: str = ""


@dataclass(frozen=True, slots=True)
class ProtoEnum:
    """An enum. Its member 0 says nothing, as the style guide of protocol buffers has it."""

    name: str
    members: tuple[ProtoMember, ...]
    doc: str = ""
    gone: tuple[Gone, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtoMethod:
    """A way to call a function: for its value, or with its events (`streamed`)."""

    function: str
    name: str
    request: str
    reply: str
    streamed: bool
    doc: str = ""


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """A file with one service."""

    package: str
    service: str
    methods: tuple[ProtoMethod, ...]
    messages: tuple[ProtoMessage, ...]
    """Those inside of others stand behind them."""
    enums: tuple[ProtoEnum, ...]

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{self.package}.proto"

    @property
    def full_service(self) -> str:
        """The service with its package."""
        return f"{self.package}.{self.service}"

    @property
    def uses_null(self) -> bool:
        """Whether NullValue is mentioned."""
        null = ScalarItem("null")
        return any(each.item == null for message in self.messages for each in message.fields)


def entry_name(field: str) -> str:
    """The name of the message that protoc makes for a map: `by_name` has `ByNameEntry`."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def free_names(gone: Iterable[Gone], used: Collection[str]) -> list[str]:
    """The names among those that are gone which nothing uses again."""
    return list(dict.fromkeys(each.name for each in gone if each.name not in used))
