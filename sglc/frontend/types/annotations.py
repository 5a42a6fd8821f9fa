"""Annotations of Python as types of the language."""

from __future__ import annotations

import datetime
import enum
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sglc.frontend.types.constraints import NoType, constraints, refined
from sglc.frontend.types.declared import Declared
from sglc.source import Span
from sglc.syntax.parse import parse_type
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import moved, walk

PLAIN: dict[object, str] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    Decimal: "decimal",
    None: "null",
    type(None): "null",
    Any: "json",
    object: "json",
}
"""Types of Python that are types of the language."""
WRITTEN: dict[object, tuple[str, str]] = {
    datetime.datetime: ("std.time", "datetime"),
    datetime.date: ("std.time", "date"),
    datetime.time: ("std.time", "time"),
    uuid.UUID: ("std.text", "uuid"),
}
"""Classes whose values are written as texts: the module and the type of these texts."""
LISTS = (list, abc.Sequence, abc.Iterable, abc.Collection)
MAPS = (dict, abc.Mapping)
_BARE = "write what it holds: `list[str]`, `dict[str, int]`, `tuple[str, int]`"


class Annotations:
    """Makes type expressions; the classes that they name are declared on the way."""

    def __init__(self, declared: Declared, known: Callable[[str, Span], str | None]) -> None:
        self.declared = declared
        self.known = known
        """Gives the name of a declared type for a name in a type that is written in the language."""

    def field(
        self, annotation: object, metadata: tuple[object, ...], span: Span
    ) -> tuple[ast.TypeExpression, str]:
        """The type of a field with its metadata, and how they describe it. Raises NoType."""
        whole = typing.Annotated[(annotation, *metadata)] if metadata else annotation
        described = ""
        if typing.get_origin(whole) is typing.Annotated:
            described = constraints(typing.get_args(whole)[1:]).description
        return self.of(whole, span), described

    def of(self, annotation: Any, span: Span) -> ast.TypeExpression:
        """The type that an annotation means. Raises NoType where it means none."""
        if isinstance(annotation, str):
            return self.written(annotation, span)
        if isinstance(annotation, typing.ForwardRef):
            raise NoType(f"`{annotation.__forward_arg__}` is not in sight")
        try:
            name = PLAIN.get(annotation)
        except TypeError:  # what cannot be hashed is no type
            name = None
        if name is not None:
            return ast.TypeName(name, (), span)
        if isinstance(getattr(annotation, "sgl_type", None), str):
            return self.written(annotation.sgl_type, span)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            asked = constraints(arguments[1:])
            if asked.written:
                return refined(self.written(asked.written, span), replace(asked, written=""), span)
            return refined(self.of(arguments[0], span), asked, span)
        if origin is not None:
            return self._generic(origin, arguments, span)
        if isinstance(annotation, typing.NewType):
            return self.of(annotation.__supertype__, span)
        if hasattr(annotation, "__value__") and hasattr(annotation, "__type_params__"):
            known = self.declared.name_of(annotation)
            if known is None:
                meant = self.of(annotation.__value__, span)
                known = self.declared.alias(annotation, annotation.__name__, meant, span)
            return ast.TypeName(known, (), span)
        if isinstance(annotation, type):
            return self._class(annotation, span)
        raise NoType(f"`{annotation!r}` is no type of the language")

    def _class(self, cls: type, span: Span) -> ast.TypeExpression:
        if cls in WRITTEN:
            module, name = WRITTEN[cls]
            self.declared.use(name, span, module)
            return ast.TypeName(name, (), span)
        if issubclass(cls, enum.Enum):
            return ast.TypeName(self.declared.enumeration(cls, span), (), span)
        record = self.declared.record(cls, self, span)
        if record is not None:
            return ast.TypeName(record, (), span)
        if cls in (list, dict, tuple):
            raise NoType(f"`{cls.__name__}` does not say what it holds", _BARE)
        if cls in (set, frozenset):
            raise NoType("the language has no sets", "write `list[…]`")
        raise NoType(
            f"`{cls.__name__}` is no type of the language",
            "write a dataclass, a Pydantic model, a TypedDict or an Enum, or a type that Python has",
        )

    def _generic(self, origin: object, arguments: tuple[object, ...], span: Span) -> ast.TypeExpression:
        if origin is typing.Literal:
            return self._union([_literal(value, span) for value in arguments], span)
        if origin in (typing.Union, types.UnionType):
            arms = [self.of(arm, span) for arm in arguments if arm is not type(None)]
            united = self._union(arms, span)
            return ast.TypeOptional(united, span) if type(None) in arguments else united
        if origin in LISTS:
            return ast.TypeList(self.of(arguments[0], span), None, None, span)
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return ast.TypeList(self.of(arguments[0], span), None, None, span)
            if not arguments:
                raise NoType("a tuple of nothing has one value only")
            return ast.TypeTuple(tuple(self.of(item, span) for item in arguments), span)
        if origin in MAPS:
            key, item = (self.of(argument, span) for argument in arguments)
            return ast.TypeMap(key, item, None, None, span)
        if origin in (set, frozenset):
            raise NoType("the language has no sets", "write `list[…]`")
        raise NoType(f"`{getattr(origin, '__name__', origin)}[…]` is no type of the language")

    def _union(self, arms: list[ast.TypeExpression], span: Span) -> ast.TypeExpression:
        return arms[0] if len(arms) == 1 else ast.TypeUnion(tuple(arms), span)

    def written(self, text: str, span: Span) -> ast.TypeExpression:
        """A type that is written in the language. Raises NoType where it cannot be read."""
        found, diagnostics = parse_type(text)
        if found is None:
            first = diagnostics[0]
            raise NoType(f"`{text}` is no type of the language: {first.message}", first.hint)
        whole: ast.TypeExpression = moved(found, lambda inner: span)
        for name in _named(whole):
            self.known(name, span)
        return whole


def _named(node: object) -> list[str]:
    """The names of types in a type."""
    return [each.name for each in walk(node) if isinstance(each, ast.TypeName | ast.Reference)]


def _literal(value: object, span: Span) -> ast.TypeExpression:
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None:
        return ast.TypeName("null", (), span)
    if not isinstance(value, str | int):
        raise NoType(f"`{value!r}` is no literal of the language")
    return ast.TypeLiteral(value, span)
