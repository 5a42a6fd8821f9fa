"""The third artefact of a type: from an accepted text to a value, and from part of one to part of a value.

Partial values are exact because a field's end is known from the text alone: what is complete is decoded and
final, and at most one text is still growing. Numbers, enum members and other scalars appear only when
complete.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NoReturn

from sglc.types.dependent import erased
from sglc.types.json_text import json_text
from sglc.types.language.membership import where_fault
from sglc.types.language.scalars import Surface
from sglc.types.text.partial import MISSING, Growing, Partial, PartialFields, Stop
from sglc.types.text.reader import DecodeError, Decoder
from sglc.types.type import (
    TAG,
    Alternatives,
    EnumType,
    FieldType,
    InForm,
    Json,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    behind_names,
    declared_type,
    form_of,
    unfolded,
)
from sglc.types.values import Value

__all__ = ["MISSING", "DecodeError", "Growing", "PartialFields", "decode", "decode_partial"]


def decode(text: str, type: Type, table: TypeTable, *, surface: Surface = "hole") -> Value:
    """The value of a text of the type's language. Raises DecodeError for any other text.

    The one exception are texts that nest deeper than `values.MAX_DEPTH`, which are refused too.
    """
    if surface == "hole" and (formed := form_of(type, table)) is not None:
        value = _decode_in_form(text, formed, table)
        for alias in unfolded(type, table)[1]:
            if (fault := where_fault(value, alias)) is not None:
                raise DecodeError(0, fault)
        return value
    decoder = Decoder(text, table)
    try:
        return decoder.raw(type) if surface == "hole" else decoder.whole(type)
    except RecursionError:
        raise DecodeError(decoder.at, "nested too deeply") from None


def _decode_in_form(text: str, type: InForm, table: TypeTable) -> Value:
    if type.form == "json":
        return decode(text, type.item, table, surface="json")
    from sglc.types.text.form_reader import decode_in_form

    return decode_in_form(text, type, table)


def decode_partial(text: str, type: Type, table: TypeTable, *, surface: Surface = "hole") -> Partial:
    """What a prefix of a text of the type says so far.

    Complete parts are values as `decode` gives them; the one part that is not is a `Growing` or a
    `PartialFields`. `MISSING` if nothing is there. At the top of a hole text is always `Growing`, and
    numbers and members are MISSING, as more may follow. Raises DecodeError where the text is no prefix
    (refinements of a growing text are not checked).
    """
    if surface == "hole" and (formed := form_of(type, table)) is not None:
        if formed.form == "json":
            return decode_partial(text, formed.item, table, surface="json")
        from sglc.types.text.form_reader import decode_beginning

        return decode_beginning(text, formed, table)
    return _Partial(text, table).top(erased(type), surface)


class _Partial:
    def __init__(self, text: str, table: TypeTable) -> None:
        self.text = text
        self.table = table
        self.at = 0

    def top(self, type: Type, surface: Surface) -> Partial:
        plain = self.plain(type)
        if surface == "hole":
            if isinstance(plain, Str):
                return Growing(self.text)
            if isinstance(plain, Optional | Alternatives):
                return self.raw_alternatives(plain)
            if not self.is_composite(plain):
                return MISSING
        try:
            value = self.value(type)
        except Stop as stop:
            return stop.value
        if self.at != len(self.text):
            raise DecodeError(self.at, "the value is complete here")
        return value

    def plain(self, type: Type) -> Type:
        return behind_names(type, self.table)

    def is_composite(self, type: Type) -> bool:
        if isinstance(type, Named):
            return not isinstance(declared_type(type.name, self.table), EnumType)
        return isinstance(type, ListOf | TupleOf | MapOf)

    def raw_alternatives(self, type: Optional | Alternatives) -> Partial:
        """Composite arms show themselves by their bracket; a lone text arm by everything else."""
        arms = [self.plain(arm) for arm in self.flat(type)]
        for arm in arms:
            if self.is_composite(arm) and self.text[:1] in ("{", "["):
                part = _Partial(self.text, self.table)
                try:
                    return part.top(arm, "json")
                except DecodeError:
                    continue
        if any(isinstance(arm, Str) for arm in arms) and not "null".startswith(self.text):
            return Growing(self.text)
        return MISSING

    def flat(self, type: Type) -> list[Type]:
        plain = self.plain(type)
        if isinstance(plain, Optional):
            return self.flat(plain.item)
        if isinstance(plain, Alternatives):
            return [each for arm in plain.arms for each in self.flat(arm)]
        return [plain]

    def value(self, type: Type) -> Value:
        """A complete value; Stop with the partial one where the text ends inside it."""
        decoder = Decoder(self.text, self.table)
        decoder.at = self.at
        plain = self.plain(type)
        scalar = not self.is_composite(plain) and not isinstance(plain, Str | Optional | Alternatives)
        # A number at the very end of the text may go on.
        try:
            value = decoder.value(type)
            if decoder.at < len(self.text) or self.text[decoder.at - 1 : decoder.at] in ('"', "]", "}"):
                self.at = decoder.at
                return value
            raise Stop
        except DecodeError:
            if isinstance(plain, Json):
                raise Stop from None  # nothing is said of a JSON value before it is complete
            if scalar:
                if self.may_end_here(decoder):
                    raise Stop from None
                raise
        if self.at == len(self.text):
            raise Stop
        return self.part(plain)

    def may_end_here(self, decoder: Decoder) -> bool:
        """Whether the scalar that failed reaches the end of the text, so that it may become right."""
        rest = self.text[self.at :]
        if rest.startswith('"'):
            return self.string_end() is None
        return not any(char in rest for char in ',]} "')

    def part(self, type: Type) -> Value:
        start = self.at
        match type:
            case Str():
                if not self.text.startswith('"', start):
                    raise DecodeError(start, "expected text in quotes")
                if self.string_end() is not None:
                    Decoder(self.text[start:], self.table).value(type)
                    raise DecodeError(start, "expected text in quotes")
                raise Stop(Growing(self.open_string()))
            case Optional() | Alternatives():
                return self.first([*self.flat(type)])
            case ListOf():
                return self.items(lambda index: type.item)
            case TupleOf():
                return self.items(lambda index: type.items[index] if index < len(type.items) else None)
            case MapOf():
                return self.entries(type)
            case Named(name):
                declared = declared_type(name, self.table)
                self.expect("{")
                if isinstance(declared, RecordType):
                    return self.fields(declared.fields, PartialFields(name, {}), first=True)
                assert isinstance(declared, UnionType)
                return self.variant(declared, name)
            case _:
                raise DecodeError(start, "the value is not right")

    def first(self, arms: list[Type]) -> Value:
        """The first arm that can still become right."""
        start = self.at
        if "null".startswith(self.text[start:]):
            raise Stop
        fault: DecodeError | None = None
        for arm in arms:
            self.at = start
            try:
                return self.value(arm)
            except DecodeError as error:
                if fault is None or error.position > fault.position:
                    fault = error
        raise fault or DecodeError(start, "nothing is accepted here")

    def expect(self, text: str) -> None:
        rest = self.text[self.at : self.at + len(text)]
        if rest == text:
            self.at += len(text)
        elif text.startswith(rest) and self.at + len(rest) == len(self.text):
            raise Stop
        else:
            raise DecodeError(self.at, f"expected {text}")

    def items(self, item: Callable[[int], Type | None]) -> NoReturn:
        """A list or tuple that is not complete; `item` gives the type of each place, None past the last."""
        done: list[Partial] = []
        try:
            self.expect("[")
            while (type := item(len(done))) is not None:
                if done:
                    self.expect(", ")
                done.append(self.value(type))
            self.expect("]")
        except Stop as stop:
            if stop.value is not MISSING:
                done.append(stop.value)
        raise Stop(Growing(done))

    def entries(self, type: MapOf) -> NoReturn:
        done: dict[str, Partial] = {}
        key: str | None = None
        try:
            self.expect("{")
            while True:
                if done:
                    self.expect(", ")
                key = None
                # The key itself is of no use until it is complete.
                complete = self.value(type.key)
                assert isinstance(complete, str), "keys of a map are texts"
                key = complete
                self.expect(": ")
                done[key] = self.value(type.value)
        except Stop as stop:
            if key is not None and stop.value is not MISSING:
                done[key] = stop.value
        raise Stop(Growing(done))

    def variant(self, declared: UnionType, name: str) -> NoReturn:
        try:
            self.expect(f"{json_text(TAG)}: ")
            if self.string_end() is None and self.text[self.at : self.at + 1] in ("", '"'):
                raise Stop
            decoder = Decoder(self.text, self.table)
            decoder.at = self.at
            tag = decoder.string()
        except Stop:
            raise Stop from None
        variant = declared.variant(tag)
        if variant is not None:
            self.at = decoder.at
            self.fields(variant.fields, PartialFields(name, {}, tag), first=False)
        raise DecodeError(self.at, f"{json_text(tag)} is no variant of {name}")

    def fields(self, fields: tuple[FieldType, ...], partial: PartialFields, *, first: bool) -> NoReturn:
        values = partial.fields
        rest = list(fields)
        while True:
            try:
                found = self.next_field(rest, first)
                rest = rest[rest.index(found) + 1 :]
                first = False
                values[found.name] = self.value(found.type)
            except Stop as stop:
                if stop.value is not MISSING:
                    values[found.name] = stop.value
                raise Stop(partial) from None

    def next_field(self, fields: list[FieldType], first: bool) -> FieldType:
        """The field whose key stands here; Stop if the text ends before that is clear."""
        for field in fields:
            lead = f"{'' if first else ', '}{json_text(field.name)}: "
            if self.text.startswith(lead, self.at):
                self.at += len(lead)
                return field
            if lead.startswith(self.text[self.at :]):
                raise Stop
            if not (field.optional or field.has_default):
                break
        if self.at == len(self.text):
            raise Stop
        raise DecodeError(self.at, "expected the next field")

    def string_end(self) -> int | None:
        """The place of the quote that closes the text which opens here."""
        at = self.at + 1
        while at < len(self.text):
            if self.text[at] == "\\":
                at += 2
            elif self.text[at] == '"':
                return at
            else:
                at += 1
        return None

    def open_string(self) -> str:
        """The characters so far of a text whose quote is still open; half an escape is left out."""
        inside = self.text[self.at + 1 :]
        while inside:
            try:
                text: str = json.loads(f'"{inside}"')
                return text
            except ValueError:
                inside = inside[:-1]
        return ""
