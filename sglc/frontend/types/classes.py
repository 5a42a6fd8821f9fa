"""Fields of dataclasses, Pydantic and attrs models, typed dicts and named tuples; members of enums."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sglc.frontend.types.constraints import NoType

NOTHING = object()
"""No default."""


@dataclass(frozen=True, slots=True)
class ClassField:
    """One field: its annotation with metadata, its default or NOTHING, whether it may be absent."""

    name: str
    annotation: object
    default: object = NOTHING
    absent: bool = False
    description: str = ""
    metadata: tuple[object, ...] = ()


def fields_of(cls: type, around: Mapping[str, object]) -> list[ClassField] | None:
    """The fields of a class that declares them; None for any other class.

    Raises NoType where an annotation or a default cannot be read.
    """
    if _is_typed_dict(cls) or _is_named_tuple(cls):
        return _plain_fields(cls, around)
    declared = getattr(cls, "model_fields", None)  # Pydantic, without importing it
    if isinstance(declared, Mapping):
        return [_model_field(name, info) for name, info in declared.items()]
    if dataclasses.is_dataclass(cls):
        hints = hints_of(cls, around)
        return [_data_field(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init]
    attributes = getattr(cls, "__attrs_attrs__", None)
    if isinstance(attributes, tuple):
        hints = hints_of(cls, around)
        return [_attrs_field(each, hints) for each in attributes if each.init]
    return None


def hints_of(what: object, around: Mapping[str, object]) -> dict[str, object]:
    """The annotations of a class or function as Python reads them, metadata kept. Raises NoType."""
    try:
        return typing.get_type_hints(what, localns=dict(around) or None, include_extras=True)
    except NameError as error:
        raise NoType(f"an annotation names `{error.name}`, which is not in sight") from None
    except Exception as error:  # whatever an annotation does when it is read
        raise NoType(f"its annotations cannot be read: {error}") from None


def doc_of(cls: type) -> str:
    """The docstring that was written for a class; empty where Python made one up."""
    text = cls.__dict__.get("__doc__") or ""
    made_up = text.startswith(f"{cls.__name__}(") or text == enum.Enum.__doc__ or text == dict.__doc__
    return "" if made_up else inspect.cleandoc(text)


def members_of(cls: type[enum.Enum]) -> dict[str, enum.Enum]:
    """The members of an enum by what is written for them: their values if all are texts, else names."""
    members = list(cls)
    if all(isinstance(member.value, str) for member in members):
        return {member.value: member for member in members}
    return {member.name: member for member in members}


def _is_typed_dict(cls: type) -> bool:
    """Whether a class is a typed dict of Python's own or of typing_extensions."""
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def _is_named_tuple(cls: type) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_field_defaults")


def _plain_fields(cls: object, around: Mapping[str, object]) -> list[ClassField]:
    defaults = getattr(cls, "_field_defaults", {})
    required = getattr(cls, "__required_keys__", None)
    found = []
    for name, annotation in hints_of(cls, around).items():
        while typing.get_origin(annotation) in (typing.Required, typing.NotRequired):
            annotation = typing.get_args(annotation)[0]
        absent = required is not None and name not in required
        found.append(ClassField(name, annotation, defaults.get(name, NOTHING), absent))
    return found


def _model_field(name: str, info: Any) -> ClassField:
    default = NOTHING if info.is_required() else info.default
    if not info.is_required() and info.default_factory is not None:
        default = _made(info.default_factory, name)
    return ClassField(
        name, info.annotation, default, description=info.description or "", metadata=tuple(info.metadata)
    )


def _data_field(field: dataclasses.Field[object], annotation: object) -> ClassField:
    default = NOTHING if field.default is dataclasses.MISSING else field.default
    if field.default_factory is not dataclasses.MISSING:
        default = _made(field.default_factory, field.name)
    described = field.metadata.get("description") or field.metadata.get("doc") or ""
    return ClassField(field.name, annotation, default, description=described)


def _attrs_field(attribute: Any, hints: Mapping[str, object]) -> ClassField:
    missing = type(attribute.default).__module__.split(".")[0] == "attr" and not hasattr(
        attribute.default, "factory"
    )
    default = NOTHING if missing else attribute.default
    factory = getattr(default, "factory", None)
    if factory is not None:
        default = _made(factory, attribute.name)
    described = attribute.metadata.get("description", "")
    return ClassField(attribute.name, hints[attribute.name], default, description=described)


def _made(factory: object, name: str) -> object:
    if factory in (list, dict, tuple):
        return factory()
    raise NoType(f"the default of `{name}` is made by a function", "write the default itself")
