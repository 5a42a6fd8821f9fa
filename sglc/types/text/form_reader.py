"""The decoder of a type in a form: of whole texts, and of beginnings of some.

A beginning is read as a whole text is; where it ends, what is known so far is raised and taken up by the
part around it. See `sglc.types.text.decode` for partial values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar, assert_never

from sglc.automata.dfa.operations import accepts
from sglc.types.dependent import one_of_fault, span_fault
from sglc.types.forms.forms import shapes_of
from sglc.types.forms.shape import (
    Arms,
    Around,
    Conditioned,
    Entries,
    FormError,
    Group,
    Leaf,
    Many,
    Part,
    Ref,
    Shape,
    Shapes,
    Variants,
)
from sglc.types.forms.yaml import LONGEST_KEY
from sglc.types.language.membership import constant_notation, size_fault, str_fault, where_fault
from sglc.types.language.scalars import constant_text
from sglc.types.text.partial import MISSING, Growing, Partial, PartialFields, Stop
from sglc.types.text.reader import DecodeError, Decoder
from sglc.types.type import (
    Bool,
    Constant,
    EnumType,
    Float,
    InForm,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    SpanOf,
    Str,
    Type,
    TypeTable,
)
from sglc.types.values import MAX_DEPTH, EnumValue, RecordValue, Value

_Read = TypeVar("_Read")


def decode_in_form(text: str, type: InForm, table: TypeTable) -> Value:
    """The value of a text of the form. Raises DecodeError for any other text."""
    return _Reader(text, _shapes(type, table), whole=True).top()


def decode_beginning(text: str, type: InForm, table: TypeTable) -> Partial:
    """What a beginning of a text of the form says so far. Raises DecodeError where the text is none."""
    if not text:
        return MISSING
    try:
        return _Reader(text, _shapes(type, table), whole=False).top()
    except Stop as stop:
        return stop.value


def _shapes(type: InForm, table: TypeTable) -> Shapes:
    try:
        return shapes_of(type, table)
    except FormError as fault:
        raise DecodeError(0, str(fault)) from None


class _Reader:
    """`at` is the place after what was read. Where the text is not `whole`, its end raises Stop."""

    def __init__(self, text: str, shapes: Shapes, *, whole: bool) -> None:
        self.text = text
        self.shapes = shapes
        self.table = shapes.table
        self.whole = whole
        self.at = 0
        self.depth = 0

    def top(self) -> Value:
        value = self.value(self.shapes.root)
        if self.at != len(self.text):
            raise DecodeError(self.at, "the value is complete here")
        return value

    def value(self, shape: Shape) -> Value:
        match shape:
            case Leaf():
                return self.leaf(shape)
            case Around(left, inner, right):
                self.expect(left)
                value = self.value(inner)
                self.expect_behind(right, value)
                return value
            case Group(type=None):
                return self.nested(lambda: self.tuple_items(shape))
            case Group():
                return self.nested(lambda: self.record(shape))
            case Variants(groups=groups):
                return self.first([lambda group=group: self.value(group) for group in groups])  # type: ignore[misc]
            case Many():
                return self.nested(lambda: self.list_items(shape))
            case Entries():
                return self.nested(lambda: self.map_entries(shape))
            case Arms(arms=arms):
                return self.first([lambda arm=arm: self.closed(arm) for _, arm in arms])  # type: ignore[misc]
            case Conditioned(inner, alias):
                start = self.at
                value = self.value(inner)
                self.fail_if(start, where_fault(value, alias))
                return value
            case Ref():
                return self.value(self.shapes.of(shape))
            case _:
                assert_never(shape)

    def nested(self, read: Callable[[], _Read]) -> _Read:
        """One level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DecodeError(self.at, f"nested deeper than {MAX_DEPTH}")
        value = read()
        self.depth -= 1
        return value

    def first(self, arms: Sequence[Callable[[], Value]]) -> Value:
        """The first arm that reads; of a beginning, what it is so far if only one arm goes on with it."""
        start, depth = self.at, self.depth
        fault: DecodeError | None = None
        stops: list[Stop] = []
        read_to: tuple[Value, int, int] | None = None
        for read in arms:
            self.at, self.depth = start, depth
            try:
                value = read()
                if self.whole:
                    return value
                if read_to is None:
                    read_to = value, self.at, self.depth
            except Stop as stop:
                stops.append(stop)
            except DecodeError as error:
                if fault is None or error.position > fault.position:
                    fault = error
        if read_to is not None and not stops:
            value, self.at, self.depth = read_to
            return value
        if stops:
            raise stops[0] if len(stops) == 1 and read_to is None else Stop()
        raise fault or DecodeError(start, "nothing is accepted here")

    def closed(self, shape: Shape) -> Value:
        """An arm, behind which its value must end: another arm may have a longer text."""
        value = self.value(shape)
        rest = self.text[self.at : self.at + 2]
        if rest and rest[0] not in ",]}\n" and not "</".startswith(rest):
            raise DecodeError(self.at, "the value is complete here")
        return value

    # -- parts -------------------------------------------------------------------------------------

    def tuple_items(self, group: Group) -> Value:
        items: list[Partial] = []
        try:
            self.expect(group.left if group.parts else group.empty)
            for place, part in enumerate(group.parts):
                self.expect((group.joint if place else "") + part.left)
                items.append(self.value(part.shape))
                self.expect(part.right)
            self.expect(group.right if group.parts else "")
        except Stop as stop:
            self.stopped(items, stop)
        return tuple(items)  # type: ignore[arg-type]

    def record(self, group: Group) -> Value:
        assert group.type is not None
        values: dict[str, Partial] = {}
        try:
            self.fields(group, values)
        except Stop as stop:
            raise Stop(PartialFields(group.type, values, group.variant)) from stop
        for part in group.parts:
            assert part.field is not None, "the parts of a record are fields"
            if part.name not in values:
                values[part.name] = part.field.default if part.field.has_default else None
        ordered = {part.name: values[part.name] for part in group.parts}
        return RecordValue(group.type, ordered, group.variant)

    def fields(self, group: Group, values: dict[str, Partial]) -> None:
        if group.empty and not group.tag and self.stands(group.empty):
            missing = next((part for part in group.parts if not part.optional), None)
            if missing is not None:
                raise DecodeError(self.at, f"expected the field {missing.name}")
            self.at += len(group.empty)
            return
        if group.tag:
            self.expect(group.left + group.tag)
            self.tag_ends(group)
        first = not group.tag
        for part in group.parts:
            lead = (group.left if first else group.joint) + part.left
            if part.optional and not self.begins(lead):
                continue
            self.expect(lead)
            self.field(part, values)
            first = False
        if first and group.left + group.right != group.empty:
            raise DecodeError(self.at, "expected a field")
        self.expect(group.left + group.right if first else group.right)

    def field(self, part: Part, values: dict[str, Partial]) -> None:
        try:
            values[part.name] = self.value(part.shape)
        except Stop as stop:
            if stop.value is not MISSING:
                values[part.name] = stop.value
            raise
        self.expect(part.right)

    def tag_ends(self, group: Group) -> None:
        """Behind the name of a variant nothing follows that would make it a longer name."""
        due = [group.joint + part.left for part in group.parts] + [group.right]
        rest = self.text[self.at :]
        if not rest and not self.whole:
            raise Stop
        if not rest or any(each and rest.startswith(each[:1]) for each in due) or rest[0] in "\n<":
            return
        raise DecodeError(self.at, "the name of a variant ends here")

    def list_items(self, many: Many) -> Value:
        start = self.at
        items: list[Partial] = []
        try:
            if self.has_items(many):
                self.expect(many.left + many.lead)
                while True:
                    items.append(self.value(many.item))
                    self.expect(many.trail)
                    if not self.begins(many.joint + many.lead):
                        break
                    self.expect(many.joint + many.lead)
                self.expect(many.right)
            else:
                self.expect(many.empty)
        except Stop as stop:
            self.stopped(items, stop)
        bounds = ListOf(Null(), many.minimum, many.maximum)
        self.fail_if(start, size_fault(len(items), bounds, "items"))
        return items  # type: ignore[return-value]

    def has_items(self, many: Many) -> bool:
        """Whether an item stands here, and not the text of an empty list."""
        begin = many.left + many.lead
        if not begin:
            return self.at < len(self.text)
        if begin.startswith(many.empty) and len(begin) > len(many.empty):
            return self.begins(begin)
        return not self.stands(many.empty)

    def map_entries(self, shape: Entries) -> Value:
        start = self.at
        entries: dict[str, Partial] = {}
        key: str | None = None
        try:
            if self.stands(shape.empty):
                self.at += len(shape.empty)
            else:
                self.expect(shape.left)
                while True:
                    key = None
                    key = self.key(shape, entries)
                    entries[key] = self.value(shape.value)
                    if not self.begins(shape.joint):
                        break
                    self.expect(shape.joint)
                self.expect(shape.right)
        except Stop as stop:
            if key is not None and stop.value is not MISSING:
                entries[key] = stop.value
            raise Stop(Growing(entries)) from None
        bounds = MapOf(Str(), Null(), shape.minimum, shape.maximum)
        self.fail_if(start, size_fault(len(entries), bounds, "entries"))
        return entries  # type: ignore[return-value]

    def key(self, shape: Entries, entries: dict[str, Partial]) -> str:
        start = self.at
        if self.at < len(self.text) and self.text[self.at] != '"':
            raise DecodeError(start, "expected a key in quotes")
        try:
            key = self.leaf(Leaf(shape.key, quoted=True))
        except Stop:
            raise Stop from None
        assert isinstance(key, str | EnumValue), "keys of a map are texts"
        name = str(key)
        if name in entries:
            raise DecodeError(start, f"the key {name} stands twice")
        if len(name) > LONGEST_KEY:
            raise DecodeError(start, f"a key has at most {LONGEST_KEY} characters")
        self.expect(":")
        return name

    def stopped(self, items: list[Partial], stop: Stop) -> NoReturn:
        if stop.value is not MISSING:
            items.append(stop.value)
        raise Stop(Growing(items)) from None

    # -- fixed texts -------------------------------------------------------------------------------

    def expect(self, text: str) -> None:
        """Exactly this text."""
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return
        rest = self.text[self.at :]
        if not self.whole and text.startswith(rest):
            raise Stop
        raise DecodeError(self.at, f"expected {text!r}")

    def expect_behind(self, text: str, value: Partial) -> None:
        """A text behind a value that is complete without it."""
        try:
            self.expect(text)
        except Stop:
            raise Stop(value) from None

    def begins(self, text: str) -> bool:
        """Whether this text stands here. Raises Stop where that is not clear yet."""
        if self.text.startswith(text, self.at):
            return True
        rest = self.text[self.at :]
        if not self.whole and text.startswith(rest):
            raise Stop
        return False

    def stands(self, text: str) -> bool:
        """As `begins`, of the text of an empty value."""
        return bool(text) and self.begins(text)

    def fail_if(self, position: int, reason: str | None) -> None:
        if reason is not None:
            raise DecodeError(position, reason)

    # -- scalars -----------------------------------------------------------------------------------

    def leaf(self, leaf: Leaf) -> Value:
        start, texts = self.at, self.shapes.texts
        end = texts.end(self.text, start, leaf.quoted)
        if not self.whole and end == len(self.text):
            return self.growing(leaf.type, self.text[start:])
        spelled = self.text[start:end]
        value = self.scalar(leaf, spelled)
        self.at = end
        return value

    def growing(self, type: Type, spelled: str) -> NoReturn:
        """A scalar that may go on: a text grows, everything else is unknown until it is complete."""
        if isinstance(type, Str | OneOf | SpanOf):
            raise Stop(Growing(self.shapes.texts.grown(spelled)))
        if not any(word.startswith(spelled) for word in self.words(type)):
            raise DecodeError(self.at, "the value is not right")
        raise Stop

    def words(self, type: Type) -> list[str]:
        """The spellings of a scalar that is no text; of numbers, whatever may be the beginning of one."""
        write = self.shapes.texts.write
        match type:
            case Named(name=name):
                declared = self.table[name]
                assert isinstance(declared, EnumType), "no other declared type is a scalar"
                return [
                    word
                    for member in declared.members
                    for word in (write(member, False), write(member, True))
                ]
            case Constant(value=str() as text):
                return [write(text, False), write(text, True)]
            case Constant(value=value):
                return [constant_text(value, "hole")]
            case Bool():
                return ["true", "false"]
            case Null():
                return [self.shapes.texts.null]
        rest = self.text[self.at :]
        return [rest] if not rest.strip("-+.0123456789e") else []

    def scalar(self, leaf: Leaf, spelled: str) -> Value:
        start, texts = self.at, self.shapes.texts
        match leaf.type:
            case Str() as type:
                text = self.content(leaf, spelled)
                self.fail_if(start, str_fault(text, type))
                return text
            case OneOf() as type:
                text = self.content(leaf, spelled)
                self.fail_if(start, one_of_fault(text, type))
                return text
            case SpanOf() as type:
                text = self.content(leaf, spelled)
                self.fail_if(start, span_fault(text, type))
                return text
            case Constant(value=str() as due):
                if self.content(leaf, spelled) != due:
                    raise DecodeError(start, f"expected {constant_notation(due)}")
                return due
            case Named(name=name):
                declared = self.table[name]
                assert isinstance(declared, EnumType), "no other declared type is a scalar"
                member = self.content(leaf, spelled)
                if member not in declared.members:
                    raise DecodeError(start, f"{member} is no member of {name}")
                return EnumValue(name, member)
            case Null():
                if spelled != texts.null:
                    raise DecodeError(start, "expected null")
                return None
            case Float() if texts.number is not None and not accepts(texts.number(), spelled):
                raise DecodeError(start, "expected a float")
        try:
            return Decoder(spelled, self.table).whole(leaf.type)
        except DecodeError as fault:
            raise DecodeError(start + fault.position, fault.reason) from None

    def content(self, leaf: Leaf, spelled: str) -> str:
        """The text of a spelling; in quotes where they are due."""
        found = self.shapes.texts.read(spelled)
        if found is None or self.shapes.texts.write(found, leaf.quoted) != spelled:
            raise DecodeError(self.at, "the text is not written in its canonical spelling")
        return found
