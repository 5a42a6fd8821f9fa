"""The declared types of a program as a Python module of Pydantic models (version 2).

record Crew:                  class Crew(BaseModel):
    name: str max 20 chars  →     name: Annotated[StrictStr, Field(max_length=20)]

A model takes the JSON that a function of the program takes as an argument: a decimal as a number or a text,
null for a field that may be absent.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from math import prod

from sglc.automata.regex.portable import for_python, looks_back_freely
from sglc.targets.core.comments import lost
from sglc.targets.core.names import distinct
from sglc.targets.core.target import Subject, Written
from sglc.targets.core.type_parts import Scalar, fold, losses_of, with_parameters
from sglc.targets.pydantic_prelude import module_text
from sglc.types.json_text import json_text
from sglc.types.notation.python_names import attribute_names, member_name, word
from sglc.types.notation.text_rules import float_bounds, text_rules
from sglc.types.text.plain_json import dumps
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
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
from sglc.types.values import EnumValue, RecordValue

COUNTS = 1_000
"""Largest product of the counts in a pattern that `Field` is given: Pydantic's own engine refuses automata of
more than 10 MB. Others are matched by Python's `re`."""

_TAKEN = frozenset(
    "bool dict float int list str tuple None True False Annotated AfterValidator BaseModel BeforeValidator "
    "ConfigDict CONFIG Callable Decimal Enum Field JsonValue Literal StrictBool StrictFloat StrictInt "
    "StrictStr TypeAliasType decimal Digits exactly only plain multiple_of matching without re annotations "
    "construct copy from_orm json parse_file parse_obj parse_raw schema schema_json update_forward_refs "
    "validate mro".split()
)
"""Names of the module, and of what every model has: a field or class of such a name gets an underscore."""


def write(subject: Subject) -> Written:
    """A module with all declared types, in the order of the program."""
    return with_parameters(write_types(subject.checked.table), subject.checked.opened)


def write_types(table: TypeTable) -> Written:
    """The same of a table of types."""
    writer = _Models(table)
    classes = []
    for name in table:
        comments = lost(losses_of({name: table[name]}, unsaid), "#")
        classes.append(comments + writer.declaration(name))
    return Written(module_text(classes), losses_of(table, unsaid))


def unsaid(type: Type) -> tuple[str, str] | None:
    """What models do not check, and what they check instead."""
    match type:
        case Str(grammar=grammar) if grammar:
            return "a grammar", "any string"
        case Str(patterns=patterns) if any(map(looks_back_freely, patterns)):
            return "a look behind over no fixed number of characters", "a string without this pattern"
        case Json(schema) if schema:
            return "a JSON Schema", "any JSON value"
    return None


class _Models:
    """Writes declarations; also the notation of the types in them."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.names: dict[tuple[str, ...], str] = {}
        for name in table:
            self.class_name(name)

    def class_name(self, *path: str) -> str:
        """The class of a declared type, or of a variant of one."""
        if path not in self.names:
            found = word("".join(path))
            found = member_name(found if found[:1].isalpha() else f"T{found}")
            self.names[path] = distinct(found, self.hides)
        return self.names[path]

    def hides(self, name: str) -> bool:
        """Whether a class of this name would hide another. One that comes later is a builtin until then."""
        return hasattr(builtins, name) or self.is_taken(name)

    def declaration(self, name: str) -> str:
        """A class, the classes of variants, or an alias."""
        declared = self.table[name]
        here = self.class_name(name)
        match declared:
            case RecordType():
                return self.model(here, declared)
            case EnumType():
                return self.enum(here, declared)
            case UnionType(variants=variants):
                classes = [self.class_name(name, variant.name) for variant in variants]
                models = [
                    self.model(made, variant, variant.name)
                    for made, variant in zip(classes, variants, strict=True)
                ]
                any_of = " | ".join(classes)
                tagged = f"Annotated[{any_of}, Field(discriminator={json_text(TAG)})]"
                alias = _alias(here, tagged if len(classes) > 1 else any_of, declared.doc)
                return "\n\n\n".join((*models, alias))
            case AliasType(type=type):
                return _alias(here, fold(type, self), declared.doc)

    def enum(self, here: str, declared: EnumType) -> str:
        names: dict[str, str] = {}
        for member in declared.members:
            found = member_name(word(member))
            found = found if found.isidentifier() else f"member_{found}"
            names[distinct(found, names.__contains__)] = member
        lines = [f"    {json_text(declared.doc)}\n"] if declared.doc else []
        lines += [f"    {name} = {json_text(member)}" for name, member in names.items()]
        return "\n".join((f"class {here}(Enum):", *lines))

    def model(self, here: str, shape: RecordType, tag: str | None = None) -> str:
        """A class of exactly these fields, and the tag that names the variant."""
        lines = [f"    {json_text(shape.doc)}\n"] if shape.doc else []
        lines.append("    model_config = CONFIG")
        if tag is not None:
            lines.append(f"    {TAG}: Literal[{json_text(tag)}]")
        names = attribute_names(shape)
        for field in shape.fields:
            others = {*names, *names.values()} - {field.name, names[field.name]}
            names[field.name] = self.field_name(names[field.name], others)
            lines.append(self.field(names[field.name], field))
        return "\n".join((f"class {here}(BaseModel):", *lines))

    def field_name(self, name: str, others: set[str]) -> str:
        """A name that models take for a field: none begins with `_`."""
        begun = f"field{name}" if name.startswith("_") else name
        return distinct(begun, lambda each: self.is_taken(each) or each in others)

    def is_taken(self, name: str) -> bool:
        """Whether a field of this name would hide a class, or something that models have."""
        return (
            name in _TAKEN or name in self.names.values() or re.fullmatch(r"model_.*[^_]", name) is not None
        )

    def field(self, plain: str, field: FieldType) -> str:
        kind = fold(field.type, self)
        options = []
        if field.has_default:
            options.append(self.default(field))
        elif field.optional:
            kind = kind if kind.endswith(" | None") or kind == "None" else f"{kind} | None"
            options.append("default=None")
        if plain != field.name:
            options.append(f"alias={json_text(field.name)}")
        if field.doc:
            options.append(f"description={json_text(field.doc)}")
        shown = f" = Field({', '.join(options)})" if options else ""
        return f"    {plain}: {kind}{shown}"

    def default(self, field: FieldType) -> str:
        if field.default is None or isinstance(field.default, str | bool | int | float):
            return f"default={_python(field.default)}"
        return f"default_factory=lambda: {self.value(field.default)}"

    def value(self, value: object) -> str:
        """A value as an expression."""
        match value:
            case EnumValue(enum=name, name=member):
                return f"{self.class_name(name)}({json_text(member)})"
            case RecordValue(type=name, variant=variant):
                made = self.class_name(name) if variant is None else self.class_name(name, variant)
                return f"{made}.model_validate_json({json_text(dumps(value, Named(name), self.table))})"
            case list():
                return f"[{', '.join(map(self.value, value))}]"
            case tuple():
                return f"({''.join(f'{self.value(item)}, ' for item in value)})"
            case dict():
                entries = [f"{self.value(key)}: {self.value(item)}" for key, item in value.items()]
                return f"{{{', '.join(entries)}}}"
        return _python(value)

    def scalar(self, type: Scalar) -> str:
        match type:
            case Str(grammar=""):
                return _text(type)
            case Str() | OneOf() | SpanOf():
                return "StrictStr"
            case Int(low, high, step):
                return _annotated("StrictInt", _field(ge=low, le=high, multiple_of=step))
            case Dec(low, high, step):
                rest = "" if step is None else f"AfterValidator(multiple_of({json_text(f'{step:f}')}))"
                return _annotated("Digits", _field(ge=low, le=high), rest)
            case Float():
                ends = [None if bound is None else float(bound) for bound in float_bounds(type)]
                return _annotated("StrictFloat", _field(ge=ends[0], le=ends[1], allow_inf_nan=False))
            case Bool():
                return "StrictBool"
            case Null():
                return "None"
            case Constant(Decimal() as value):
                return _annotated("Digits", f"BeforeValidator(exactly({json_text(str(value))}))")
            case Constant(str() as text):
                return f"Literal[{json_text(text)}]"
            case Constant(value):
                return _annotated(f"Literal[{value!r}]", f"BeforeValidator(only({value!r}))")
            case Json():
                return "JsonValue"

    def named(self, name: str) -> str:
        return self.class_name(name)

    def choice(self, type: Optional | Alternatives, arms: Sequence[str]) -> str:
        return " | ".join(dict.fromkeys(arms))

    def list(self, type: ListOf, item: str) -> str:
        sizes = _field(min_length=type.minimum or None, max_length=type.maximum)
        return _annotated(f"list[{item}]", sizes)

    def map(self, type: MapOf, key: str, value: str) -> str:
        sizes = _field(min_length=type.minimum or None, max_length=type.maximum)
        return _annotated(f"dict[{key}, {value}]", sizes)

    def tuple(self, type: TupleOf, items: Sequence[str]) -> str:
        return f"tuple[{', '.join(items) or '()'}]"


def _alias(here: str, kind: str, doc: str) -> str:
    text = f"{here} = TypeAliasType({json_text(here)}, {kind!r})"  # quoted: names may come later
    return f"{text}\n{json_text(doc)}" if doc else text


def _text(type: Str) -> str:
    kept = tuple(pattern for pattern in type.patterns if not looks_back_freely(pattern))
    rules = text_rules(replace(type, patterns=kept))
    sizes = {"min_length": rules.min_chars or None, "max_length": rules.max_chars}
    counts = [int(count) for pattern in rules.whole for count in re.findall(r"[{,](\d+)(?=[,}])", pattern)]
    if len(rules.whole) == 1 and not rules.looks and prod(counts) <= COUNTS:
        return _annotated(
            "StrictStr", _field(**sizes, pattern=f"^(?:{rules.whole[0]})$"), _banning(rules.banned)
        )
    whole = ", ".join(json_text(for_python(pattern)) for pattern in rules.whole)
    matching = f"AfterValidator(matching({whole}))" if whole else ""
    return _annotated("StrictStr", _field(**sizes), matching, _banning(rules.banned))


def _banning(banned: Sequence[str]) -> str:
    shown = ", ".join(json_text(for_python(pattern)) for pattern in banned)
    return f"AfterValidator(without({shown}))" if shown else ""


def _annotated(kind: str, *more: str) -> str:
    given = [each for each in more if each]
    return f"Annotated[{', '.join((kind, *given))}]" if given else kind


def _field(**options: object) -> str:
    shown = [f"{name}={_python(value)}" for name, value in options.items() if value is not None]
    return f"Field({', '.join(shown)})" if shown else ""


def _python(value: object) -> str:
    match value:
        case str():
            return json_text(value)
        case Decimal():
            return f'Decimal("{value}")'
    return repr(value)
