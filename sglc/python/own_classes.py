"""Values of the language as objects of the classes and types that a Python program was written with."""

from __future__ import annotations

import datetime
import enum
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sglc.frontend.types.classes import fields_of, hints_of, members_of
from sglc.frontend.types.constraints import NoType
from sglc.types.values import EnumValue, RecordValue

_TEXTS: dict[object, Callable[[str], object]] = {
    datetime.datetime: lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")),
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
}
"""Classes whose values are written as texts, and how they are read."""
_UNIONS = (typing.Union, types.UnionType)


class Refused(Exception):
    """A class of the user's did not take a value that its annotations allow."""

    def __init__(self, name: str, fault: Exception) -> None:
        super().__init__(f"`{name}` does not take this value: {fault}")


class OwnClasses:
    """The classes of one program by the names of its declared types, and objects of them."""

    def __init__(self, classes: Mapping[str, type], around: Mapping[str, object]) -> None:
        self.classes = dict(classes)
        self._around = around

    def out(self, value: EnumValue | RecordValue) -> object:
        """A record or member as an object of the class that its type was made of. Raises Refused."""
        if isinstance(value, EnumValue):
            cls: Any = self.classes[value.enum]
            return members_of(cls)[value.name]
        cls = self.classes[value.type]
        fields = fields_of(cls, self._around)
        if fields is None:  # an error with annotated fields
            hints = hints_of(cls, self._around)
            given = {name: self.read(item, hints.get(name, Any)) for name, item in value.fields.items()}
        else:
            absent = {field.name for field in fields if field.absent}
            given = {
                field.name: self.read(value.fields[field.name], field.annotation)
                for field in fields
                if not (field.name in absent and value.fields[field.name] is None)
            }
        return self._made(cls, given)

    def error(self, name: str, fields: Mapping[str, object]) -> Exception | None:
        """A declared error as an object of the exception that it was made of; None where there is none.

        Raises Refused.
        """
        cls: Any = self.classes.get(name)
        if cls is None or not issubclass(cls, Exception):
            return None
        hints = hints_of(cls, self._around)
        given = {key: self.read(item, hints.get(key, Any)) for key, item in fields.items()}
        if cls.__init__ is not Exception.__init__:
            made: Exception = self._made(cls, given)
            return made
        made = cls(*given.values())  # a class that has annotations alone takes its fields in order
        for key, item in given.items():
            setattr(made, key, item)
        return made

    def member(self, value: enum.Enum) -> object:
        """A member of one of the classes as what is written for it; any other object as it is."""
        for name, cls in self.classes.items():
            if type(value) is cls:
                written = next(text for text, each in members_of(type(value)).items() if each is value)
                plain = all(text.isidentifier() for text in members_of(type(value)))
                return EnumValue(name, written) if plain else written
        return value

    def _made(self, cls: Any, given: dict[str, object]) -> Any:
        try:
            declared = getattr(cls, "model_fields", None)
            if isinstance(declared, Mapping):
                return cls.model_validate({_known_as(declared[name], name): v for name, v in given.items()})
            return cls(**given)
        except NoType:
            raise
        except Exception as fault:  # whatever a class of the user's says of its values
            raise Refused(cls.__name__, fault) from fault

    def read(self, value: object, annotation: object) -> object:
        """A value of the language as the annotation says. Raises Refused."""
        if isinstance(value, EnumValue | RecordValue):
            return self.out(value)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        while origin in (typing.Annotated, typing.Required, typing.NotRequired):
            annotation = arguments[0]
            origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if hasattr(annotation, "__value__"):
            return self.read(value, annotation.__value__)
        if origin in _UNIONS:
            arm = next((each for each in arguments if _fits(value, each)), None)
            return value if arm is None else self.read(value, arm)
        match value:
            case list() | tuple():
                return self._items(value, origin, arguments)
            case dict():
                item = arguments[1] if len(arguments) == 2 else Any
                return {key: self.read(each, item) for key, each in value.items()}
            case str() if isinstance(annotation, type) and annotation in _TEXTS:
                return _TEXTS[annotation](value)
            case str() if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
                return members_of(annotation).get(value, value)
            case str():
                return str(value)
        return value

    def _items(
        self, value: list[object] | tuple[object, ...], origin: object, arguments: tuple[object, ...]
    ) -> object:
        if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
            return tuple(self.read(item, each) for item, each in zip(value, arguments, strict=True))
        inner = arguments[0] if arguments else Any
        read = [self.read(item, inner) for item in value]
        return tuple(read) if origin is tuple or isinstance(value, tuple) else read


@dataclass(frozen=True, slots=True)
class OwnTypes:
    """The Python side of a program that is written in Python.

    `results` are the annotations of what its functions give back, `called` those of the parameters of the
    functions of Python that it calls, by `module:function`.
    """

    classes: OwnClasses
    results: Mapping[str, object]
    called: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def _known_as(info: Any, name: str) -> str:
    """What a field is called where an object is made."""
    alias = info.validation_alias or info.alias
    return alias if isinstance(alias, str) else name


def _fits(value: object, annotation: object) -> bool:
    """Whether a value that is no record may be one of an arm of a union."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _fits(value, arguments[0])
    if hasattr(annotation, "__value__"):
        return _fits(value, annotation.__value__)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in arguments)
    if origin is not None:
        wanted = tuple if origin is tuple else dict if origin in (dict, abc.Mapping) else list
        variable = origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis
        return isinstance(value, list if variable else wanted)
    if annotation in (None, type(None)):
        return value is None
    if annotation in _TEXTS:
        return isinstance(value, str) and _is_read(annotation, value)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return isinstance(value, str) and value in members_of(annotation)
    if annotation is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if annotation is int or annotation is Decimal or annotation is bool or annotation is str:
        return isinstance(value, annotation) and (annotation is bool or not isinstance(value, bool))
    return annotation is Any


def _is_read(cls: object, text: str) -> bool:
    try:
        _TEXTS[cls](text)
    except ValueError:
        return False
    return True
