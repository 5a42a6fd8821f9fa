"""Declarations that stand behind the names of a Python program: types, errors, constants, grammars."""

from __future__ import annotations

import ast as python
import enum
import inspect
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Protocol

from sglc.frontend.core.findings import Findings
from sglc.frontend.core.source import class_node
from sglc.frontend.types.classes import NOTHING, ClassField, doc_of, fields_of, hints_of, members_of
from sglc.frontend.types.constraints import NoType
from sglc.library import Library
from sglc.source import Span
from sglc.syntax.tree import ast

MOST_LEVELS = 20
"""Levels of a constant's parts inside each other. A value that contains itself has more."""


class Annotates(Protocol):
    """What makes types of annotations; `annotations.Annotations` is one."""

    def field(
        self, annotation: object, metadata: tuple[object, ...], span: Span
    ) -> tuple[ast.TypeExpression, str]:
        """The type of a field, and what its metadata say of it. Raises NoType."""


class Declared:
    """The declarations of one program, each made once, and the classes of the user's that they stand for."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.declarations: list[ast.Declaration] = []
        self.classes: dict[str, type] = {}
        """By the name of the declared type."""
        self.around: Mapping[str, object] = {}
        """Names of the function that the function being read is defined in."""
        self._names: dict[int, str] = {}
        self._kept: list[object] = []
        """What is known by its identity, so that nothing else gets it."""
        self._taken: set[str] = set()
        self._used: dict[str, dict[str, ast.Name]] = {}
        self._grammars: dict[str, str] = {}

    # -- names ---------------------------------------------------------------------------------------

    def name_of(self, thing: object) -> str | None:
        """The name that something was declared by."""
        return self._names.get(id(thing))

    def enter(self, thing: object, wanted: str) -> str:
        """Give something a name that nothing else has."""
        name, count = wanted, 2
        while name in self._taken:
            name, count = f"{wanted}_{count}", count + 1
        self._taken.add(name)
        self._names[id(thing)] = name
        self._kept.append(thing)
        return name

    # -- types ---------------------------------------------------------------------------------------

    def record(self, cls: type, annotations: Annotates, span: Span) -> str | None:
        """Declare a class with fields as a record; None if it is no such class. Raises NoType."""
        known = self.name_of(cls)
        if known is not None:
            return known
        fields = fields_of(cls, self.around)
        if fields is None:
            return None
        name = self.enter(cls, cls.__name__)
        self.classes[name] = cls
        places = _places(cls, span)
        place = len(self.declarations)
        made = tuple(self._field(each, annotations, places.get(each.name, span)) for each in fields)
        if not made:
            raise NoType(f"`{cls.__name__}` has no fields")
        own = places.get("", span)
        record = ast.RecordDeclaration(ast.Name(name, own), (), made, True, doc_of(cls), own)
        self.declarations.insert(place, record)
        return name

    def error(self, cls: type, annotations: Annotates, span: Span) -> str:
        """Declare a class of exceptions as an error with its annotated fields. Raises NoType."""
        known = self.name_of(cls)
        if known is not None:
            return known
        name = self.enter(cls, cls.__name__)
        self.classes[name] = cls
        places = _places(cls, span)
        fields = fields_of(cls, self.around)
        if fields is None:
            own_names = inspect.get_annotations(cls)
            hints = hints_of(cls, self.around)
            fields = [ClassField(each, hints[each]) for each in own_names]
        made = tuple(self._field(each, annotations, places.get(each.name, span)) for each in fields)
        own = places.get("", span)
        self.declarations.append(ast.ErrorDeclaration(ast.Name(name, own), made, True, doc_of(cls), own))
        return name

    def _field(self, field: ClassField, annotations: Annotates, span: Span) -> ast.Field:
        type, description = annotations.field(field.annotation, field.metadata, span)
        default = None if field.default is NOTHING else self.expression(field.default, span)
        doc = field.description or description
        return ast.Field(ast.Name(field.name, span), type, field.absent, default, doc, span)

    def enumeration(self, cls: type[enum.Enum], span: Span) -> str:
        """Declare an enum. Raises NoType for members that are no names."""
        known = self.name_of(cls)
        if known is not None:
            return known
        name = self.enter(cls, cls.__name__)
        self.classes[name] = cls
        members = members_of(cls)
        own = _places(cls, span).get("", span)
        if all(member.isidentifier() for member in members):
            made = tuple(ast.Member(ast.Name(member, own), "") for member in members)
            declaration: ast.Declaration = ast.EnumDeclaration(
                ast.Name(name, own), made, True, doc_of(cls), own
            )
        else:
            arms = tuple(ast.TypeLiteral(member, own) for member in members)
            whole = ast.TypeUnion(arms, own) if len(arms) > 1 else arms[0]
            declaration = ast.TypeDeclaration(ast.Name(name, own), (), whole, True, doc_of(cls), own)
        self.declarations.append(declaration)
        return name

    def alias(self, thing: object, wanted: str, type: ast.TypeExpression, span: Span) -> str:
        """Declare a name of a type."""
        name = self.enter(thing, wanted)
        self.declarations.append(ast.TypeDeclaration(ast.Name(name, span), (), type, True, "", span))
        return name

    def grammar(self, path: str, library: bool, wanted: str, span: Span) -> str:
        """Declare a grammar of a file, or of the library."""
        known = self._grammars.get(path)
        if known is None:
            known = self._grammars[path] = self.enter(object(), wanted)
            made = ast.GrammarImport(path, library, ast.Name(known, span), span)
            self.declarations.append(made)
        return known

    # -- the standard library ------------------------------------------------------------------------

    def use(self, name: str, span: Span, module: str = "") -> str | None:
        """Take a name from the standard library; None if it has none, or several, of this name."""
        for path, shared in Library().shared_names().items():
            if name in shared and module in ("", path):
                self._used.setdefault(path, {}).setdefault(name, ast.Name(name, span))
                return name
        return None

    def uses(self) -> list[ast.Declaration]:
        """What is taken from the standard library."""
        return [
            ast.Use(path, tuple((name, name) for name in names.values()), next(iter(names.values())).span)
            for path, names in sorted(self._used.items())
        ]

    # -- values --------------------------------------------------------------------------------------

    def constant(self, value: object, wanted: str, span: Span) -> str:
        """Declare a constant. Raises NoType where the value is none of the language."""
        # Small numbers and texts are shared by Python: their names are what tells them apart.
        key = (wanted, id(value))
        known = self._names.get(hash(key))
        if known is not None:
            return known
        made = self.expression(value, span)
        name = self.enter(value, wanted)
        self._names[hash(key)] = name
        self.declarations.append(ast.ConstDeclaration(ast.Name(name, span), None, made, True, "", span))
        return name

    def declare_classes(self, value: Any, annotations: Annotates, span: Span, level: int = 0) -> None:
        """Declare the classes of a value and of its parts, so that it can be written out. Raises NoType."""
        if level > MOST_LEVELS or value is None or isinstance(value, str | int | float | Decimal | enum.Enum):
            return
        if type(value) in (list, tuple):
            parts = list(value)
        elif type(value) is dict:
            parts = list(value.values())
        elif self.record(type(value), annotations, span) is not None:
            parts = [getattr(value, each.name) for each in fields_of(type(value), self.around) or ()]
        else:
            return
        for part in parts:
            self.declare_classes(part, annotations, span, level + 1)

    def expression(self, value: object, span: Span, level: int = 0) -> ast.Expression:
        """A value of Python, written out. Raises NoType where it is none of the language."""
        if level > MOST_LEVELS:
            raise NoType("the value nests too deeply, or contains itself")
        if isinstance(value, enum.Enum):
            return self._member(value, span)
        match value:
            case None:
                return ast.Null(span)
            case bool():
                return ast.Boolean(value, span)
            case str():
                return ast.String((value,) if value else (), span)
            case int() | Decimal():
                return _number(value, span)
            case float():
                return _number(Decimal(repr(value)), span)
        inside = level + 1
        if type(value) is list:
            return ast.ListDisplay(self._all(value, span, inside), span)
        if type(value) is tuple:
            return ast.TupleDisplay(self._all(value, span, inside), span)
        known = self.classes.get(self.name_of(type(value)) or "")
        if type(value) is dict and all(isinstance(key, str) for key in value):
            entries = tuple(
                (self.expression(key, span), self.expression(item, span, inside))
                for key, item in value.items()
            )
            return ast.MapDisplay(entries, span)
        fields = fields_of(type(value), self.around) if known is not None else None
        if known is not None and fields is not None:
            arguments = tuple(
                ast.Argument(None, self.expression(getattr(value, field.name), span, inside), span)
                for field in fields
            )
            reference = ast.Reference(self.name_of(type(value)) or "", span)
            return ast.Call(reference, arguments, span)
        raise NoType(f"a value of the class `{type(value).__name__}` is none of the language")

    def _all(self, values: Iterable[object], span: Span, level: int) -> tuple[ast.Expression, ...]:
        return tuple(self.expression(item, span, level) for item in values)

    def _member(self, value: enum.Enum, span: Span) -> ast.Expression:
        name = self.enumeration(type(value), span)
        written = next(text for text, member in members_of(type(value)).items() if member is value)
        if not all(text.isidentifier() for text in members_of(type(value))):
            return ast.String((written,), span)
        return ast.Attribute(ast.Reference(name, span), ast.Name(written, span), span)


def _number(value: int | Decimal, span: Span) -> ast.Expression:
    if isinstance(value, Decimal) and not value.is_finite():
        raise NoType(f"`{value}` is no number of the language")
    if value < 0:
        return ast.Unary("-", ast.Number(-value, span), span)
    return ast.Number(value, span)


def _places(cls: type, otherwise: Span) -> dict[str, Span]:
    """Where a class (under the empty name) and its fields are written."""
    found = class_node(cls)
    if found is None:
        return {}
    file, node = found
    places = {"": file.header(node)}
    for statement in node.body:
        if isinstance(statement, python.AnnAssign) and isinstance(statement.target, python.Name):
            places[statement.target.id] = file.span(statement)
    return places
