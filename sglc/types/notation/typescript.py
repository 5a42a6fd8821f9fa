"""A type as TypeScript declarations, a form that models have read a great deal of.

A compiler gets the same declarations exported, with the bounds as tags that tools and our own importer read.
"""

from __future__ import annotations

import re

from sglc.types.json_text import json_text
from sglc.types.language.scalars import constant_text
from sglc.types.notation.python_names import word
from sglc.types.notation.sgl import in_words, named_rules, one_line, show_type
from sglc.types.notation.text_rules import text_rules
from sglc.types.text.printer import print_value
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
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
    declared_type,
)

_TAKEN = frozenset(
    "any bigint boolean never null number object string symbol undefined unknown void Array Date Exclude "
    "Extract Function Map NonNullable Object Omit Partial Pick Promise Readonly ReadonlyArray Record "
    "Required Set break case catch class const continue debugger default delete do else enum export extends "
    "false finally for function if import in instanceof new return super switch this throw true try typeof "
    "var while with implements interface let package private protected public static yield await".split()
)
"""Names that mean something in TypeScript already."""


def typescript_text(type: Type, table: TypeTable) -> str:
    """Declarations of all named types it reaches; an anonymous type comes first as `type Answer`."""
    writer = TypeScriptWriter(table)
    if isinstance(type, Named):
        writer.name(type.name)
        out = []
    else:
        out = [f"type Answer = {writer.value(type)};"]
    done = 0
    while done < len(writer.found):  # a declaration may mention others
        name = list(writer.found)[done]
        out.append(writer.declaration(name))
        done += 1
    return "\n\n".join((*out, *writer.grammar_comments()))


class TypeScriptWriter:
    """Writes types and declarations; `found` has the declared types that were mentioned.

    `exported`: for a compiler, so that declarations are exported and bounds are tags where there are tags.
    """

    def __init__(self, table: TypeTable, *, exported: bool = False) -> None:
        self.table = table
        self.exported = exported
        self.found: dict[str, str] = {}
        """Declared types that are mentioned, with their names here."""
        self.grammars: dict[str, tuple[str, str]] = {}

    def name(self, name: str) -> str:
        """The name here of a declared type."""
        if name not in self.found:
            plain = word(name)
            plain = plain if plain.isidentifier() else f"_{plain}"
            while plain in _TAKEN or plain in self.found.values():
                plain += "_"
            self.found[name] = plain
        return self.found[name]

    def value(self, type: Type) -> str:
        """A type as it stands behind the colon."""
        match type:
            case Str() | OneOf() | SpanOf():
                return "string"
            case Json(schema):
                shown = schema.replace("*/", "*\\/")
                return f"unknown /* JSON Schema: {shown} */" if schema else "unknown"
            case Int() | Dec() | Float():
                return "number"
            case Bool():
                return "boolean"
            case Null():
                return "null"
            case Constant(value):
                return constant_text(value, "json")
            case InForm(item):
                return self.value(item)
            case Optional(item):
                return f"{self.value(item)} | null"
            case Alternatives(arms):
                return " | ".join(self.value(arm) for arm in arms)
            case ListOf(item):
                inner = self.value(item)
                return f"({inner})[]" if " | " in inner else f"{inner}[]"
            case MapOf(key, item) if self.exported:
                # `Record` of a type that contains itself is refused by the compiler.
                keys = self.value(key)
                index = "[key: string]:" if keys == "string" else f"[key in {keys}]?:"
                return f"{{ {index} {self.value(item)} }}"
            case MapOf(key, item):
                keys = self.value(key)
                whole = f"Record<{keys}, {self.value(item)}>"
                return whole if keys == "string" else f"Partial<{whole}>"
            case TupleOf(items):
                return f"[{', '.join(self.value(item) for item in items)}]"
            case Named(name) | Applied(name):
                return self.name(name)

    def declaration(self, name: str) -> str:
        """A declared type, with its comments."""
        declared = declared_type(name, self.table)
        here = self.name(name)
        doc = f"/** {_comment(declared.doc)} */\n" if declared.doc else ""
        if self.exported:
            doc += "export "
        match declared:
            case RecordType():
                return f"{doc}interface {here} {self.fields(declared.fields, '')}"
            case EnumType():
                return f"{doc}type {here} = {' | '.join(json_text(m) for m in declared.members)};"
            case UnionType():
                arms = [
                    self.fields(variant.fields, f"  {TAG}: {json_text(variant.name)};\n")
                    for variant in declared.variants
                ]
                return f"{doc}type {here} = {' | '.join(arms)};"
            case AliasType():
                note = "" if in_words(declared) else self.note(declared.type)
                note = (bounds_as_tags(declared.type) or note) if self.exported else note
                return f"{doc}type {here} = {self.value(declared.type)};" + _behind(note)

    def fields(self, fields: tuple[FieldType, ...], first: str) -> str:
        """An object type with these properties, one a line, behind the line `first`."""
        lines = []
        for field in fields:
            tags = bounds_as_tags(field.type) if self.exported else ""
            notes = [_comment(field.doc), "" if tags else self.note(field.type)]
            if field.has_default:
                default = print_value(field.default, field.type, self.table, surface="json")
                notes.append(f"{default} if left out")
            note = f"{'; '.join(note for note in notes if note)} {tags}".strip()  # a tag goes on to the end
            absent = "?" if field.optional or field.has_default else ""
            name = field.name if field.name.isidentifier() else json_text(field.name)
            lines.append(f"  {name}{absent}: {self.value(field.type)};" + _behind(note))
        return "{\n" + first + "".join(line + "\n" for line in lines) + "}"

    def grammar_comments(self) -> list[str]:
        """The rules of the grammars that notes name."""
        shown = (f"{name}:\n{rules}" for name, rules in self.grammars.values())
        return ["\n".join(f"// {_unbroken(line)}" for line in text.split("\n")) for text in shown]

    def note(self, type: Type) -> str:
        """Refinements, which TypeScript cannot say, in the notation of the language."""
        match type:
            case Str() | Int() | Dec() | Float():
                if isinstance(type, Str) and type.grammar:
                    shown = self.grammars[type.grammar] = named_rules(type.grammar)
                    return f"in the grammar {shown[0]}"
                text = show_type(type)
                return text if " " in text or isinstance(type, Int) or text == "line" else ""
            case Optional(item) | InForm(item):
                return self.note(item)
            case ListOf(item, low, high):
                inner = self.note(item)
                sized = bool(low) or high is not None
                size = f"{low}..{'' if high is None else high} items" if sized else ""
                return ", ".join(part for part in (size, f"each {inner}" if inner else "") if part)
            case MapOf(key, item, low, high):
                sized = bool(low) or high is not None
                size = f"{low}..{'' if high is None else high} keys" if sized else ""
                keys, inner = self.note(key), self.note(item)
                parts = (size, f"each key {keys}" if keys else "", f"each value {inner}" if inner else "")
                return ", ".join(part for part in parts if part)
            case TupleOf(items):
                return "; ".join(f"[{i}] {note}" for i, item in enumerate(items) if (note := self.note(item)))
            case Alternatives(arms):
                return " or ".join(note for arm in arms if (note := self.note(arm)))
            case _:
                return ""


def bounds_as_tags(type: Type) -> str:
    """The bounds of a type in the tags `@minLength` and so on, empty where tags do not say them all."""
    match type:
        case Optional(item) | InForm(item):
            return bounds_as_tags(item)
        case ListOf(item, low, high) if bounds_as_tags(item) == "" and not isinstance(item, Int):
            return _tags(minItems=low or None, maxItems=high)
        case Str(grammar="", until=(), excludes=()) if type.layout in ("", "free", "lines"):
            rules = text_rules(type)
            patterns = "".join(f" @pattern ^(?:{pattern})$" for pattern in rules.whole)
            return (_tags(minLength=type.min_chars or None, maxLength=type.max_chars) + patterns).strip()
        case Int(low, high, step):
            return f"@asType integer {_tags(minimum=low, maximum=high, multipleOf=step)}".strip()
        case Float(low, high):
            return _tags(minimum=low, maximum=high)
        case _:
            return ""


def _tags(**bounds: object) -> str:
    return " ".join(f"@{name} {bound}" for name, bound in bounds.items() if bound is not None)


def _behind(note: str) -> str:
    """A comment behind a line."""
    return f"  // {_unbroken(note)}" if note else ""


def _unbroken(text: str) -> str:
    """A line that is one in ECMAScript, too: what ends lines there is written as an escape."""
    return re.sub("[\n\r\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _comment(text: str) -> str:
    """The text of a comment: one that ends none."""
    return one_line(text).replace("*/", "* /")
