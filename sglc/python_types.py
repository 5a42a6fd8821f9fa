"""Declared types as Python classes, and values of the language as Python objects and back."""

from __future__ import annotations

import dataclasses
import enum
import keyword
import re
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from sglc.bytecode.code import Program
from sglc.types.type import AliasType, EnumType, Named, RecordType, UnionType
from sglc.types.values import EnumValue, RecordValue


class PythonTypes:
    """The Python classes of a program's declared types, made when they are first needed."""

    def __init__(self, program: Program, module: str) -> None:
        self._table = program.table
        self._module = module
        self._classes: dict[str, Any] = {}
        self._lock = threading.RLock()

    def names(self) -> Iterator[str]:
        """Declared types of the main module."""
        return (name for name, declared in self._table.items() if not isinstance(declared, AliasType))

    def of(self, name: str) -> Any:
        """The class of a declared type by its qualified name; an alias stands for what it names."""
        with self._lock:
            made = self._classes.get(name)
            if made is None:
                made = self._classes[name] = self._make(name)
            return made

    def _make(self, name: str) -> Any:
        declared = self._table[name]
        made: Any
        match declared:
            case RecordType():
                made = self._dataclass(declared, declared.name.rpartition(".")[2], ())
            case EnumType():
                members = [(member_name(member), member) for member in declared.members]
                functional: Any = enum.Enum
                made = functional(declared.name.rpartition(".")[2], members, module=self._module)
                made.__doc__ = declared.doc or made.__doc__
            case UnionType():
                short = declared.name.rpartition(".")[2]
                made = type(short, (), {"__doc__": declared.doc, "__module__": self._module})
                for variant in declared.variants:
                    setattr(made, variant.name, self._dataclass(variant, variant.name, (made,)))
            case AliasType(type=Named(name=other)):
                made = self.of(other)
            case _:
                raise AttributeError(f"{name} is an alias of a type that has no class")
        return made

    def _dataclass(self, shape: RecordType, name: str, bases: tuple[type, ...]) -> Any:
        fields: list[Any] = []
        names = attribute_names(shape)
        for field in shape.fields:
            safe = names[field.name]
            if field.optional and not field.has_default:
                fields.append((safe, Any, dataclasses.field(default=None, kw_only=True)))
            elif field.has_default:
                default = field.default
                fields.append(
                    (
                        safe,
                        Any,
                        dataclasses.field(default_factory=partial(self.out, default), kw_only=True),
                    )
                )
            else:
                fields.append((safe, Any))
        made = dataclasses.make_dataclass(name, fields, bases=bases, frozen=True)
        made.__module__ = self._module
        if shape.doc:
            made.__doc__ = shape.doc
        return made

    def out(self, value: Any) -> Any:
        """A value of the language as a Python object."""
        match value:
            case EnumValue(enum=name, name=member):
                return self.of(name)(member)
            case RecordValue(type=name, fields=fields, variant=variant):
                made = self.of(name)
                shape = self._table[name]
                if variant is not None:
                    made = getattr(made, variant)
                    assert isinstance(shape, UnionType)
                    shape = next(one for one in shape.variants if one.name == variant)
                assert isinstance(shape, RecordType)
                names = attribute_names(shape)
                return made(**{names[field]: self.out(item) for field, item in fields.items()})
            case list():
                return [self.out(item) for item in value]
            case tuple():
                return tuple(self.out(item) for item in value)
            case dict():
                return {key: self.out(item) for key, item in value.items()}
        return value

    def into(self, value: Any) -> Any:
        """A Python object as a value of the language, or as what JSON would give of it."""
        if isinstance(value, enum.Enum):
            for name, made in list(self._classes.items()):
                if isinstance(made, type) and isinstance(value, made):
                    return EnumValue(name, value.value)
            return self.into(value.value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type | EnumValue | RecordValue):
            return self._from_dataclass(value)
        if isinstance(value, list):
            return [self.into(item) for item in value]
        if isinstance(value, tuple):
            return tuple(self.into(item) for item in value)
        if isinstance(value, Mapping):
            return {str(key): self.into(item) for key, item in value.items()}
        if isinstance(value, range | set | frozenset):
            return [
                self.into(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)
            ]
        return value

    def _from_dataclass(self, value: Any) -> Any:
        for name, made in list(self._classes.items()):
            declared = self._table[name]
            if isinstance(declared, RecordType) and type(value) is made:
                return RecordValue(name, self._fields(declared, value))
            if isinstance(declared, UnionType) and isinstance(value, made):
                shape = next(v for v in declared.variants if v.name == type(value).__name__)
                return RecordValue(name, self._fields(shape, value), shape.name)
        return {field.name: self.into(getattr(value, field.name)) for field in dataclasses.fields(value)}

    def _fields(self, shape: RecordType, value: Any) -> dict[str, Any]:
        return {name: self.into(getattr(value, safe)) for name, safe in attribute_names(shape).items()}


def attribute_names(shape: RecordType) -> dict[str, str]:
    """The fields of a record, each with a name that an attribute can have: letters, digits, underscores."""
    names: dict[str, str] = {}
    for field in shape.fields:
        safe = re.sub(r"\W", "_", field.name)
        safe = safe_name(safe if safe[:1].isidentifier() else f"field_{safe}")
        while safe in names.values():
            safe += "_"
        names[field.name] = safe
    return names


def safe_name(name: str) -> str:
    """A field's name as an attribute: keywords of Python get an underscore."""
    return name + "_" if keyword.iskeyword(name) else name


def member_name(name: str) -> str:
    """An enum member's name as an attribute: names that Python's enums use themselves get an underscore."""
    taken = keyword.iskeyword(name) or name in ("mro", "name", "value") or name.startswith("_")
    return name.rstrip("_") + "_" if taken else name
