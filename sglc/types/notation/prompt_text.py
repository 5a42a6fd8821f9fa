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

from collections.abc import Callable
from typing import TypeGuard

from sglc.automata.dfa.operations import accepts
from sglc.types.dependent import erased
from sglc.types.json_text import json_text
from sglc.types.language.language import constant_text, declared_type, str_dfa
from sglc.types.notation.sgl import behind_where, in_words, named_rules, one_line, range_text
from sglc.types.text.printer import print_value
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
)

STYLES = ("json", "typescript", "prose")
MAX_MENTIONS = 20_000
"""Declared types that a schema text may spell out, each as often as it is used: text of a megabyte or two."""


def schema_text(type: Type, table: TypeTable, style: str | None = None) -> str:
    """What is shown to the model. Raises ValueError for a style that is not known."""
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


def phrase(type: Str | Int | Dec | Float, noun: str | None = None) -> str:
    """A scalar in words: `string of 3 to 80 characters matching /…/`, `integer in 18..70`."""
    if isinstance(type, Str) and type.grammar:
        return f"{noun or 'string'} in the grammar {named_rules(type.grammar)[0]}"
    if isinstance(type, Str):
        words = [f"{noun or 'string'} on one line" if type.layout == "line" else noun or "string"]
        if type.min_chars or type.max_chars is not None:
            words.append(f"of {count_phrase(type.min_chars, type.max_chars, 'character')}")
        if type.patterns:
            words.append("matching " + " and ".join(f"/{pattern}/" for pattern in type.patterns))
        # Nothing needs to be said of what no text of the type has anyway.
        possible = str_dfa(Str(layout=type.layout))
        texts = [text for text in (*type.until, *type.excludes) if accepts(possible, text)]
        banned = [json_text(text) for text in dict.fromkeys(texts)]
        if banned:
            words.append("without " + " or ".join(banned))
        return " ".join(words)
    words = [noun or ("integer" if isinstance(type, Int) else "number")]
    if type.minimum is not None and type.maximum is not None:
        words.append(f"in {range_text(type.minimum, type.maximum)}")
    elif type.minimum is not None:
        words.append(f"of at least {type.minimum}")
    elif type.maximum is not None:
        words.append(f"of at most {type.maximum}")
    if not isinstance(type, Float) and type.multiple_of is not None:
        words.append(f"that is a multiple of {type.multiple_of}")
    return " ".join(words)


def count_phrase(low: int, high: int | None, noun: str) -> str:
    """How many of a noun there are, in English: "1 item", "at least 2 items", "3 to 5 items"."""
    if low == high:
        return f"{low} {noun}{'' if low == 1 else 's'}"
    if high is None:
        return f"at least {low} {noun}{'' if low == 1 else 's'}"
    if not low:
        return f"at most {high} {noun}{'' if high == 1 else 's'}"
    return f"{low} to {high} {noun}s"


def _absence(field: FieldType, table: TypeTable) -> str:
    if field.has_default:
        return f"may be left out: {print_value(field.default, field.type, table, surface='json')}"
    return "may be left out" if field.optional else ""


def mentions(type: Type, table: TypeTable) -> int:
    """How many declared types are spelled out where each is, as often as it is used; one in itself once."""
    spelled = _Recursive(table)
    counts: dict[str, int] = {}

    def count(part: Type) -> int:
        return sum([named(name) for name in spelled.mentioned(part)])

    def named(name: str) -> int:
        if name not in counts:
            counts[name] = 1
            counts[name] += sum([count(part) for part in spelled.parts(declared_type(name, table))])
        return counts[name]

    return count(type)


class _Recursive:
    """Finds the declared types that contain themselves; only these need a name in the text."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.named: list[str] = []
        self.grammars: dict[str, tuple[str, str]] = {}
        """Grammars that are mentioned, by their portable texts: their rules."""

    def parts(self, declared: DeclaredType) -> list[Type]:
        match declared:
            case RecordType():
                return [field.type for field in declared.fields]
            case UnionType():
                return [field.type for variant in declared.variants for field in variant.fields]
            case AliasType():
                return [declared.type]
            case _:
                return []

    def mentioned(self, type: Type) -> list[str]:
        match type:
            case ListOf() | Optional():
                return self.mentioned(type.item)
            case MapOf():
                return self.mentioned(type.value)
            case TupleOf():
                return [name for item in type.items for name in self.mentioned(item)]
            case Alternatives():
                return [name for arm in type.arms for name in self.mentioned(arm)]
            case Named(name):
                return [name]
            case _:
                return []

    def is_recursive(self, name: str) -> bool:
        seen: set[str] = set()
        stack = [name]
        while stack:
            for part in self.parts(declared_type(stack.pop(), self.table)):
                for other in self.mentioned(part):
                    if other == name:
                        return True
                    if other not in seen:
                        seen.add(other)
                        stack.append(other)
        return False

    def name_it(self, name: str) -> bool:
        """Whether a type is mentioned by its name; remembers to explain it."""
        if not self.is_recursive(name):
            return False
        if name not in self.named:
            self.named.append(name)
        return True

    def phrase(self, type: Str | Int | Dec | Float, noun: str | None = None) -> str:
        """A scalar in words; remembers to show the rules of its grammar."""
        if isinstance(type, Str) and type.grammar:
            self.grammars[type.grammar] = named_rules(type.grammar)
        return phrase(type, noun)

    def explained(self, type: Type, first: str, explain: Callable[[str], str]) -> str:
        """The text and then the named types and grammars, each once; explaining one may name more."""
        out = [first]
        for name in self.named:
            if type == Named(name):
                out.append(f"{short_name(name)}: the same shape as above")
            else:
                out.append(f"{short_name(name)}:\n{explain(name)}")
        out += (f"{name}:\n{rules}" for name, rules in self.grammars.values())
        return "\n\n".join(out)


def short_name(name: str) -> str:
    """A qualified name without its module."""
    return name.rsplit(".", 1)[-1]


class _Sketch:
    """The default style."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.recursive = _Recursive(table)

    def text(self, type: Type) -> str:
        plain = self.plain(type)
        if isinstance(plain, Str) and plain.grammar:
            return named_rules(plain.grammar)[1]
        first = self.body(type, "") if self.is_json(type) else self.top(type)
        return self.recursive.explained(type, first, lambda name: self.body(Named(name), ""))

    def plain(self, type: Type) -> Type:
        while isinstance(type, Named):
            declared = declared_type(type.name, self.table)
            if not isinstance(declared, AliasType):
                break
            type = declared.type
        return type

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
        notes = [one_line(field.doc), _absence(field, self.table)]
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
        self.recursive = _Recursive(table)

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
            notes = [one_line(field.doc), _absence(field, self.table)]
            note = "; ".join(note for note in notes if note)
            value = self.value(field.type, pad + "  ")
            lines.append(f"\n{pad}- {json_text(field.name)}" + (f" ({note})" if note else "") + f": {value}")
        return "".join(lines)
