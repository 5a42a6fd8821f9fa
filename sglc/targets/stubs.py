"""A program as a `.pyi` file: what Python sees of `sglc.load("crew.sgl")`.

record Crew:                  @dataclass(frozen=True)
    name: str max 20 chars  →  class Crew:
                                   name: str

Classes and signatures are those of `sglc.python` and `sglc.api`. Refinements are left out, as they are there:
a checker of Python types knows no ranges.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from sglc.check.core.result import CheckedModule
from sglc.ir.module import Function
from sglc.syntax.tree import ast
from sglc.targets.core.comments import lost
from sglc.targets.core.names import distinct, plain
from sglc.targets.core.target import Subject, Written
from sglc.targets.core.type_parts import Scalar, fold
from sglc.targets.projection.core.loss import Loss
from sglc.types.json_text import json_text
from sglc.types.notation.python_names import attribute_names, member_name, safe_name
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
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

_OPTION_NAMES = frozenset(
    f"{name}_"
    for name in (
        *("seed", "max_tokens", "timeout", "priority", "concurrency"),
        *("pressure", "trace_top", "decode", "select", "trace", "breakpoint"),
    )
)
"""Options of a call, those of `sglc.python.typed.CallOptions`; no parameter has their names."""
_HEADER = """\
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Literal
"""
_FORMS = """\
from collections.abc import Callable
from typing import ParamSpec, TypeVar, Unpack

from sglc.python.typed import CallOptions, SglFunction

_P = ParamSpec("_P")
_R = TypeVar("_R")

def {form}(of: Callable[_P, _R], /) -> SglFunction[_P, _R]: ...
"""
"""What makes of a function one with the forms of a call: `f(…)`, `f.aio(…)`, `f.run(…)`, `f.stream(…)`."""
_OF_ERRORS = frozenset(
    ("name", "code", "reason", "fields", "partial", "diagnostic", "args", "add_note", "with_traceback")
)
"""Attributes of every RunError; a field of such a name is in `fields` alone."""
NO_ERRORS: Mapping[str, Mapping[str, Type]] = {}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r"\b[^\W\d]\w*\b")
_IMPORTED = re.compile(r"(?<= import )\w+|(?<=, )\w+")
_TAKEN = frozenset(
    (
        *_IMPORTED.findall(f"{_HEADER}{_FORMS}"),
        *("RunError", "_P", "_R", "bool", "dict", "float", "int", "list", "str", "tuple"),
    )
)
"""Names that annotations need; no class has them."""


def write(subject: Subject) -> Written:
    """The classes of all declared types in the order of the program, and the functions of the main module."""
    functions = [f for f in subject.module.functions if f.kind in ("fn", "pure") and f.of_program]
    return write_stubs(subject.checked.table, functions, errors_of(subject.checked.main))


def errors_of(main: CheckedModule) -> dict[str, dict[str, Type]]:
    """The errors that a module declares: their fields and the types of these."""
    return {
        node.name.text: {field.name.text: main.resolved[id(field.type)] for field in node.fields}
        for node in main.module.declarations
        if isinstance(node, ast.ErrorDeclaration)
    }


def write_stubs(
    table: TypeTable, functions: Sequence[Function], errors: Mapping[str, Mapping[str, Type]] = NO_ERRORS
) -> Written:
    """The same of a table of types, some functions, and errors with the types of their fields."""
    stubs = _Stubs(table)
    taken = {*stubs.names.values(), *map(_called, functions)}
    form = distinct("_function", taken.__contains__)
    parts = ["from sglc import RunError\n"] if errors else []
    parts += [stubs.declaration(name) for name in table]
    parts += [stubs.error(name, fields) for name, fields in errors.items()]
    parts += [stubs.function(function, form) for function in functions]
    forms = [_FORMS.format(form=form)] if functions else []
    text = "\n".join((_HEADER, *forms, *(part for part in parts if part)))
    return Written(text, tuple(stubs.losses))


class _Stubs:
    """Writes declarations; also the notation of the types in them, as annotations."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.losses: list[Loss] = []
        self.names: dict[str, str] = {}
        """The class of each declared type. Those of other modules are no attributes: they begin with `_`."""
        for name in table:
            here = plain(name)
            here = safe_name(here if here == name and name not in _TAKEN else f"_{here}")
            self.names[name] = distinct(here, lambda each: each in self.names.values())

    def declaration(self, name: str) -> str:
        """A class; of an alias that Python sees as another name, the assignment."""
        declared = self.table[name]
        here = self.names[name]
        first = len(self.losses)
        if here != name and "." not in name:
            self.losses.append(Loss("a type of this name", name, f"a class that is called {here}"))
        written = self.written(name, here, declared)
        return lost(self.losses[first:], "#") + written

    def written(self, name: str, here: str, declared: DeclaredType) -> str:
        """A declaration without the comments on what it lacks."""
        match declared:
            case RecordType():
                return self.record(name, here, declared)
            case EnumType():
                return self.enum(name, here, declared)
            case UnionType(variants=variants):
                doc = [_indented(json_text(declared.doc))] if declared.doc else []
                inner = [_indented(self.variant(name, here, variant)) for variant in variants]
                return "\n".join((f"class {here}:", *doc, *inner))
            case AliasType(type=Named(name=other)) if not isinstance(self.table[other], AliasType):
                return f"{here} = {self.names[other]}\n"
            case AliasType():
                return ""

    def variant(self, name: str, here: str, variant: RecordType) -> str:
        """A variant inside the class of its union."""
        place = f"{name}.{variant.name}"
        called = safe_name(plain(variant.name))
        if called != variant.name:
            self.losses.append(Loss("a variant of this name", place, f"a class that is called {called}"))
        return self.record(place, called, variant, f"({here})")

    def enum(self, name: str, here: str, declared: EnumType) -> str:
        lines = [json_text(declared.doc)] if declared.doc else []
        for member in declared.members:
            attribute = member_name(member)
            if plain(attribute) == attribute:
                lines.append(f"{attribute} = {json_text(member)}")
            else:
                self.losses.append(
                    Loss(f"the member {json_text(member)}", name, "an enum without its attribute")
                )
        return f"class {here}(Enum):\n" + "".join(f"    {line}\n" for line in lines or ["..."])

    def record(self, place: str, here: str, shape: RecordType, base: str = "") -> str:
        names = attribute_names(shape)
        hidden = frozenset(names.values())
        lines = [json_text(shape.doc)] if shape.doc else []
        keyed = []
        for field in shape.fields:
            kind = fold(field.type, self)
            if hidden.intersection(_WORD.findall(_QUOTED.sub("", kind))):
                self.losses.append(Loss("a field with the name of a type", f"{place}.{field.name}", "`Any`"))
                kind = "Any"
            if field.has_default or field.optional:
                absent = field.optional and not field.has_default
                keyed.append(f"{names[field.name]}: {_union((kind, 'None')) if absent else kind} = ...")
            else:
                lines.append(f"{names[field.name]}: {kind}")
        lines += ["_: KW_ONLY", *keyed] if keyed else []
        body = "".join(f"    {line}\n" for line in lines or ["..."])
        return f"@dataclass(frozen=True)\nclass {here}{base}:\n{body}"

    def error(self, name: str, fields: Mapping[str, Type]) -> str:
        """An exception with its fields as attributes, but for those that every RunError has."""
        here = safe_name(plain(name))
        lines = []
        for field, type in fields.items():
            if safe_name(field) not in _OF_ERRORS:
                lines.append(f"{safe_name(field)}: {fold(type, self)}")
        return f"class {here}(RunError):\n" + "".join(f"    {line}\n" for line in lines or ["..."])

    def function(self, function: Function, form: str) -> str:
        """A function with the options of a call, which `form` gives the forms of a call."""
        given: dict[str, str] = {}
        for parameter in function.parameters:
            default = " = ..." if parameter.has_default else ""
            here = distinct(
                safe_name(plain(parameter.name)), lambda name: name in given or name in _OPTION_NAMES
            )
            given[here] = f"{here}: {fold(parameter.type, self)}{default}"
        result = "None" if function.result is None else fold(function.result, self)
        doc = f"\n    {json_text(function.doc)}" if function.doc else ""
        options = distinct("options", given.__contains__)
        taken = ", ".join((*given.values(), f"**{options}: Unpack[CallOptions]"))
        return f"@{form}\ndef {_called(function)}({taken}) -> {result}:{doc or ' ...'}\n"

    def scalar(self, type: Scalar) -> str:
        match type:
            case Str() | OneOf() | SpanOf():
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
            case Constant(str() as text):
                return f"Literal[{json_text(text)}]"
            case Constant(value):
                return f"Literal[{value!r}]"
            case Json():
                return "Any"

    def named(self, name: str) -> str:
        declared = self.table[name]
        if not isinstance(declared, AliasType):
            return self.names[name]
        return fold(declared.type, self)

    def choice(self, type: Optional | Alternatives, arms: Sequence[str]) -> str:
        return _union(arms)

    def list(self, type: ListOf, item: str) -> str:
        return f"list[{item}]"

    def map(self, type: MapOf, key: str, value: str) -> str:
        return f"dict[{key}, {value}]"

    def tuple(self, type: TupleOf, items: Sequence[str]) -> str:
        return f"tuple[{', '.join(items) or '()'}]"


def _called(function: Function) -> str:
    """The name of a function in Python."""
    return safe_name(plain(function.name))


def _union(arms: Sequence[str]) -> str:
    """Each arm once, those of unions among them too, as `typing` has them."""
    return " | ".join(dict.fromkeys(part for arm in arms for part in _arms(arm)))


def _arms(annotation: str) -> list[str]:
    """The arms of an annotation that may be a union: cut where no bracket is open."""
    parts, depth = [""], 0
    for piece in re.split(r"( \| |\"(?:[^\"\\]|\\.)*\")", annotation):
        if piece == " | " and not depth:
            parts.append("")
            continue
        parts[-1] += piece
        if not piece.startswith('"'):
            depth += piece.count("[") - piece.count("]")
    return parts


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.removesuffix("\n").split("\n"))
