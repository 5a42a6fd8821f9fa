"""The second artefact of a type: the text that shows it to a model.

The default style is a sketch of the JSON to write, one field a line with its comment behind it:

    {
      "name": string matching /[A-Z][a-z]+/,
      "post": "engineer" | "pilot",  // job on board
      "skills": [string of at most 20 characters, ...]  // 2 to 4 items
    }

At the top, text, enum members and numbers are shown raw, as they are to be written. Types that contain
themselves are named and explained below. Other styles: `json` is JSON Schema 2020-12, `typescript` a
declaration, `prose` a list in words.
"""

from __future__ import annotations

from typing import TypeGuard

from sglc.types.dependent import erased
from sglc.types.json_text import json_text
from sglc.types.language.scalars import constant_text
from sglc.types.notation.form_sketch import form_sketch
from sglc.types.notation.phrases import Recursive, absence, count_phrase, phrase, short_name
from sglc.types.notation.sgl import behind_where, in_words, named_rules, one_line
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    behind_names,
    declared_type,
    form_of,
)

STYLES = ("json", "typescript", "prose")
MAX_MENTIONS = 20_000
"""Declared types that a schema text may spell out, each as often as it is used: text of a megabyte or two."""


def schema_text(type: Type, table: TypeTable, style: str | None = None) -> str:
    """What is shown to the model. Raises ValueError for a style that is not known.

    A type with a form is shown in it; `json` and `typescript` describe its values.
    """
    formed = form_of(type, table)
    if formed is not None and style in (None, "prose"):
        if formed.form == "json":
            return _Sketch(table).quoted(formed.item) if style is None else _Prose(table).text(formed.item)
        return form_sketch(formed, table)
    match style:
        case None:
            return _Sketch(table).text(type)
        case "json":
            from sglc.types.notation.json_schema import json_schema_text

            return json_schema_text(type, table)
        case "typescript":
            from sglc.types.notation.typescript import typescript_text

            return typescript_text(type, table)
        case "prose":
            return _Prose(table).text(type)
        case _:
            raise ValueError(f"there is no schema style {style}")


class _Sketch:
    """The default style."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.recursive = Recursive(table)

    def text(self, type: Type) -> str:
        plain = behind_names(type, self.table)
        if isinstance(plain, Str) and plain.grammar:
            return named_rules(plain.grammar)[1]
        first = self.body(type, "") if self.is_json(type) else self.top(type)
        return self.recursive.explained(type, first, lambda name: self.body(Named(name), ""))

    def quoted(self, type: Type) -> str:
        """As JSON, scalars too."""
        first = self.body(type, "") if self.is_json(type) else self.value(type, "")
        return self.recursive.explained(type, first, lambda name: self.body(Named(name), ""))

    def is_json(self, type: Type) -> TypeGuard[Named]:
        return isinstance(type, Named) and isinstance(
            declared_type(type.name, self.table), RecordType | UnionType
        )

    def top(self, type: Type) -> str:
        """The raw surface; JSON types look the same on both."""
        match type:
            case Constant(value):
                return constant_text(value, "hole")
            case Optional(item):
                return f"{self.top(item)} | null"
            case Alternatives(arms):
                return " | ".join(self.top(arm) for arm in arms)
            case Str():
                return self.recursive.phrase(type, "text")
            case Named(name):
                declared = declared_type(name, self.table)
                if isinstance(declared, AliasType):
                    words = in_words(declared)
                    return f"text: {words}" if words else self.top(declared.type) + behind_where(declared)
                if isinstance(declared, EnumType):
                    return self.members(declared)
        return self.value(type, "")

    def members(self, declared: EnumType) -> str:
        if not any(declared.docs):
            return " | ".join(declared.members)
        docs = declared.docs + ("",) * len(declared.members)
        lines = [
            f"{member}: {one_line(doc)}" if doc else member
            for member, doc in zip(declared.members, docs, strict=False)
        ]
        return "\n".join(lines)

    def value(self, type: Type, pad: str) -> str:
        match type:
            case OneOf() | SpanOf() | Applied():
                return self.value(erased(type), pad)
            case InForm(item):
                return self.value(item, pad)
            case Json(schema):
                return f"JSON that satisfies this JSON Schema: {schema}" if schema else "any JSON value"
            case Str() | Int() | Dec() | Float():
                return self.recursive.phrase(type)
            case Bool():
                return "true | false"
            case Null():
                return "null"
            case Constant(value):
                return constant_text(value, "json")
            case Optional(item):
                return f"{self.value(item, pad)} | null"
            case Alternatives(arms):
                return " | ".join(self.value(arm, pad) for arm in arms)
            case ListOf(item, low, high):
                if high == 0:
                    return "[]"
                return f"[{self.value(item, pad)}, ...]" + self.size(low, high, "item")
            case MapOf(key, item, low, high):
                return f"{{{self.value(key, pad)}: {self.value(item, pad)}, ...}}" + self.size(
                    low, high, "entry"
                )
            case TupleOf(items):
                return f"[{', '.join(self.value(item, pad) for item in items)}]"
            case Named(name):
                return short_name(name) if self.recursive.name_it(name) else self.body(type, pad)

    def size(self, low: int, high: int | None, noun: str) -> str:
        if not low and high is None:
            return ""
        return f" ({count_phrase(low, high, noun)})".replace("entrys", "entries")

    def body(self, type: Named, pad: str) -> str:
        declared = declared_type(type.name, self.table)
        match declared:
            case AliasType():
                words = in_words(declared)
                return (
                    f"string ({words})" if words else self.value(declared.type, pad) + behind_where(declared)
                )
            case EnumType():
                return " | ".join(json_text(member) for member in declared.members)
            case RecordType():
                return self.fields(declared, [], pad)
            case UnionType():
                return " | ".join(
                    self.fields(v, [f"{json_text(TAG)}: {json_text(v.name)}"], pad) for v in declared.variants
                )

    def fields(self, record: RecordType, first: list[str], pad: str) -> str:
        inner = pad + "  "
        rows = [(text, "") for text in first]
        for field in record.fields:
            text = f"{json_text(field.name)}: {self.value(field.type, inner)}"
            rows.append((text, self.comment(field)))
        if not rows:
            return "{}"
        lines = [f"{{  // {one_line(record.doc)}" if record.doc else "{"]
        for index, (text, comment) in enumerate(rows):
            comma = "," if index < len(rows) - 1 else ""
            if comment and "\n" in text:
                lines.append(f"{inner}// {comment}")
                comment = ""
            lines.append(f"{inner}{text}{comma}" + (f"  // {comment}" if comment else ""))
        lines.append(f"{pad}}}")
        return "\n".join(lines)

    def comment(self, field: FieldType) -> str:
        notes = [one_line(field.doc), absence(field, self.table)]
        if isinstance(field.type, Named):
            declared = declared_type(field.type.name, self.table)
            if isinstance(declared, EnumType):
                notes += (
                    f"{member}: {one_line(doc)}"
                    for member, doc in zip(declared.members, declared.docs, strict=False)
                    if doc
                )
            elif isinstance(declared, AliasType) and not in_words(declared):
                notes.append(one_line(declared.doc))
        return "; ".join(note for note in notes if note)


class _Prose:
    """The same in words, for models that read lists better than braces."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.recursive = Recursive(table)

    def text(self, type: Type) -> str:
        return self.recursive.explained(type, self.value(type, "", top=True), self.named)

    def named(self, name: str) -> str:
        return self.body(declared_type(name, self.table), "", top=False)

    def value(self, type: Type, pad: str, *, top: bool = False) -> str:
        match type:
            case Str():
                return self.recursive.phrase(type, "text")
            case OneOf() | SpanOf() | Applied():
                return self.value(erased(type), pad, top=top)
            case InForm(item):
                return self.value(item, pad)
            case Json(schema):
                return f"JSON that satisfies this JSON Schema: {schema}" if schema else "any JSON value"
            case Int():
                return phrase(type, "a whole number")
            case Dec() | Float():
                return phrase(type, "a number")
            case Bool():
                return "true or false"
            case Null():
                return "null"
            case Constant(value):
                return "exactly " + constant_text(value, "hole" if top else "json")
            case Optional(item):
                return f"{self.value(item, pad, top=top)}, or null"
            case Alternatives(arms):
                return ", or ".join(self.value(arm, pad, top=top) for arm in arms)
            case ListOf(item, low, high):
                size = "" if not low and high is None else f" of {count_phrase(low, high, 'item')}"
                return f"a JSON list{size}, each {self.value(item, pad)}"
            case MapOf(key, item, low, high):
                size = "" if not low and high is None else f" of {count_phrase(low, high, 'key')}"
                names, values = self.value(key, pad), self.value(item, pad)
                return f"a JSON object{size}, each key {names}, each value {values}"
            case TupleOf(items):
                return "a JSON list of, in this order: " + "; ".join(self.value(item, pad) for item in items)
            case Named(name):
                if self.recursive.name_it(name) and not top:
                    return f"a {short_name(name)}"
                return self.body(declared_type(name, self.table), pad, top=top)

    def body(self, declared: DeclaredType, pad: str, *, top: bool) -> str:
        match declared:
            case AliasType():
                words = in_words(declared)
                shown = self.value(declared.type, pad, top=top)
                return f"text ({words})" if words else shown + behind_where(declared)
            case EnumType():
                members = declared.members if top else [json_text(member) for member in declared.members]
                return "one of " + ", ".join(members)
            case RecordType():
                return "a JSON object with these keys in this order:" + self.fields(declared, pad)
            case UnionType():
                inner = pad + "  "
                return "a JSON object of one of these kinds:" + "".join(
                    f"\n{pad}- {json_text(TAG)}: {json_text(variant.name)}, and then"
                    f"{self.fields(variant, inner)}"
                    if variant.fields
                    else f"\n{pad}- only {json_text(TAG)}: {json_text(variant.name)}"
                    for variant in declared.variants
                )

    def fields(self, record: RecordType, pad: str) -> str:
        lines = []
        for field in record.fields:
            notes = [one_line(field.doc), absence(field, self.table)]
            note = "; ".join(note for note in notes if note)
            value = self.value(field.type, pad + "  ")
            lines.append(f"\n{pad}- {json_text(field.name)}" + (f" ({note})" if note else "") + f": {value}")
        return "".join(lines)
