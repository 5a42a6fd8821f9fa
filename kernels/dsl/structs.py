"""Records of arrays and whole numbers that a kernel takes as one argument.

A record is declared as a class, whose fields have the kinds of arguments (`sglc.kernels.dsl.language`):

    class Automaton(Struct):
        rows: I32 = shape("states", 256)
        flags: U8 = shape("states")
        start: int

`Automaton(rows=…, flags=…, start=…)` checks the arrays once: their elements, their dimensions, and that
lengths of one name are equal. A kernel with an argument `of: Automaton` reads `of.rows[at]` and `of.start`.

Machine code gets the address of a table: for each field in the order of the declaration 8 bytes, the address
of an array or a number. The record keeps its table and its arrays alive; its user keeps the record. Two
fields never share memory, unless kernels only read both. Numbers of a record are read only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct as Packed
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np

from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.array_layouts import LayoutError, expect

KINDS: Mapping[str, type[np.generic]] = {
    "U8": np.uint8,
    "I8": np.int8,
    "U16": np.uint16,
    "I32": np.int32,
    "U32": np.uint32,
    "I64": np.int64,
    "U64": np.uint64,
    "F32": np.float32,
    "F64": np.float64,
}
"""By kind of array: its elements."""

_ARRAY = np.ndarray
Elements = np.ndarray | memoryview
"""An array as kernels that run as Python have it: one dimension."""
Given = np.ndarray | int
"""The value of a field."""
Length = int | str
"""Of a dimension: a number, or a name for any number."""


@dataclass(frozen=True, slots=True)
class _Shape:
    lengths: tuple[Length, ...]


def shape(*lengths: Length) -> Any:
    """The shape of an array field, in its declaration; else an array has one dimension of any length."""
    return _Shape(lengths)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: its place in the table, its kind, and the shape of an array."""

    name: str
    place: int
    kind: str
    lengths: tuple[Length, ...]

    def number(self, value: object) -> int:
        """The value of a field without dimensions. Raises LayoutError unless it is a whole number."""
        if not isinstance(value, int | np.integer):
            raise LayoutError(f"{self.name} must be a whole number")
        return int(value)

    def array(self, value: object) -> np.ndarray:
        """An array as a value. Raises LayoutError unless it has the kind and the dimensions of the field."""
        if self.kind == "U8" and isinstance(value, np.ndarray) and value.dtype == np.bool_:
            value = value.view(np.uint8)
        return expect(value, self.name, KINDS[self.kind], len(self.lengths))

    @property
    def dtypes(self) -> tuple[np.dtype[np.generic], ...]:
        """The types of elements of an array; none of a number."""
        kinds = (
            [np.uint8, np.bool_] if self.kind == "U8" else [KINDS[self.kind]] if self.kind != "int" else []
        )
        return tuple(map(np.dtype, kinds))

    @property
    def numbered(self) -> list[tuple[int, int]]:
        """The dimensions of a fixed length."""
        return [(axis, length) for axis, length in enumerate(self.lengths) if isinstance(length, int)]

    @property
    def named(self) -> list[tuple[int, str]]:
        """The dimensions whose length has a name."""
        return [
            (axis, length) for axis, length in enumerate(self.lengths) if isinstance(length, str) and length
        ]


_Check = tuple[Field, tuple[np.dtype[np.generic], ...], list[tuple[int, int]], list[tuple[int, str]]]


class Struct:
    """A record of named fields for kernels. Raises LayoutError where a value is not as declared."""

    fields: ClassVar[Mapping[str, Field]] = {}
    """The fields of a class in their order."""
    _pack: ClassVar[Callable[..., bytes]]
    _checks: ClassVar[list[_Check]]
    _as_parameter_: bytes
    """The table, which ctypes passes by its address: eight bytes for each field."""

    def __init_subclass__(cls) -> None:
        found: dict[str, Field] = {}
        for name, kind in cls.__annotations__.items():
            if kind not in KINDS and kind != "int":
                raise TypeError(f"{cls.__name__}.{name} has the unknown kind {kind}")
            given = cls.__dict__.get(name, _Shape(() if kind == "int" else ("",)))
            if name in cls.__dict__:
                delattr(cls, name)
            found[name] = Field(name, len(found), kind, given.lengths)
        cls.fields, cls._pack = found, Packed(f"={len(found)}q").pack
        cls._checks = [(each, each.dtypes, each.numbered, each.named) for each in found.values()]

    def __init__(self, **values: Given) -> None:
        if values.keys() != self.fields.keys():
            raise LayoutError(_difference(type(self), values))
        try:
            self.__dict__.update(values, _as_parameter_=self._pack(*self._words(values)))
        except LayoutError as fault:
            raise LayoutError(f"{type(self).__name__}: {fault}") from None

    def _words(self, values: Mapping[str, Given]) -> list[int]:
        """The table. Records are made in the middle of masks, so what is usual is checked without a call."""
        words: list[int] = []
        known: dict[str, int] = {}
        for field, dtypes, numbered, named in self._checks:
            value = values[field.name]
            if not dtypes:
                words.append(field.number(value))
                continue
            if type(value) is not _ARRAY or value.dtype not in dtypes or not value.flags.c_contiguous:
                value = field.array(value)
            found = value.shape
            if len(found) != len(field.lengths):
                value = field.array(value)
            for axis, wanted in numbered:
                if found[axis] != wanted:
                    raise LayoutError(f"{field.name} must have the shape {field.lengths}, not {found}")
            for axis, name in named:
                if known.setdefault(name, found[axis]) != found[axis]:
                    raise LayoutError(f"{name} is {known[name]} elsewhere and {found[axis]} in {field.name}")
            words.append(address(value))
        return words

    @classmethod
    def zeros(cls, given: Mapping[str, Given] | None = None, /, **lengths: int) -> Self:
        """A record with arrays of zeros; `given` fields are taken, `lengths` are of dimensions by name."""
        values = dict(given or {})
        for name, field in cls.fields.items():
            if name not in values and field.kind != "int":
                size = [length if isinstance(length, int) else lengths[length] for length in field.lengths]
                values[name] = np.zeros(size, KINDS[field.kind])
        return cls(**values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is fixed: machine code has its address")

    def changed(self, **values: Given) -> Self:
        """A new record with other values for some fields; a kernel may be reading this one."""
        return type(self)(**{name: self.__dict__[name] for name in self.fields} | values)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays in the order of the fields."""
        return tuple([self.__dict__[name] for name, field in self.fields.items() if field.kind != "int"])

    def as_python(self) -> SimpleNamespace:
        """The record for a kernel that runs as Python: arrays have one dimension and Python's numbers."""
        held = self.__dict__
        return SimpleNamespace(
            **{
                name: held[name] if field.kind == "int" else elements(held[name], field.kind)
                for name, field in self.fields.items()
            }
        )


def _difference(kind: type[Struct], values: Mapping[str, object]) -> str:
    """In which names values differ from the fields of a record."""
    if missing := kind.fields.keys() - values.keys():
        return f"{kind.__name__} lacks {', '.join(sorted(missing))}"
    return f"{kind.__name__} has no {', '.join(sorted(values.keys() - kind.fields.keys()))}"


def elements(array: np.ndarray, kind: str) -> Elements:
    """An array as one dimension of a kind of elements; a memory view gives and takes Python's own numbers."""
    return array.reshape(-1).view(KINDS[kind]).data if array.size else array
