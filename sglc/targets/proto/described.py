"""From a compiled program to its file of protocol buffers, still without the numbers of its own parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from sglc.bytecode.code import Code, Program
from sglc.targets.proto import own
from sglc.targets.proto.description import (
    EnumItem,
    Item,
    Label,
    MessageItem,
    ProtoEnum,
    ProtoField,
    ProtoFile,
    ProtoMember,
    ProtoMessage,
    ProtoMethod,
    Role,
    ScalarItem,
)
from sglc.targets.proto.names import Scope, camel, snake, upper, word
from sglc.targets.proto.partials import partials_of, public_functions
from sglc.targets.proto.shapes import (
    Choice,
    Declared,
    Entries,
    Items,
    Leaf,
    Maybe,
    Row,
    Shape,
    Shapes,
)
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import dumps
from sglc.types.type import AliasType, EnumType, FieldType, RecordType, Type, UnionType, declared_type
from sglc.types.values import Value

UNSPECIFIED = "UNSPECIFIED"
_WRAPPED: dict[type, str] = {Items: "List", Entries: "Map", Row: "Tuple", Choice: "Choice", Maybe: "Maybe"}
"""How messages end that a value needs because it stands where no field of its own can say it."""
_ARMS = {"text": "text", "integer": "integer", "wide": "integer", "decimal": "decimal", "float": "number"}
_PLAIN = re.compile(r"[\w.?\[\]]+")
"""Types that the notation says as well."""
_LONGEST_DEFAULT = 60


def described(program: Program) -> ProtoFile:
    """The file of a program: its public functions and all types that they lead to."""
    return _Builder(program).file(public_functions(program))


class _Builder:
    """Makes messages as they are first needed."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.partials = partials_of(program)
        self.table = self.partials.table
        self.shapes = Shapes(self.table)
        self.names = Scope(each.name for each in own.own_messages())
        self.types = self._type_names()
        self.messages: dict[str, list[ProtoMessage]] = {}
        """Messages of declared types by qualified names, each with those inside of it."""
        self.enums: dict[str, ProtoEnum] = {}
        self.waiting: list[Declared] = []

    def _type_names(self) -> dict[str, str]:
        """Names of records, unions and enums. Those of the program itself go first."""
        found: dict[str, str] = {}
        for name in sorted(self.table, key=lambda each: "." in each):
            if not isinstance(self.table[name], AliasType):
                found[name] = self.names.fresh(camel(name))
        return found

    def file(self, functions: Sequence[Code]) -> ProtoFile:
        """The whole."""
        stem = PurePath(self.program.name).stem
        service = self.names.fresh(f"{camel(stem)}Service")
        taken = Scope()
        unary = {each.name: taken.fresh(camel(each.name)) for each in functions}
        streamed = {each.name: taken.fresh(f"{unary[each.name]}Events") for each in functions}
        methods: list[ProtoMethod] = []
        calls: list[ProtoMessage] = []
        for each in functions:
            request, reply, event = (
                self.names.fresh(f"{unary[each.name]}{kind}") for kind in ("Request", "Reply", "Event")
            )
            calls += [*self._request(each, request), *self._reply(each, reply)]
            calls += self._event(each, event, reply)
            methods += [
                ProtoMethod(each.name, unary[each.name], request, reply, False, each.doc),
                ProtoMethod(each.name, streamed[each.name], request, event, True),
            ]
        while self.waiting:
            self._declare(self.waiting.pop())
        inner = [each for name in self.table for each in self.messages.get(name, ())]
        enums = [self.enums[name] for name in self.table if name in self.enums]
        messages = (*calls, *inner, *own.own_messages())
        package = snake(stem)
        return ProtoFile(package, service, tuple(methods), messages, tuple(enums))

    # -- calls ----------------------------------------------------------------------------------------------

    def _request(self, code: Code, name: str) -> list[ProtoMessage]:
        message = _Message(self, name, "record", f"Arguments of `{code.name}`.")
        for each in code.parameters:
            type = self.program.types[each.type]
            message.add(each.name, type, False, each.has_default, each.default)
        message.fields.append(own.options_field(message.name("options")))
        return message.all()

    def _reply(self, code: Code, name: str) -> list[ProtoMessage]:
        message = _Message(self, name, "reply", "", own=("id", "usage", "checks"))
        value = None
        if code.result is not None:
            message.add("value", self.program.types[code.result], number=2)
            value = message.fields[0]
        return [own.reply_message(name, code.name, value), *message.inside]

    def _event(self, code: Code, name: str, reply: str) -> list[ProtoMessage]:
        message = _Message(self, name, "event", "", own=own.EVENT_NAMES)
        partial = self.partials.types.get(code.name)
        if partial is not None:
            doc = "Beside a partial value: the value so far, where it is that of the hole."
            message.add(own.SO_FAR, partial, optional=True, doc=doc, number=own.SO_FAR_NUMBER)
        return [own.event_message(name, code.name, reply, message.fields), *message.inside]

    # -- declared types -------------------------------------------------------------------------------------

    def refer(self, shape: Declared) -> Item:
        """A declared type as an item; it is made before the file ends."""
        if shape.name not in self.messages and shape.name not in self.enums and shape not in self.waiting:
            self.waiting.append(shape)
        name = self.types[shape.name]
        return EnumItem(name) if shape.kind == "enum" else MessageItem(name)

    def _declare(self, shape: Declared) -> None:
        declared, name = declared_type(shape.name, self.table), self.types[shape.name]
        match declared:
            case EnumType():
                self.enums[shape.name] = self._enum(declared, name)
            case RecordType():
                self.messages[shape.name] = self._record(declared, name, declared.doc)
            case UnionType():
                self.messages[shape.name] = self._union(declared, name)

    def _enum(self, declared: EnumType, name: str) -> ProtoEnum:
        prefix, scope = upper(name), self.names
        members = [ProtoMember("", scope.fresh(f"{prefix}_{UNSPECIFIED}"))]
        docs = declared.docs or ("",) * len(declared.members)
        for member, doc in zip(declared.members, docs, strict=True):
            members.append(ProtoMember(member, scope.fresh(f"{prefix}_{upper(member)}"), doc=doc))
        return ProtoEnum(name, tuple(members), declared.doc)

    def _record(self, declared: RecordType, name: str, doc: str) -> list[ProtoMessage]:
        message = _Message(self, name, "record", doc)
        for each in declared.fields:
            message.add_field(each)
        return message.all()

    def _union(self, declared: UnionType, name: str) -> list[ProtoMessage]:
        message = _Message(self, name, "union", declared.doc)
        oneof = message.name("variant")
        for each in declared.variants:
            field = message.name(snake(each.name))
            path = f"{name}.{message.inner_name(camel(each.name))}"
            message.inside += self._record(each, path, each.doc)
            message.fields.append(ProtoField(each.name, field, MessageItem(path), oneof=oneof))
        return message.all()


class _Message:
    """A message that is being made, with the messages inside of it."""

    def __init__(self, builder: _Builder, path: str, role: Role, doc: str, own: Sequence[str] = ()) -> None:
        self.builder = builder
        self.path = path
        self.role: Role = role
        self.doc = doc
        self._names = Scope(own)
        self._inner = Scope()
        self._around = Scope(path.split("."))
        self.fields: list[ProtoField] = []
        self.inside: list[ProtoMessage] = []

    def all(self) -> list[ProtoMessage]:
        """The message, and behind it those inside."""
        return [ProtoMessage(self.path, self.role, tuple(self.fields), self.doc), *self.inside]

    def name(self, name: str) -> str:
        """The name of a field or oneof."""
        return self._names.fresh(name, self._inner.given)

    def inner_name(self, name: str) -> str:
        """The name of a message inside. What stands around keeps its own."""
        return self._inner.fresh(name, self._names.given, self._around, self.builder.names)

    def add_field(self, field: FieldType) -> None:
        """A field of a record."""
        self.add(field.name, field.type, field.optional, field.has_default, field.default, field.doc)

    def add(
        self,
        key: str,
        type: Type,
        optional: bool = False,
        has_default: bool = False,
        default: Value = None,
        doc: str = "",
        number: int = 0,
    ) -> None:
        """A part of a value. One that may be null and has a default needs a message that tells null from
        nothing."""
        shape, name = self.builder.shapes.of(type), self.name(word(key))
        nullable = optional or isinstance(shape, Maybe)
        plain = shape.item if isinstance(shape, Maybe) else shape
        if has_default and nullable:
            plain = Maybe(plain)
        item, label = self._labelled(name, plain, absent=has_default or nullable)
        null = nullable and not has_default and not optional
        note = _note(type, name, key)
        if has_default:
            note = f"{note}; {self._shown(default, type)} if left out".removeprefix("; ")
        self.fields.append(ProtoField(key, name, item, label, number, null=null, doc=doc, note=note))

    def _shown(self, default: Value, type: Type) -> str:
        text = dumps(default, type, self.builder.table)
        return text if len(text) <= _LONGEST_DEFAULT else f"{text[:_LONGEST_DEFAULT]}…"

    def _labelled(self, name: str, shape: Shape, absent: bool) -> tuple[Item, Label]:
        """A value in a field; `absent` says whether one that is not there must be seen."""
        if not absent and isinstance(shape, Items):
            return self.item(name, shape.item), "repeated"
        if not absent and isinstance(shape, Entries):
            return self.item(name, shape.item), "map"
        item = self.item(name, shape)
        return item, "optional" if absent and not isinstance(item, MessageItem) else ""

    def item(self, name: str, shape: Shape) -> Item:
        """One value in a field, in a message of its own where there is no other way."""
        match shape:
            case Leaf(kind):
                return ScalarItem(kind)
            case Declared():
                return self.builder.refer(shape)
        ending = _WRAPPED[shape.__class__]
        inner = camel(name)
        path = f"{self.path}.{self.inner_name(inner if inner.endswith(ending) else inner + ending)}"
        self.inside += _wrapper(_Message(self.builder, path, "list", ""), shape)
        return MessageItem(path)

    def part(self, key: str, shape: Shape) -> None:
        """A part of a value that has no name of its own."""
        name = self.name(key)
        null = isinstance(shape, Maybe)
        item, label = self._labelled(name, shape.item if isinstance(shape, Maybe) else shape, absent=null)
        self.fields.append(ProtoField(key, name, item, label, null=null))

    def arm(self, shape: Shape, oneof: str) -> None:
        """An arm of a choice."""
        name = self.name(_arm_name(shape, self.builder.types))
        self.fields.append(ProtoField(name, name, self.item(name, shape), oneof=oneof, shape=shape))


def _wrapper(message: _Message, shape: Shape) -> list[ProtoMessage]:
    """The message for a value that no field can have as it is."""
    match shape:
        case Items():
            message.part("items", shape)
        case Entries():
            message.role = "map"
            message.part("entries", shape)
        case Row(items):
            message.role = "tuple"
            for number, each in enumerate(items, 1):
                message.part(f"item{number}", each)
        case Maybe():
            message.role = "maybe"
            message.part("value", shape)
        case Choice(arms):
            message.role = "choice"
            oneof = message.name("choice")
            for arm in arms:
                message.arm(arm, oneof)
    return message.all()


def _arm_name(shape: Shape, types: dict[str, str]) -> str:
    """What an arm of a choice is called, by what it holds."""
    match shape:
        case Leaf(kind):
            return _ARMS.get(kind, kind)
        case Declared(name):
            return snake(types[name])
        case Items(item):
            return f"{_arm_name(item, types)}_list"
        case Entries(item):
            return f"{_arm_name(item, types)}_map"
        case Row():
            return "row"
        case Maybe(item):
            return f"{_arm_name(item, types)}_or_null"
        case Choice():
            return "choice"


def _note(type: Type, name: str, key: str) -> str:
    """What a field may hold, where its type in the notation does not say it, and its key where it has
    another."""
    shown = show_type(type)
    said = "" if _PLAIN.fullmatch(shown) and "decimal" not in shown and "json" not in shown else shown
    return said if name == key else f"`{key}`, {said}" if said else f"`{key}`"
