"""Types of a program in its module: classes, annotations, and the objects that answers are checked by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property

from sglc.automata.regex.portable import for_python, looks_back_freely
from sglc.targets.core.comments import docstring
from sglc.targets.core.names import Names, distinct
from sglc.targets.core.type_parts import Scalar, fold
from sglc.types.json_text import json_text
from sglc.types.notation.python_names import attribute_names, member_name
from sglc.types.notation.text_rules import float_bounds, text_rules
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    EnumType,
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
)
from sglc.types.values import EnumValue, RecordValue


class Types:
    """Writes declarations and types; also the notation of types as annotations."""

    def __init__(self, table: TypeTable, names: Names) -> None:
        self.table = table
        self.classes: dict[tuple[str, ...], str] = {}
        self.members: dict[str, dict[str, str]] = {}
        """The attributes of the members of each enum."""
        for name, declared in table.items():
            self.classes[name,] = names.fresh(name)
            if isinstance(declared, UnionType):
                for variant in declared.variants:
                    self.classes[name, variant.name] = names.fresh(f"{name}{variant.name}")
            elif isinstance(declared, EnumType):
                members = Names()
                self.members[name] = {m: members.fresh(member_name(m)) for m in declared.members}

    # -- declarations ----------------------------------------------------------------------------------

    def declaration(self, name: str) -> str:
        """A class, the classes of variants and their union, or the name of a type."""
        declared, here = self.table[name], self.classes[name,]
        match declared:
            case RecordType():
                return self.record(here, declared)
            case EnumType():
                doc = f"    {docstring(declared.doc)}\n\n" if declared.doc else ""
                lines = [f"    {made} = {json_text(member)}\n" for member, made in self.members[name].items()]
                return f"class {here}(Enum):\n{doc}{''.join(lines)}"
            case UnionType(variants=variants):
                made = [self.classes[name, variant.name] for variant in variants]
                shown = [self.record(each, variant) for each, variant in zip(made, variants, strict=True)]
                return "\n\n".join((*shown, f"{here}: TypeAlias = {' | '.join(made)!r}\n"))
            case AliasType(type=type):
                return f"{here}: TypeAlias = {self.annotation(type)!r}\n"

    def attributes(self, shape: RecordType) -> dict[str, str]:
        """The attributes of the fields. Python has a meaning of its own for names that begin with `__`."""
        names: dict[str, str] = {}
        for key, name in attribute_names(shape).items():
            begun = f"field{name}" if name.startswith("__") else name
            names[key] = distinct(begun, lambda each: each in names.values())
        return names

    def record(self, here: str, shape: RecordType) -> str:
        """The class of a record or variant: a frozen dataclass, fields in their order."""
        names = self.attributes(shape)
        lines = [f"    {docstring(shape.doc)}\n\n"] if shape.doc else []
        for field in shape.fields:
            kind = self.annotation(field.type)
            absent = field.optional and "None" not in kind.split(" | ")
            lines.append(f"    {names[field.name]}: {f'{kind} | None' if absent else kind}\n")
            if field.doc:
                lines.append(f"    {docstring(field.doc)}\n")
        return f"@dataclass(frozen=True)\nclass {here}:\n{''.join(lines) or '    pass' + chr(10)}"

    def registration(self, name: str) -> str:
        """What answers of a declared type are checked by."""
        declared, here = self.table[name], self.classes[name,]
        match declared:
            case RecordType():
                return f"declare({json_text(name)}, {self.shape(name, here, declared)})\n"
            case EnumType():
                return f"TYPES[{json_text(name)}] = {here}\n"
            case AliasType(type=type):
                return f"TYPES[{json_text(name)}] = {self.shown(type)}\n"
            case UnionType(variants=variants):
                shapes = [
                    f"    {self.shape(each.name, self.classes[name, each.name], each, each.name)},\n"
                    for each in variants
                ]
                return f"declare(\n    {json_text(name)},\n{''.join(shapes)})\n"

    def shape(self, name: str, here: str, shape: RecordType, tag: str | None = None) -> str:
        """The `Shape` that answers of a record are read by; `tag` names the variant of a union."""
        names = self.attributes(shape)
        fields = []
        for field in shape.fields:
            more = ", optional=True" if field.optional else ""
            if field.has_default:
                more += f", has_default=True, default={self.literal(field.default)}"
            key, attribute = json_text(field.name), json_text(names[field.name])
            fields.append(f"Field({key}, {attribute}, {self.shown(field.type)}{more}), ")
        end = "" if tag is None else f", tag={json_text(tag)}"
        return f"Shape({json_text(name)}, {here}, ({''.join(fields)}){end})"

    def literal(self, value: object) -> str:
        """A value as an expression."""
        match value:
            case EnumValue(enum=name, name=member):
                return f"{self.classes[name,]}.{self.members[name][member]}"
            case RecordValue(type=name, variant=variant):
                made = self.classes[name,] if variant is None else self.classes[name, variant]
                return f"{made}({', '.join(map(self.literal, value.fields.values()))})"
            case list():
                return f"[{', '.join(map(self.literal, value))}]"
            case tuple():
                return f"({''.join(f'{self.literal(item)}, ' for item in value)})"
            case range():
                return self.literal(list(value))
            case dict():
                entries = (f"{self.literal(key)}: {self.literal(item)}" for key, item in value.items())
                return f"{{{', '.join(entries)}}}"
            case Decimal():
                return f'Decimal("{value}")'
            case str():
                return json_text(value)
        return repr(value)

    # -- types as objects ------------------------------------------------------------------------------

    def shown(self, type: Type, given: Callable[[int], str] | None = None) -> str:
        """The object that stands for a type. `given` are the values that it depends on, as expressions."""
        match type:
            case Str():
                known = tuple(pattern for pattern in type.patterns if not looks_back_freely(pattern))
                rules = text_rules(replace(type, patterns=known))
                whole = _tuple([repr(for_python(pattern)) for pattern in rules.whole])
                banned = _tuple([repr(for_python(pattern)) for pattern in rules.banned])
                return _made("Str", min_chars=rules.min_chars or None, max_chars=rules.max_chars,
                             whole=whole, banned=banned)  # fmt: skip
            case OneOf(given=number):
                assert given is not None
                return f"OneOf(tuple({given(number)}))"
            case SpanOf(given=number):
                assert given is not None
                until = _tuple([repr(stop) for stop in type.until])
                rest = _made("", min_chars=type.min_chars, max_chars=type.max_chars, until=until)[1:]
                return f"SpanOf({given(number)}, {rest}"
            case Int() | Dec():
                return _made(
                    type.__class__.__name__, minimum=_number(type.minimum), maximum=_number(type.maximum),
                    step=_number(type.multiple_of),
                )  # fmt: skip
            case Float():
                low, high = float_bounds(type)
                return _made("Float", minimum=_number(low), maximum=_number(high))
            case Bool() | Null() | Json():
                return f"{type.__class__.__name__}()"
            case Constant(value):
                return f"Constant({self.literal(value)})"
            case InForm(item):
                return self.shown(item, given)
            case Optional(item):
                return f"Maybe({self.shown(item, given)})"
            case Alternatives(arms):
                return f"AnyOf(({''.join(f'{self.shown(arm, given)}, ' for arm in arms)}))"
            case ListOf(item, low, high):
                sizes = _made("", minimum=low or None, maximum=high)[1:-1]
                return f"ListOf({self.shown(item, given)}{', ' if sizes else ''}{sizes})"
            case MapOf(key, value, low, high):
                sizes = _made("", minimum=low or None, maximum=high)[1:-1]
                parts = f"{self.shown(key, given)}, {self.shown(value, given)}"
                return f"MapOf({parts}{', ' if sizes else ''}{sizes})"
            case TupleOf(items):
                return f"TupleOf(({''.join(f'{self.shown(item, given)}, ' for item in items)}))"
            case Named(name) | Applied(name):
                return f"Named({json_text(name)})"

    # -- annotations -----------------------------------------------------------------------------------

    def annotation(self, type: Type) -> str:
        """The type as Python's checkers read it."""
        return fold(type, self)

    def same(self, one: str | None, other: str) -> bool:
        """Whether annotations are of one type, which a declared alias may name."""
        return one == other or (one is not None and self._meant(one) == self._meant(other))

    def _meant(self, annotation: str) -> str:
        while annotation in self.aliases:
            annotation = self.aliases[annotation]
        return annotation

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The annotations that the names of aliases stand for."""
        return {
            self.classes[name,]: self.annotation(declared.type)
            for name, declared in self.table.items()
            if isinstance(declared, AliasType) and (name,) in self.classes
        }

    def scalar(self, type: Scalar) -> str:
        """The class of Python whose values are those of a type without parts; `Any` for any JSON."""
        match type:
            case Str() | OneOf() | SpanOf() | Constant(str()):
                return "str"
            case Int():
                return "int"
            case Dec() | Constant(Decimal()):
                return "Decimal"
            case Float():
                return "float"
            case Bool():
                return "bool"
            case Null():
                return "None"
            case Constant(value):
                return value.__class__.__name__
            case Json():
                return "Any"

    def named(self, name: str) -> str:
        """The class of a declared type."""
        return self.classes[name,]

    def choice(self, type: Optional | Alternatives, arms: Sequence[str]) -> str:
        """The arms as one union, each once."""
        return " | ".join(dict.fromkeys(part for arm in arms for part in arm.split(" | ")))

    def list(self, type: ListOf, item: str) -> str:
        """Lists; sizes are not in the annotation."""
        return f"list[{item}]"

    def map(self, type: MapOf, key: str, value: str) -> str:
        """Maps; sizes are not in the annotation."""
        return f"dict[{key}, {value}]"

    def tuple(self, type: TupleOf, items: Sequence[str]) -> str:
        """Tuples of exactly these items."""
        return f"tuple[{', '.join(items) or '()'}]"


def _number(value: int | Decimal | None) -> str | None:
    return None if value is None else f'Decimal("{value}")' if isinstance(value, Decimal) else str(value)


def _tuple(parts: Sequence[str]) -> str | None:
    return f"({''.join(f'{part}, ' for part in parts)})" if parts else None


def _made(name: str, **parts: object) -> str:
    shown = [f"{key}={value}" for key, value in parts.items() if value is not None]
    return f"{name}({', '.join(shown)})"
