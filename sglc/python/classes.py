"""Declared types as Python classes, and values of the language as Python objects and back.

A record is a frozen dataclass whose constructor checks its fields, an enum an `enum.Enum`, a union one
dataclass for each variant with a common base. Programs with equal declarations share their classes, and an
object that is pickled carries the declarations with it: it is read back in any process, without the program's
file and without importing anything but sglc.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from sglc.bytecode.code import Program
from sglc.bytecode.serial import dumps, loads
from sglc.python.annotations import annotation
from sglc.python.errors import RunError
from sglc.python.own_classes import OwnClasses
from sglc.python.values import plain
from sglc.types.language.membership import MemberError
from sglc.types.notation.python_names import attribute_names, member_name, safe_name
from sglc.types.text.plain_json import from_json
from sglc.types.type import TAG, AliasType, EnumType, Named, RecordType, Type, UnionType
from sglc.types.values import TOO_DEEP, EnumValue, RecordValue, is_too_deep

PACKAGE = "sglc.programs"
"""What the classes call their module, with the program's name behind it. There is no such module: a class
that named a file of the user's would have it imported and run by whoever looks for the class by its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """What a class stands for: a declared type, and of a union the variant (None in its base)."""

    classes: PythonClasses
    name: str
    shape: RecordType | EnumType | UnionType

    @property
    def variant(self) -> str | None:
        """The name of the variant; None for what is no variant of a union."""
        declared = self.classes.table[self.name]
        return self.shape.name if isinstance(declared, UnionType) and self.shape is not declared else None


class PythonClasses:
    """The Python classes of a program's declared types, made when they are first needed."""

    def __init__(self, program: Program, portable: bytes, own: OwnClasses | None = None) -> None:
        self.table = program.table
        self.own = own
        """The user's own classes, where the program was written with them."""
        self.errors = {error.name: error.fields for error in program.errors}
        """Fields of the declared errors, by qualified name."""
        self.portable = portable
        """The declarations as an artefact: what an object takes along when it is pickled."""
        self._module = f"{PACKAGE}.{program.name}"
        self._classes: dict[str, Any] = {}
        self._errors: dict[str, type[RunError]] = {}
        self._lock = threading.RLock()

    def names(self) -> Iterator[str]:
        """Declared types of the main module."""
        return (name for name, declared in self.table.items() if not isinstance(declared, AliasType))

    def of(self, name: str) -> Any:
        """The class of a declared type by its qualified name; an alias stands for what it names."""
        if self.own is not None and name in self.own.classes:
            return self.own.classes[name]
        with self._lock:
            made = self._classes.get(name)
            return self._make(name) if made is None else made

    def error(self, name: str) -> type[RunError] | None:
        """The class of a declared error: a RunError with its fields as attributes. None where there is none,
        or where the program was written with a class of its own."""
        if name not in self.errors or (self.own is not None and name in self.own.classes):
            return None
        with self._lock:
            made = self._errors.get(name)
            if made is None:
                short = name.rpartition(".")[2]
                parts = {"__module__": self._module, "__reduce__": _reduce_error, "__sgl_error__": True}
                made = type(short, (RunError,), {**parts, "__sgl__": (self.portable, name)})
                made.__getattr__ = _field_of_error  # type: ignore[attr-defined]
                self._errors[name] = made
            return made

    def annotation(self, type: Type) -> Any:
        """A type as a Python annotation."""
        return annotation(type, self._declared)

    def _declared(self, name: str) -> object:
        declared = self.table[name]
        return self.annotation(declared.type) if isinstance(declared, AliasType) else self.of(name)

    def _make(self, name: str) -> Any:
        declared = self.table[name]
        short = declared.name.rpartition(".")[2]
        made: Any
        match declared:
            case RecordType():
                made = self._classes[name] = self._dataclass(name, declared, short, ())
                self._annotate(made)
            case EnumType():
                made = self._classes[name] = self._enum(name, declared, short)
            case UnionType():
                made = type(short, (), {"__doc__": declared.doc, "__module__": self._module})
                made.__sgl__ = Binding(self, name, declared)
                self._classes[name] = made
                variants = [self._dataclass(name, v, v.name, (made,)) for v in declared.variants]
                for variant in variants:
                    setattr(made, variant.__name__, variant)
                    variant.__qualname__ = f"{short}.{variant.__name__}"
                for variant in variants:
                    self._annotate(variant)
            case AliasType(type=Named(name=other)):
                made = self._classes[name] = self.of(other)
            case _:
                raise AttributeError(f"{name} is an alias of a type that has no class")
        return made

    def _enum(self, name: str, declared: EnumType, short: str) -> Any:
        members = [(member_name(member), member) for member in declared.members]
        functional: Any = enum.Enum
        made = functional(short, members, module=self._module)
        made.__doc__ = declared.doc or made.__doc__
        made.__sgl__ = Binding(self, name, declared)
        made.__reduce_ex__ = _reduce_member
        return made

    def _dataclass(self, name: str, shape: RecordType, short: str, bases: tuple[type, ...]) -> Any:
        fields: list[Any] = []
        names = attribute_names(shape)
        for field in shape.fields:
            told = {"doc": field.doc} if field.doc else None
            if field.has_default:
                default = partial(self.out, field.default)
                details = dataclasses.field(default_factory=default, kw_only=True, metadata=told)
            elif field.optional:
                details = dataclasses.field(default=None, kw_only=True, metadata=told)
            else:
                details = dataclasses.field(metadata=told)
            fields.append((names[field.name], Any, details))
        namespace = {
            "__sgl__": Binding(self, name, shape),
            "__post_init__": _check_fields,
            "__reduce__": _reduce_record,
        }
        made = dataclasses.make_dataclass(short, fields, bases=bases, namespace=namespace, frozen=True)
        made.__module__ = self._module
        made.__doc__ = shape.doc or made.__doc__
        return made

    def _annotate(self, made: Any) -> None:
        """Give the fields and the constructor their annotations, now that the class itself can be named."""
        shape: RecordType = made.__sgl__.shape
        names = attribute_names(shape)
        for field in shape.fields:
            found = self.annotation(field.type)
            if field.optional and not field.has_default:
                found = found | None if found is not Any else found
            safe = names[field.name]
            made.__dataclass_fields__[safe].type = found
            made.__annotations__[safe] = made.__init__.__annotations__[safe] = found

    def out(self, value: object) -> object:
        """A value of the language as a Python object."""
        if self.own is not None and isinstance(value, EnumValue | RecordValue):
            if (value.enum if isinstance(value, EnumValue) else value.type) in self.own.classes:
                return self.own.out(value)
        match value:
            case EnumValue(enum=name, name=member):
                return self.of(name)(member)
            case RecordValue(type=name, fields=fields, variant=variant):
                made = self.of(name) if variant is None else getattr(self.of(name), variant)
                names = attribute_names(made.__sgl__.shape)
                instance = object.__new__(made)  # the fields are checked: they are a value of the language
                instance.__dict__.update({names[field]: self.out(item) for field, item in fields.items()})
                return instance
            case list():
                return [self.out(item) for item in value]
            case tuple():
                return tuple(self.out(item) for item in value)
            case dict():
                return {key: self.out(item) for key, item in value.items()}
        return value

    def into(self, value: object, level: int = 0) -> Any:
        """A Python object as a value of the language, or as what JSON would give (see `values.plain`)."""
        return plain(value, self._typed, level)

    def _typed(self, value: Any, level: int) -> Any:
        """An object of one of the classes as a value of the language; any other as it is."""
        if self.own is not None and isinstance(value, enum.Enum):
            return self.own.member(value)
        if self.own is not None and isinstance(value, tuple) and type(value) in self.own.classes.values():
            named: dict[str, object] = value._asdict()  # type: ignore[attr-defined]
            return {name: self.into(item, level + 1) for name, item in named.items()}
        binding = getattr(type(value), "__sgl__", None)
        if not isinstance(binding, Binding):
            return value
        if isinstance(binding.shape, EnumType):
            return EnumValue(binding.name, value.value) if binding.classes is self else value.value
        assert isinstance(binding.shape, RecordType)
        names = attribute_names(binding.shape)
        fields = {name: self.into(getattr(value, safe), level + 1) for name, safe in names.items()}
        if binding.classes is self:
            return RecordValue(binding.name, fields, binding.variant)
        return as_object(binding, fields)


def as_object(binding: Binding, fields: dict[str, object]) -> dict[str, object]:
    """The fields of a record or variant as a JSON object: with its tag, without what is absent."""
    assert isinstance(binding.shape, RecordType)
    absent = {f.name for f in binding.shape.fields if f.optional and fields[f.name] is None}
    present = {name: item for name, item in fields.items() if name not in absent}
    return present if binding.variant is None else {TAG: binding.variant, **present}


# -- what the classes have of their own ----------------------------------------------------------------


def _check_fields(self: Any) -> None:
    """Bring the fields to their types. Raises TypeError that names the field."""
    binding: Binding = self.__sgl__
    assert isinstance(binding.shape, RecordType)
    classes = binding.classes
    for name, field in zip(attribute_names(binding.shape).values(), binding.shape.fields, strict=True):
        given = getattr(self, name)
        if given is None and field.optional:
            continue
        try:
            data = classes.into(given)
            if is_too_deep([data]):
                raise MemberError(name, TOO_DEEP)
            value = from_json(data, field.type, classes.table, name)
        except MemberError as fault:
            raise TypeError(f"{type(self).__name__}: {fault}") from None
        object.__setattr__(self, name, classes.out(value))


def _reduce_record(self: Any) -> tuple[object, ...]:
    binding: Binding = self.__sgl__
    assert isinstance(binding.shape, RecordType)
    fields = tuple(getattr(self, safe) for safe in attribute_names(binding.shape).values())
    return _record_again, (binding.classes.portable, binding.name, binding.variant, fields)


def _field_of_error(self: object, name: str) -> object:
    """A field of a declared error that is no attribute of every RunError."""
    fields = self.__dict__.get("fields", {})
    safe = {safe_name(each): each for each in fields}
    if name not in safe:
        raise AttributeError(f"{type(self).__name__} has no field `{name}`")
    return fields[safe[name]]


def _reduce_error(self: Any) -> tuple[object, ...]:
    portable, name = self.__sgl__
    told = (self.name, self.code, self.reason, self.fields, self.partial, self.diagnostic)
    return _error_again, (portable, name, told)


def _reduce_member(self: Any, protocol: int) -> tuple[object, ...]:
    binding: Binding = self.__sgl__
    return _member_again, (binding.classes.portable, binding.name, self.value)


def _record_again(portable: bytes, name: str, variant: str | None, fields: tuple[object, ...]) -> Any:
    """The object that `_reduce_record` took apart, its fields checked."""
    base = _classes_again(portable).of(name)
    made = base if variant is None else getattr(base, variant)
    return made(**dict(zip(attribute_names(made.__sgl__.shape).values(), fields, strict=True)))


def _error_again(portable: bytes, name: str, told: tuple[Any, ...]) -> Any:
    made = _classes_again(portable).error(name) or RunError
    return made(*told)


def _member_again(portable: bytes, name: str, value: str) -> Any:
    return _classes_again(portable).of(name)(value)


# -- one set of classes for equal declarations ---------------------------------------------------------

_SHARED: WeakValueDictionary[bytes, PythonClasses] = WeakValueDictionary()
_SHARED_LOCK = threading.Lock()


def classes_of(program: Program, own: OwnClasses | None = None) -> PythonClasses:
    """The classes of a program's types, the same for all programs of one name with equal declarations.

    With classes of the user's `own` they are the program's alone.
    """
    portable = dumps(Program(program.name, (), {}, (), (), (), program.table, (), program.errors))
    return _shared(program, portable) if own is None else PythonClasses(program, portable, own)


def _classes_again(portable: bytes) -> PythonClasses:
    with _SHARED_LOCK:
        known = _SHARED.get(hashlib.sha256(portable).digest())
    if known is not None:
        return known
    program, faults = loads(portable)
    if program is None:
        raise ValueError(f"the declarations of an SGL value are damaged: {faults[0].reason}")
    return _shared(program, portable)


def _shared(program: Program, portable: bytes) -> PythonClasses:
    key = hashlib.sha256(portable).digest()
    with _SHARED_LOCK:
        known = _SHARED.get(key)
        if known is None:
            known = _SHARED[key] = PythonClasses(program, portable)
        return known
